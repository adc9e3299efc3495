-- additive
-- Who follows the outbox and how far, and which workspaces are gone: what a projection into another store needs to know.

CREATE TABLE consumer (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    name      text NOT NULL,
    position  bigint NOT NULL,
    seen      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace, name)
);
COMMENT ON TABLE consumer IS 'Who follows the outbox, and the last position that is applied there.';
SELECT guard('consumer');

CREATE TABLE dropped_workspace (
    id      int PRIMARY KEY,
    dropped timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE dropped_workspace IS 'Workspaces that are gone and had consumers, for these to remove their copies. No names: those were the tenant''s own.';
GRANT SELECT ON dropped_workspace TO trueweave_app;

-- Noted at the beginning, as the rows of its consumers go with the workspace.
CREATE OR REPLACE FUNCTION begin_drop() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
DECLARE here int := current_setting('trueweave.workspace')::int;
BEGIN
    UPDATE workspace SET dropped = true WHERE id = here;
    INSERT INTO dropped_workspace (id) SELECT here WHERE EXISTS (SELECT FROM consumer WHERE workspace = here)
    ON CONFLICT DO NOTHING;
END $$;
