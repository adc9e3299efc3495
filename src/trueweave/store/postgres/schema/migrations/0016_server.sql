-- additive
-- What the server needs: keys, the log of writes and of refused access, responses kept for requests that are sent again, and
-- documents that were handed in together. See docs/adr/0031-the-server.md.

CREATE TABLE api_key (
    prefix      text PRIMARY KEY,
    secret_hash bytea NOT NULL CHECK (length(secret_hash) = 32),
    name        text NOT NULL,
    scope       text NOT NULL CHECK (scope IN ('read', 'write', 'admin')),
    workspaces  int[],
    created     timestamptz NOT NULL DEFAULT now(),
    expires     timestamptz,
    revoked     timestamptz,
    last_used   date
);
COMMENT ON TABLE api_key IS 'Keys of the server. They belong to no workspace: a request is identified before it enters one.';
COMMENT ON COLUMN api_key.secret_hash IS 'SHA-256 of the secret, which has 256 random bits: there is nothing to be guessed that a slow hash would protect.';
COMMENT ON COLUMN api_key.workspaces IS 'The workspaces that it is for, by number, so that one that is made later under the name of a dropped one is not among them; NULL is all.';
COMMENT ON COLUMN api_key.last_used IS 'The last day on which it was used.';
GRANT SELECT, INSERT, UPDATE ON api_key TO trueweave_app;

CREATE TABLE audit_log (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at        timestamptz NOT NULL DEFAULT now(),
    request   text NOT NULL,
    caller    text NOT NULL,
    method    text NOT NULL,
    route     text NOT NULL,
    workspace int,
    status    smallint NOT NULL
);
COMMENT ON TABLE audit_log IS 'Writes and refused access of the server: who, what and when. Routes are patterns, so that no name of a document is kept here.';
COMMENT ON COLUMN audit_log.caller IS 'The prefix of the key; empty for a request without a valid one.';
CREATE INDEX audit_log_at ON audit_log (at);
GRANT SELECT, INSERT, DELETE ON audit_log TO trueweave_app;

CREATE TABLE kept_response (
    workspace    int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    caller       text NOT NULL,
    key_hash     bytea NOT NULL,
    request_hash bytea NOT NULL,
    body         jsonb,
    made         timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace, caller, key_hash)
);
COMMENT ON TABLE kept_response IS 'What writes with an Idempotency-Key were answered, for a day; no body while one is under way.';
SELECT guard('kept_response');

CREATE TABLE ingest_job (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    id        uuid NOT NULL,
    made      timestamptz NOT NULL DEFAULT now(),
    documents int NOT NULL DEFAULT 0,
    refused   text[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (workspace, id)
);
COMMENT ON TABLE ingest_job IS 'Documents that were handed in together, for whoever wants to know how far they are.';
COMMENT ON COLUMN ingest_job.refused IS 'Why files and rows of files could not be used, the first of them.';
CREATE INDEX ingest_job_made ON ingest_job (made DESC, id DESC, workspace);
SELECT guard('ingest_job');

CREATE TABLE ingest_job_document (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    job       uuid NOT NULL,
    uri       text NOT NULL,
    PRIMARY KEY (workspace, job, uri)
);
COMMENT ON TABLE ingest_job_document IS 'The documents of an ingest_job. A row goes with its document.';
CREATE INDEX ingest_job_document_uri ON ingest_job_document (uri, workspace);
SELECT guard('ingest_job_document');

-- Workspaces by name, for a caller who may see them: all, or those of these numbers.
CREATE FUNCTION list_workspaces(only_ids int[], after_name text, most int, OUT id int, OUT name text, OUT created timestamptz)
    RETURNS SETOF record LANGUAGE sql STABLE SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
    SELECT w.id, w.name, w.created FROM workspace w
    WHERE NOT w.dropped AND w.expires IS NULL AND (only_ids IS NULL OR w.id = ANY(only_ids)) AND w.name COLLATE "C" > after_name
    ORDER BY w.name COLLATE "C" LIMIT most
$$;
REVOKE EXECUTE ON FUNCTION list_workspaces FROM PUBLIC;
GRANT EXECUTE ON FUNCTION list_workspaces TO trueweave_app;
