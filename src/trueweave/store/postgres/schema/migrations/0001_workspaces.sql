-- breaking
-- Workspaces, the roles that work in them, and how workspaces are isolated from each other. See
-- docs/adr/0006-tenants.md.
--
-- In all tables, primary keys begin with the workspace and all other indexes end with it, so that a lookup by key has
-- one matching index.

CREATE EXTENSION IF NOT EXISTS vector SCHEMA public;

COMMENT ON COLUMN migration.additive IS 'Whether processes of the previous version can keep running after it.';

-- The role that Trueweave works as: it owns nothing, so row-level security binds it. The role of readers is for handing
-- out: see below. Roles belong to the cluster, so another database may have created them.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'trueweave_app') THEN
        CREATE ROLE trueweave_app NOLOGIN;
    END IF;
    IF NOT pg_has_role('trueweave_app', 'MEMBER') THEN
        GRANT trueweave_app TO CURRENT_USER;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'trueweave_reader') THEN
        CREATE ROLE trueweave_reader NOLOGIN;
    END IF;
END $$;
GRANT USAGE ON SCHEMA trueweave TO trueweave_app, trueweave_reader;
GRANT SELECT ON migration TO trueweave_app;  -- every connection checks which migrations there are

-- Readers: roles that can be handed out. `trueweave_app` reads whatever workspace it sets; a reader is bound to its
-- workspace by its role.
CREATE TABLE reader (
    role      name PRIMARY KEY,
    workspace int NOT NULL
);
COMMENT ON TABLE reader IS 'Roles that can read one workspace, and which. Roles belong to the cluster, workspaces to this database.';

-- The workspaces that a role may read, given the roles that it is a member of.
CREATE FUNCTION readable(who name) RETURNS int[]
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
BEGIN
    RETURN ARRAY(SELECT r.workspace FROM reader r JOIN pg_roles p ON p.rolname = r.role
                 WHERE pg_has_role(who, p.oid, 'USAGE'));
END $$;
GRANT EXECUTE ON FUNCTION readable TO trueweave_reader;

-- In addition to the policy on the transaction's workspace: whatever a reader sets, it sees only its own workspace.
CREATE FUNCTION guard_readers(guarded regclass, tenant text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE POLICY reader ON %s AS RESTRICTIVE TO trueweave_reader
        USING (%I = ANY ((SELECT trueweave.readable(current_user))::int[]))', guarded, tenant);
END $$;

-- Binds a table to the workspace of the transaction: rows of other workspaces cannot be seen, changed or written.
-- Without a workspace the setting is missing or empty, and every statement fails.
CREATE FUNCTION guard(guarded regclass, tenant text DEFAULT 'workspace') RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', guarded);
    EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', guarded);
    EXECUTE format('CREATE POLICY workspace ON %s USING (%I = current_setting(''trueweave.workspace'')::int)', guarded, tenant);
    PERFORM trueweave.guard_readers(guarded, tenant);
    -- With statistics the planner would assume that a workspace they have not seen yet has one row, however many it
    -- has. Without them it assumes a share of the table's current size, and a lookup by key is always cheaper.
    EXECUTE format('ALTER TABLE %s ALTER %I SET STATISTICS 0', guarded, tenant);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO trueweave_app', guarded);
END $$;

CREATE TABLE workspace (
    id           int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name         text NOT NULL UNIQUE,
    mode         text NOT NULL DEFAULT 'exact' CHECK (mode IN ('fuzzy', 'exact', 'off')),
    threshold    smallint NOT NULL DEFAULT 90 CHECK (threshold BETWEEN 70 AND 100),
    same         text NOT NULL DEFAULT 'name_and_type' CHECK (same IN ('name_and_type', 'name')),
    space        int,
    created      timestamptz NOT NULL DEFAULT now(),
    dropped      boolean NOT NULL DEFAULT false,
    expires      timestamptz,
    next_space   int,
    paused_until timestamptz,
    changes_gone bigint NOT NULL DEFAULT 0,
    settings     jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(settings) = 'object'),
    server       text,
    moved        timestamptz,
    place        text NOT NULL DEFAULT 'here'
        CHECK (place IN ('here', 'draining', 'leaving', 'switching', 'left', 'arriving', 'away')),
    left_until   timestamptz,
    replaced_by  int,
    rules_hash   bigint NOT NULL DEFAULT 0
);
COMMENT ON TABLE workspace IS 'A tenant: how it decides which names are one entity, and the embedding space it is searched in.';
COMMENT ON COLUMN workspace.dropped IS 'It is being dropped and takes no more writes. Dropping it again resumes an interrupted drop.';
COMMENT ON COLUMN workspace.expires IS 'For a temporary workspace: when it expires, unless the process that created it extends this. NULL for a permanent one.';
COMMENT ON COLUMN workspace.next_space IS 'The embedding space that is being filled, to replace the current one.';
COMMENT ON COLUMN workspace.paused_until IS 'No indexing before this time, so that a change of embedding space can finish.';
COMMENT ON COLUMN workspace.changes_gone IS 'The last outbox position that has been deleted.';
-- Never a key: only the name of the environment variable that holds it.
COMMENT ON COLUMN workspace.settings IS 'Settings of this workspace, by name. They override those of the process.';
COMMENT ON COLUMN workspace.server IS 'In the home: the server it is on. NULL means the home itself.';
COMMENT ON COLUMN workspace.moved IS 'In the home: when it was last assigned to another server.';
COMMENT ON COLUMN workspace.place IS 'here: it is in this database. draining: also here, but no new jobs start. leaving: being copied to another server, and read-only. switching: the same, and model calls cannot be booked either. left: it is on another server now, and this copy can be read until left_until. arriving: being copied to this database. away: only this row is in this database.';
COMMENT ON COLUMN workspace.replaced_by IS 'The workspace that replaced it in a bulk load. Until the new one has been read, expires is infinity.';
COMMENT ON COLUMN workspace.rules_hash IS 'XOR of the hashes of all rule ids. A bulk load copies it, so that verify notices a lost rule.';
CREATE INDEX workspace_moved ON workspace (moved) WHERE moved IS NOT NULL;
CREATE INDEX workspace_place ON workspace (place) WHERE place NOT IN ('here', 'away');
SELECT guard('workspace', 'id');
GRANT SELECT ON workspace TO trueweave_reader;
REVOKE INSERT, DELETE ON workspace FROM trueweave_app;
-- A caller enters a workspace by name alone, so some lookups cross tenants. The functions below run as the owner, who
-- can see all of this table (it is not FORCEd); the working role sees only its own row.
ALTER TABLE workspace NO FORCE ROW LEVEL SECURITY;

-- Returns what is needed to work in a workspace, in one statement. If the id is known, a plain SELECT is enough.
-- `among`: the servers that the caller can reach, for a new workspace.
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
COMMENT ON FUNCTION make_workspace IS 'Creates a new workspace with this name, or with a number appended if the name is taken; returns its name.';

-- Creates a workspace unless the name is taken; returns whether it did. Of two concurrent callers one gets false.
CREATE FUNCTION create_workspace(workspace_name text, resolution text, among text[]) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
DECLARE chosen text;
BEGIN
    IF EXISTS (SELECT FROM workspace w WHERE w.name = workspace_name) THEN
        RETURN false;
    END IF;
    chosen := choose_server(among);
    INSERT INTO workspace (name, mode, server, place)
    VALUES (workspace_name, resolution, chosen, CASE WHEN chosen IS NULL THEN 'here' ELSE 'away' END)
    ON CONFLICT (name) DO NOTHING;
    RETURN FOUND;
END $$;

-- A temporary workspace: the process that creates it extends `expires` for as long as it is needed.
CREATE FUNCTION make_temporary_workspace(named text, lasts interval) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
DECLARE made int;
BEGIN
    INSERT INTO workspace (name, expires) VALUES (named, now() + lasts) RETURNING id INTO made;
    RETURN made;
END $$;

-- Marks expired temporary workspaces as dropped and returns them, together with those already marked. The mark is set
-- in the same statement, so a switch never waits for a row that is about to be deleted, and a row that a switch holds
-- is skipped.
CREATE FUNCTION expired_workspaces() RETURNS SETOF int
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
BEGIN
    RETURN QUERY UPDATE workspace SET dropped = true
    WHERE id IN (SELECT w.id FROM workspace w WHERE w.expires < now() FOR UPDATE SKIP LOCKED) RETURNING id;
END $$;

-- Workspaces by name, for a caller who may see them: all, or those with these ids.
CREATE FUNCTION list_workspaces(only_ids int[], after_name text, most int, OUT id int, OUT name text, OUT created timestamptz)
    RETURNS SETOF record LANGUAGE sql STABLE SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
    SELECT w.id, w.name, w.created FROM workspace w
    WHERE NOT w.dropped AND w.expires IS NULL AND (only_ids IS NULL OR w.id = ANY(only_ids)) AND w.name COLLATE "C" > after_name
    ORDER BY w.name COLLATE "C" LIMIT most
$$;

-- Workspaces in order of their ids, for a worker that serves all of them.
CREATE FUNCTION workspaces_after(after int, most int) RETURNS SETOF int
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
    SELECT w.id FROM workspace w WHERE w.id > after AND NOT w.dropped AND w.expires IS NULL AND w.place = 'here'
    ORDER BY w.id LIMIT most
$$;

-- Whether the workspace exists. A writer prevents it from being dropped, or copied to another server, until the end of
-- the transaction. While it is being copied, the transaction is read-only, except for bookings of model calls. Checked
-- before the lock, so that nobody waits for a drop in progress, and again after it, because a drop may have begun.
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

-- From the end of this transaction on nobody can begin to write to the current workspace. Raises if a bulk load has
-- replaced it: the caller does not mean to drop the former index, which is dropped when it expires.
CREATE FUNCTION begin_drop() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
DECLARE here int := current_setting('trueweave.workspace')::int;
BEGIN
    UPDATE workspace SET dropped = true WHERE id = here AND (replaced_by IS NULL OR expires < now());
    IF NOT FOUND AND EXISTS (SELECT FROM workspace WHERE id = here) THEN
        RAISE EXCEPTION 'a bulk load has replaced this workspace';
    END IF;
    INSERT INTO dropped_workspace (id, copies)
    SELECT here, coalesce(array_agg(p.store || ':' || c.id) FILTER (WHERE c.id IS NOT NULL), '{}')
    FROM consumer u LEFT JOIN projection p ON p.workspace = here
    LEFT JOIN LATERAL unnest(p.replaced || ARRAY[p.live, p.building]) AS c (id) ON true
    WHERE u.workspace = here HAVING count(*) > 0
    ON CONFLICT DO NOTHING;
END $$;

-- Returns when all writers of the current workspace have finished.
CREATE FUNCTION await_writers() RETURNS void
LANGUAGE plpgsql SET search_path = trueweave, pg_temp AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(1415005012, current_setting('trueweave.workspace')::int);
END $$;

-- Deletes the current workspace. The working role itself has deleted its rows before.
CREATE FUNCTION drop_workspace() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
BEGIN
    DELETE FROM workspace WHERE id = current_setting('trueweave.workspace')::int;
END $$;

REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA trueweave FROM PUBLIC;
GRANT EXECUTE ON FUNCTION open_workspace, make_workspace, create_workspace, make_temporary_workspace, expired_workspaces,
    list_workspaces, workspaces_after, enter, begin_drop, await_writers, drop_workspace TO trueweave_app;
