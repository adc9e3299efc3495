-- additive
-- Sessions of browsers. See docs/adr/0031-the-server.md.

CREATE TABLE web_session (
    secret_hash bytea PRIMARY KEY CHECK (length(secret_hash) = 32),
    key         text REFERENCES api_key (prefix),
    caller      text,
    name        text,
    scope       text CHECK (scope IN ('read', 'write', 'admin')),
    workspaces  int[],
    created     timestamptz NOT NULL DEFAULT now(),
    last_used   timestamptz NOT NULL DEFAULT now(),
    ends        timestamptz NOT NULL,
    CHECK (CASE WHEN key IS NULL THEN caller IS NOT NULL AND name IS NOT NULL AND scope IS NOT NULL
        ELSE caller IS NULL AND name IS NULL AND scope IS NULL AND workspaces IS NULL END)
);
COMMENT ON TABLE web_session IS 'Sessions of browsers that logged in. They belong to no workspace, because a request is authenticated before it enters one.';
COMMENT ON COLUMN web_session.secret_hash IS 'SHA-256 of the secret in the cookie, which has 256 random bits.';
COMMENT ON COLUMN web_session.key IS 'The key that it was opened with. The key says what the session may do, and the session ends with it.';
COMMENT ON COLUMN web_session.caller IS 'Who logged in without a key; name, scope and workspaces are those of the login. NULL workspaces: all.';
CREATE INDEX web_session_key ON web_session (key);
CREATE INDEX web_session_caller ON web_session (caller);
GRANT SELECT, INSERT, UPDATE, DELETE ON web_session TO trueweave_app;
