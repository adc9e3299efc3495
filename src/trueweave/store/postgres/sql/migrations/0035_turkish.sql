-- breaking
-- In Turkish I is the capital of ı, and İ of i. PostgreSQL folds I to i and leaves İ in two characters, so that "ISPARTA" did
-- not find "Isparta'da ışık". See docs/adr/0011-text-search.md.
CREATE OR REPLACE FUNCTION words_of(said text, language text) RETURNS TABLE (word bigint, times smallint) LANGUAGE sql STABLE AS $$
    WITH plain AS MATERIALIZED (
        SELECT CASE WHEN language = 'turkish' THEN translate(n, 'Iİ', 'ıi') ELSE n END AS t FROM left(said, 100000) AS s
        CROSS JOIN LATERAL (SELECT CASE WHEN octet_length(s) = length(s) THEN s ELSE normalize(s, NFKC) END AS n OFFSET 0) AS normal
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

DO $$
DECLARE
    one record;
    turkish uuid[];
BEGIN
    FOR one IN SELECT id FROM workspace LOOP
        PERFORM set_config('trueweave.workspace', one.id::text, true);
        turkish := ARRAY(SELECT chunk FROM lexis WHERE workspace = one.id AND language = 'turkish');
        PERFORM index_text('{}', turkish);
        PERFORM index_text(turkish, '{}');
    END LOOP;
END $$;
