-- breaking
-- Rules: people's decisions about names and facts, and suggested pairs of names.

CREATE TABLE rule (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    id        uuid NOT NULL,
    ordinal   bigint GENERATED ALWAYS AS IDENTITY,
    kind      text NOT NULL CHECK (kind IN ('merge', 'split', 'rename', 'retype', 'describe', 'suppress')),
    label     text NOT NULL,
    made      timestamptz NOT NULL DEFAULT now(),
    author    text NOT NULL DEFAULT '',
    PRIMARY KEY (workspace, id)
);
COMMENT ON TABLE rule IS 'People''s decisions about names, entities and relations. A later rule overrides an earlier one.';
COMMENT ON COLUMN rule.author IS 'Who made it; empty if not given.';

CREATE TABLE rule_name (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    rule      uuid NOT NULL,
    name      uuid NOT NULL,
    written   text NOT NULL,
    type      text NOT NULL,
    written_hash uuid GENERATED ALWAYS AS (CASE WHEN type = '' THEN md5(written)::uuid END) STORED,
    side      smallint NOT NULL DEFAULT 0 CHECK (side BETWEEN 0 AND 3),
    PRIMARY KEY (workspace, name, rule)
);
COMMENT ON TABLE rule_name IS 'The names that a rule applies to, whether or not a document mentions them now.';
COMMENT ON COLUMN rule_name.written_hash IS 'Set if the rule gives no type: it then applies to every name with this spelling, whatever its type.';
COMMENT ON COLUMN rule_name.side IS 'In a rule about a relation, 1 for its source and 2 for its target; 3 for a suppressed entity.';
CREATE INDEX rule_name_rule ON rule_name (rule, workspace);
CREATE INDEX rule_name_written_hash ON rule_name (written_hash, workspace) WHERE written_hash IS NOT NULL;
CREATE INDEX rule_name_side ON rule_name (rule, workspace) WHERE side > 0;

-- Updates workspace.rules_hash.
CREATE FUNCTION hash_rules() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE trueweave.workspace w SET rules_hash = w.rules_hash # c.hash
    FROM (SELECT r.workspace, bit_xor(hashtextextended(r.id::text, 0)) AS hash FROM changed r GROUP BY r.workspace) AS c
    WHERE w.id = c.workspace;
    RETURN NULL;
END $$;

CREATE TRIGGER hash_rules_added AFTER INSERT ON rule REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION hash_rules();
CREATE TRIGGER hash_rules_removed AFTER DELETE ON rule REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION hash_rules();

CREATE TABLE suggestion (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    n         int NOT NULL,
    id        uuid NOT NULL,
    a         uuid NOT NULL,
    b         uuid NOT NULL,
    score     real NOT NULL,
    PRIMARY KEY (workspace, n)
);
COMMENT ON TABLE suggestion IS 'Pairs of names that may be the same entity, as last listed.';

CREATE TABLE rejection (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    a         uuid NOT NULL,
    b         uuid NOT NULL,
    PRIMARY KEY (workspace, a, b)
);
COMMENT ON TABLE rejection IS 'Pairs of normal forms, as hashes in ascending order, that a person said are different entities. They are not suggested again.';

SELECT guard(t::regclass) FROM unnest(ARRAY['rule', 'rule_name', 'suggestion', 'rejection']) t;
GRANT SELECT ON rule, rule_name TO trueweave_reader;
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA trueweave FROM PUBLIC;
