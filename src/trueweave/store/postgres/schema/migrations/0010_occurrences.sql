-- breaking
-- Occurrences: every position of a known name in a chunk, wherever the name was found. They depend only on the live
-- names and the visible texts, and are updated after settling from a list of changes. See docs/adr/0013-occurrences.md.

CREATE TABLE phrase (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    id        bigint NOT NULL,
    key       text NOT NULL,
    first     bigint NOT NULL,
    words     smallint NOT NULL,
    chunks    bigint NOT NULL,
    PRIMARY KEY (workspace, id)
);
COMMENT ON TABLE phrase IS 'The phrases of live names, and the number of chunks that contain each. first is its first word.';
CREATE INDEX phrase_first ON phrase (first, words DESC, workspace);

CREATE TABLE occurrence (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    chunk     uuid NOT NULL,
    phrase    bigint NOT NULL,
    count     smallint NOT NULL,
    inside    smallint NOT NULL,
    defines   boolean NOT NULL,
    PRIMARY KEY (workspace, chunk, phrase)
);
COMMENT ON TABLE occurrence IS 'How often a phrase occurs in a chunk, how often outside the heading (inside), and whether the chunk is about it (defines).';
CREATE INDEX occurrence_phrase ON occurrence (phrase, defines DESC, count DESC, chunk, workspace);

CREATE TABLE pending_link (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    position  bigint GENERATED ALWAYS AS IDENTITY,
    chunk     uuid,
    phrase    bigint,
    PRIMARY KEY (workspace, position)
);
COMMENT ON TABLE pending_link IS 'Chunks to be linked again, and phrases that may have become live or ceased to be. Rows are only inserted and deleted, so nobody waits.';

SELECT guard(t::regclass) FROM unnest(ARRAY['phrase', 'occurrence', 'pending_link']) t;

-- Inaccessible to the working role except through functions, like `bm25_index`.
CREATE TABLE chunk_words (
    workspace int NOT NULL,
    chunk     uuid NOT NULL,
    words     bigint[] NOT NULL,
    PRIMARY KEY (workspace, chunk)
);
COMMENT ON TABLE chunk_words IS 'The distinct words of each linked chunk, hashed as in phrases and mixed with the workspace.';
CREATE INDEX chunk_words_index ON chunk_words USING gin (words) WITH (fastupdate = off);
ALTER TABLE chunk_words ENABLE ROW LEVEL SECURITY;
ALTER TABLE chunk_words ALTER workspace SET STATISTICS 0, ALTER words SET STATISTICS 0;

-- Stores the words of chunks: `words` are those of the first chunk, then those of the second, and so on; `sizes` says
-- how many each has. A chunk without words is removed.
CREATE FUNCTION store_chunk_words(chunks uuid[], sizes bigint[], words bigint[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, pg_temp SET enable_seqscan = off AS $$
DECLARE
    here constant int := current_setting('trueweave.workspace')::int;
    salt constant bigint := workspace_salt();
BEGIN
    DELETE FROM chunk_words s WHERE s.workspace = here AND s.chunk = ANY(chunks);
    INSERT INTO chunk_words (workspace, chunk, words)
    SELECT here, c.id, ARRAY(SELECT w # salt FROM unnest(words[c.upto - c.size + 1:c.upto]) AS w)
    FROM (SELECT id, size, sum(size) OVER (ORDER BY n)::bigint AS upto
          FROM unnest(chunks, sizes) WITH ORDINALITY AS u (id, size, n)) AS c
    WHERE c.size > 0;
END $$;

-- The chunks that contain all words of a phrase, for each of several; `words` and `sizes` as above.
CREATE FUNCTION chunks_with(sizes bigint[], words bigint[]) RETURNS SETOF uuid
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = trueweave, pg_temp
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    here constant int := current_setting('trueweave.workspace')::int;
    salt constant bigint := workspace_salt();
    size bigint;
    upto bigint := 0;
    phrase_words bigint[];
BEGIN
    FOREACH size IN ARRAY sizes LOOP
        upto := upto + size;
        phrase_words := ARRAY(SELECT w # salt FROM unnest(words[upto - size + 1:upto]) AS w);
        RETURN QUERY SELECT f.chunk FROM (SELECT * FROM chunk_words s WHERE s.words @> phrase_words OFFSET 0) AS f
        WHERE f.workspace = here;
    END LOOP;
END $$;

CREATE FUNCTION clear_chunk_words() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, pg_temp SET enable_seqscan = off AS $$
BEGIN
    DELETE FROM chunk_words WHERE workspace = current_setting('trueweave.workspace')::int;
END $$;

REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA trueweave FROM PUBLIC;
GRANT EXECUTE ON FUNCTION store_chunk_words, chunks_with, clear_chunk_words TO trueweave_app;
