-- breaking
-- One version of the view for each workspace, in place of one for each of 1,024 shards of its names.

CREATE TABLE view_version (
    workspace int PRIMARY KEY DEFAULT current_setting('trueweave.workspace')::int,
    version   bigint NOT NULL
);
COMMENT ON TABLE view_version IS 'How often the view of a workspace has changed.';
SELECT guard('view_version');

INSERT INTO view_version SELECT workspace, sum(version) FROM shard GROUP BY workspace;
DROP TABLE shard;
