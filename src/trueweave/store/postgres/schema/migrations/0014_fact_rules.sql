-- breaking
-- Rules by which people correct facts: what an entity or a relation is called, its type, its description, or that it is
-- not to be there.

ALTER TABLE rule DROP CONSTRAINT rule_kind_check;
ALTER TABLE rule ADD CONSTRAINT rule_kind_check
    CHECK (kind IN ('merge', 'split', 'rename', 'retype', 'describe', 'suppress'));
ALTER TABLE rule ADD COLUMN author text NOT NULL DEFAULT '';
COMMENT ON TABLE rule IS 'What a person decided about names, entities and relations; a later one outweighs an earlier one.';
COMMENT ON COLUMN rule.author IS 'Who made it, as far as that was said.';

ALTER TABLE rule_name ADD COLUMN side smallint NOT NULL DEFAULT 0 CHECK (side BETWEEN 0 AND 3);
CREATE INDEX rule_name_side ON rule_name (rule, workspace) WHERE side > 0;
COMMENT ON COLUMN rule_name.side IS 'In a rule about a relation, 1 for its source and 2 for its target; 3 for an entity that is suppressed.';
