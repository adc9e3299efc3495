-- breaking
-- Copies of workspaces in other stores: the outbox position that each has applied, which copy is live, which one is
-- being built, and which workspaces were dropped.

CREATE TABLE consumer (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    name      text NOT NULL,
    position  bigint NOT NULL,
    seen      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace, name)
);
COMMENT ON TABLE consumer IS 'Consumers of the outbox, and the last position each has applied.';
SELECT guard('consumer');

CREATE TABLE dropped_workspace (
    id      int PRIMARY KEY,
    dropped timestamptz NOT NULL DEFAULT now(),
    copies  text[] NOT NULL DEFAULT '{}'
);
COMMENT ON TABLE dropped_workspace IS 'Dropped workspaces that had consumers, so that these can remove their copies. No names, because those belonged to the tenant.';
COMMENT ON COLUMN dropped_workspace.copies IS 'Its copies in other stores that must still be dropped, as "store:copy".';
GRANT SELECT, UPDATE (copies) ON dropped_workspace TO trueweave_app;

CREATE TABLE projection (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    store     text NOT NULL,
    live      text,
    building  text,
    replaced  text[] NOT NULL DEFAULT '{}',
    switched  timestamptz,
    problem   text NOT NULL DEFAULT '',
    owner     uuid,
    until     timestamptz NOT NULL DEFAULT '-infinity',
    PRIMARY KEY (workspace, store)
);
COMMENT ON TABLE projection IS 'Copies of a workspace in another store. The position of a copy is that of the consumer "store:copy".';
COMMENT ON COLUMN projection.live IS 'The copy that answers questions; NULL until the first one is complete.';
COMMENT ON COLUMN projection.building IS 'A copy that is being built to replace the live one.';
COMMENT ON COLUMN projection.replaced IS 'Former live copies that must still be dropped.';
COMMENT ON COLUMN projection.switched IS 'When the live copy began to answer questions.';
COMMENT ON COLUMN projection.problem IS 'Why the projector cannot continue; empty while it can.';
COMMENT ON COLUMN projection.owner IS 'The projector working on it, while the lease in "until" is valid.';
SELECT guard('projection');
-- The function below works across all workspaces with the rights of the owner, who would be bound by a forced policy.
ALTER TABLE projection NO FORCE ROW LEVEL SECURITY;

-- Claims the next workspace after `after` whose copy in a store needs work and that no projector is working on, for
-- this many seconds. In a transaction with a workspace, only that one. It enters each workspace to check its outbox.
CREATE FUNCTION claim_projection(of_store text, claimant uuid, seconds float8, after int) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
DECLARE
    before  text := coalesce(current_setting('trueweave.workspace', true), '');
    here    record;
    claimed int;
BEGIN
    FOR here IN
        SELECT p.* FROM projection p
        WHERE p.store = of_store AND p.until < clock_timestamp() AND (before = '' OR p.workspace = before::int)
            AND EXISTS (SELECT FROM workspace w WHERE w.id = p.workspace AND w.place = 'here')
        ORDER BY p.workspace <= after, p.workspace
    LOOP
        PERFORM set_config('trueweave.workspace', here.workspace::text, true);
        IF here.live IS NULL OR here.building IS NOT NULL OR here.replaced <> '{}' OR here.problem <> '' OR EXISTS (
            SELECT FROM outbox o WHERE o.workspace = here.workspace AND o.tx < pg_snapshot_xmin(pg_current_snapshot())
                AND o.position > coalesce((SELECT c.position FROM consumer c
                    WHERE c.workspace = here.workspace AND c.name = of_store || ':' || here.live), -1)) THEN
            UPDATE projection SET owner = claimant, until = clock_timestamp() + seconds * interval '1 second'
            WHERE workspace = here.workspace AND store = of_store AND until < clock_timestamp()
            RETURNING workspace INTO claimed;
        END IF;
        PERFORM set_config('trueweave.workspace', before, true);
        EXIT WHEN claimed IS NOT NULL;
    END LOOP;
    RETURN claimed;
END $$;

REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA trueweave FROM PUBLIC;
GRANT EXECUTE ON FUNCTION claim_projection TO trueweave_app;
