-- breaking
-- Workspaces, the roles that work in them, and what keeps one workspace from another. See docs/adr/0006-tenants.md.
--
-- In all tables: primary keys begin with the workspace and all other indexes end with it, so that a look-up by key has one
-- index that fits.

CREATE EXTENSION IF NOT EXISTS vector SCHEMA public;

COMMENT ON COLUMN migration.additive IS 'Whether processes of the version before may go on beside it.';

-- The role that Trueweave works as: it owns nothing, so row-level security binds it. The role of readers is handed out: see
-- below. Roles belong to the cluster: another database may have made them.
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
GRANT SELECT ON migration TO trueweave_app;  -- every connection looks which migrations there are

-- Readers: roles that may be handed out. `trueweave_app` reads whatever workspace it sets; these are tied to theirs by who
-- they are.
CREATE TABLE reader (
    role      name PRIMARY KEY,
    workspace int NOT NULL
);
COMMENT ON TABLE reader IS 'Roles that read one workspace, and which. They belong to the cluster, workspaces to this database.';

-- The workspaces that a role may read, by the roles that it is a member of.
CREATE FUNCTION readable(who name) RETURNS int[]
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
BEGIN
    RETURN ARRAY(SELECT r.workspace FROM reader r JOIN pg_roles p ON p.rolname = r.role
                 WHERE pg_has_role(who, p.oid, 'USAGE'));
END $$;
GRANT EXECUTE ON FUNCTION readable TO trueweave_reader;

-- Beside the policy that asks for the transaction's workspace: whatever a reader sets, only what is his own is left.
CREATE FUNCTION guard_readers(guarded regclass, tenant text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE POLICY reader ON %s AS RESTRICTIVE TO trueweave_reader
        USING (%I = ANY ((SELECT trueweave.readable(current_user))::int[]))', guarded, tenant);
END $$;

-- Ties a table to the workspace of the transaction: no row of another is seen, changed or written.
-- Without a workspace the setting is missing or empty, and every statement fails.
CREATE FUNCTION guard(guarded regclass, tenant text DEFAULT 'workspace') RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', guarded);
    EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', guarded);
    EXECUTE format('CREATE POLICY workspace ON %s USING (%I = current_setting(''trueweave.workspace'')::int)', guarded, tenant);
    PERFORM trueweave.guard_readers(guarded, tenant);
    -- Statistics would tell the planner that a workspace they have not seen yet has one row, however many it has got.
    -- Without them it takes a share of the table's present size, and a look-up by key is always the cheaper one.
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
COMMENT ON TABLE workspace IS 'A tenant: what makes two names one entity for it, and the embedding space that answers.';
COMMENT ON COLUMN workspace.dropped IS 'It is being dropped: nobody may write to it any more, and whoever drops it again goes on with that.';
COMMENT ON COLUMN workspace.expires IS 'Until when whoever made a workspace for a while is known to be there; none for lasting ones.';
COMMENT ON COLUMN workspace.next_space IS 'The embedding space that is being filled beside the one that answers.';
COMMENT ON COLUMN workspace.paused_until IS 'Nothing new is settled before this, so that a change of embedding space can come to its end.';
COMMENT ON COLUMN workspace.changes_gone IS 'The last position of the outbox that is kept no longer.';
-- Never a key: only the name of the environment variable that holds it.
COMMENT ON COLUMN workspace.settings IS 'Settings of this workspace, by name; they outweigh those of the process.';
COMMENT ON COLUMN workspace.server IS 'In the home: the server that it is on; NULL is the home itself.';
COMMENT ON COLUMN workspace.moved IS 'In the home: when it was last given another server.';
COMMENT ON COLUMN workspace.place IS 'here: it is in this database. draining: likewise, and no job of it is begun. leaving: it is copied to another server and only read. switching: likewise, and nothing is booked for model calls. left: it is on another server, and is still read here until left_until. arriving: it is being copied here. away: only this row is here.';
COMMENT ON COLUMN workspace.replaced_by IS 'The workspace that a bulk load put in its place. Until that one has been read, expires is infinity.';
COMMENT ON COLUMN workspace.rules_hash IS 'XOR of the hashes of the ids of all rules. A bulk load carries it over, so verify notices a rule that was lost.';
CREATE INDEX workspace_moved ON workspace (moved) WHERE moved IS NOT NULL;
CREATE INDEX workspace_place ON workspace (place) WHERE place NOT IN ('here', 'away');
SELECT guard('workspace', 'id');
GRANT SELECT ON workspace TO trueweave_reader;
REVOKE INSERT, DELETE ON workspace FROM trueweave_app;
-- A name is all that a caller needs to enter a workspace, so some look-ups cross tenants. The owner, whose rights the
-- functions below have, may see all of this table (it is not FORCEd), the working role only its own row.
ALTER TABLE workspace NO FORCE ROW LEVEL SECURITY;

-- All that is needed to work in a workspace, in one statement. By an id that is known, a plain SELECT does it.
-- `among`: the servers that the caller can reach, for a workspace that is new.
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
COMMENT ON FUNCTION make_workspace IS 'Make a workspace that was not there, of this name or one that begins like it; its name.';

-- Makes a workspace unless there is one of this name; whether it did. Of two concurrent callers one gets false.
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

-- A temporary workspace: the process that made it extends `expires` for as long as it is needed.
CREATE FUNCTION make_temporary_workspace(named text, lasts interval) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
DECLARE made int;
BEGIN
    INSERT INTO workspace (name, expires) VALUES (named, now() + lasts) RETURNING id INTO made;
    RETURN made;
END $$;

-- Marks the temporary workspaces that have expired as dropped and returns them, together with those that were marked
-- before. The mark is set in the same statement, so a switch never waits for a row that is about to be deleted, and a row
-- that a switch holds is skipped.
CREATE FUNCTION expired_workspaces() RETURNS SETOF int
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
BEGIN
    RETURN QUERY UPDATE workspace SET dropped = true
    WHERE id IN (SELECT w.id FROM workspace w WHERE w.expires < now() FOR UPDATE SKIP LOCKED) RETURNING id;
END $$;

-- Workspaces by name, for a caller who may see them: all, or those of these numbers.
CREATE FUNCTION list_workspaces(only_ids int[], after_name text, most int, OUT id int, OUT name text, OUT created timestamptz)
    RETURNS SETOF record LANGUAGE sql STABLE SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
    SELECT w.id, w.name, w.created FROM workspace w
    WHERE NOT w.dropped AND w.expires IS NULL AND (only_ids IS NULL OR w.id = ANY(only_ids)) AND w.name COLLATE "C" > after_name
    ORDER BY w.name COLLATE "C" LIMIT most
$$;

-- Workspaces in the order of their ids, for a worker that looks after all of them.
CREATE FUNCTION workspaces_after(after int, most int) RETURNS SETOF int
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
    SELECT w.id FROM workspace w WHERE w.id > after AND NOT w.dropped AND w.expires IS NULL AND w.place = 'here'
    ORDER BY w.id LIMIT most
$$;

-- Whether the workspace is there. Whoever writes keeps it from being dropped, or copied to another server, until the end of
-- the transaction; while it is copied, the transaction only reads, but for what is booked for model calls. Looked up before
-- the lock, so that nobody waits for one who is dropping it, and after, as that may have begun meanwhile.
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

-- From the end of this transaction on nobody begins to write to the current workspace. Raises for one that a bulk load has
-- replaced: dropping the former index is not what the caller means. It is dropped when it has expired.
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

-- Returns when all who write to the current workspace are done.
CREATE FUNCTION await_writers() RETURNS void
LANGUAGE plpgsql SET search_path = trueweave, pg_temp AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(1415005012, current_setting('trueweave.workspace')::int);
END $$;

-- Ends the current workspace. Its rows are taken away before, by the working role itself.
CREATE FUNCTION drop_workspace() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
BEGIN
    DELETE FROM workspace WHERE id = current_setting('trueweave.workspace')::int;
END $$;

REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA trueweave FROM PUBLIC;
GRANT EXECUTE ON FUNCTION open_workspace, make_workspace, create_workspace, make_temporary_workspace, expired_workspaces,
    list_workspaces, workspaces_after, enter, begin_drop, await_writers, drop_workspace TO trueweave_app;
