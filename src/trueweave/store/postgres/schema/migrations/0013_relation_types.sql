-- breaking
-- Relations have a type, strengths are numbers, and descriptions are chosen by emphasis. What the documents that are there
-- come to by this is worked out by upgrades.py, in the same transaction.

ALTER TABLE link DROP CONSTRAINT link_strength_check;
ALTER TABLE link ALTER COLUMN strength TYPE bigint USING strength::bigint * 1000;
ALTER TABLE link ADD CONSTRAINT link_strength_check CHECK (strength > 0);
COMMENT ON COLUMN link.strength IS 'In thousandths, so that sums are exact.';

ALTER TABLE name_pair ALTER COLUMN weight TYPE bigint USING weight * 1000;
COMMENT ON COLUMN name_pair.weight IS 'The sum of the strengths, in thousandths.';

ALTER TABLE relation ALTER COLUMN weight TYPE bigint USING weight * 1000;
ALTER TABLE relation ADD COLUMN type text NOT NULL DEFAULT '';
ALTER TABLE relation ALTER COLUMN type DROP DEFAULT;
COMMENT ON COLUMN relation.weight IS 'The sum of the strengths, in thousandths.';
COMMENT ON COLUMN relation.type IS 'The keyword that most links give first, in lower case.';

ALTER TABLE phrase_count DROP CONSTRAINT phrase_count_kind_check;
ALTER TABLE phrase_count ADD CONSTRAINT phrase_count_kind_check CHECK (kind IN ('d', 'k', 't'));
ALTER TABLE phrase_count ADD COLUMN weight bigint NOT NULL DEFAULT 0;
ALTER TABLE phrase_count ALTER COLUMN weight DROP DEFAULT;
CREATE INDEX phrase_count_weight ON phrase_count (owner, kind, weight DESC, hash, workspace);
COMMENT ON TABLE phrase_count IS 'How often each distinct description (d), keyword (k) or first keyword (t, in lower case) was said of a name or a pair of names.';
COMMENT ON COLUMN phrase_count.weight IS 'What it is chosen by: the sum of the emphases with which it was said, or for a first keyword the count.';

CREATE TABLE dirty_pair (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    source    uuid NOT NULL,
    target    uuid NOT NULL,
    PRIMARY KEY (workspace, source, target)
);
COMMENT ON TABLE dirty_pair IS 'Pairs of names whose relation must be worked out again because a rule or the way of choosing changed.';
SELECT guard('dirty_pair');
