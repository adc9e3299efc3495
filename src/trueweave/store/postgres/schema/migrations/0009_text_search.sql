-- breaking
-- Text search: BM25 over the chunks of visible documents, exact under every change. See docs/adr/0011-text-search.md.
--
-- A word is the hash of a lexeme with its last four bits free. These hold the tier: how much the word matters to the
-- chunk, given its frequency and the chunk's length. A key is both, mixed with the workspace, so that one GIN index has
-- a posting list for each word of each workspace and each tier, and a search can read the best ones first.

CREATE TABLE word (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    word      bigint NOT NULL,
    tier      smallint NOT NULL CHECK (tier BETWEEN 0 AND 15),
    chunks    int NOT NULL,
    PRIMARY KEY (workspace, word, tier)
) WITH (fillfactor = 80);
COMMENT ON TABLE word IS 'The number of chunks that contain each word, by tier.';

CREATE TABLE corpus (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int PRIMARY KEY,
    chunks    bigint NOT NULL,
    length    bigint NOT NULL
);
COMMENT ON TABLE corpus IS 'The number of chunks that contain words, and the total number of words in them.';

CREATE TABLE text_language (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    language  text NOT NULL,
    chunks    bigint NOT NULL,
    PRIMARY KEY (workspace, language)
);
COMMENT ON TABLE text_language IS 'The number of searchable chunks in each language.';
SELECT guard('word'), guard('corpus'), guard('text_language');

CREATE TABLE bm25_index (
    workspace int NOT NULL,
    chunk     uuid NOT NULL,
    length    int NOT NULL,
    keys      bigint[] NOT NULL,
    counts    smallint[] NOT NULL,
    sketch    public.sparsevec NOT NULL,
    language  text NOT NULL DEFAULT 'english',
    PRIMARY KEY (workspace, chunk)
) WITH (toast_tuple_target = 8160);  -- inline as long as they fit: a search reads the words of many chunks
COMMENT ON TABLE bm25_index IS 'For each chunk that contains words: the words as ascending keys, the frequency of each, their total, and a sketch of them. GIN operators are not leakproof, so row-level security would keep them from using their index. It therefore does not bind the owner here: trueweave_app cannot access the table itself, and calls functions that name the workspace in every statement.';
COMMENT ON COLUMN bm25_index.language IS 'The text search configuration that its words were stemmed with.';
CREATE INDEX bm25_index_keys ON bm25_index USING gin (keys) WITH (fastupdate = off);  -- no pending list to search
ALTER TABLE bm25_index ENABLE ROW LEVEL SECURITY;
ALTER TABLE bm25_index ALTER workspace SET STATISTICS 0, ALTER keys SET STATISTICS 0, ALTER counts SET STATISTICS 0;

-- The words of a question in each of the languages that most chunks of the workspace are in. Stop words of the
-- question's own language are left out for all others, where they are rare and would have the greatest weight.
CREATE FUNCTION question_words(question text) RETURNS TABLE (word bigint) LANGUAGE plpgsql STABLE AS $$
DECLARE
    own constant text := language_of(question, NULL);
    stem constant regdictionary := (own || '_stem')::regdictionary;
    told constant text := (SELECT string_agg(p.token, ' ') FROM ts_parse('default', question) p
                           WHERE ts_lexize(stem, lower(p.token)) IS DISTINCT FROM '{}');
BEGIN
    RETURN QUERY SELECT DISTINCT w.word FROM (
        SELECT t.language FROM text_language t WHERE t.workspace = current_setting('trueweave.workspace')::int
        ORDER BY t.chunks DESC, t.language LIMIT 16) AS spoken
    CROSS JOIN LATERAL words_of(CASE WHEN spoken.language = own THEN question ELSE told END, spoken.language) w;
END $$;

-- The odds that BM25 gives a word with this frequency in a chunk of this length, if chunks had a hundred words on
-- average, and the tier derived from them, in half-octaves.
CREATE FUNCTION odds_of(frequency float8, length float8) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
    SELECT frequency / (0.3 + 0.009 * length)
$$;
CREATE FUNCTION tier_of(odds float8) RETURNS int LANGUAGE sql IMMUTABLE AS $$
    SELECT greatest(0, least(15, round(8 + 2 * ln(odds) / ln(2::float8))))::int
$$;

-- Keys with their weights as a vector, so that one product tells approximately how well a chunk matches. There are few
-- positions, so two words may share one.
CREATE FUNCTION sketch_of(keys bigint[], weights float8[]) RETURNS public.sparsevec LANGUAGE sql IMMUTABLE AS $$
    SELECT ('{' || coalesce(string_agg(place || ':' || weight, ','), '') || '}/536870912')::public.sparsevec
    FROM (SELECT (key >> 4 & 536870911) + 1 AS place, max(weight)::float4 AS weight
          FROM unnest(keys, weights) AS u (key, weight) GROUP BY place LIMIT 16000) AS places
$$;

-- Distinguishes the keys of the current workspace from those of all others.
CREATE FUNCTION workspace_salt() RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT hashint4extended(current_setting('trueweave.workspace')::int, 0) & ~15
$$;

-- The rows of the text index for chunks of this workspace.
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
        -- A chunk with this id has the same language in all versions of a document.
        CROSS JOIN LATERAL (SELECT text, document FROM chunk WHERE workspace = here AND id = u.id LIMIT 1) c
        CROSS JOIN LATERAL (SELECT language_of(c.text, (SELECT d.metadata ->> 'language' FROM document d
                                                        WHERE d.workspace = here AND d.id = c.document)) AS language OFFSET 0) l  -- once per chunk, not per word
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

-- Adds chunks that have just become visible to the search, and removes others. Counts are locked in the order of their
-- words, so that two settlers wait for each other instead of deadlocking.
CREATE FUNCTION index_text(coming uuid[], going uuid[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, pg_temp SET enable_seqscan = off AS $$
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

-- For a bulk load: adds chunks without counting them, by many processes at once. `count_text` must follow.
CREATE FUNCTION add_text(coming uuid[]) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
BEGIN
    INSERT INTO bm25_index (workspace, chunk, length, keys, counts, sketch, language)
    SELECT current_setting('trueweave.workspace')::int, chunk, length, keys, counts, sketch, language FROM text_rows(coming)
    ON CONFLICT DO NOTHING;
END $$;

-- Counts the words of all chunks from scratch.
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

-- The chunks with the best BM25 scores, as Lucene computes them, best first. With a scope, all chunks of these
-- documents are scored. Without one, only those in the most informative posting lists are, rare words and high tiers
-- first, up to a budget, so that no workspace is too large. All of them are scored by their sketch, and the best of
-- them exactly, with all words of the question or its 64 rarest. The plans are fixed, because statistics know nothing
-- about a workspace.
CREATE FUNCTION search_text(question text, most int, k1 float8, b float8, scope uuid[])
RETURNS TABLE (chunk uuid, score float8) LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = trueweave, public, pg_temp SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    here constant int := current_setting('trueweave.workspace')::int;
    salt constant bigint := workspace_salt();
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
    SELECT array_agg(word # salt), array_agg(ln(1 + (total - holders + 0.5) / (holders + 0.5))) INTO words, weights
    FROM (SELECT a.word, w.holders FROM question_words(question) a CROSS JOIN LATERAL (
              SELECT sum(chunks)::float8 AS holders FROM word WHERE workspace = here AND word = a.word) w
          WHERE w.holders > 0 ORDER BY w.holders, a.word LIMIT 64) AS known;
    asked := sketch_of(words, weights);

    FOR posting IN
        SELECT a.key | w.tier AS key, w.chunks FROM unnest(words, weights) AS a (key, weight)
        CROSS JOIN LATERAL (SELECT tier, chunks FROM word WHERE workspace = here AND word = a.key # salt OFFSET 0) w
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
        SELECT f.* FROM (SELECT * FROM bm25_index WHERE keys && chosen OFFSET 0) f WHERE workspace = here
        UNION ALL
        (SELECT f.* FROM (SELECT * FROM bm25_index WHERE keys && next OFFSET 0) f
         WHERE workspace = here AND NOT keys && chosen LIMIT greatest(0, budget / 2 - used))
        UNION ALL
        SELECT f.* FROM (
            SELECT DISTINCT c.id FROM unnest(scope) AS d (id)
            CROSS JOIN LATERAL (SELECT id FROM chunk WHERE workspace = here AND document = d.id OFFSET 0) c) AS inside
        CROSS JOIN LATERAL (SELECT * FROM bm25_index WHERE workspace = here AND chunk = inside.id OFFSET 0) f
    ), likely AS (
        SELECT chunk, keys, counts, k1 * (1 - b + b * length / average) AS norm
        FROM found ORDER BY sketch <#> asked, chunk LIMIT 100 + 2 * most
    )
    SELECT l.chunk, s.score FROM likely l CROSS JOIN LATERAL (
        -- A key is found in the ascending keys of a chunk by its sort position, which is that of its word if the chunk
        -- has it.
        SELECT sum(weight * frequency / (frequency + l.norm)) AS score
        FROM (SELECT weight, l.counts[width_bucket(key | 15, l.keys)]::float8 AS frequency
              FROM unnest(words, weights) AS a (key, weight)
              WHERE l.keys[width_bucket(key | 15, l.keys)] >= key) AS said) s
    WHERE s.score > 0 ORDER BY s.score DESC, l.chunk LIMIT most;
END $$;

-- Removes the current workspace from the search. The working role itself deletes the counts.
CREATE FUNCTION clear_text() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, pg_temp SET enable_seqscan = off AS $$
BEGIN
    DELETE FROM bm25_index WHERE workspace = current_setting('trueweave.workspace')::int;
END $$;

-- The words of each chunk of the current workspace, in a form that is the same in every workspace.
CREATE FUNCTION text_lines() RETURNS TABLE (key text, line text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
BEGIN
    RETURN QUERY
    SELECT l.chunk::text, l.length || ' ' || coalesce(sum(hashint8extended(u.key # workspace_salt(), u.frequency)), 0) || ' ' || l.language
    FROM bm25_index l LEFT JOIN LATERAL unnest(l.keys, l.counts) AS u (key, frequency) ON true
    WHERE l.workspace = current_setting('trueweave.workspace')::int GROUP BY l.workspace, l.chunk;
END $$;

-- The number of words of each of these chunks, and which words of the question it contains: for each word its share of
-- their total weight (rare words weigh more), or 0 if the chunk does not contain it.
CREATE FUNCTION term_coverage(question text, chunks uuid[]) RETURNS TABLE (chunk uuid, words int, shares float8[])
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = trueweave, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    here constant int := current_setting('trueweave.workspace')::int;
    salt constant bigint := workspace_salt();
    total float8;
    asked bigint[];
    weights float8[];
    whole float8;
BEGIN
    SELECT c.chunks INTO total FROM corpus c WHERE c.workspace = here;
    SELECT array_agg(known.word # salt), array_agg(known.weight), sum(known.weight) INTO asked, weights, whole
    FROM (SELECT a.word, ln(1 + total / (1 + w.holders)) AS weight FROM question_words(question) a CROSS JOIN LATERAL (
              SELECT sum(w.chunks)::float8 AS holders FROM word w WHERE w.workspace = here AND w.word = a.word) w
          WHERE w.holders > 0 ORDER BY w.holders, a.word LIMIT 64) AS known;
    RETURN QUERY
    SELECT l.chunk, cardinality(l.keys), ARRAY(
        SELECT CASE WHEN l.keys[width_bucket(a.key | 15, l.keys)] >= a.key THEN a.weight / whole ELSE 0 END
        FROM unnest(asked, weights) WITH ORDINALITY AS a (key, weight, n) ORDER BY a.n)
    FROM unnest(chunks) AS u (id)
    CROSS JOIN LATERAL (SELECT * FROM bm25_index x WHERE x.workspace = here AND x.chunk = u.id OFFSET 0) AS l;
END $$;

REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA trueweave FROM PUBLIC;
GRANT EXECUTE ON FUNCTION index_text, add_text, count_text, search_text, clear_text, text_lines, term_coverage TO trueweave_app;
