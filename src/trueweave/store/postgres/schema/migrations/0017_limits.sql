-- additive
-- Limits of the server: what a key may have models do in a day, and how many bytes of text a workspace holds.

ALTER TABLE api_key ADD max_tokens_per_day bigint CHECK (max_tokens_per_day >= 0),
    ADD max_spend_per_day numeric CHECK (max_spend_per_day >= 0);
COMMENT ON COLUMN api_key.max_tokens_per_day IS 'Tokens to and from models that requests with it may take in a day (UTC); NULL is as the server says for all.';
COMMENT ON COLUMN api_key.max_spend_per_day IS 'Likewise, in money.';

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

-- A row for each statement that stores or deletes chunks: whoever does so at the same time would wait for one row. They are
-- put together now and then.
CREATE TABLE stored_bytes (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    id        bigint GENERATED ALWAYS AS IDENTITY,
    bytes     bigint NOT NULL,
    PRIMARY KEY (workspace, id)
);
COMMENT ON TABLE stored_bytes IS 'How many bytes of text chunks have brought and taken away; the sum is what there is.';
SELECT guard('stored_bytes');

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

DO $$
DECLARE
    one record;
BEGIN
    FOR one IN SELECT id FROM workspace LOOP
        PERFORM set_config('trueweave.workspace', one.id::text, true);
        INSERT INTO stored_bytes (bytes) SELECT sum(octet_length(text)) FROM chunk WHERE workspace = one.id HAVING count(*) > 0;
    END LOOP;
END $$;

REVOKE EXECUTE ON FUNCTION count_bytes_that_came, count_bytes_that_went FROM PUBLIC;
