-- breaking
-- Processes and the work they share: which are alive, the rate and concurrency of model calls, and the jobs of all
-- workspaces. See docs/adr/0016-liveness.md and docs/adr/0018-one-queue.md.

CREATE TABLE process (
    id      int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    since   timestamptz NOT NULL,
    expires timestamptz NOT NULL
);
COMMENT ON TABLE process IS 'Processes that hold claims: since when each has renewed its lease without a gap, and when that expires. A claim by a process without a row is void.';

-- Whether the process with this number has a lease. Expired leases are deleted, so this needs no clock.
CREATE FUNCTION is_alive(owner int) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM process p WHERE p.id = owner)
$$;

-- The rate and concurrency of model calls are agreed with the provider, not with one tenant, so these tables are shared
-- by all.
CREATE TABLE rate_limit (
    model    text PRIMARY KEY,
    requests timestamptz NOT NULL,
    tokens   timestamptz NOT NULL
);
COMMENT ON TABLE rate_limit IS 'When the next call to a model may start under each of its limits, after all calls that already have a start time.';

CREATE TABLE slot (
    model text NOT NULL,
    n     int NOT NULL,
    owner int NOT NULL,
    PRIMARY KEY (model, n)
);
COMMENT ON TABLE slot IS 'Slots for concurrent calls to a model that are in use, and the process using each.';
GRANT SELECT, INSERT, UPDATE ON rate_limit TO trueweave_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON process, slot TO trueweave_app;

CREATE TABLE job (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    id        bigint GENERATED ALWAYS AS IDENTITY,
    kind      text NOT NULL,
    priority  smallint NOT NULL DEFAULT 0,
    payload   bytea NOT NULL DEFAULT '',
    due       timestamptz NOT NULL DEFAULT now(),
    owner     int,
    worker    bigint,
    PRIMARY KEY (workspace, id)
);
COMMENT ON TABLE job IS 'A queued or running job. It is deleted when done.';
COMMENT ON COLUMN job.priority IS 'Among the jobs of a workspace, higher numbers are claimed first.';
COMMENT ON COLUMN job.due IS 'It is not claimed before this time.';
COMMENT ON COLUMN job.owner IS 'The process running it; NULL while it is queued. A process whose lease has expired owns nothing.';
COMMENT ON COLUMN job.worker IS 'Identifies the worker within that process, by a random number.';
CREATE INDEX job_waiting ON job (workspace, priority DESC, id) WHERE owner IS NULL;
CREATE INDEX job_claimed ON job (workspace, owner) WHERE owner IS NOT NULL;
CREATE INDEX job_by_id ON job (id) INCLUDE (workspace);
SELECT guard('job'::regclass);
-- The functions below work across all workspaces with the rights of the owner, who would be bound by a forced policy.
ALTER TABLE job NO FORCE ROW LEVEL SECURITY;

-- Claims up to `most` jobs for the process `claimant`: one from each workspace in turn, starting after workspace
-- `after` and wrapping around, until there are enough or no workspace has any left. So a workspace with many jobs
-- delays the others by one job at most. In a transaction with a workspace, only that workspace's jobs. No workspace has
-- more than `limit_each` jobs running, or the number in its own settings, nor more than `share` at this worker: the
-- others would have to wait for all of them. With `reclaim`, jobs of dead processes are released first.
CREATE FUNCTION claim_jobs(claimant int, claimed_by bigint, most int, after int, limit_each int, share int, reclaim boolean,
                           OUT workspace int, OUT id bigint, OUT kind text, OUT payload bytea)
    RETURNS SETOF record LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
#variable_conflict use_column
DECLARE
    only_in int := nullif(current_setting('trueweave.workspace', true), '')::int;
    here    int := coalesce(only_in - 1, after);
    start   int := here;
    is_second_half boolean := here <= 0 OR only_in IS NOT NULL;
    in_lap  int := 0;
    taken   int := 0;
    under_way int;
    at_claimant int;
    at_most int;
    found_one record;
BEGIN
    IF NOT is_alive(claimant) THEN
        RETURN;  -- its claims would be treated as abandoned
    END IF;
    IF reclaim THEN
        UPDATE job SET owner = NULL WHERE (workspace, id) IN (
            SELECT j.workspace, j.id FROM job j WHERE j.owner IS NOT NULL AND NOT is_alive(j.owner)
            ORDER BY j.workspace, j.id FOR UPDATE SKIP LOCKED);
    END IF;
    WHILE taken < most LOOP
        SELECT j.workspace INTO here FROM job j
        WHERE j.owner IS NULL AND j.due <= now() AND j.workspace > here AND (only_in IS NULL OR j.workspace = only_in)
        ORDER BY j.workspace LIMIT 1;
        IF here IS NULL OR (is_second_half AND here > start AND start > 0 AND only_in IS NULL) THEN
            -- The end of the workspaces, or of a lap.
            IF NOT is_second_half THEN
                is_second_half := true;
                here := 0;
                CONTINUE;
            END IF;
            EXIT WHEN in_lap = 0;
            here := coalesce(only_in - 1, start);
            is_second_half := here <= 0 OR only_in IS NOT NULL;
            in_lap := 0;
            CONTINUE;
        END IF;
        -- Whoever holds the lock is just counting the jobs of this workspace, and claims one.
        CONTINUE WHEN NOT pg_try_advisory_xact_lock(1415005013, here);
        SELECT count(*), count(*) FILTER (WHERE j.worker = claimed_by) INTO under_way, at_claimant FROM job j WHERE j.workspace = here AND j.owner IS NOT NULL;
        SELECT coalesce((w.settings ->> 'jobs_at_once')::int, limit_each) INTO at_most FROM workspace w
        WHERE w.id = here AND w.place = 'here';
        CONTINUE WHEN at_most IS NULL OR under_way >= at_most OR at_claimant >= share;
        -- Two jobs settling the same workspace at once would only wait for each other.
        UPDATE job SET owner = claimant, worker = claimed_by WHERE (workspace, id) = (
            SELECT j.workspace, j.id FROM job j
            WHERE j.workspace = here AND j.owner IS NULL AND j.due <= now()
                AND (j.kind NOT IN ('settle', 'large') OR NOT EXISTS (
                    SELECT FROM job r WHERE r.workspace = here AND r.owner IS NOT NULL AND r.kind = j.kind))
            ORDER BY j.priority DESC, j.id LIMIT 1 FOR UPDATE SKIP LOCKED)
        RETURNING job.workspace, job.id, job.kind, job.payload INTO found_one;
        CONTINUE WHEN NOT FOUND;
        workspace := found_one.workspace;
        id := found_one.id;
        kind := found_one.kind;
        payload := found_one.payload;
        taken := taken + 1;
        in_lap := in_lap + 1;
        RETURN NEXT;
    END LOOP;
END $$;

-- Deletes finished jobs of a process, or queues them again until they are due.
CREATE FUNCTION finish_jobs(claimant int, ids bigint[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
    DELETE FROM job j USING unnest(ids) AS done (id) WHERE j.id = done.id AND j.owner = claimant
$$;
CREATE FUNCTION release_jobs(claimant int, ids bigint[], delays interval[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
    UPDATE job j SET owner = NULL, due = now() + r.delay FROM unnest(ids, delays) AS r (id, delay)
    WHERE j.id = r.id AND j.owner = claimant
$$;

-- If a worker's connection breaks while claiming, it does not know what it claimed; this releases the jobs unknown to
-- it.
CREATE FUNCTION release_unknown_jobs(claimed_by bigint, known bigint[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
    UPDATE job j SET owner = NULL WHERE j.owner IS NOT NULL AND j.worker = claimed_by AND j.id <> ALL (known)
$$;

-- The jobs of all workspaces, for metrics.
CREATE FUNCTION queue_state(OUT kind text, OUT waiting bigint, OUT delayed bigint, OUT running bigint, OUT oldest double precision)
    RETURNS SETOF record LANGUAGE sql STABLE SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
    SELECT j.kind, count(*) FILTER (WHERE j.owner IS NULL AND j.due <= now()), count(*) FILTER (WHERE j.owner IS NULL AND j.due > now()),
           count(*) FILTER (WHERE j.owner IS NOT NULL),
           coalesce(extract(epoch FROM now() - min(j.due) FILTER (WHERE j.owner IS NULL AND j.due <= now())), 0)::double precision
    FROM job j GROUP BY j.kind
$$;

REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA trueweave FROM PUBLIC;
GRANT EXECUTE ON FUNCTION is_alive, claim_jobs, finish_jobs, release_jobs, release_unknown_jobs, queue_state TO trueweave_app;
