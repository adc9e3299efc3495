-- additive
-- The texts of a bulk load are indexed by many at once, and counted when all are there. See docs/adr/0038-bulk-loading.md.

-- What text search keeps of chunks of this workspace.
CREATE FUNCTION text_rows(coming uuid[], OUT chunk uuid, OUT language text, OUT length int, OUT keys bigint[], OUT counts smallint[],
    OUT sketch public.sparsevec)
    RETURNS SETOF record LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = trueweave, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    here constant int := current_setting('trueweave.workspace')::int;
    salt constant bigint := workspace_salt();
BEGIN
    RETURN QUERY WITH said AS (
        SELECT u.id, l.language, w.word, w.frequency, sum(w.frequency) OVER (PARTITION BY u.id) AS length
        FROM unnest(coming) AS u (id)
        -- All versions of a document that have a chunk of this id give it the same language.
        CROSS JOIN LATERAL (SELECT text, document FROM chunk WHERE workspace = here AND id = u.id LIMIT 1) c
        CROSS JOIN LATERAL (SELECT language_of(c.text, (SELECT d.metadata ->> 'language' FROM document d
                                                        WHERE d.workspace = here AND d.id = c.document)) AS language OFFSET 0) l  -- once for a chunk, not for a word
        CROSS JOIN LATERAL words_of(c.text, l.language) w
    ), keyed AS (
        SELECT id, language, length, frequency, odds, word # salt | tier_of(odds) AS key
        FROM said CROSS JOIN LATERAL odds_of(frequency, length) AS odds
    ), listed AS (
        SELECT id, language, length, array_agg(key ORDER BY key) AS keys, array_agg(frequency ORDER BY key) AS counts,
            array_agg(odds / (1 + odds) ORDER BY key) AS weights
        FROM keyed GROUP BY id, language, length
    )
    SELECT id, language, length::int, keys, counts::smallint[], sketch_of(keys, weights) FROM listed;
END $$;
REVOKE ALL ON FUNCTION text_rows(uuid[]) FROM PUBLIC;

CREATE OR REPLACE FUNCTION index_text(coming uuid[], going uuid[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = trueweave, pg_temp
    SET enable_seqscan = off
    AS $$
DECLARE
    here constant int := current_setting('trueweave.workspace')::int;
    salt constant bigint := workspace_salt();
    unused bigint[];
BEGIN
    WITH gone AS (
        DELETE FROM bm25_index WHERE workspace = here AND chunk = ANY(going) RETURNING length, keys, language
    ), added AS (
        INSERT INTO bm25_index (workspace, chunk, length, keys, counts, sketch, language)
        SELECT here, chunk, length, keys, counts, sketch, language FROM text_rows(coming)
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
        SELECT here, (key # salt) & ~15, key & 15, sum(sign) FROM changes CROSS JOIN unnest(keys) AS key
        GROUP BY key HAVING sum(sign) <> 0 ORDER BY 2, 3
        ON CONFLICT (workspace, word, tier) DO UPDATE SET chunks = w.chunks + excluded.chunks
        RETURNING w.word, w.chunks
    )
    SELECT array_agg(word) FILTER (WHERE chunks = 0) INTO unused FROM counted;
    DELETE FROM word WHERE workspace = here AND word = ANY(unused) AND chunks = 0;
    DELETE FROM corpus WHERE workspace = here AND chunks = 0;
    DELETE FROM text_language WHERE workspace = here AND chunks = 0;
END $$;

-- Makes chunks part of text search that are in no count yet: `count_text` is to follow.
CREATE FUNCTION add_text(coming uuid[]) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
BEGIN
    INSERT INTO bm25_index (workspace, chunk, length, keys, counts, sketch, language)
    SELECT current_setting('trueweave.workspace')::int, chunk, length, keys, counts, sketch, language FROM text_rows(coming)
    ON CONFLICT DO NOTHING;
END $$;
REVOKE ALL ON FUNCTION add_text(uuid[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION add_text(uuid[]) TO trueweave_app;

-- Counts the words of all chunks anew.
CREATE FUNCTION count_text() RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
DECLARE
    here constant int := current_setting('trueweave.workspace')::int;
    salt constant bigint := workspace_salt();
BEGIN
    DELETE FROM corpus WHERE workspace = here;
    DELETE FROM text_language WHERE workspace = here;
    DELETE FROM word WHERE workspace = here;
    INSERT INTO corpus (workspace, chunks, length)
    SELECT here, count(*), sum(length) FROM bm25_index WHERE workspace = here HAVING count(*) > 0;
    INSERT INTO text_language (workspace, language, chunks)
    SELECT here, language, count(*) FROM bm25_index WHERE workspace = here GROUP BY language;
    INSERT INTO word (workspace, word, tier, chunks)
    SELECT here, (key # salt) & ~15, key & 15, count(*) FROM bm25_index CROSS JOIN unnest(keys) AS key
    WHERE workspace = here GROUP BY key;
END $$;
REVOKE ALL ON FUNCTION count_text() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION count_text() TO trueweave_app;
