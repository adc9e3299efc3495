-- breaking
-- A workspace built in bulk replaces another one, which is kept until the new one has been read. See
-- docs/adr/0038-bulk-loading.md.

-- From the end of this transaction on, the workspace `made` has the name of the current one, and its settings, ledger,
-- replies, jobs and keys. The current one is no longer written to, and is deleted after the new one has been read. The
-- caller must prevent other writes to it. Raises, and changes nothing, unless both are in this database and `made` is
-- still the temporary workspace of a load. Tables are read in one workspace and written in the other, because row-level
-- security binds the owner as well.
CREATE FUNCTION replace_workspace(made int) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
DECLARE
    here constant int := current_setting('trueweave.workspace')::int;
    former workspace%ROWTYPE;
    new workspace%ROWTYPE;
    carried text;
    named text;
BEGIN
    SELECT * INTO former FROM workspace WHERE id = here FOR UPDATE;
    IF NOT FOUND OR former.dropped OR former.expires IS NOT NULL THEN
        RAISE EXCEPTION 'the workspace was dropped, or another bulk load replaced it';
    ELSIF former.server IS NOT NULL OR former.place <> 'here' THEN
        RAISE EXCEPTION 'the workspace is being moved to another server, or was moved';
    ELSIF EXISTS (SELECT FROM consumer WHERE workspace = here) OR EXISTS (SELECT FROM projection WHERE workspace = here) THEN
        RAISE EXCEPTION 'the workspace is copied to another store now, and copies cannot follow a bulk load';
    END IF;
    SELECT * INTO new FROM workspace WHERE id = made FOR UPDATE;
    IF NOT FOUND OR new.dropped OR new.expires IS NULL OR new.server IS NOT NULL OR new.place <> 'here' THEN
        RAISE EXCEPTION 'the index that was built is no longer there: it expired and was dropped';
    ELSIF (former.space IS NOT NULL AND former.space IS DISTINCT FROM new.space)
        OR (former.next_space IS NOT NULL AND former.next_space IS DISTINCT FROM new.space) THEN
        RAISE EXCEPTION 'the workspace has, or is about to have, vectors of another embedding model than the index that was built';
    ELSIF (former.mode, former.threshold, former.same, former.rules_hash) <> (new.mode, new.threshold, new.same, new.rules_hash) THEN
        RAISE EXCEPTION 'the workspace has other rules or another resolution than the index that was built';
    END IF;
    UPDATE workspace SET name = format('replaced-%s-by-%s', here, made), dropped = true, expires = 'infinity', replaced_by = made
    WHERE id = here;
    UPDATE workspace SET name = former.name, expires = NULL, created = former.created, settings = former.settings,
        paused_until = former.paused_until, rules_hash = former.rules_hash WHERE id = made;

    FOREACH carried IN ARRAY ARRAY['budget', 'spend', 'reply', 'rejection', 'source', 'ingest_job', 'ingest_job_document',
                                   'kept_response', 'failed_work', 'erasure', 'summary', 'stale_text', 'job',
                                   'bench_question', 'bench_run', 'bench_outcome', 'bench_passage', 'connector_document',
                                   'connector_source'] LOOP
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

    CREATE TEMP TABLE carried ON COMMIT DROP AS SELECT id, added, source FROM document WHERE workspace = here;
    PERFORM set_config('trueweave.workspace', made::text, true);
    UPDATE document d SET added = c.added, source = coalesce(d.source, c.source) FROM carried c
    WHERE d.workspace = made AND d.id = c.id;
    PERFORM set_config('trueweave.workspace', here::text, true);

    LOCK TABLE api_key, reader IN SHARE ROW EXCLUSIVE MODE;  -- wait for keys and readers that are just being created
    UPDATE api_key SET workspaces = array_replace(workspaces, here, made) WHERE here = ANY(workspaces);
    UPDATE audit_log SET workspace = made WHERE workspace = here;
    UPDATE reader SET workspace = made WHERE workspace = here;
END $$;

-- The former indexes whose successor has not been read yet, each with its successor; NULL if that was dropped, replaced
-- or moved since.
CREATE FUNCTION replaced_workspaces(OUT former int, OUT successor int) RETURNS SETOF record
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
    SELECT w.id, s.id FROM workspace w
    LEFT JOIN workspace s ON s.id = w.replaced_by AND NOT s.dropped AND s.place <> 'away'
    WHERE w.expires = 'infinity' AND w.replaced_by IS NOT NULL ORDER BY w.id
$$;

-- Makes a former index expire in five minutes: programs that have it open can read it until then.
CREATE FUNCTION release_replaced(former int) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
    UPDATE workspace SET expires = now() + interval '5 minutes'
    WHERE id = former AND expires = 'infinity' AND replaced_by IS NOT NULL
$$;

REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA trueweave FROM PUBLIC;
GRANT EXECUTE ON FUNCTION replace_workspace, replaced_workspaces, release_replaced TO trueweave_app;
