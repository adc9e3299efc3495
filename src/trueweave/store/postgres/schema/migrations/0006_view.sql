-- breaking
-- The view: what the record adds up to. It is derived, and does not depend on the order in which documents were added
-- and removed. See docs/adr/0002-exact-by-algebra.md, and docs/adr/0003-settling.md on how it follows the record.

CREATE TABLE name (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    id        uuid NOT NULL,
    written   text NOT NULL,
    type      text NOT NULL,
    count     bigint NOT NULL DEFAULT 0,
    histogram bigint[] NOT NULL DEFAULT '{0,0,0,0,0,0,0,0,0}',
    entity    uuid,
    phrase    bigint,
    written_hash uuid NOT NULL GENERATED ALWAYS AS (md5(written)::uuid) STORED,
    PRIMARY KEY (workspace, id)
);
COMMENT ON TABLE name IS 'A name as written, its type, the totals of its live mentions, and its entity (NULL while nothing mentions it).';
COMMENT ON COLUMN name.phrase IS 'The phrase by which it is found in texts. NULL if it cannot be found that way.';
-- Names of all types with the same spelling are found by a hash, because a name may be too long for an index.
COMMENT ON COLUMN name.written_hash IS 'A hash of the name as written, whatever its type.';
CREATE INDEX name_entity ON name (entity, workspace);
CREATE INDEX name_phrase ON name (phrase, workspace) WHERE phrase IS NOT NULL;
CREATE INDEX name_written_hash ON name (written_hash, workspace);

CREATE TABLE name_key (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    key       bigint NOT NULL,
    name      uuid NOT NULL,
    mask      bigint NOT NULL,
    PRIMARY KEY (workspace, key, name) INCLUDE (mask)
);
COMMENT ON TABLE name_key IS 'Keys that similar names have in common, and a mask of their characters that rules out most other candidates. A plain B-tree, because GIN operators are not leakproof, so row-level security would keep them from using a GIN index.';

CREATE TABLE pending_match (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    name      uuid NOT NULL,
    PRIMARY KEY (workspace, name)
);
COMMENT ON TABLE pending_match IS 'Names that have not been compared with similar ones yet.';

CREATE TABLE alike (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    a         uuid NOT NULL,
    b         uuid NOT NULL,
    PRIMARY KEY (workspace, a, b)
);
COMMENT ON TABLE alike IS 'Pairs of similar names, in both directions, whether or not they are live.';

CREATE TABLE name_pair (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    source    uuid NOT NULL,
    target    uuid NOT NULL,
    count     bigint NOT NULL,
    weight    bigint NOT NULL,
    histogram bigint[] NOT NULL,
    relation  uuid,
    PRIMARY KEY (workspace, source, target)
);
COMMENT ON TABLE name_pair IS 'Two names, the totals of the live links between them, and their relation (NULL if both are the same entity).';
COMMENT ON COLUMN name_pair.weight IS 'The sum of the strengths, in thousandths.';
CREATE INDEX name_pair_target ON name_pair (target, workspace);
CREATE INDEX name_pair_relation ON name_pair (relation, workspace);

CREATE TABLE phrase_count (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    owner     uuid NOT NULL,
    kind      "char" NOT NULL CHECK (kind IN ('d', 'k', 't')),
    hash      uuid NOT NULL,
    value     text NOT NULL,
    count     bigint NOT NULL,
    weight    bigint NOT NULL,
    PRIMARY KEY (workspace, owner, kind, hash)
);
COMMENT ON TABLE phrase_count IS 'How often each distinct description (d), keyword (k) or first keyword (t, in lower case) was given for a name or a pair of names.';
COMMENT ON COLUMN phrase_count.weight IS 'Decides which value is chosen: the sum of the emphases it was given with or, for a first keyword, the count.';
CREATE INDEX phrase_count_weight ON phrase_count (owner, kind, weight DESC, hash, workspace);

CREATE TABLE entity (
    workspace   int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    id          uuid NOT NULL,
    name        text NOT NULL,
    type        text NOT NULL,
    description text NOT NULL,
    aliases     text[] NOT NULL,
    count       bigint NOT NULL,
    histogram   bigint[] NOT NULL,
    degree      bigint NOT NULL,
    text_hash   uuid NOT NULL,
    PRIMARY KEY (workspace, id)
);
COMMENT ON TABLE entity IS 'A connected component of live names. The id is a label that follows it through merges and splits.';
-- Long descriptions are summarised, and looked up by hash.
CREATE INDEX entity_long ON entity (text_hash, workspace) WHERE length(description) > 2000;

CREATE TABLE relation (
    workspace   int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    id          uuid NOT NULL,
    source      uuid NOT NULL,
    target      uuid NOT NULL,
    source_name text NOT NULL,
    target_name text NOT NULL,
    description text NOT NULL,
    keywords    text[] NOT NULL,
    weight      bigint NOT NULL,
    count       bigint NOT NULL,
    histogram   bigint[] NOT NULL,
    text_hash   uuid NOT NULL,
    type        text NOT NULL,
    PRIMARY KEY (workspace, id)
);
COMMENT ON TABLE relation IS 'All pairs of names from one entity to another. The id is derived from the two entities.';
COMMENT ON COLUMN relation.weight IS 'The sum of the strengths, in thousandths.';
COMMENT ON COLUMN relation.type IS 'The keyword that most links give first, in lower case.';
-- For an entity that is related to everything, the heaviest relations are followed.
CREATE INDEX relation_source ON relation (source, weight DESC, target, workspace);
CREATE INDEX relation_target ON relation (target, weight DESC, source, workspace);
CREATE INDEX relation_long ON relation (text_hash, workspace) WHERE length(description) > 2000;

CREATE VIEW stable_id WITH (security_invoker = true) AS
SELECT entity, min(id::text) AS id FROM name WHERE entity IS NOT NULL GROUP BY entity;
COMMENT ON VIEW stable_id IS 'Identifies an entity independently of its id: the smallest id among its names.';
GRANT SELECT ON stable_id TO trueweave_app;

CREATE TABLE summary (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    hash      uuid NOT NULL,
    kind      text NOT NULL CHECK (kind IN ('entity', 'relation')),
    id        uuid NOT NULL,
    text      text,
    PRIMARY KEY (workspace, hash)
);
COMMENT ON TABLE summary IS 'A summary of a long description, by the hash of the text it summarises. NULL text: not written yet.';
CREATE INDEX summary_due ON summary (workspace, hash) WHERE text IS NULL;

CREATE TABLE dirty_name (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    name      uuid NOT NULL,
    PRIMARY KEY (workspace, name)
);
COMMENT ON TABLE dirty_name IS 'Names whose entity must be determined again because a rule or a setting changed.';

CREATE TABLE dirty_pair (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    source    uuid NOT NULL,
    target    uuid NOT NULL,
    PRIMARY KEY (workspace, source, target)
);
COMMENT ON TABLE dirty_pair IS 'Pairs of names whose relation must be computed again because a rule changed.';

CREATE TABLE view_version (
    workspace int PRIMARY KEY DEFAULT current_setting('trueweave.workspace')::int,
    version   bigint NOT NULL
);
COMMENT ON TABLE view_version IS 'How often the view of a workspace has changed.';

-- Who is settling what. No transaction stays open while waiting for a model, so this is kept as a lease, which expires
-- by itself when its owner is gone. If two settle the same, some work is harmlessly done twice. So nothing depends on
-- leases, and they need not survive a crash of the server.
CREATE UNLOGGED TABLE work_lease (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    kind      text NOT NULL,
    subject   text NOT NULL,
    owner     uuid NOT NULL,
    until     timestamptz NOT NULL,
    PRIMARY KEY (workspace, kind, subject)
);
COMMENT ON TABLE work_lease IS 'Leases on work that one process does at a time: indexing a document (by its uri), resolving all names again, writing reports, moving vectors to a table of their own; or a turn, during which other processes hold back.';

CREATE TABLE outbox (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    position  bigint GENERATED ALWAYS AS IDENTITY,
    tx        xid8 NOT NULL DEFAULT pg_current_xact_id(),
    kind      text NOT NULL,
    removed   boolean NOT NULL,
    ids       uuid[] NOT NULL,
    made      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace, position)
);
COMMENT ON TABLE outbox IS 'What each indexed batch changed, for projections. Read it only up to the oldest running transaction, because positions are assigned before commit.';

SELECT guard(t::regclass) FROM unnest(ARRAY[
    'name', 'name_key', 'pending_match', 'alike', 'name_pair', 'phrase_count', 'entity', 'relation', 'summary', 'dirty_name',
    'dirty_pair', 'view_version', 'work_lease', 'outbox']) t;
GRANT SELECT ON name, name_pair, phrase_count, entity, relation, stable_id, summary TO trueweave_reader;
