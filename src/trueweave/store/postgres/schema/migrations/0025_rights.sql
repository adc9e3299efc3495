-- additive
-- Access rights within a workspace. See docs/adr/0056-access-rights.md.

-- Readers of documents: groups. Without readers, everybody in the workspace reads a document.
ALTER TABLE document ADD COLUMN readers text[] NOT NULL DEFAULT '{}',
    ADD COLUMN given_readers text[],
    ADD COLUMN off boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN document.readers IS 'The groups that can read it; empty for everybody. Derived from given_readers and access_rule by keep_readers.';
COMMENT ON COLUMN document.given_readers IS 'The readers that were given with it. NULL if none were: then the access rule with the longest matching prefix applies.';
COMMENT ON COLUMN document.off IS 'It is switched off: it is stored and indexed, and shown to nobody who reads with rights or a filter.';
-- Whether a workspace has any document that not everybody reads, and the documents that everybody reads.
CREATE INDEX document_restricted ON document (workspace) WHERE readers <> '{}' OR off;
CREATE INDEX document_open ON document (workspace, id) WHERE visible AND readers = '{}';

ALTER TABLE source ADD COLUMN given_readers text[];
COMMENT ON COLUMN source.given_readers IS 'The readers of the document. NULL if none were given: then it keeps those that it was given before.';

CREATE TABLE access_rule (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    prefix    text NOT NULL,
    readers   text[] NOT NULL,
    PRIMARY KEY (workspace, prefix)
);
COMMENT ON TABLE access_rule IS 'Readers of the documents whose uris begin with a prefix, unless readers were given with them. The longest prefix applies.';
SELECT guard('access_rule');

ALTER TABLE api_key ADD COLUMN groups text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN api_key.groups IS 'The groups that its requests read as. * means all documents. Empty: only documents that everybody reads.';
ALTER TABLE web_session ADD COLUMN groups text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN web_session.groups IS 'The groups of a login without a key. A session with a key has those of the key.';

-- The readers of a document with this uri by the rules of the workspace.
CREATE FUNCTION rule_readers(of_uri text) RETURNS text[] LANGUAGE sql STABLE SET search_path = trueweave, pg_temp AS $$
    SELECT coalesce((
        SELECT r.readers FROM access_rule r
        WHERE r.workspace = current_setting('trueweave.workspace')::int AND starts_with(of_uri, r.prefix)
        ORDER BY length(r.prefix) DESC LIMIT 1), '{}')
$$;

-- Readers as facets, so that the documents of a group are looked up like those with a value of metadata. No other facet
-- has this path.
CREATE FUNCTION reader_facets(readers text[]) RETURNS SETOF uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT md5(E'\x02readers\x01string\x01' || r)::uuid FROM unnest(readers) AS u (r)
$$;

-- Derives the readers of these versions again, and their facets; returns how many have changed. Whoever changes rules or
-- given readers calls this in the same transaction.
CREATE FUNCTION keep_readers(ids uuid[]) RETURNS bigint LANGUAGE sql SET search_path = trueweave, pg_temp AS $$
    WITH due AS (
        SELECT d.id, d.readers AS old, coalesce(d.given_readers, rule_readers(d.uri)) AS new FROM document d
        WHERE d.workspace = current_setting('trueweave.workspace')::int AND d.id = ANY(ids) ORDER BY d.uri, d.id FOR UPDATE),
    changed AS (
        UPDATE document d SET readers = due.new FROM due
        WHERE d.workspace = current_setting('trueweave.workspace')::int AND d.id = due.id AND due.new <> due.old
        RETURNING d.id, due.old, due.new),
    gone AS (
        DELETE FROM facet f USING changed c
        WHERE f.workspace = current_setting('trueweave.workspace')::int AND f.document = c.id
            AND f.facet = ANY(ARRAY(SELECT reader_facets(c.old) EXCEPT SELECT reader_facets(c.new)))),
    came AS (
        INSERT INTO facet (document, facet) SELECT c.id, f FROM changed c CROSS JOIN LATERAL reader_facets(c.new) AS f
        ON CONFLICT DO NOTHING)
    SELECT count(*) FROM changed
$$;

-- As in 0016, with access rules, readers and documents that are switched off.
CREATE OR REPLACE FUNCTION replace_workspace(made int) RETURNS void
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
                                   'connector_source', 'access_rule'] LOOP
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

    CREATE TEMP TABLE carried ON COMMIT DROP AS SELECT id, added, source, uri, given_readers, off, current FROM document WHERE workspace = here;
    PERFORM set_config('trueweave.workspace', made::text, true);
    UPDATE document d SET added = c.added, source = coalesce(d.source, c.source) FROM carried c
    WHERE d.workspace = made AND d.id = c.id;
    -- Readers may have been given, and documents switched off, during the load.
    UPDATE document d SET given_readers = coalesce(c.given_readers, d.given_readers), off = c.off FROM carried c
    WHERE d.workspace = made AND d.uri = c.uri AND c.current AND (c.given_readers IS NOT NULL OR c.off);
    PERFORM keep_readers(ARRAY(SELECT id FROM document WHERE workspace = made));
    PERFORM set_config('trueweave.workspace', here::text, true);

    LOCK TABLE api_key, reader IN SHARE ROW EXCLUSIVE MODE;  -- wait for keys and readers that are just being created
    UPDATE api_key SET workspaces = array_replace(workspaces, here, made) WHERE here = ANY(workspaces);
    UPDATE audit_log SET workspace = made WHERE workspace = here;
    UPDATE reader SET workspace = made WHERE workspace = here;
END $$;

REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA trueweave FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rule_readers, reader_facets, keep_readers TO trueweave_app;
