-- name: installed_by
SELECT obj_description(to_regnamespace(%(schema)s), 'pg_namespace')

-- name: protect
-- All tables of the queue that tell of jobs are bound to the transaction's workspace, which is in the entrypoint's name.
-- The working role cannot use any other. The owner is not bound: it makes and upgrades them.
DO $$
DECLARE kept name;
BEGIN
    GRANT USAGE ON SCHEMA trueweave_queue TO trueweave_app;
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA trueweave_queue TO trueweave_app;
    REVOKE ALL ON ALL TABLES IN SCHEMA trueweave_queue FROM trueweave_app;
    FOR kept IN
        SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'entrypoint'
        WHERE c.relnamespace = 'trueweave_queue'::regnamespace AND c.relkind = 'r'
    LOOP
        EXECUTE format('ALTER TABLE trueweave_queue.%I ENABLE ROW LEVEL SECURITY', kept);
        EXECUTE format('DROP POLICY IF EXISTS workspace ON trueweave_queue.%I', kept);
        EXECUTE format('CREATE POLICY workspace ON trueweave_queue.%I
            USING (split_part(entrypoint, ''/'', 2) = current_setting(''trueweave.workspace''))', kept);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON trueweave_queue.%I TO trueweave_app', kept);
    END LOOP;
END $$
