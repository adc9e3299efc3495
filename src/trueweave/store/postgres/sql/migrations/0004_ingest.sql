-- breaking
-- Ingest: what was handed in and is not in the record yet, what models replied, and what that cost.

CREATE TABLE source (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    uri       text NOT NULL,
    id        uuid NOT NULL,
    title     text NOT NULL,
    text      text NOT NULL,
    metadata  jsonb NOT NULL,
    places    jsonb NOT NULL,
    recipe    jsonb NOT NULL,
    starts    int NOT NULL DEFAULT 0,
    failures  int NOT NULL DEFAULT 0,
    error     text,
    failed    boolean NOT NULL DEFAULT false,
    added     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace, uri)
);
COMMENT ON TABLE source IS 'A document that was handed in, with the recipe to work it by. It leaves in the transaction that brings it into the record, or is set aside with its error.';
CREATE INDEX source_failed ON source (workspace, uri) WHERE failed;

CREATE TABLE reply (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    key       uuid NOT NULL,
    model     text NOT NULL,
    payload   bytea,
    owner     int NOT NULL,
    made      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace, key)
);
COMMENT ON TABLE reply IS 'What a model replied, by a hash of all that it was asked: asked and paid for once. Without payload: its owner is asking now.';

CREATE TABLE purse (
    workspace   int NOT NULL DEFAULT current_setting('trueweave.workspace')::int PRIMARY KEY,
    price_cap   numeric,
    token_cap   bigint,
    price       numeric NOT NULL DEFAULT 0,
    tokens      bigint NOT NULL DEFAULT 0,
    held_price  numeric NOT NULL DEFAULT 0,
    held_tokens bigint NOT NULL DEFAULT 0
);
COMMENT ON TABLE purse IS 'What a workspace has spent, what calls under way may cost at most, and the caps that both together never exceed.';

CREATE TABLE spend (
    workspace  int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    id         uuid NOT NULL,
    stage      text NOT NULL,
    document   text NOT NULL,
    model      text NOT NULL,
    tokens_in  bigint NOT NULL,
    tokens_out bigint NOT NULL,
    price      numeric,
    state      text NOT NULL CHECK (state IN ('open', 'done', 'lost')),
    owner      int NOT NULL,
    at         timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace, id)
);
COMMENT ON TABLE spend IS 'One model call. Open: under way, with the most that it may cost. Done: what it did cost. Lost: cut off, and it may have cost as much as that. A price that is not known is null.';
CREATE INDEX spend_open ON spend (workspace, owner) WHERE state = 'open';

CREATE TABLE summary (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    hash      uuid NOT NULL,
    kind      text NOT NULL CHECK (kind IN ('entity', 'relation')),
    id        uuid NOT NULL,
    text      text,
    PRIMARY KEY (workspace, hash)
);
COMMENT ON TABLE summary IS 'A long description in short, by the hash of the text that it sums up. Without text: wanted.';
CREATE INDEX summary_wanted ON summary (workspace, hash) WHERE text IS NULL;

SELECT guard(t::regclass) FROM unnest(ARRAY['source', 'reply', 'purse', 'spend', 'summary']) t;

-- How fast a model may be called is agreed with its provider, not with one tenant, so this table is for all.
CREATE TABLE pace (
    model    text PRIMARY KEY,
    requests timestamptz NOT NULL,
    tokens   timestamptz NOT NULL
);
COMMENT ON TABLE pace IS 'When the next call to a model may be made by each of its limits, given all calls that were promised a time so far.';
GRANT SELECT, INSERT, UPDATE ON pace TO trueweave_app;

-- Whether the process that holds this mark still has its connection. Nobody has to wait for a clock to find out.
CREATE FUNCTION present(owner int) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM pg_locks l
        WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.classid = 1414682947 AND l.objid = owner::oid
        AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()))
$$;
