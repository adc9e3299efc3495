-- additive
-- Several PostgreSQL servers: which there are, on which one each workspace is, and how it comes to another. The database
-- that processes are given is the home of all others. It has a row of every workspace, and numbers are given out there
-- alone, so that a workspace has the same number wherever it is. See docs/adr/0036-many-servers.md.

CREATE TABLE catalogue (
    one  boolean PRIMARY KEY DEFAULT true CHECK (one),
    home uuid NOT NULL,
    name text NOT NULL
);
COMMENT ON TABLE catalogue IS 'What this database is among several: the number of their home, and the name of this one, "home" for the home itself. No row where it is the only one.';

CREATE TABLE server (
    name     text PRIMARY KEY,
    weight   float8 NOT NULL DEFAULT 1 CHECK (weight >= 0),
    bytes    bigint NOT NULL DEFAULT 0,
    placed   bigint NOT NULL DEFAULT 0,
    measured timestamptz
);
COMMENT ON TABLE server IS 'In the home: the servers that workspaces may be on. Their addresses are in the settings of processes.';
COMMENT ON COLUMN server.weight IS 'How much it is to hold in proportion to others; with 0 it takes no new workspace.';
COMMENT ON COLUMN server.bytes IS 'How large its database was when it was last measured.';
COMMENT ON COLUMN server.placed IS 'How many workspaces were placed there since.';
GRANT SELECT ON catalogue, server TO trueweave_app;

ALTER TABLE workspace
    ADD server text,
    ADD moved timestamptz,
    ADD place text NOT NULL DEFAULT 'here' CHECK (place IN ('here', 'draining', 'leaving', 'switching', 'left', 'arriving', 'away')),
    ADD left_until timestamptz;
COMMENT ON COLUMN workspace.server IS 'In the home: the server that it is on; NULL is the home itself.';
COMMENT ON COLUMN workspace.moved IS 'In the home: when it was last given another server.';
COMMENT ON COLUMN workspace.place IS 'here: it is in this database. draining: likewise, and no job of it is begun. leaving: it is copied to another server and only read. switching: likewise, and nothing is booked for model calls. left: it is on another server, and is still read here until left_until. arriving: it is being copied here. away: only this row is here.';
CREATE INDEX workspace_moved ON workspace (moved) WHERE moved IS NOT NULL;
CREATE INDEX workspace_place ON workspace (place) WHERE place NOT IN ('here', 'away');

-- The server for a new workspace, of those that the caller can reach: the one with the least load for its weight. A
-- workspace counts as a megabyte until the server is measured again. NULL is this database.
CREATE FUNCTION choose_server(among text[]) RETURNS text
LANGUAGE sql SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
    UPDATE server SET placed = placed + 1 WHERE name = (
        SELECT s.name FROM server s WHERE s.weight > 0 AND (s.name = 'home' OR s.name = ANY (among))
        ORDER BY (s.bytes + 1048576.0::float8 * s.placed) / s.weight, s.name <> 'home', s.name LIMIT 1)
    RETURNING nullif(name, 'home')
$$;

CREATE FUNCTION note_server_size(of_server text, size bigint) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
    UPDATE server SET bytes = size, placed = 0, measured = now() WHERE name = of_server
$$;

DROP FUNCTION open_workspace;
CREATE FUNCTION open_workspace(workspace_name text, make boolean, resolution text, among text[] DEFAULT '{}',
                               OUT id int, OUT has_space boolean, OUT settings jsonb,
                               OUT server text, OUT mode text, OUT dropped boolean)
    RETURNS SETOF record LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
#variable_conflict use_column
DECLARE
    chosen text;
BEGIN
    IF make AND NOT EXISTS (SELECT FROM workspace w WHERE w.name = workspace_name) THEN
        chosen := choose_server(among);
        INSERT INTO workspace (name, mode, server, place)
        VALUES (workspace_name, resolution, chosen, CASE WHEN chosen IS NULL THEN 'here' ELSE 'away' END)
        ON CONFLICT (name) DO NOTHING;
    END IF;
    RETURN QUERY SELECT w.id, w.space IS NOT NULL, w.settings, w.server, w.mode, w.dropped
    FROM workspace w WHERE w.name = workspace_name;
END $$;

DROP FUNCTION make_workspace;
CREATE FUNCTION make_workspace(base_name text, among text[] DEFAULT '{}') RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
DECLARE
    made text := base_name;
    chosen text := choose_server(among);
    n int := 1;
BEGIN
    LOOP
        INSERT INTO workspace (name, server, place)
        VALUES (made, chosen, CASE WHEN chosen IS NULL THEN 'here' ELSE 'away' END) ON CONFLICT (name) DO NOTHING;
        EXIT WHEN FOUND;
        n := n + 1;
        made := format('%s-%s', base_name, n);
    END LOOP;
    RETURN made;
END $$;
COMMENT ON FUNCTION make_workspace IS 'Make a workspace that was not there, of this name or one that begins like it; its name.';

-- On a server that is not the home: the workspace of this number, which the home has placed here.
CREATE FUNCTION open_placed(of_workspace int, workspace_name text, resolution text, OUT has_space boolean, OUT settings jsonb)
    RETURNS SETOF record LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
#variable_conflict use_column
BEGIN
    IF NOT EXISTS (SELECT FROM workspace w WHERE w.id = of_workspace) THEN
        INSERT INTO workspace (id, name, mode) OVERRIDING SYSTEM VALUE VALUES (of_workspace, workspace_name, resolution)
        ON CONFLICT DO NOTHING;
    END IF;
    RETURN QUERY SELECT w.space IS NOT NULL, w.settings FROM workspace w WHERE w.id = of_workspace;
END $$;

-- In the home: the servers of these workspaces, or of those that were given another one since then; and the time now.
CREATE FUNCTION placements(of_workspaces int[], since timestamptz, OUT id int, OUT server text, OUT at timestamptz)
    RETURNS SETOF record LANGUAGE sql STABLE SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
    SELECT w.id, w.server, now() FROM workspace w WHERE w.id = ANY (of_workspaces)
    UNION ALL
    SELECT w.id, w.server, now() FROM workspace w WHERE w.moved > since
    UNION ALL
    SELECT NULL, NULL, now()
$$;

-- Whether the workspace is there. Whoever writes keeps it from being dropped, or copied to another server, until the end of
-- the transaction; while it is copied, the transaction only reads, but for what is booked for model calls. Looked up before
-- the lock, so that nobody waits for one who is dropping it, and after, as that may have begun meanwhile.
DROP FUNCTION enter;
CREATE FUNCTION enter(entered int, writing boolean, booking boolean DEFAULT false) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
DECLARE
    writable constant text[] := CASE WHEN booking THEN ARRAY['here', 'draining', 'leaving'] ELSE ARRAY['here', 'draining'] END;
    state text := (SELECT place FROM workspace WHERE id = entered AND NOT dropped);
BEGIN
    IF writing AND state = ANY (writable) THEN
        PERFORM pg_advisory_xact_lock_shared(1415005012, entered);
        state := (SELECT place FROM workspace WHERE id = entered AND NOT dropped);
    END IF;
    IF writing AND state <> ALL (writable) THEN
        PERFORM set_config('transaction_read_only', 'on', true);
    END IF;
    RETURN coalesce(state <> 'away', false);
END $$;

CREATE OR REPLACE FUNCTION workspaces_after(after int, most int) RETURNS SETOF int
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
    SELECT w.id FROM workspace w WHERE w.id > after AND NOT w.dropped AND w.expires IS NULL AND w.place = 'here'
    ORDER BY w.id LIMIT most
$$;

-- Copies that a move has left, or left off: to be looked at when nobody moves the workspace any longer.
CREATE FUNCTION unsettled_places(OUT id int, OUT place text, OUT is_over boolean)
    RETURNS SETOF record LANGUAGE sql STABLE SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
    SELECT w.id, w.place, coalesce(w.left_until < now(), false) FROM workspace w WHERE w.place NOT IN ('here', 'away') ORDER BY w.id
$$;

-- The copy that the home says is the workspace is there for all; any other is only read from now on, for a while. Jobs go
-- with the workspace, and so does its name, but in the home, which has all names.
CREATE FUNCTION set_place(of_workspace int, is_here boolean, grace interval) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
BEGIN
    IF is_here THEN
        UPDATE workspace SET place = 'here', left_until = NULL WHERE id = of_workspace AND place <> 'here';
        RETURN;
    END IF;
    UPDATE workspace w SET place = 'left', left_until = now() + grace,
        name = CASE WHEN EXISTS (SELECT FROM catalogue c WHERE c.name <> 'home') THEN format('%s, moved, %s', w.name, w.id) ELSE w.name END
    WHERE id = of_workspace AND place IN ('here', 'draining', 'leaving', 'switching');
    IF FOUND THEN
        DELETE FROM job WHERE workspace = of_workspace;
    END IF;
END $$;

-- Ends the copy of the current workspace in this database, when its rows were taken away.
CREATE FUNCTION end_copy() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
DECLARE here int := current_setting('trueweave.workspace')::int;
BEGIN
    IF NOT EXISTS (SELECT FROM workspace WHERE id = here AND place IN ('left', 'arriving')) THEN
        RAISE EXCEPTION 'workspace % is not a copy that was left', here;
    END IF;
    IF EXISTS (SELECT FROM workspace WHERE id = here AND server IS NOT NULL) THEN
        UPDATE workspace SET place = 'away', left_until = NULL, space = NULL, next_space = NULL, settings = '{}' WHERE id = here;
    ELSE
        DELETE FROM workspace WHERE id = here;
    END IF;
END $$;

-- As they were, but for what is not here, or is about to leave.
CREATE OR REPLACE FUNCTION claim_jobs(claimant int, claimed_by bigint, most int, after int, limit_each int, share int, reclaim boolean,
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
        RETURN;  -- what it claimed would be taken for abandoned
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
        -- Whoever has the lock is counting the jobs of this workspace just now, and claims one.
        CONTINUE WHEN NOT pg_try_advisory_xact_lock(1415005013, here);
        SELECT count(*), count(*) FILTER (WHERE j.worker = claimed_by) INTO under_way, at_claimant FROM job j WHERE j.workspace = here AND j.owner IS NOT NULL;
        SELECT coalesce((w.settings ->> 'jobs_at_once')::int, limit_each) INTO at_most FROM workspace w
        WHERE w.id = here AND w.place = 'here';
        CONTINUE WHEN at_most IS NULL OR under_way >= at_most OR at_claimant >= share;
        -- Two who settle one workspace at a time would only wait for each other.
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

CREATE OR REPLACE FUNCTION claim_projection(of_store text, claimant uuid, seconds float8, after int) RETURNS int
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

REVOKE EXECUTE ON FUNCTION choose_server, note_server_size, open_workspace, make_workspace, open_placed, placements, enter,
    unsettled_places, set_place, end_copy FROM PUBLIC;
GRANT EXECUTE ON FUNCTION note_server_size, open_workspace, make_workspace, open_placed, placements, enter, unsettled_places,
    set_place, end_copy TO trueweave_app;
