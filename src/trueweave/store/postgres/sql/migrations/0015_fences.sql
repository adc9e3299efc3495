-- breaking
-- Fences: a workspace that is being dropped takes nothing more, and a role that is handed out reads one workspace alone.

ALTER TABLE workspace ADD dropped boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN workspace.dropped IS 'It is being dropped: nobody may write to it any more, and whoever drops it again goes on with that.';

-- Whether the workspace is there. Whoever writes keeps it from being dropped until the end of the transaction. Looked up
-- before the lock, so that nobody waits for one who is dropping it, and after, as it may have been dropped meanwhile.
CREATE FUNCTION enter(wanted int, writing boolean) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
DECLARE is_there boolean := EXISTS (SELECT FROM workspace WHERE id = wanted AND NOT dropped);
BEGIN
    IF is_there AND writing THEN
        PERFORM pg_advisory_xact_lock_shared(1415005012, wanted);
        is_there := EXISTS (SELECT FROM workspace WHERE id = wanted AND NOT dropped);
    END IF;
    RETURN is_there;
END $$;

-- From the end of this transaction on nobody begins to write to the current workspace.
CREATE FUNCTION begin_drop() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
BEGIN
    UPDATE workspace SET dropped = true WHERE id = current_setting('trueweave.workspace')::int;
END $$;

-- Returns when all who write to the current workspace are done.
CREATE FUNCTION await_writers() RETURNS void
LANGUAGE plpgsql SET search_path = trueweave, pg_temp AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(1415005012, current_setting('trueweave.workspace')::int);
END $$;

REVOKE EXECUTE ON FUNCTION enter, begin_drop, await_writers FROM PUBLIC;
GRANT EXECUTE ON FUNCTION enter, begin_drop, await_writers TO trueweave_app;

-- Roles that may be handed out. `trueweave_app` reads whatever workspace it sets; these are tied to theirs by who they are.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'trueweave_reader') THEN
        CREATE ROLE trueweave_reader NOLOGIN;
    END IF;
END $$;

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
REVOKE EXECUTE ON FUNCTION readable FROM PUBLIC;
GRANT EXECUTE ON FUNCTION readable TO trueweave_reader;
GRANT USAGE ON SCHEMA trueweave TO trueweave_reader;

-- Beside the policy that asks for the transaction's workspace: whatever a reader sets, only what is his own is left.
CREATE FUNCTION guard_readers(guarded regclass, tenant text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE POLICY reader ON %s AS RESTRICTIVE TO trueweave_reader
        USING (%I = ANY ((SELECT trueweave.readable(current_user))::int[]))', guarded, tenant);
END $$;
REVOKE EXECUTE ON FUNCTION guard_readers FROM PUBLIC;

CREATE OR REPLACE FUNCTION guard(guarded regclass, tenant text DEFAULT 'workspace') RETURNS void LANGUAGE plpgsql AS $$
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

CREATE OR REPLACE FUNCTION make_vector_table(named text, dimensions int) RETURNS void
LANGUAGE plpgsql SET search_path = trueweave, public, pg_temp AS $$
BEGIN
    EXECUTE format($sql$
        CREATE TABLE %I (
            workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
            id        uuid NOT NULL,
            text_hash uuid NOT NULL,
            v         halfvec(%s) NOT NULL,
            PRIMARY KEY (workspace, id))$sql$, named, dimensions);
    -- In line, not in a side table: an exact scan reads every vector.
    EXECUTE format('ALTER TABLE %I ALTER v SET STORAGE PLAIN', named);
    PERFORM guard(named::regclass);
    EXECUTE format('GRANT SELECT ON %I TO trueweave_reader', named);
END $$;

-- What a reader sees: what documents say, and what that adds up to. Not what waits, what models replied, or what it cost.
SELECT guard_readers(p.polrelid::regclass, CASE c.relname WHEN 'workspace' THEN 'id' ELSE 'workspace' END)
FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
WHERE p.polname = 'workspace' AND c.relnamespace = 'trueweave'::regnamespace;
GRANT SELECT ON workspace, document, facet, chunk, mention, link, rule, rule_name, name, tie, tally, entity, relation, anchor,
    summary, hierarchy, community, member, report, former_community, space TO trueweave_reader;
DO $$
DECLARE made regclass;
BEGIN
    FOR made IN SELECT c.oid FROM pg_class c
                WHERE c.relnamespace = 'trueweave'::regnamespace AND c.relkind = 'r' AND c.relname LIKE 'vector\_%'
    LOOP
        EXECUTE format('GRANT SELECT ON %s TO trueweave_reader', made);
    END LOOP;
END $$;
