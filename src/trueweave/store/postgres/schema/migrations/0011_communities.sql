-- breaking
-- Communities: densely connected parts of the graph, nested in each other, and a report on each.

CREATE TABLE hierarchy (
    workspace  int NOT NULL DEFAULT current_setting('trueweave.workspace')::int PRIMARY KEY,
    library    text NOT NULL,
    seed       bigint NOT NULL,
    resolution float8 NOT NULL,
    most       int NOT NULL,
    graph      bigint NOT NULL,
    entities   bigint NOT NULL,
    alone      bigint NOT NULL,
    levels     int NOT NULL,
    modularity float8 NOT NULL,
    found      timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE hierarchy IS 'How and when the communities of a workspace were found, and the version of the view at that time (graph).';

CREATE TABLE community (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    n         int NOT NULL,
    last      int NOT NULL,
    parent    int,
    id        uuid NOT NULL,
    stable_id uuid NOT NULL,
    level     int NOT NULL,
    size      bigint NOT NULL,
    relations bigint NOT NULL,
    hash      uuid NOT NULL,
    since     timestamptz NOT NULL,
    changed   timestamptz NOT NULL,
    PRIMARY KEY (workspace, n)
);
COMMENT ON TABLE community IS 'A community by its position in the tree: all communities within it follow it directly, up to last. id is a label that follows it through changes; stable_id is the smallest id among the names of its members. hash covers its members, their relations and all descriptions.';
CREATE UNIQUE INDEX community_id ON community (id, workspace);
CREATE INDEX community_level ON community (level, workspace);
CREATE INDEX community_parent ON community (parent, workspace);

CREATE TABLE member (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    entity    uuid NOT NULL,
    leaf      int NOT NULL,
    PRIMARY KEY (workspace, entity)
);
COMMENT ON TABLE member IS 'The innermost community of each entity that has a relation. The entity is also in all communities around that one.';
CREATE INDEX member_leaf ON member (leaf, workspace);

CREATE TABLE report (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    community uuid NOT NULL,
    hash      uuid NOT NULL,
    title     text NOT NULL,
    summary   text NOT NULL,
    rating    float8 NOT NULL,
    reason    text NOT NULL,
    findings  jsonb NOT NULL,
    author    text NOT NULL,
    problem   text NOT NULL,
    text_hash uuid NOT NULL,
    made      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace, community)
);
COMMENT ON TABLE report IS 'The report on a community, and the hash of what it was written from: if the community''s hash differs, the report is stale. author is a model, or empty if sentences were selected without one; problem says why no model wrote it.';

CREATE TABLE retired_community (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    id        uuid NOT NULL,
    level     int NOT NULL,
    size      bigint NOT NULL,
    title     text NOT NULL,
    gone      timestamptz NOT NULL,
    PRIMARY KEY (workspace, id)
);
COMMENT ON TABLE retired_community IS 'Communities that no longer exist, for listing changes. Kept for a year.';
CREATE INDEX retired_community_gone ON retired_community (gone, workspace);

SELECT guard(t::regclass) FROM unnest(ARRAY['hierarchy', 'community', 'member', 'report', 'retired_community']) t;
GRANT SELECT ON hierarchy, community, member, report, retired_community TO trueweave_reader;
