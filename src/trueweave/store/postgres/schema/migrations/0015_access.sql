-- breaking
-- Access through the server: keys, daily usage of callers, the log of writes and refused requests, and responses stored
-- for requests that are sent again. See docs/adr/0031-the-server.md.

CREATE TABLE api_key (
    prefix      text PRIMARY KEY,
    secret_hash bytea NOT NULL CHECK (length(secret_hash) = 32),
    name        text NOT NULL,
    scope       text NOT NULL CHECK (scope IN ('read', 'write', 'admin')),
    workspaces  int[],
    created     timestamptz NOT NULL DEFAULT now(),
    expires     timestamptz,
    revoked     timestamptz,
    last_used   date,
    max_tokens_per_day bigint CHECK (max_tokens_per_day >= 0),
    max_spend_per_day  numeric CHECK (max_spend_per_day >= 0),
    makers      text[] NOT NULL DEFAULT '{}'
);
COMMENT ON TABLE api_key IS 'API keys of the server. They belong to no workspace, because a request is authenticated before it enters one.';
COMMENT ON COLUMN api_key.secret_hash IS 'SHA-256 of the secret. A slow hash would add nothing: the secret has 256 random bits and cannot be guessed.';
COMMENT ON COLUMN api_key.workspaces IS 'The workspaces it is valid for, by id, so that it does not extend to a workspace created later under the name of a dropped one. NULL means all.';
COMMENT ON COLUMN api_key.last_used IS 'The last day on which it was used.';
COMMENT ON COLUMN api_key.max_tokens_per_day IS 'Model tokens, in and out, that requests with this key may use per day (UTC). NULL: the server''s default applies.';
COMMENT ON COLUMN api_key.max_spend_per_day IS 'The most that requests with this key may spend per day (UTC). NULL: the server''s default applies.';
COMMENT ON COLUMN api_key.makers IS 'The callers whose limits it shares, first maker first: prefixes of keys, or issuer and subject of tokens. Empty if it was created on the command line, or by an administrator of all workspaces without limits.';
GRANT SELECT, INSERT, UPDATE ON api_key TO trueweave_app;

CREATE TABLE caller_usage (
    caller text NOT NULL,
    day    date NOT NULL,
    tokens bigint NOT NULL,
    price  numeric NOT NULL,
    PRIMARY KEY (caller, day)
);
COMMENT ON TABLE caller_usage IS 'Model usage by callers with a daily limit, per day (UTC).';
COMMENT ON COLUMN caller_usage.caller IS 'The prefix of a key, or issuer and subject of a token.';
CREATE INDEX caller_usage_day ON caller_usage (day);
GRANT SELECT, INSERT, UPDATE, DELETE ON caller_usage TO trueweave_app;

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
COMMENT ON TABLE audit_log IS 'Writes, and refused requests, of the server: who, what and when. Routes are stored as patterns, so that no document names are kept here.';
COMMENT ON COLUMN audit_log.caller IS 'The prefix of a key, or issuer and subject of a token; empty for a request without valid credentials.';
CREATE INDEX audit_log_at ON audit_log (at);
GRANT SELECT, INSERT, DELETE ON audit_log TO trueweave_app;

CREATE TABLE kept_response (
    workspace    int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    caller       text NOT NULL,
    key_hash     bytea NOT NULL,
    request_hash bytea NOT NULL,
    body         jsonb,
    made         timestamptz NOT NULL DEFAULT now(),
    owner        int,
    PRIMARY KEY (workspace, caller, key_hash)
);
COMMENT ON TABLE kept_response IS 'Responses to writes with an Idempotency-Key, kept for a day. NULL body: the request is running.';
COMMENT ON COLUMN kept_response.owner IS 'The process running the request; NULL once it has been answered, or if that process was not registered here.';
SELECT guard('kept_response');
