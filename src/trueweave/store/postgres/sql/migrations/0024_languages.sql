-- breaking
-- Text search in the language of each text. See docs/adr/0011-text-search.md.
--
-- A text is stemmed by the PostgreSQL configuration of its language, which its document's metadata give or its small words
-- and letters tell. Scripts that set no spaces between words, or join particles to them, are searched by overlapping pairs
-- of characters. The words of a question are stemmed for each language of the workspace.

ALTER TABLE lexis ADD language text NOT NULL DEFAULT 'english';
COMMENT ON COLUMN lexis.language IS 'The text search configuration by which its words were stemmed.';

CREATE TABLE text_language (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    language  text NOT NULL,
    chunks    bigint NOT NULL,
    PRIMARY KEY (workspace, language)
);
COMMENT ON TABLE text_language IS 'How many searched chunks there are in each language.';
SELECT guard('text_language');

-- The configuration for a language that somebody named, by its name or its ISO 639-1 code; none if there is none for it.
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

-- The configuration for a text: as given, or that whose small words are most frequent at its beginning, or that of its
-- script. English where nothing tells.
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

-- The pairs of characters, one after the other, of each stretch of a script without spaces; a single one is alone.
CREATE FUNCTION pairs_of(said text) RETURNS SETOF text LANGUAGE sql IMMUTABLE AS $$
    SELECT substr(stretch[1], n, 2) FROM regexp_matches(said, '[\u0E00-\u0EFF\u1000-\u109F\u1780-\u17FF\u3005-\u3007\u3040-\u30FF\u3400-\u4DBF\u4E00-\u9FFF\uAC00-\uD7AF\uF900-\uFAFF]+', 'g') AS stretch
    CROSS JOIN LATERAL generate_series(1, greatest(length(stretch[1]) - 1, 1)) AS n
$$;

-- The words of a text in a language, and how often each occurs. The parser would take what these signs join for one word
-- (a path, a host, a tag), or for a negative number. Far more than a chunk's text would exceed what a tsvector can hold.
CREATE FUNCTION words_of(said text, language text) RETURNS TABLE (word bigint, times smallint) LANGUAGE sql STABLE AS $$
    WITH plain AS MATERIALIZED (
        SELECT CASE WHEN octet_length(t) = length(t) THEN t ELSE normalize(t, NFKC) END AS t FROM left(said, 100000) AS t
    ), lexemes AS (
        SELECT l.lexeme, cardinality(l.positions) AS times FROM plain
        CROSS JOIN LATERAL unnest(to_tsvector(language::regconfig, translate(
            CASE WHEN octet_length(t) = length(t) THEN t ELSE regexp_replace(t, '[\u0E00-\u0EFF\u1000-\u109F\u1780-\u17FF\u3005-\u3007\u3040-\u30FF\u3400-\u4DBF\u4E00-\u9FFF\uAC00-\uD7AF\uF900-\uFAFF]+', ' ', 'g') END,
            '-/._@:<>&+~।॥“”„«»‹›‘’‚–—…·•،؛؟、。，！？（）「」『』', repeat(' ', 42)))) l
        UNION ALL
        SELECT p, least(count(*), 256)::int FROM plain CROSS JOIN LATERAL pairs_of(t) AS p
        WHERE octet_length(t) <> length(t) GROUP BY p
    )
    SELECT hashtextextended(lexeme, 0) & ~15, sum(times)::smallint FROM lexemes GROUP BY lexeme
$$;

-- The words of a question in each of the languages that most chunks of the workspace are in.
CREATE FUNCTION asked_words(question text) RETURNS TABLE (word bigint) LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN QUERY SELECT DISTINCT w.word FROM (
        SELECT t.language FROM text_language t WHERE t.workspace = current_setting('trueweave.workspace')::int
        ORDER BY t.chunks DESC, t.language LIMIT 16) AS spoken
    CROSS JOIN LATERAL words_of(question, spoken.language) w;
END $$;

CREATE OR REPLACE FUNCTION index_text(coming uuid[], going uuid[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, pg_temp SET enable_seqscan = off AS $$
DECLARE
    here constant int := current_setting('trueweave.workspace')::int;
    mix constant bigint := key_mix();
    unused bigint[];
BEGIN
    WITH gone AS (
        DELETE FROM lexis WHERE workspace = here AND chunk = ANY(going) RETURNING length, keys, language
    ), said AS (
        SELECT u.id, l.language, w.word, w.times, sum(w.times) OVER (PARTITION BY u.id) AS length
        FROM unnest(coming) AS u (id)
        -- All versions of a document that have a chunk of this id give it the same language.
        CROSS JOIN LATERAL (SELECT text, document FROM chunk WHERE workspace = here AND id = u.id LIMIT 1) c
        CROSS JOIN LATERAL (SELECT language_of(c.text, (SELECT d.metadata ->> 'language' FROM document d
                                                        WHERE d.workspace = here AND d.id = c.document)) AS language OFFSET 0) l  -- once for a chunk, not for a word
        CROSS JOIN LATERAL words_of(c.text, l.language) w
    ), keyed AS (
        SELECT id, language, length, times, odds, word # mix | tier_of(odds) AS key
        FROM said CROSS JOIN LATERAL odds_of(times, length) AS odds
    ), listed AS (
        SELECT id, language, length, array_agg(key ORDER BY key) AS keys, array_agg(times ORDER BY key) AS counts,
            array_agg(odds / (1 + odds) ORDER BY key) AS weights
        FROM keyed GROUP BY id, language, length
    ), added AS (
        INSERT INTO lexis (workspace, chunk, length, keys, counts, sketch, language)
        SELECT here, id, length, keys, counts, sketch_of(keys, weights), language FROM listed
        ON CONFLICT DO NOTHING RETURNING length, keys, language
    ), changes AS (
        SELECT 1 AS sign, length, keys, language FROM added UNION ALL SELECT -1, length, keys, language FROM gone
    ), totals AS (
        INSERT INTO corpus AS c (workspace, chunks, length)
        SELECT here, sum(sign), sum(sign * length) FROM changes HAVING count(*) > 0
        ON CONFLICT (workspace) DO UPDATE SET chunks = c.chunks + excluded.chunks, length = c.length + excluded.length
    ), spoken AS (
        INSERT INTO text_language AS t (workspace, language, chunks)
        SELECT here, language, sum(sign) FROM changes GROUP BY language HAVING sum(sign) <> 0 ORDER BY 2
        ON CONFLICT (workspace, language) DO UPDATE SET chunks = t.chunks + excluded.chunks
    ), counted AS (
        INSERT INTO word AS w (workspace, word, tier, chunks)
        SELECT here, (key # mix) & ~15, key & 15, sum(sign) FROM changes CROSS JOIN unnest(keys) AS key
        GROUP BY key HAVING sum(sign) <> 0 ORDER BY 2, 3
        ON CONFLICT (workspace, word, tier) DO UPDATE SET chunks = w.chunks + excluded.chunks
        RETURNING w.word, w.chunks
    )
    SELECT array_agg(word) FILTER (WHERE chunks = 0) INTO unused FROM counted;
    DELETE FROM word WHERE workspace = here AND word = ANY(unused) AND chunks = 0;
    DELETE FROM corpus WHERE workspace = here AND chunks = 0;
    DELETE FROM text_language WHERE workspace = here AND chunks = 0;
END $$;

CREATE OR REPLACE FUNCTION search_text(question text, most int, k1 float8, b float8, scope uuid[])
RETURNS TABLE (chunk uuid, score float8) LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = trueweave, public, pg_temp SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    here constant int := current_setting('trueweave.workspace')::int;
    mix constant bigint := key_mix();
    budget constant int := 2000;
    used int := 0;
    total float8;
    average float8;
    words bigint[];
    weights float8[];
    asked sparsevec;
    posting record;
    chosen bigint[] := '{}';
    next bigint[] := '{}';
BEGIN
    SELECT chunks, length::float8 / chunks INTO total, average FROM corpus WHERE workspace = here;
    SELECT array_agg(word # mix), array_agg(ln(1 + (total - holders + 0.5) / (holders + 0.5))) INTO words, weights
    FROM (SELECT a.word, w.holders FROM asked_words(question) a CROSS JOIN LATERAL (
              SELECT sum(chunks)::float8 AS holders FROM word WHERE workspace = here AND word = a.word) w
          WHERE w.holders > 0 ORDER BY w.holders, a.word LIMIT 64) AS known;
    asked := sketch_of(words, weights);

    FOR posting IN
        SELECT a.key | w.tier AS key, w.chunks FROM unnest(words, weights) AS a (key, weight)
        CROSS JOIN LATERAL (SELECT tier, chunks FROM word WHERE workspace = here AND word = a.key # mix OFFSET 0) w
        CROSS JOIN LATERAL (SELECT 2 ^ ((w.tier - 8) / 2.0::float8) * (1 - b + b * average / 100) AS odds) o
        WHERE scope IS NULL ORDER BY a.weight ^ 4 * odds / (1 + odds) DESC, key
    LOOP
        IF used + posting.chunks > budget THEN  -- read only if there is little else, and only in part
            next := ARRAY[posting.key];
            EXIT;
        END IF;
        chosen := chosen || posting.key;
        used := used + posting.chunks;
    END LOOP;

    RETURN QUERY
    WITH found AS (
        SELECT f.* FROM (SELECT * FROM lexis WHERE keys && chosen OFFSET 0) f WHERE workspace = here
        UNION ALL
        (SELECT f.* FROM (SELECT * FROM lexis WHERE keys && next OFFSET 0) f
         WHERE workspace = here AND NOT keys && chosen LIMIT greatest(0, budget / 2 - used))
        UNION ALL
        SELECT f.* FROM (
            SELECT DISTINCT c.id FROM unnest(scope) AS d (id)
            CROSS JOIN LATERAL (SELECT id FROM chunk WHERE workspace = here AND document = d.id OFFSET 0) c) AS inside
        CROSS JOIN LATERAL (SELECT * FROM lexis WHERE workspace = here AND chunk = inside.id OFFSET 0) f
    ), likely AS (
        SELECT chunk, keys, counts, k1 * (1 - b + b * length / average) AS norm
        FROM found ORDER BY sketch <#> asked, chunk LIMIT 100 + 2 * most
    )
    SELECT l.chunk, s.score FROM likely l CROSS JOIN LATERAL (
        -- A key is found in the ascending keys of a chunk by where it would stand: at its word's own, if that is there.
        SELECT sum(weight * times / (times + l.norm)) AS score
        FROM (SELECT weight, l.counts[width_bucket(key | 15, l.keys)]::float8 AS times
              FROM unnest(words, weights) AS a (key, weight)
              WHERE l.keys[width_bucket(key | 15, l.keys)] >= key) AS said) s
    WHERE s.score > 0 ORDER BY s.score DESC, l.chunk LIMIT most;
END $$;

CREATE OR REPLACE FUNCTION covers(question text, chunks uuid[]) RETURNS TABLE (chunk uuid, words int, shares float8[])
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = trueweave, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    here constant int := current_setting('trueweave.workspace')::int;
    mix constant bigint := key_mix();
    total float8;
    asked bigint[];
    weights float8[];
    whole float8;
BEGIN
    SELECT c.chunks INTO total FROM corpus c WHERE c.workspace = here;
    SELECT array_agg(known.word # mix), array_agg(known.weight), sum(known.weight) INTO asked, weights, whole
    FROM (SELECT a.word, ln(1 + total / (1 + w.holders)) AS weight FROM asked_words(question) a CROSS JOIN LATERAL (
              SELECT sum(w.chunks)::float8 AS holders FROM word w WHERE w.workspace = here AND w.word = a.word) w
          WHERE w.holders > 0 ORDER BY w.holders, a.word LIMIT 64) AS known;
    RETURN QUERY
    SELECT l.chunk, cardinality(l.keys), ARRAY(
        SELECT CASE WHEN l.keys[width_bucket(a.key | 15, l.keys)] >= a.key THEN a.weight / whole ELSE 0 END
        FROM unnest(asked, weights) WITH ORDINALITY AS a (key, weight, n) ORDER BY a.n)
    FROM unnest(chunks) AS u (id)
    CROSS JOIN LATERAL (SELECT * FROM lexis x WHERE x.workspace = here AND x.chunk = u.id OFFSET 0) AS l;
END $$;

DROP FUNCTION words_of(text);

-- The words of each chunk of the current workspace in a form that is the same in every workspace.
CREATE OR REPLACE FUNCTION text_lines() RETURNS TABLE (key text, line text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
BEGIN
    RETURN QUERY
    SELECT l.chunk::text, l.length || ' ' || coalesce(sum(hashint8extended(u.key # key_mix(), u.times)), 0) || ' ' || l.language
    FROM lexis l LEFT JOIN LATERAL unnest(l.keys, l.counts) AS u (key, times) ON true
    WHERE l.workspace = current_setting('trueweave.workspace')::int GROUP BY l.workspace, l.chunk;
END $$;

REVOKE EXECUTE ON FUNCTION named_language, language_of, pairs_of, words_of, asked_words FROM PUBLIC;

-- What is there is searched by its own language too from now on.
DO $$
DECLARE
    one record;
BEGIN
    FOR one IN SELECT id FROM workspace LOOP
        PERFORM set_config('trueweave.workspace', one.id::text, true);
        DELETE FROM word WHERE workspace = one.id;
        DELETE FROM corpus WHERE workspace = one.id;
        DELETE FROM lexis WHERE workspace = one.id;
        PERFORM index_text(ARRAY(SELECT DISTINCT c.id FROM chunk c JOIN document d ON d.id = c.document
                                 WHERE c.workspace = one.id AND d.workspace = one.id AND d.shown), '{}');
    END LOOP;
END $$;
