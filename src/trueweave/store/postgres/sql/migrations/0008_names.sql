-- breaking
-- Names are the same by their normal form unless a workspace says otherwise, and a rule may name them without a type.

ALTER TABLE workspace ALTER mode SET DEFAULT 'exact';

-- The form by which names are compared depends on the workspace's settings, so it is worked out where it is needed.
ALTER TABLE name DROP COLUMN normal;

-- Names of all types that are written the same are found by a hash: a name may be longer than an index takes.
ALTER TABLE name ADD COLUMN written_hash uuid NOT NULL GENERATED ALWAYS AS (md5(written)::uuid) STORED;
COMMENT ON COLUMN name.written_hash IS 'A hash of the name as written, whatever its type.';
CREATE INDEX name_written_hash ON name (written_hash, workspace);

ALTER TABLE rule_name ADD COLUMN written_hash uuid GENERATED ALWAYS AS (CASE WHEN type = '' THEN md5(written)::uuid END) STORED;
COMMENT ON COLUMN rule_name.written_hash IS 'Where the rule gives no type: it speaks of every name that is written so, whatever its type.';
CREATE INDEX rule_name_written_hash ON rule_name (written_hash, workspace) WHERE written_hash IS NOT NULL;

CREATE TABLE suggestion (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    n         int NOT NULL,
    id        uuid NOT NULL,
    a         uuid NOT NULL,
    b         uuid NOT NULL,
    score     real NOT NULL,
    PRIMARY KEY (workspace, n)
);
COMMENT ON TABLE suggestion IS 'Pairs of names that may be one thing, as they were last listed.';

CREATE TABLE rejection (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    a         uuid NOT NULL,
    b         uuid NOT NULL,
    PRIMARY KEY (workspace, a, b)
);
COMMENT ON TABLE rejection IS 'Pairs of normal forms, as hashes in ascending order, that a person said are two things: not to be suggested again.';

SELECT guard(t::regclass) FROM unnest(ARRAY['suggestion', 'rejection']) t;

-- How names are resolved is given when a workspace is made.
DROP FUNCTION find_workspace(text, boolean);
CREATE FUNCTION find_workspace(wanted text, make boolean, resolution text) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
BEGIN
    IF make THEN
        INSERT INTO workspace (name, mode) VALUES (wanted, resolution) ON CONFLICT (name) DO NOTHING;
    END IF;
    RETURN (SELECT id FROM workspace WHERE name = wanted);
END $$;
REVOKE EXECUTE ON FUNCTION find_workspace FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_workspace TO trueweave_app;
