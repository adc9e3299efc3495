-- breaking
-- The language of a text, and its words in that language, for text search. See docs/adr/0011-text-search.md.
--
-- A text is stemmed with the PostgreSQL configuration of its language, which is given in the document's metadata or
-- detected from function words and letters. Scripts that have no spaces between words, or join particles to them, are
-- searched by overlapping pairs of characters.

-- The configuration for a language given by name or ISO 639-1 code; NULL if there is none.
CREATE FUNCTION named_language(given text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT cfgname::text FROM pg_ts_config WHERE cfgnamespace = 'pg_catalog'::regnamespace AND cfgname = CASE split_part(lower(given), '-', 1)
        WHEN 'en' THEN 'english'
        WHEN 'de' THEN 'german'
        WHEN 'fr' THEN 'french'
        WHEN 'es' THEN 'spanish'
        WHEN 'it' THEN 'italian'
        WHEN 'pt' THEN 'portuguese'
        WHEN 'nl' THEN 'dutch'
        WHEN 'da' THEN 'danish'
        WHEN 'no' THEN 'norwegian'
        WHEN 'nb' THEN 'norwegian'
        WHEN 'nn' THEN 'norwegian'
        WHEN 'sv' THEN 'swedish'
        WHEN 'fi' THEN 'finnish'
        WHEN 'hu' THEN 'hungarian'
        WHEN 'ro' THEN 'romanian'
        WHEN 'tr' THEN 'turkish'
        WHEN 'ca' THEN 'catalan'
        WHEN 'id' THEN 'indonesian'
        WHEN 'lt' THEN 'lithuanian'
        WHEN 'eu' THEN 'basque'
        WHEN 'ga' THEN 'irish'
        WHEN 'sr' THEN 'serbian'
        WHEN 'ru' THEN 'russian'
        WHEN 'el' THEN 'greek'
        WHEN 'hy' THEN 'armenian'
        WHEN 'ar' THEN 'arabic'
        WHEN 'hi' THEN 'hindi'
        WHEN 'ne' THEN 'nepali'
        WHEN 'ta' THEN 'tamil'
        WHEN 'yi' THEN 'yiddish'
        ELSE lower(given) END
$$;

-- The configuration for a text: as given, or the one whose function words are most frequent at its beginning, or that
-- of its script. English if none of these decides.
CREATE FUNCTION language_of(said text, given text) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    beginning constant text := translate(lower(left(said, 1500)), E'\n\t', '  ');
    found text := named_language(given);
BEGIN
    IF found IS NOT NULL THEN
        RETURN found;
    END IF;
    IF length(beginning) - length(replace(beginning, ' the ', '')) >= 15 THEN  -- three of them: no need to count others
        RETURN 'english';
    END IF;
    SELECT f.language INTO found FROM string_to_table(beginning, ' ') AS t (word) JOIN (VALUES
            ('english', 'the'), ('english', 'of'), ('english', 'and'), ('english', 'to'), ('english', 'in'),
            ('english', 'is'), ('english', 'was'), ('english', 'for'), ('english', 'on'), ('english', 'that'),
            ('english', 'with'), ('english', 'as'), ('english', 'by'), ('english', 'it'), ('english', 'are'),
            ('english', 'from'), ('english', 'at'), ('english', 'this'), ('english', 'be'), ('english', 'which'),
            ('german', 'der'), ('german', 'die'), ('german', 'das'), ('german', 'und'), ('german', 'ist'),
            ('german', 'nicht'), ('german', 'ein'), ('german', 'eine'), ('german', 'mit'), ('german', 'von'),
            ('german', 'zu'), ('german', 'den'), ('german', 'des'), ('german', 'auf'), ('german', 'für'), ('german', 'im'),
            ('german', 'dem'), ('german', 'sich'), ('german', 'wird'), ('german', 'auch'), ('german', 'war'),
            ('german', 'wurde'), ('french', 'le'), ('french', 'la'), ('french', 'les'), ('french', 'des'),
            ('french', 'est'), ('french', 'et'), ('french', 'une'), ('french', 'un'), ('french', 'du'), ('french', 'dans'),
            ('french', 'que'), ('french', 'qui'), ('french', 'pour'), ('french', 'sur'), ('french', 'pas'),
            ('french', 'avec'), ('french', 'par'), ('french', 'au'), ('french', 'sont'), ('french', 'été'),
            ('french', 'il'), ('french', 'elle'), ('spanish', 'el'), ('spanish', 'la'), ('spanish', 'los'),
            ('spanish', 'las'), ('spanish', 'de'), ('spanish', 'y'), ('spanish', 'en'), ('spanish', 'que'),
            ('spanish', 'es'), ('spanish', 'una'), ('spanish', 'un'), ('spanish', 'por'), ('spanish', 'con'),
            ('spanish', 'para'), ('spanish', 'del'), ('spanish', 'se'), ('spanish', 'no'), ('spanish', 'su'),
            ('spanish', 'fue'), ('spanish', 'al'), ('spanish', 'como'), ('spanish', 'más'), ('italian', 'il'),
            ('italian', 'la'), ('italian', 'di'), ('italian', 'che'), ('italian', 'e'), ('italian', 'è'),
            ('italian', 'un'), ('italian', 'una'), ('italian', 'per'), ('italian', 'non'), ('italian', 'sono'),
            ('italian', 'con'), ('italian', 'del'), ('italian', 'della'), ('italian', 'dei'), ('italian', 'nel'),
            ('italian', 'si'), ('italian', 'da'), ('italian', 'le'), ('italian', 'gli'), ('italian', 'alla'),
            ('portuguese', 'o'), ('portuguese', 'os'), ('portuguese', 'de'), ('portuguese', 'e'), ('portuguese', 'que'),
            ('portuguese', 'do'), ('portuguese', 'da'), ('portuguese', 'em'), ('portuguese', 'um'), ('portuguese', 'uma'),
            ('portuguese', 'para'), ('portuguese', 'com'), ('portuguese', 'não'), ('portuguese', 'por'),
            ('portuguese', 'dos'), ('portuguese', 'das'), ('portuguese', 'foi'), ('portuguese', 'ao'),
            ('portuguese', 'se'), ('portuguese', 'na'), ('portuguese', 'no'), ('portuguese', 'são'), ('dutch', 'de'),
            ('dutch', 'het'), ('dutch', 'een'), ('dutch', 'en'), ('dutch', 'van'), ('dutch', 'is'), ('dutch', 'dat'),
            ('dutch', 'niet'), ('dutch', 'zijn'), ('dutch', 'op'), ('dutch', 'met'), ('dutch', 'voor'), ('dutch', 'te'),
            ('dutch', 'aan'), ('dutch', 'er'), ('dutch', 'door'), ('dutch', 'werd'), ('dutch', 'ook'), ('dutch', 'bij'),
            ('danish', 'og'), ('danish', 'det'), ('danish', 'er'), ('danish', 'en'), ('danish', 'af'), ('danish', 'at'),
            ('danish', 'til'), ('danish', 'på'), ('danish', 'med'), ('danish', 'den'), ('danish', 'ikke'),
            ('danish', 'for'), ('danish', 'som'), ('danish', 'der'), ('danish', 'han'), ('danish', 'blev'),
            ('danish', 'har'), ('danish', 'et'), ('norwegian', 'og'), ('norwegian', 'det'), ('norwegian', 'er'),
            ('norwegian', 'en'), ('norwegian', 'av'), ('norwegian', 'til'), ('norwegian', 'på'), ('norwegian', 'med'),
            ('norwegian', 'ikke'), ('norwegian', 'for'), ('norwegian', 'som'), ('norwegian', 'den'), ('norwegian', 'han'),
            ('norwegian', 'ble'), ('norwegian', 'har'), ('norwegian', 'et'), ('norwegian', 'å'), ('norwegian', 'var'),
            ('swedish', 'och'), ('swedish', 'det'), ('swedish', 'är'), ('swedish', 'en'), ('swedish', 'av'),
            ('swedish', 'att'), ('swedish', 'på'), ('swedish', 'med'), ('swedish', 'den'), ('swedish', 'inte'),
            ('swedish', 'för'), ('swedish', 'som'), ('swedish', 'ett'), ('swedish', 'han'), ('swedish', 'var'),
            ('swedish', 'har'), ('swedish', 'till'), ('swedish', 'i'), ('finnish', 'ja'), ('finnish', 'on'),
            ('finnish', 'ei'), ('finnish', 'se'), ('finnish', 'että'), ('finnish', 'oli'), ('finnish', 'hän'),
            ('finnish', 'myös'), ('finnish', 'ovat'), ('finnish', 'joka'), ('finnish', 'kun'), ('finnish', 'mutta'),
            ('finnish', 'tai'), ('finnish', 'niin'), ('finnish', 'mukaan'), ('hungarian', 'a'), ('hungarian', 'az'),
            ('hungarian', 'és'), ('hungarian', 'hogy'), ('hungarian', 'nem'), ('hungarian', 'egy'), ('hungarian', 'is'),
            ('hungarian', 'volt'), ('hungarian', 'ez'), ('hungarian', 'meg'), ('hungarian', 'van'), ('hungarian', 'már'),
            ('hungarian', 'csak'), ('hungarian', 'mint'), ('romanian', 'și'), ('romanian', 'în'), ('romanian', 'de'),
            ('romanian', 'la'), ('romanian', 'cu'), ('romanian', 'este'), ('romanian', 'un'), ('romanian', 'o'),
            ('romanian', 'pe'), ('romanian', 'nu'), ('romanian', 'că'), ('romanian', 'din'), ('romanian', 'care'),
            ('romanian', 'a'), ('romanian', 'fost'), ('romanian', 'mai'), ('romanian', 'pentru'), ('turkish', 've'),
            ('turkish', 'bir'), ('turkish', 'bu'), ('turkish', 'için'), ('turkish', 'ile'), ('turkish', 'da'),
            ('turkish', 'de'), ('turkish', 'çok'), ('turkish', 'olarak'), ('turkish', 'olan'), ('turkish', 'daha'),
            ('turkish', 'gibi'), ('turkish', 'ne'), ('turkish', 'kadar'), ('turkish', 'sonra'), ('turkish', 'oldu'),
            ('catalan', 'el'), ('catalan', 'la'), ('catalan', 'els'), ('catalan', 'les'), ('catalan', 'de'),
            ('catalan', 'i'), ('catalan', 'que'), ('catalan', 'en'), ('catalan', 'un'), ('catalan', 'una'),
            ('catalan', 'per'), ('catalan', 'amb'), ('catalan', 'és'), ('catalan', 'no'), ('catalan', 'del'),
            ('catalan', 'al'), ('catalan', 'va'), ('catalan', 'són'), ('indonesian', 'yang'), ('indonesian', 'dan'),
            ('indonesian', 'di'), ('indonesian', 'dengan'), ('indonesian', 'untuk'), ('indonesian', 'dari'),
            ('indonesian', 'pada'), ('indonesian', 'ini'), ('indonesian', 'itu'), ('indonesian', 'adalah'),
            ('indonesian', 'tidak'), ('indonesian', 'ke'), ('indonesian', 'dalam'), ('indonesian', 'oleh'),
            ('indonesian', 'sebagai'), ('lithuanian', 'ir'), ('lithuanian', 'yra'), ('lithuanian', 'kad'),
            ('lithuanian', 'į'), ('lithuanian', 'su'), ('lithuanian', 'iš'), ('lithuanian', 'tai'), ('lithuanian', 'buvo'),
            ('lithuanian', 'bet'), ('lithuanian', 'kaip'), ('lithuanian', 'ar'), ('lithuanian', 'jis'),
            ('lithuanian', 'per'), ('lithuanian', 'apie'), ('basque', 'eta'), ('basque', 'da'), ('basque', 'ez'),
            ('basque', 'bat'), ('basque', 'dira'), ('basque', 'zen'), ('basque', 'izan'), ('basque', 'du'),
            ('basque', 'ere'), ('basque', 'baina'), ('basque', 'hau'), ('basque', 'egin'), ('irish', 'an'),
            ('irish', 'na'), ('irish', 'agus'), ('irish', 'is'), ('irish', 'ar'), ('irish', 'i'), ('irish', 'tá'),
            ('irish', 'ag'), ('irish', 'le'), ('irish', 'go'), ('irish', 'bhí'), ('irish', 'sé'), ('irish', 'do'),
            ('irish', 'ní'), ('serbian', 'и'), ('serbian', 'у'), ('serbian', 'је'), ('serbian', 'да'), ('serbian', 'се'),
            ('serbian', 'на'), ('serbian', 'за'), ('serbian', 'од'), ('serbian', 'су'), ('serbian', 'са'),
            ('serbian', 'као'), ('serbian', 'није'), ('serbian', 'који'), ('serbian', 'али'), ('serbian', 'то'),
            ('russian', 'и'), ('russian', 'в'), ('russian', 'не'), ('russian', 'на'), ('russian', 'что'),
            ('russian', 'он'), ('russian', 'с'), ('russian', 'как'), ('russian', 'это'), ('russian', 'по'),
            ('russian', 'из'), ('russian', 'за'), ('russian', 'но'), ('russian', 'от'), ('russian', 'для'),
            ('russian', 'был'), ('russian', 'была'), ('greek', 'και'), ('greek', 'το'), ('greek', 'να'), ('greek', 'της'),
            ('greek', 'η'), ('greek', 'του'), ('greek', 'που'), ('greek', 'με'), ('greek', 'για'), ('greek', 'από'),
            ('greek', 'είναι'), ('greek', 'στο'), ('greek', 'τα'), ('greek', 'δεν'), ('greek', 'ο'), ('armenian', 'և'),
            ('armenian', 'է'), ('armenian', 'են'), ('armenian', 'որ'), ('armenian', 'մեջ'), ('armenian', 'իր'),
            ('armenian', 'այս'), ('armenian', 'ու'), ('armenian', 'համար'), ('arabic', 'في'), ('arabic', 'من'),
            ('arabic', 'على'), ('arabic', 'أن'), ('arabic', 'إلى'), ('arabic', 'عن'), ('arabic', 'هذا'), ('arabic', 'كان'),
            ('arabic', 'التي'), ('arabic', 'الذي'), ('arabic', 'لا'), ('arabic', 'ما'), ('arabic', 'مع'), ('hindi', 'के'),
            ('hindi', 'में'), ('hindi', 'है'), ('hindi', 'की'), ('hindi', 'से'), ('hindi', 'का'), ('hindi', 'और'),
            ('hindi', 'को'), ('hindi', 'पर'), ('hindi', 'कि'), ('hindi', 'ने'), ('hindi', 'यह'), ('hindi', 'था'),
            ('nepali', 'छ'), ('nepali', 'र'), ('nepali', 'को'), ('nepali', 'मा'), ('nepali', 'हो'), ('nepali', 'यो'),
            ('nepali', 'भने'), ('nepali', 'छन्'), ('nepali', 'गर्न'), ('nepali', 'पनि'), ('tamil', 'ஒரு'),
            ('tamil', 'மற்றும்'), ('tamil', 'இந்த'), ('tamil', 'என்று'), ('tamil', 'உள்ளது'), ('tamil', 'இது'),
            ('tamil', 'அந்த'), ('yiddish', 'די'), ('yiddish', 'און'), ('yiddish', 'איז'), ('yiddish', 'אַז'),
            ('yiddish', 'פֿון'), ('yiddish', 'צו'), ('yiddish', 'אין'), ('yiddish', 'דער'), ('yiddish', 'מיט'),
            ('yiddish', 'נישט')
        ) AS f (language, word) USING (word)
    GROUP BY f.language HAVING count(DISTINCT word) > 1
    ORDER BY count(*) DESC, f.language <> 'english', f.language LIMIT 1;
    IF found IS NOT NULL OR octet_length(said) = length(said) THEN
        RETURN coalesce(found, 'english');
    END IF;
    RETURN CASE WHEN said ~ '[\u0400-\u04FF]' THEN 'russian' WHEN said ~ '[\u0370-\u03FF]' THEN 'greek'
                WHEN said ~ '[\u0600-\u06FF]' THEN 'arabic' WHEN said ~ '[\u0900-\u097F]' THEN 'hindi'
                WHEN said ~ '[\u0B80-\u0BFF]' THEN 'tamil' WHEN said ~ '[\u0530-\u058F]' THEN 'armenian'
                ELSE 'english' END;
END $$;

-- The overlapping pairs of characters of each run of a script without spaces; a single character stands alone.
CREATE FUNCTION pairs_of(said text) RETURNS SETOF text LANGUAGE sql IMMUTABLE AS $$
    SELECT substr(stretch[1], n, 2) FROM regexp_matches(said, '[\u0E00-\u0EFF\u1000-\u109F\u1780-\u17FF\u3005-\u3007\u3040-\u30FF\u3400-\u4DBF\u4E00-\u9FFF\uAC00-\uD7AF\uF900-\uFAFF]+', 'g') AS stretch
    CROSS JOIN LATERAL generate_series(1, greatest(length(stretch[1]) - 1, 1)) AS n
$$;

-- The words of a text in a language, and how often each occurs: each is the hash of a lexeme with its last four bits
-- free. The parser would treat what these signs join as one word (a path, a host, a tag), or as a negative number. A
-- text much longer than a chunk would exceed what a tsvector can hold. In Turkish I is the capital of ı, and İ of i;
-- PostgreSQL folds I to i and leaves İ as two characters, so that "ISPARTA" would not find "Isparta'da ışık".
CREATE FUNCTION words_of(said text, language text) RETURNS TABLE (word bigint, frequency smallint) LANGUAGE sql STABLE AS $$
    WITH plain AS MATERIALIZED (
        SELECT CASE WHEN language = 'turkish' THEN translate(n, 'Iİ', 'ıi') ELSE n END AS t FROM left(said, 100000) AS s
        CROSS JOIN LATERAL (SELECT CASE WHEN octet_length(s) = length(s) THEN s ELSE normalize(s, NFKC) END AS n OFFSET 0) AS normal
    ), lexemes AS (
        SELECT l.lexeme, cardinality(l.positions) AS frequency FROM plain
        CROSS JOIN LATERAL unnest(to_tsvector(language::regconfig, translate(
            CASE WHEN octet_length(t) = length(t) THEN t ELSE regexp_replace(t, '[\u0E00-\u0EFF\u1000-\u109F\u1780-\u17FF\u3005-\u3007\u3040-\u30FF\u3400-\u4DBF\u4E00-\u9FFF\uAC00-\uD7AF\uF900-\uFAFF]+', ' ', 'g') END,
            '-/._@:<>&+~।॥“”„«»‹›‘’‚–—…·•،؛؟、。，！？（）「」『』', repeat(' ', 42)))) l
        UNION ALL
        SELECT p, least(count(*), 256)::int FROM plain CROSS JOIN LATERAL pairs_of(t) AS p
        WHERE octet_length(t) <> length(t) GROUP BY p
    )
    SELECT hashtextextended(lexeme, 0) & ~15, sum(frequency)::smallint FROM lexemes GROUP BY lexeme
$$;

REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA trueweave FROM PUBLIC;
