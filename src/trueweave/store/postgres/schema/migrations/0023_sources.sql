-- additive
-- Sources: addresses that workers synchronise on a schedule. See docs/adr/0047-sources.md.

CREATE TABLE connector_source (
    workspace     int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    name          text NOT NULL,
    address       text NOT NULL,
    secrets       jsonb NOT NULL,
    every_seconds int CHECK (every_seconds > 0),
    restricted    boolean NOT NULL,
    author        text NOT NULL,
    made          timestamptz NOT NULL DEFAULT now(),
    due           timestamptz,
    confirmed     boolean NOT NULL DEFAULT false,
    stopping      boolean NOT NULL DEFAULT false,
    owner         int,
    claim         uuid,
    claimed       timestamptz,
    began         timestamptz,
    ended         timestamptz,
    outcome       text CHECK (outcome IN ('done', 'failed', 'stopped')),
    documents     int NOT NULL DEFAULT 0,
    new           int NOT NULL DEFAULT 0,
    removed       int NOT NULL DEFAULT 0,
    unreadable    int NOT NULL DEFAULT 0,
    problem       text NOT NULL DEFAULT '',
    PRIMARY KEY (workspace, name)
);
COMMENT ON TABLE connector_source IS 'An address that the workspace follows, its schedule, and the result of its last run.';
COMMENT ON COLUMN connector_source.secrets IS 'For each credential, the name of the environment variable that holds it. Never the credential itself.';
COMMENT ON COLUMN connector_source.restricted IS 'It was added through a server, so it runs only with connectors and variables that the administrator allows for the workspace.';
COMMENT ON COLUMN connector_source.due IS 'When a worker runs it; NULL if only on request.';
COMMENT ON COLUMN connector_source.confirmed IS 'Whether the next run may remove more than a fifth of its documents.';
COMMENT ON COLUMN connector_source.stopping IS 'It is being removed: its run ends, and no other begins.';
COMMENT ON COLUMN connector_source.owner IS 'The process that runs it. A process whose lease has expired owns nothing.';
COMMENT ON COLUMN connector_source.claim IS 'Identifies the run, which may be resumed by another process under another claim.';
COMMENT ON COLUMN connector_source.began IS 'began, ended, outcome, the counts and problem are about the last run that ended.';
CREATE UNIQUE INDEX connector_source_address ON connector_source ((md5(address)::uuid), workspace);
CREATE INDEX connector_source_due ON connector_source (due, workspace) WHERE due IS NOT NULL;

SELECT guard('connector_source'::regclass);
-- The function below works across all workspaces with the rights of the owner, who would be bound by a forced policy.
ALTER TABLE connector_source NO FORCE ROW LEVEL SECURITY;

-- Claims up to `most` sources that are due for the process `claimant`, one from each workspace that has no run under way:
-- a workspace with many sources does not hold up the others. In a transaction with a workspace, only that workspace's.
CREATE FUNCTION claim_sources(claimant int, claim_id uuid, most int, OUT workspace int, OUT name text)
    RETURNS SETOF record LANGUAGE sql SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
    WITH next AS (
        SELECT DISTINCT ON (s.workspace) s.workspace, s.name, s.due FROM connector_source s
        JOIN workspace w ON w.id = s.workspace AND w.place = 'here' AND NOT w.dropped
        WHERE s.due <= now() AND NOT s.stopping AND is_alive(claimant)
            AND coalesce(s.workspace = nullif(current_setting('trueweave.workspace', true), '')::int, true)
            AND NOT EXISTS (SELECT FROM connector_source r WHERE r.workspace = s.workspace AND is_alive(r.owner))
        ORDER BY s.workspace, s.due, s.name),
    free AS (
        SELECT s.workspace, s.name FROM connector_source s JOIN next n ON n.workspace = s.workspace AND n.name = s.name
        WHERE s.due <= now() AND NOT s.stopping AND (s.owner IS NULL OR NOT is_alive(s.owner))
        ORDER BY n.due LIMIT most FOR UPDATE OF s SKIP LOCKED)
    UPDATE connector_source s SET owner = claimant, claim = claim_id, claimed = now() FROM free f
    WHERE s.workspace = f.workspace AND s.name = f.name
    RETURNING s.workspace, s.name
$$;

-- Releases what a claim holds whose answer was lost with the connection.
CREATE FUNCTION release_sources(claim_id uuid) RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
    UPDATE connector_source s SET owner = NULL, claim = NULL WHERE s.claim = claim_id
$$;

REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA trueweave FROM PUBLIC;
GRANT EXECUTE ON FUNCTION claim_sources, release_sources TO trueweave_app;
