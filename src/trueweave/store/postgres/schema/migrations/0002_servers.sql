-- breaking
-- Several PostgreSQL servers: which exist, which one each workspace is on, and how a workspace moves. The database that
-- processes are given is the home. It has a row for every workspace, and it alone assigns ids, so that a workspace has
-- the same id wherever it is. See docs/adr/0036-many-servers.md.

CREATE TABLE catalogue (
    one  boolean PRIMARY KEY DEFAULT true CHECK (one),
    home uuid NOT NULL,
    name text NOT NULL
);
COMMENT ON TABLE catalogue IS 'The role of this database among several: the id of their home, and the name of this one ("home" for the home itself). Empty if it is the only one.';

CREATE TABLE server (
    name     text PRIMARY KEY,
    weight   float8 NOT NULL DEFAULT 1 CHECK (weight >= 0),
    bytes    bigint NOT NULL DEFAULT 0,
    placed   bigint NOT NULL DEFAULT 0,
    measured timestamptz
);
COMMENT ON TABLE server IS 'In the home: the servers that workspaces can be on. Their addresses are in the settings of each process.';
COMMENT ON COLUMN server.weight IS 'How much data it should hold relative to the others. With 0 it gets no new workspaces.';
COMMENT ON COLUMN server.bytes IS 'The size of its database when last measured.';
COMMENT ON COLUMN server.placed IS 'The number of workspaces placed there since.';
GRANT SELECT ON catalogue, server TO trueweave_app;

-- The server for a new workspace, among those that the caller can reach: the one with the least load for its weight. A
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

-- On a server other than the home: the workspace with this id, which the home has placed here.
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

-- In the home: the servers of these workspaces, and of those moved since then; and the current time.
CREATE FUNCTION placements(of_workspaces int[], since timestamptz, OUT id int, OUT server text, OUT at timestamptz)
    RETURNS SETOF record LANGUAGE sql STABLE SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
    SELECT w.id, w.server, now() FROM workspace w WHERE w.id = ANY (of_workspaces)
    UNION ALL
    SELECT w.id, w.server, now() FROM workspace w WHERE w.moved > since
    UNION ALL
    SELECT NULL, NULL, now()
$$;

-- Copies that a move has left behind or not completed, to be checked when nobody is moving the workspace any longer.
CREATE FUNCTION unsettled_places(OUT id int, OUT place text, OUT is_over boolean)
    RETURNS SETOF record LANGUAGE sql STABLE SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
    SELECT w.id, w.place, coalesce(w.left_until < now(), false) FROM workspace w WHERE w.place NOT IN ('here', 'away') ORDER BY w.id
$$;

-- Makes the copy that the home names available to everybody; any other copy becomes read-only, for a while. Jobs move
-- with the workspace, and so does its name, except in the home, which has all names.
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

-- Deletes the copy of the current workspace in this database, after its rows have been deleted.
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

REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA trueweave FROM PUBLIC;
GRANT EXECUTE ON FUNCTION note_server_size, open_placed, placements, unsettled_places, set_place, end_copy TO trueweave_app;
