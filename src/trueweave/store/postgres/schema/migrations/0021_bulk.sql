-- additive
-- A workspace that was built in bulk takes the place of another one. See docs/adr/0038-bulk-loading.md.

-- From the end of this transaction on, the workspace `made` goes by the name of the current one, and has its settings, money,
-- replies, jobs and keys; the current one is written to no longer, and dropped when it has
-- expired: until then who has it open still reads it. Whoever calls this keeps others from writing to it. A table is
-- read in one workspace and written in the other, as row-level security binds the owner as well.
CREATE FUNCTION replace_workspace(made int) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
DECLARE
    here constant int := current_setting('trueweave.workspace')::int;
    former workspace%ROWTYPE;
    carried text;
    named text;
BEGIN
    SELECT * INTO STRICT former FROM workspace WHERE id = here FOR UPDATE;
    UPDATE workspace SET name = format('replaced-%s-by-%s', here, made), dropped = true, expires = now() + interval '5 minutes'
    WHERE id = here;
    UPDATE workspace SET name = former.name, expires = NULL, created = former.created, settings = former.settings,
        paused_until = former.paused_until WHERE id = made;
    UPDATE api_key SET workspaces = array_replace(workspaces, here, made) WHERE here = ANY(workspaces);
    UPDATE audit_log SET workspace = made WHERE workspace = here;
    UPDATE reader SET workspace = made WHERE workspace = here;

    FOREACH carried IN ARRAY ARRAY['budget', 'spend', 'reply', 'rejection', 'source', 'ingest_job', 'ingest_job_document',
                                   'kept_response', 'failed_work', 'erasure', 'summary', 'job'] LOOP
        SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) INTO STRICT named FROM pg_attribute
        WHERE attrelid = format('trueweave.%I', carried)::regclass AND attnum > 0 AND NOT attisdropped
            AND attgenerated = '' AND attname <> 'workspace';
        EXECUTE format('CREATE TEMP TABLE carried ON COMMIT DROP AS SELECT %s FROM %I WHERE workspace = %s', named, carried, here);
        PERFORM set_config('trueweave.workspace', made::text, true);
        EXECUTE format('INSERT INTO %I (workspace, %s) OVERRIDING SYSTEM VALUE SELECT %s, %s FROM carried ON CONFLICT DO NOTHING',
                       carried, named, made, named);
        PERFORM set_config('trueweave.workspace', here::text, true);
        DROP TABLE carried;
    END LOOP;

    CREATE TEMP TABLE carried ON COMMIT DROP AS SELECT id, added FROM document WHERE workspace = here;
    PERFORM set_config('trueweave.workspace', made::text, true);
    UPDATE document d SET added = c.added FROM carried c WHERE d.workspace = made AND d.id = c.id;
    PERFORM set_config('trueweave.workspace', here::text, true);
END $$;
REVOKE EXECUTE ON FUNCTION replace_workspace FROM PUBLIC;
GRANT EXECUTE ON FUNCTION replace_workspace TO trueweave_app;
