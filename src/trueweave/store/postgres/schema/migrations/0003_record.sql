-- breaking
-- The record: what documents say, as extracted. Everything else is derived from it and from rules (0004).

CREATE TABLE document (
    workspace    int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    id           uuid NOT NULL,
    uri          text NOT NULL,
    title        text NOT NULL,
    content_hash uuid NOT NULL,
    metadata     jsonb NOT NULL,
    places       jsonb NOT NULL,
    source       uuid,
    notes        text[] NOT NULL,
    size         int NOT NULL,
    current      boolean NOT NULL,
    visible      boolean NOT NULL,
    added        timestamptz NOT NULL DEFAULT now(),
    recipe       uuid,
    PRIMARY KEY (workspace, id)
);
COMMENT ON TABLE document IS 'One version of one document. A new version is current but not yet visible, and the old one visible but no longer current, until indexing switches both at once. source is the hash of what the text was made from.';
COMMENT ON COLUMN document.recipe IS 'How it was processed. NULL if its entities were supplied with it.';
CREATE UNIQUE INDEX document_uri ON document (uri, workspace) WHERE current;
CREATE INDEX document_versions ON document (uri, workspace);
CREATE INDEX document_due ON document (workspace, uri) WHERE current <> visible;
-- Documents with identical texts are reported.
CREATE INDEX document_content ON document (content_hash, added, workspace) WHERE current;
-- The latest documents are listed first, and those of the last minute are counted. The workspace is not the first column, so
-- that look-ups by other keys do not read this index for all documents of a workspace.
CREATE INDEX document_added ON document (added, workspace) WHERE current;

CREATE TABLE recipe (
    workspace   int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    id          uuid NOT NULL,
    recipe      jsonb NOT NULL,
    fingerprint text NOT NULL,
    PRIMARY KEY (workspace, id)
);
COMMENT ON TABLE recipe IS 'How documents were processed: the settings, and the version of the extractor and its prompts.';

-- Gives a quote in the middle of a chunk its own page and heading. See `Place` for the format.
CREATE FUNCTION places_of(places jsonb, first int, behind int) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    WITH place AS (
        SELECT p, (p ->> 0)::int AS start, p ->> 1 AS kind, (p ->> 3)::int AS level, n
        FROM jsonb_array_elements(places) WITH ORDINALITY AS e (p, n) WHERE (p ->> 0)::int < behind),
    over AS (
        SELECT *, min(level) OVER (ORDER BY start DESC, n DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS nearer
        FROM place WHERE kind = 'heading' AND start <= first)
    SELECT coalesce(jsonb_agg(p ORDER BY start, n), '[]') FROM (
        SELECT p, start, n FROM place WHERE start > first
        UNION ALL
        SELECT p, start, n FROM over WHERE nearer IS NULL OR level < nearer
        UNION ALL
        (SELECT p, start, n FROM place WHERE kind = 'page' AND start <= first ORDER BY start DESC, n DESC LIMIT 1)) AS known
$$;
COMMENT ON FUNCTION places_of IS 'The page and headings in force where a span of a document begins, and all that begin within it, in order.';

CREATE TABLE chunk (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    document  uuid NOT NULL,
    id        uuid NOT NULL,
    n         int NOT NULL,
    start     int NOT NULL,
    tokens    int NOT NULL,
    text      text NOT NULL,
    text_hash uuid NOT NULL,
    PRIMARY KEY (workspace, document, id)
);
COMMENT ON TABLE chunk IS 'A span of a document. Its id is the same in every version that contains the same text.';
CREATE INDEX chunk_id ON chunk (id, workspace);
CREATE INDEX chunk_text ON chunk (text_hash, workspace);
-- Chunks with equal texts are shown once.
CREATE INDEX chunk_copies ON chunk (text_hash, id, workspace);

CREATE TABLE mention (
    workspace   int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    document    uuid NOT NULL,
    chunk       uuid NOT NULL,
    n           int NOT NULL,
    name        uuid NOT NULL,
    written     text NOT NULL,
    type        text NOT NULL,
    description text NOT NULL,
    description_hash uuid NOT NULL,
    emphasis    smallint NOT NULL CHECK (emphasis BETWEEN 1 AND 9),
    spans       int[] NOT NULL,
    PRIMARY KEY (workspace, document, chunk, n)
);
COMMENT ON TABLE mention IS 'One entity as described by one chunk. spans holds pairs of offsets within the chunk.';
-- For a name that is mentioned everywhere, the mentions with the highest emphasis are followed.
CREATE INDEX mention_name ON mention (name, emphasis DESC, chunk, workspace);

CREATE TABLE link (
    workspace   int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    document    uuid NOT NULL,
    chunk       uuid NOT NULL,
    n           int NOT NULL,
    source      uuid NOT NULL,
    target      uuid NOT NULL,
    description text NOT NULL,
    description_hash uuid NOT NULL,
    keywords    text[] NOT NULL,
    strength    bigint NOT NULL CHECK (strength > 0),
    emphasis    smallint NOT NULL CHECK (emphasis BETWEEN 1 AND 9),
    spans       int[] NOT NULL,
    PRIMARY KEY (workspace, document, chunk, n)
);
COMMENT ON TABLE link IS 'One relation as stated by one chunk, between two names that the chunk mentions.';
COMMENT ON COLUMN link.strength IS 'In thousandths, so that sums are exact.';
CREATE INDEX link_ends ON link (source, target, strength DESC, chunk, workspace);

-- One row per statement that stores or deletes chunks, because concurrent statements would wait for a single row. The
-- rows are merged now and then.
CREATE TABLE stored_bytes (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    id        bigint GENERATED ALWAYS AS IDENTITY,
    bytes     bigint NOT NULL,
    PRIMARY KEY (workspace, id)
);
COMMENT ON TABLE stored_bytes IS 'Bytes of text added by chunks, and removed (negative). The sum is the current size.';

CREATE FUNCTION count_bytes_that_came() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO trueweave.stored_bytes (workspace, bytes)
    SELECT workspace, sum(octet_length(text)) FROM came GROUP BY workspace;
    RETURN NULL;
END $$;

CREATE FUNCTION count_bytes_that_went() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO trueweave.stored_bytes (workspace, bytes)
    SELECT workspace, -sum(octet_length(text)) FROM gone GROUP BY workspace;
    RETURN NULL;
END $$;

CREATE TRIGGER count_bytes_that_came AFTER INSERT ON chunk REFERENCING NEW TABLE AS came
    FOR EACH STATEMENT EXECUTE FUNCTION count_bytes_that_came();
CREATE TRIGGER count_bytes_that_went AFTER DELETE ON chunk REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION count_bytes_that_went();

-- What must be known about texts to erase them, or to keep them no longer than necessary.
CREATE TABLE stale_text (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    hash      uuid NOT NULL,
    since     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace, hash)
);
COMMENT ON TABLE stale_text IS 'Texts that a chunk, entity or relation had and no longer has. What models made of them is kept for a while, in case they return.';

CREATE TABLE erasure (
    workspace        int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    id               bigint GENERATED ALWAYS AS IDENTITY,
    uri              text NOT NULL,
    names            uuid[] NOT NULL,
    entities         uuid[] NOT NULL,
    entity_hashes    uuid[] NOT NULL,
    relations        uuid[] NOT NULL,
    relation_hashes  uuid[] NOT NULL,
    communities      uuid[] NOT NULL DEFAULT '{}',
    relation_sources uuid[] NOT NULL DEFAULT '{}',
    relation_targets uuid[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (workspace, id)
);
COMMENT ON TABLE erasure IS 'Removed documents that may have left traces elsewhere: the entities and relations they mentioned, and hashes of the descriptions at that time.';

SELECT guard(t::regclass) FROM unnest(ARRAY[
    'document', 'recipe', 'chunk', 'mention', 'link', 'stored_bytes', 'stale_text', 'erasure']) t;
GRANT SELECT ON document, chunk, mention, link TO trueweave_reader;
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA trueweave FROM PUBLIC;
GRANT EXECUTE ON FUNCTION places_of TO trueweave_app;
