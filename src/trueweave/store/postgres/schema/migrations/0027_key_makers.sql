-- additive
-- A key shares the limits of the callers that made it, so that nobody gets more by making keys.
ALTER TABLE api_key ADD makers text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN api_key.makers IS 'The callers whose limits it shares, first maker first: prefixes of keys, or issuer and subject of tokens. Empty where the command line or an administrator of all workspaces without limits made it.';
