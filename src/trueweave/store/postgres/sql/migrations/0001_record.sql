-- breaking
-- The record: what was said. Append and delete only. Everything else is derived from it.
--
-- Primary keys begin with the workspace, all other indexes end with it, so that a look-up by key has one index that fits.

CREATE EXTENSION IF NOT EXISTS vector SCHEMA public;

-- The role that Trueweave works as: it owns nothing, so row-level security binds it.
-- Roles belong to the cluster: another database may have made it.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'trueweave_app') THEN
        CREATE ROLE trueweave_app NOLOGIN;
    END IF;
    IF NOT pg_has_role('trueweave_app', 'MEMBER') THEN
        GRANT trueweave_app TO CURRENT_USER;
    END IF;
END $$;
GRANT USAGE ON SCHEMA trueweave TO trueweave_app;

-- Ties a table to the workspace of the transaction: no row of another is seen, changed or written.
-- Without a workspace the setting is missing or empty, and every statement fails.
CREATE FUNCTION guard(guarded regclass, tenant text DEFAULT 'workspace') RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', guarded);
    EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', guarded);
    EXECUTE format('CREATE POLICY workspace ON %s USING (%I = current_setting(''trueweave.workspace'')::int)', guarded, tenant);
    -- Statistics would tell the planner that a workspace they have not seen yet has one row, however many it has got.
    -- Without them it takes a share of the table's present size, and a look-up by key is always the cheaper one.
    EXECUTE format('ALTER TABLE %s ALTER %I SET STATISTICS 0', guarded, tenant);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO trueweave_app', guarded);
END $$;

CREATE TABLE workspace (
    id          int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name        text NOT NULL UNIQUE,
    mode        text NOT NULL DEFAULT 'fuzzy' CHECK (mode IN ('fuzzy', 'exact', 'off')),
    threshold   smallint NOT NULL DEFAULT 90 CHECK (threshold BETWEEN 70 AND 100),
    same        text NOT NULL DEFAULT 'name_and_type' CHECK (same IN ('name_and_type', 'name')),
    space       int,
    created     timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE workspace IS 'A tenant: what makes two names one entity for it, and the embedding space that answers.';

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
    wanted       boolean NOT NULL,
    shown        boolean NOT NULL,
    added        timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace, id)
);
COMMENT ON TABLE document IS 'One version of one document. A new version is wanted and not yet shown, the old one shown and no longer wanted, until both are settled together. Source is the hash of what it was made from.';
CREATE UNIQUE INDEX document_uri ON document (uri, workspace) WHERE wanted;
CREATE INDEX document_versions ON document (uri, workspace);
CREATE INDEX document_due ON document (workspace, uri) WHERE wanted <> shown;

-- Where a character of a document is: the page, and the headings above it. See `Place` for the form.
CREATE FUNCTION place_at(places jsonb, at int) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    WITH before AS (
        SELECT (p ->> 0)::int AS start, p ->> 1 AS kind, p ->> 2 AS label, (p ->> 3)::int AS level, n
        FROM jsonb_array_elements(places) WITH ORDINALITY AS e (p, n) WHERE (p ->> 0)::int <= at)
    SELECT coalesce((SELECT label FROM before WHERE kind = 'page' ORDER BY start DESC, n DESC LIMIT 1), '') || ARRAY(
        SELECT label FROM (
            SELECT *, min(level) OVER (ORDER BY start DESC, n DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS nearer
            FROM before WHERE kind = 'heading') AS heading
        WHERE nearer IS NULL OR level < nearer ORDER BY start, n)
$$;

-- A document's metadata as keys to find it by: one for each value, and for each value in a list, under its path.
CREATE FUNCTION facets(metadata jsonb) RETURNS SETOF uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    WITH RECURSIVE part (path, value) AS (
        SELECT key, value FROM jsonb_each(metadata)
        UNION ALL
        SELECT inner_part.path, inner_part.value FROM part CROSS JOIN LATERAL (
            SELECT part.path || '.' || key, value
            FROM jsonb_each(CASE jsonb_typeof(part.value) WHEN 'object' THEN part.value ELSE '{}' END) AS o (key, value)
            UNION ALL
            SELECT part.path, value
            FROM jsonb_array_elements(CASE jsonb_typeof(part.value) WHEN 'array' THEN part.value ELSE '[]' END) AS a (value)
        ) AS inner_part (path, value))
    SELECT DISTINCT md5(path || E'\x01' || jsonb_typeof(value) || E'\x01' || CASE jsonb_typeof(value)
        WHEN 'number' THEN trim_scale(value::numeric)::text ELSE value #>> '{}' END)::uuid
    FROM part WHERE jsonb_typeof(value) IN ('string', 'number', 'boolean')
$$;

CREATE TABLE facet (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    document  uuid NOT NULL,
    facet     uuid NOT NULL,
    PRIMARY KEY (workspace, document, facet)
);
COMMENT ON TABLE facet IS 'What a version of a document can be filtered by.';
CREATE INDEX facet_documents ON facet (facet, document, workspace);

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
COMMENT ON TABLE chunk IS 'A span of a document. Its id is the same in every version that has that text.';
CREATE INDEX chunk_id ON chunk (id, workspace);

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
COMMENT ON TABLE mention IS 'One entity as one chunk speaks of it. Spans are pairs of offsets within the chunk.';
-- A name that is mentioned everywhere is followed to where it is emphasised most.
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
    strength    smallint NOT NULL CHECK (strength BETWEEN 1 AND 10),
    emphasis    smallint NOT NULL CHECK (emphasis BETWEEN 1 AND 9),
    spans       int[] NOT NULL,
    PRIMARY KEY (workspace, document, chunk, n)
);
COMMENT ON TABLE link IS 'One relation as one chunk speaks of it, between two names that the chunk mentions.';
CREATE INDEX link_ends ON link (source, target, strength DESC, chunk, workspace);

CREATE TABLE rule (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    id        uuid NOT NULL,
    ordinal   bigint GENERATED ALWAYS AS IDENTITY,
    kind      text NOT NULL CHECK (kind IN ('merge', 'split', 'rename')),
    label     text NOT NULL,
    made      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace, id)
);
COMMENT ON TABLE rule IS 'A person''s merge, split or rename; a later one outweighs an earlier one.';

CREATE TABLE rule_name (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    rule      uuid NOT NULL,
    name      uuid NOT NULL,
    written   text NOT NULL,
    type      text NOT NULL,
    PRIMARY KEY (workspace, name, rule)
);
COMMENT ON TABLE rule_name IS 'The names that a rule speaks of, whether or not a document mentions them now.';
CREATE INDEX rule_name_rule ON rule_name (rule, workspace);

SELECT guard('workspace', 'id');
SELECT guard(t::regclass) FROM unnest(ARRAY[
    'document', 'facet', 'chunk', 'mention', 'link', 'rule', 'rule_name']) t;
REVOKE INSERT, DELETE ON workspace FROM trueweave_app;

-- A name is all that a caller needs to enter a workspace, so this one look-up crosses tenants. The owner may see all of
-- this table (it is not FORCEd), the working role only its own row.
ALTER TABLE workspace NO FORCE ROW LEVEL SECURITY;
CREATE FUNCTION find_workspace(wanted text, make boolean) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
BEGIN
    IF make THEN
        INSERT INTO workspace (name) VALUES (wanted) ON CONFLICT (name) DO NOTHING;
    END IF;
    RETURN (SELECT id FROM workspace WHERE name = wanted);
END $$;
