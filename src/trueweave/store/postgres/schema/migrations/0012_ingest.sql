-- breaking
-- Ingestion: submitted documents, model replies and their cost, and failed work. See docs/adr/0008-ingest.md and
-- docs/adr/0009-paid-once.md.

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
    notes     text[] NOT NULL DEFAULT '{}',
    trace     text,
    PRIMARY KEY (workspace, uri)
);
COMMENT ON TABLE source IS 'A submitted document, with the recipe to process it by. It is deleted in the transaction that stores it in the record, or marked as failed with its error.';
COMMENT ON COLUMN source.notes IS 'Anything odd noticed while reading it. These become notes of the document.';
COMMENT ON COLUMN source.trace IS 'The traceparent of the request that submitted it, if tracing is on.';
CREATE INDEX source_failed ON source (workspace, uri) WHERE failed;

CREATE TABLE reply (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    key       uuid NOT NULL,
    model     text NOT NULL,
    payload   bytea,
    owner     int NOT NULL,
    made      timestamptz NOT NULL DEFAULT now(),
    stage     text NOT NULL DEFAULT '',
    document  text NOT NULL DEFAULT '',
    text_hash uuid,
    PRIMARY KEY (workspace, key)
);
COMMENT ON TABLE reply IS 'A model''s reply, by a hash of the whole request, so that the same request is made and paid for once. NULL payload: its owner is waiting for the reply.';
COMMENT ON COLUMN reply.text_hash IS 'The one text it was made from. NULL if it was made from several, or from a question.';
COMMENT ON COLUMN reply.document IS 'The uri of the document it was first requested for, if any.';
CREATE INDEX reply_text ON reply (text_hash, workspace) WHERE text_hash IS NOT NULL;
CREATE INDEX reply_document ON reply (document, workspace) WHERE document <> '';

CREATE TABLE budget (
    workspace   int NOT NULL DEFAULT current_setting('trueweave.workspace')::int PRIMARY KEY,
    price_cap   numeric,
    token_cap   bigint,
    price       numeric NOT NULL DEFAULT 0,
    tokens      bigint NOT NULL DEFAULT 0,
    held_price  numeric NOT NULL DEFAULT 0,
    held_tokens bigint NOT NULL DEFAULT 0,
    run_owner   int,
    run_price_cap numeric,
    run_token_cap bigint
);
COMMENT ON TABLE budget IS 'What a workspace has spent, the most that running calls can cost, and the caps that the two together never exceed.';
COMMENT ON COLUMN budget.run_owner IS 'The process of the run that has its own budget. The caps of the run apply while that process is alive.';

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
    calls      bigint NOT NULL DEFAULT 1,
    PRIMARY KEY (workspace, id)
);
COMMENT ON TABLE spend IS 'A model call. open: running, with the most it can cost. done: what it cost. lost: interrupted, and it may have cost that much. An unknown price is NULL.';
COMMENT ON COLUMN spend.calls IS 'The number of calls in this row: after some time, all calls of one day, stage and model are combined.';
CREATE INDEX spend_open ON spend (workspace, owner) WHERE state = 'open';
CREATE INDEX spend_at ON spend (workspace, at);
CREATE INDEX spend_document ON spend (document, workspace) WHERE document <> '';

-- Work that failed because of a bug in Trueweave: it is listed, skipped until somebody requests a retry, and blocks
-- nothing else. (A document that fails before it is stored keeps its own error: see source.)
CREATE TABLE failed_work (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    kind      text NOT NULL,
    subject   text NOT NULL,
    label     text NOT NULL,
    error     text NOT NULL,
    count     int NOT NULL DEFAULT 1,
    failed    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace, kind, subject)
);
COMMENT ON TABLE failed_work IS 'Work that failed because of a bug: its kind, its subject (the uri of a document to be indexed, or the hash of a description to be summarised or of the data for a report; empty for the kind as a whole), a label for people to read, and the latest error.';

CREATE TABLE ingest_job (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    id        uuid NOT NULL,
    made      timestamptz NOT NULL DEFAULT now(),
    documents int NOT NULL DEFAULT 0,
    refused   text[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (workspace, id)
);
COMMENT ON TABLE ingest_job IS 'Documents that were submitted together, for tracking their progress.';
COMMENT ON COLUMN ingest_job.refused IS 'Why files, or rows of files, could not be used: the first reasons.';
CREATE INDEX ingest_job_made ON ingest_job (made DESC, id DESC, workspace);

CREATE TABLE ingest_job_document (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    job       uuid NOT NULL,
    uri       text NOT NULL,
    PRIMARY KEY (workspace, job, uri)
);
COMMENT ON TABLE ingest_job_document IS 'The documents of an ingest_job. A row is deleted with its document.';
CREATE INDEX ingest_job_document_uri ON ingest_job_document (uri, workspace);

SELECT guard(t::regclass) FROM unnest(ARRAY[
    'source', 'reply', 'budget', 'spend', 'failed_work', 'ingest_job', 'ingest_job_document']) t;
