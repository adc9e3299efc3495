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
COMMENT ON TABLE api_key IS 'Keys of the server. They belong to no workspace: a request is identified before it enters one.';
COMMENT ON COLUMN api_key.secret_hash IS 'SHA-256 of the secret, which has 256 random bits: there is nothing to be guessed that a slow hash would protect.';
COMMENT ON COLUMN api_key.workspaces IS 'The workspaces that it is for, by number, so that one that is made later under the name of a dropped one is not among them; NULL is all.';
COMMENT ON COLUMN api_key.last_used IS 'The last day on which it was used.';
COMMENT ON COLUMN api_key.max_tokens_per_day IS 'Tokens to and from models that requests with it may take in a day (UTC); NULL is as the server says for all.';
COMMENT ON COLUMN api_key.max_spend_per_day IS 'Likewise, in money.';
COMMENT ON COLUMN api_key.makers IS 'The callers whose limits it shares, first maker first: prefixes of keys, or issuer and subject of tokens. Empty where the command line or an administrator of all workspaces without limits made it.';
GRANT SELECT, INSERT, UPDATE ON api_key TO trueweave_app;

CREATE TABLE caller_usage (
    caller text NOT NULL,
    day    date NOT NULL,
    tokens bigint NOT NULL,
    price  numeric NOT NULL,
    PRIMARY KEY (caller, day)
);
COMMENT ON TABLE caller_usage IS 'What models took for requests of callers who have a daily limit, by day (UTC).';
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
    owner        int,
    PRIMARY KEY (workspace, caller, key_hash)
);
COMMENT ON TABLE kept_response IS 'What writes with an Idempotency-Key were answered, for a day; no body while one is under way.';
COMMENT ON COLUMN kept_response.owner IS 'The process that carries the request out; none when it was answered, or when that process was not registered here.';
SELECT guard('kept_response');
