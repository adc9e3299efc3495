-- additive
-- Access rights within a workspace. See docs/adr/0056-access-rights.md.

-- Readers of documents: groups. Without readers, everybody in the workspace reads a document.
ALTER TABLE document ADD COLUMN readers text[] NOT NULL DEFAULT '{}',
    ADD COLUMN given_readers text[];
COMMENT ON COLUMN document.readers IS 'The groups that can read it; empty for everybody. Derived from given_readers and access_rule by keep_readers.';
COMMENT ON COLUMN document.given_readers IS 'The readers that were given with it. NULL if none were: then the access rule with the longest matching prefix applies.';
-- Whether a workspace has any document that not everybody reads, and the documents that everybody reads.
CREATE INDEX document_restricted ON document (workspace) WHERE readers <> '{}';
CREATE INDEX document_open ON document (workspace, id) WHERE visible AND readers = '{}';
-- Readers are looked up for each document that a caller may be shown.
CREATE INDEX document_seen ON document (id, workspace) INCLUDE (readers) WHERE visible;
-- The document of a chunk is looked up for each chunk that a caller may be shown.
DROP INDEX chunk_id;
CREATE INDEX chunk_id ON chunk (id, workspace) INCLUDE (document);

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

-- As in 0016, with access rules and readers.
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
                                   'connector_source', 'access_rule', 'pending_certificate', 'watch', 'alert', 'alert_passage'] LOOP
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

    CREATE TEMP TABLE carried ON COMMIT DROP AS SELECT id, added, source, uri, given_readers, current FROM document WHERE workspace = here;
    PERFORM set_config('trueweave.workspace', made::text, true);
    UPDATE document d SET added = c.added, source = coalesce(d.source, c.source) FROM carried c
    WHERE d.workspace = made AND d.id = c.id;
    -- Readers may have been given during the load.
    UPDATE document d SET given_readers = c.given_readers FROM carried c
    WHERE d.workspace = made AND d.uri = c.uri AND c.current AND c.given_readers IS NOT NULL;
    PERFORM keep_readers(ARRAY(SELECT id FROM document WHERE workspace = made));
    PERFORM set_config('trueweave.workspace', here::text, true);

    LOCK TABLE api_key, reader IN SHARE ROW EXCLUSIVE MODE;  -- wait for keys and readers that are just being created
    UPDATE api_key SET workspaces = array_replace(workspaces, here, made) WHERE here = ANY(workspaces);
    UPDATE audit_log SET workspace = made WHERE workspace = here;
    UPDATE reader SET workspace = made WHERE workspace = here;
END $$;

-- Callers who may not read all documents work as another role, in a transaction that has the settings `trueweave.groups`
-- (an array of text) and `trueweave.filter` (JSON; see `meets`). Whatever is not granted to it is not available to them.
-- trueweave_app may switch to it, but has none of its rights and policies.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'trueweave_caller') THEN
        CREATE ROLE trueweave_caller NOLOGIN;
    END IF;
    IF NOT pg_has_role('trueweave_app', 'trueweave_caller', 'SET') THEN
        GRANT trueweave_caller TO trueweave_app WITH INHERIT FALSE, SET TRUE;
    END IF;
END $$;
GRANT USAGE ON SCHEMA trueweave TO trueweave_caller;

-- Whether a version of a document passes a filter: {"all": […]}, {"any": […]}, {"not": …}, {"uris": […]},
-- {"prefix": …}, {"facets": […]} (one of them), or {"range": {"key", "low", "high", "excluded"}}.
CREATE FUNCTION passes(of_document uuid, wanted jsonb) RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = trueweave, pg_temp AS $$
DECLARE
    here constant int := current_setting('trueweave.workspace')::int;
    kind constant text := (SELECT jsonb_object_keys(wanted));
    part jsonb := wanted -> kind;
    one jsonb;
BEGIN
    CASE kind
    WHEN 'all' THEN
        FOR one IN SELECT jsonb_array_elements(part) LOOP
            IF NOT passes(of_document, one) THEN
                RETURN false;
            END IF;
        END LOOP;
        RETURN true;
    WHEN 'any' THEN
        FOR one IN SELECT jsonb_array_elements(part) LOOP
            IF passes(of_document, one) THEN
                RETURN true;
            END IF;
        END LOOP;
        RETURN false;
    WHEN 'not' THEN
        RETURN NOT passes(of_document, part);
    WHEN 'uris' THEN
        RETURN EXISTS (SELECT FROM document d WHERE d.workspace = here AND d.id = of_document AND part ? d.uri);
    WHEN 'prefix' THEN
        RETURN EXISTS (SELECT FROM document d WHERE d.workspace = here AND d.id = of_document AND starts_with(d.uri, part #>> '{}'));
    WHEN 'facets' THEN
        RETURN EXISTS (
            SELECT FROM facet f WHERE f.workspace = here AND f.document = of_document
                AND f.facet = ANY (ARRAY(SELECT jsonb_array_elements_text(part)::uuid)));
    WHEN 'range' THEN
        RETURN EXISTS (
            SELECT FROM ordered_facet f WHERE f.workspace = here AND f.document = of_document AND f.key = (part ->> 'key')::uuid
                AND f.value BETWEEN (part ->> 'low')::numeric AND (part ->> 'high')::numeric
                AND f.value <> ALL (ARRAY(SELECT jsonb_array_elements_text(part -> 'excluded')::numeric)));
    END CASE;
END $$;

-- Whether a caller with these groups may read a document, and it passes a filter, if there is one. It is inlined.
CREATE FUNCTION is_readable(of_document uuid, readers text[], groups text[], wanted jsonb) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT (readers = '{}' OR readers && groups OR '*' = ANY (groups)) AND (wanted IS NULL OR trueweave.passes(of_document, wanted))
$$;

-- Whether the caller may read a version of a document, and it passes a filter. Of other documents callers learn nothing.
CREATE FUNCTION meets(of_document uuid, wanted jsonb) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM document d WHERE d.workspace = current_setting('trueweave.workspace')::int AND d.id = of_document
            AND is_readable(d.id, d.readers, current_setting('trueweave.groups')::text[], wanted))
$$;

-- Whether there are documents in the workspace that a caller does not see: those with readers, unless it reads as
-- `every` group.
CREATE FUNCTION hides_documents(every boolean) RETURNS boolean
LANGUAGE plpgsql VOLATILE SET search_path = trueweave, pg_temp AS $$
BEGIN
    RETURN NOT every AND EXISTS (
        SELECT FROM document d WHERE d.workspace = current_setting('trueweave.workspace')::int AND d.readers <> '{}');
END $$;

-- Whether the caller of this transaction sees all documents of its workspace, until the transaction ends: there are no
-- others, or it may read them all, and there is no filter. See `keep_sight`.
CREATE FUNCTION sees_all() RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
DECLARE
    every constant boolean := '*' = ANY (current_setting('trueweave.groups')::text[]);
BEGIN
    IF current_setting('trueweave.filter') <> '' OR pg_is_in_recovery() OR hides_documents(every) THEN
        RETURN false;
    END IF;
    PERFORM pg_advisory_xact_lock_shared(1415005017, current_setting('trueweave.workspace')::int);
    RETURN NOT hides_documents(every);
END $$;

-- The first document of a workspace that not everybody may read waits for callers who were found to see all.
CREATE FUNCTION keep_sight() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM document d WHERE d.workspace = NEW.workspace AND d.readers <> '{}') THEN
        PERFORM pg_advisory_xact_lock(1415005017, NEW.workspace);
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER keep_sight_of_new BEFORE INSERT ON document
    FOR EACH ROW WHEN (NEW.readers <> '{}') EXECUTE FUNCTION keep_sight();
CREATE TRIGGER keep_sight BEFORE UPDATE OF readers ON document
    FOR EACH ROW WHEN (NEW.readers <> '{}') EXECUTE FUNCTION keep_sight();

-- The policies. Subqueries have OFFSET 0, so that each is a look-up by key: hashed, it would read all documents.
CREATE POLICY caller ON document AS RESTRICTIVE TO trueweave_caller USING (
    (readers = '{}' OR readers && (SELECT current_setting('trueweave.groups')::text[])
        OR (SELECT '*' = ANY (current_setting('trueweave.groups')::text[])))
    AND ((SELECT current_setting('trueweave.filter') = '') OR meets(id, (SELECT nullif(current_setting('trueweave.filter'), '')::jsonb))));

CREATE FUNCTION guard_callers(guarded regclass, columns text, seen text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE POLICY caller ON %s AS RESTRICTIVE TO trueweave_caller USING (EXISTS (%s OFFSET 0))', guarded, seen);
    EXECUTE format('GRANT SELECT %s ON %s TO trueweave_caller', '(' || nullif(columns, '') || ')', guarded);
END $$;

SELECT guard_callers(t::regclass, '', format('SELECT FROM trueweave.document d WHERE d.id = %s.document AND d.visible', t))
FROM unnest(ARRAY['chunk', 'mention', 'link', 'facet', 'ordered_facet']) AS t;
SELECT guard_callers('name', 'workspace, id, written, type, entity, phrase, written_hash, folded, last_word',
    'SELECT FROM trueweave.mention m WHERE m.name = name.id');
SELECT guard_callers('name_pair', 'workspace, source, target, relation',
    'SELECT FROM trueweave.link l WHERE l.source = name_pair.source AND l.target = name_pair.target');
SELECT guard_callers('entity', 'workspace, id', 'SELECT FROM trueweave.name n WHERE n.entity = entity.id');
SELECT guard_callers('relation', 'workspace, id, source, target', 'SELECT FROM trueweave.name_pair p WHERE p.relation = relation.id');
SELECT guard_callers('phrase', 'workspace, id, key, chunks', 'SELECT FROM trueweave.name n WHERE n.phrase = phrase.id');
SELECT guard_callers('alike', '', 'SELECT FROM trueweave.name a CROSS JOIN trueweave.name b WHERE a.id = alike.a AND b.id = alike.b');
SELECT guard_callers('rule_name', 'workspace, rule, name, written_hash, side', 'SELECT FROM (
    SELECT FROM trueweave.name n WHERE n.id = rule_name.name
    UNION ALL SELECT FROM trueweave.name n WHERE n.written_hash = rule_name.written_hash) AS n');
SELECT guard_callers('rule', 'workspace, id, ordinal, kind, label', 'SELECT FROM trueweave.rule_name r WHERE r.rule = rule.id');
SELECT guard_callers('dirty_name', '', 'SELECT FROM trueweave.name n WHERE n.id = dirty_name.name');
SELECT guard_callers('dirty_pair', '', 'SELECT FROM trueweave.name_pair p WHERE p.source = dirty_pair.source AND p.target = dirty_pair.target');
CREATE POLICY caller ON occurrence AS RESTRICTIVE TO trueweave_caller USING (
    EXISTS (SELECT FROM trueweave.chunk c WHERE c.id = occurrence.chunk OFFSET 0)
    AND EXISTS (SELECT FROM trueweave.phrase p WHERE p.id = occurrence.phrase OFFSET 0));
GRANT SELECT ON occurrence, own_table, space TO trueweave_caller;
GRANT SELECT (workspace, id, uri, title, metadata, places, notes, size, current, visible, added, content_hash, readers) ON document
    TO trueweave_caller;
GRANT SELECT (id, name, mode, space) ON workspace TO trueweave_caller;

-- The summaries of texts, by their hashes. Only who knows a text has its hash, so a caller finds those of what it sees.
CREATE FUNCTION summaries_of(hashes uuid[]) RETURNS TABLE (hash uuid, text text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
    SELECT s.hash, s.text FROM (SELECT DISTINCT u.hash FROM unnest(hashes) AS u (hash)) AS g
    CROSS JOIN LATERAL (
        SELECT x.hash, x.text FROM summary x
        WHERE x.workspace = current_setting('trueweave.workspace')::int AND x.hash = g.hash AND x.text IS NOT NULL OFFSET 0) AS s
$$;

-- Whether entities and relations as a caller sees them may be other than the stored ones with less in them: a name that
-- it does not see may connect others, and a rule on such a name may hide relations.
CREATE FUNCTION may_differ() RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
    SELECT EXISTS (SELECT FROM rule r WHERE r.workspace = current_setting('trueweave.workspace')::int)
        OR (SELECT w.mode = 'fuzzy' FROM workspace w WHERE w.id = current_setting('trueweave.workspace')::int)
$$;

-- A transaction that may give the first document of a workspace readers calls this before it takes other locks: it waits
-- for callers who were found to see all, and nobody else is until it ends. `keep_sight` alone would wait with locks that
-- these callers need. With `uris`, these documents may get readers, from a rule or from when they were submitted; without,
-- it gives some.
CREATE FUNCTION await_sight(uris text[]) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
DECLARE
    here constant int := current_setting('trueweave.workspace')::int;
BEGIN
    IF NOT EXISTS (SELECT FROM document d WHERE d.workspace = here AND d.readers <> '{}') AND (uris IS NULL
        OR EXISTS (SELECT FROM unnest(uris) AS u (uri) WHERE rule_readers(u.uri) <> '{}')
        OR EXISTS (SELECT FROM source s WHERE s.workspace = here AND s.uri = ANY (uris) AND s.given_readers <> '{}'))
    THEN
        PERFORM pg_advisory_xact_lock(1415005017, here);
    END IF;
END $$;

-- Roles that are handed out see documents that everybody reads, and what is derived from all documents only where these
-- are all there are.
CREATE FUNCTION holds_restricted() RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
    SELECT EXISTS (SELECT FROM document d WHERE d.workspace = current_setting('trueweave.workspace')::int AND d.readers <> '{}')
$$;
CREATE POLICY open ON document AS RESTRICTIVE TO trueweave_reader USING (readers = '{}');
CREATE FUNCTION guard_derived(guarded regclass) RETURNS void LANGUAGE plpgsql SET search_path = trueweave, pg_temp AS $$
BEGIN
    IF guarded::text = ANY ('{chunk,mention,link,facet,ordered_facet}') THEN
        EXECUTE format('CREATE POLICY open ON %1$s AS RESTRICTIVE TO trueweave_reader
            USING (EXISTS (SELECT FROM trueweave.document d WHERE d.id = %1$s.document OFFSET 0))', guarded);
    ELSE
        EXECUTE format('CREATE POLICY open ON %s AS RESTRICTIVE TO trueweave_reader
            USING (NOT (SELECT trueweave.holds_restricted()))', guarded);
    END IF;
END $$;
SELECT guard_derived(c.oid::regclass) FROM pg_class c
WHERE c.relnamespace = 'trueweave'::regnamespace AND c.relkind IN ('r', 'p') AND c.relrowsecurity
    AND has_table_privilege('trueweave_reader', c.oid, 'SELECT') AND c.relname NOT IN ('document', 'workspace');

-- Vectors of chunks are looked up by id under this policy, and searched by `near_seen`, which compares vectors first and
-- looks at documents in the order of the distances. Those of entities, relations and reports are made from all documents.
CREATE FUNCTION guard_vectors(guarded regclass) RETURNS void LANGUAGE plpgsql SET search_path = trueweave, public, pg_temp AS $$
BEGIN
    PERFORM guard_derived(guarded);
    IF guarded::text ~ '^(trueweave\.)?vector_\d+_chunk' THEN
        PERFORM guard_callers(guarded, '', format('SELECT FROM trueweave.chunk c WHERE c.id = %s.id', guarded));
    END IF;
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
    -- Inline, not in a TOAST table: an exact scan reads every vector.
    EXECUTE format('ALTER TABLE %I ALTER v SET STORAGE PLAIN', named);
    PERFORM guard(named::regclass);
    EXECUTE format('GRANT SELECT ON %I TO trueweave_reader', named);
    PERFORM guard_vectors(named::regclass);
END $$;

CREATE OR REPLACE FUNCTION make_own_table(of_space int, of_kind text, of_partitions int, of_state text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, public, pg_temp AS $$
DECLARE
    here constant int := current_setting('trueweave.workspace')::int;
    made own_table%ROWTYPE;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('trueweave.space', 0));
    SELECT * INTO made FROM own_table WHERE workspace = here AND space = of_space AND kind = of_kind AND state = of_state;
    IF FOUND AND (of_state = 'current' OR made.partitions >= of_partitions) THEN
        RETURN made.name;
    ELSIF FOUND THEN
        EXECUTE format('DROP TABLE %I', made.name);
        DELETE FROM own_table
        WHERE workspace = here AND space = of_space AND kind = of_kind AND version = made.version;
    END IF;
    DELETE FROM removed_vector WHERE workspace = here AND space = of_space AND kind = of_kind;
    INSERT INTO own_table (workspace, space, kind, version, partitions, state)
    SELECT here, of_space, of_kind, coalesce(max(version), 0) + 1, of_partitions, of_state FROM own_table
    WHERE workspace = here AND space = of_space AND kind = of_kind RETURNING * INTO made;
    EXECUTE format($sql$
        CREATE TABLE %I (
            workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
            id        uuid NOT NULL,
            text_hash uuid NOT NULL,
            v         halfvec(%s) NOT NULL,
            PRIMARY KEY (workspace, id)) PARTITION BY HASH (id)$sql$,
        made.name, (SELECT dimensions FROM space WHERE id = of_space));
    PERFORM guard(made.name::regclass);
    EXECUTE format('GRANT SELECT ON %I TO trueweave_reader', made.name);
    PERFORM guard_vectors(made.name::regclass);
    -- Here statistics are right: all rows belong to this workspace, and finding ten takes the HNSW index.
    EXECUTE format('ALTER TABLE %I ALTER workspace SET STATISTICS -1', made.name);
    FOR n IN 0 .. of_partitions - 1 LOOP
        EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS %s, REMAINDER %s)',
            made.name || '_p' || n, made.name, of_partitions, n);
        -- Inline, not in a TOAST table: an exact scan reads every vector.
        EXECUTE format('ALTER TABLE %I ALTER v SET STORAGE PLAIN', made.name || '_p' || n);
        -- Rows can only be accessed through the whole table, whose policies apply to them.
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', made.name || '_p' || n);
    END LOOP;
    RETURN made.name;
END $$;

SELECT guard_callers(c.oid::regclass, '', format('SELECT FROM trueweave.chunk c WHERE c.id = %s.id', c.oid::regclass)) FROM pg_class c
WHERE c.relnamespace = 'trueweave'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname ~ '^vector_\d+_chunk';

-- Which of these documents the caller sees.
CREATE FUNCTION seen_documents(ids uuid[]) RETURNS SETOF uuid
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = trueweave, pg_temp SET enable_seqscan = off AS $$
DECLARE
    here constant int := current_setting('trueweave.workspace')::int;
    groups constant text[] := current_setting('trueweave.groups')::text[];
    wanted constant jsonb := nullif(current_setting('trueweave.filter'), '')::jsonb;
BEGIN
    RETURN QUERY SELECT u.id FROM unnest(ids) AS u (id) CROSS JOIN LATERAL (
        SELECT FROM document d WHERE d.workspace = here AND d.id = u.id AND d.visible
            AND is_readable(d.id, d.readers, groups, wanted) OFFSET 0) AS d;
END $$;

-- The tables that have vectors of the workspace's chunks.
CREATE FUNCTION chunk_tables() RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
    SELECT format('vector_%s_chunk', w.space) FROM workspace w WHERE w.id = current_setting('trueweave.workspace')::int AND w.space IS NOT NULL
    UNION ALL
    SELECT o.name FROM workspace w JOIN own_table o ON o.workspace = w.id AND o.space = w.space AND o.kind = 'chunk' AND o.state = 'current'
    WHERE w.id = current_setting('trueweave.workspace')::int
$$;

-- Which of these chunks the caller sees.
CREATE FUNCTION seen_chunks(ids uuid[]) RETURNS SETOF uuid
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = trueweave, pg_temp SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    here constant int := current_setting('trueweave.workspace')::int;
BEGIN
    RETURN QUERY
    WITH found AS MATERIALIZED (
        SELECT u.id, c.document FROM unnest(ids) AS u (id)
        CROSS JOIN LATERAL (SELECT document FROM chunk WHERE workspace = here AND chunk.id = u.id OFFSET 0) AS c),
    visible AS MATERIALIZED (SELECT seen_documents(ARRAY(SELECT DISTINCT document FROM found)) AS id)
    SELECT f.id FROM found f WHERE f.document IN (SELECT v.id FROM visible v);
END $$;

-- The documents that the caller sees, if they are a few: FEW in store/limits.py. NULL if there may be more. Facets are found
-- in facet_documents: the primary key begins with the workspace and would be read for all its documents, so a sum hides
-- the workspace from it.
CREATE FUNCTION few_seen() RETURNS uuid[]
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = trueweave, pg_temp SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    here constant int := current_setting('trueweave.workspace')::int;
    groups constant text[] := current_setting('trueweave.groups')::text[];
    few constant int := 2000;
    found uuid[];
BEGIN
    IF '*' = ANY (groups) THEN
        RETURN NULL;
    END IF;
    found := ARRAY(SELECT id FROM document WHERE workspace = here AND visible AND readers = '{}' ORDER BY id LIMIT few + 1);
    IF cardinality(found) <= few THEN
        found := found || ARRAY(
            SELECT DISTINCT f.document FROM (SELECT DISTINCT reader_facets(groups) AS facet) AS g
            CROSS JOIN LATERAL (
                SELECT document FROM facet WHERE workspace + 0 = here AND facet = g.facet ORDER BY document LIMIT few + 1) AS f
            LIMIT few + 1);
    END IF;
    RETURN CASE WHEN cardinality(found) <= few THEN ARRAY(SELECT seen_documents(found)) END;
END $$;

-- Which of these chunks the caller sees, and how similar they are to a vector (by cosine).
CREATE FUNCTION seen_similarity(vector public.halfvec, ids uuid[]) RETURNS TABLE (id uuid, similarity float8)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = trueweave, public, pg_temp SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    here constant int := current_setting('trueweave.workspace')::int;
    seen constant uuid[] := ARRAY(SELECT seen_chunks(ids));
    own text;
BEGIN
    FOR own IN SELECT chunk_tables() LOOP
        RETURN QUERY EXECUTE format($sql$
            SELECT u.id, 1 - (v.v <=> $1) FROM unnest($2) AS u (id)
            CROSS JOIN LATERAL (SELECT v FROM %I WHERE workspace = $3 AND id = u.id OFFSET 0) AS v$sql$, own)
        USING vector, seen, here;
    END LOOP;
END $$;

-- Which of these phrases are names in documents that the caller sees. It looks first into the chunks, where they should be.
CREATE FUNCTION seen_phrases(ids bigint[], chunks uuid[]) RETURNS SETOF bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = trueweave, pg_temp SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    here constant int := current_setting('trueweave.workspace')::int;
    groups constant text[] := current_setting('trueweave.groups')::text[];
    wanted constant jsonb := nullif(current_setting('trueweave.filter'), '')::jsonb;
    near bigint[];
    left_over bigint[];
    few uuid[];
    named uuid[];
BEGIN
    near := ARRAY(
        SELECT DISTINCT n.phrase FROM seen_chunks(ARRAY(SELECT DISTINCT u.id FROM unnest(chunks) AS u (id))) AS c (id)
        CROSS JOIN LATERAL (SELECT document FROM chunk WHERE workspace = here AND chunk.id = c.id OFFSET 0) AS d
        CROSS JOIN LATERAL (
            SELECT name FROM mention WHERE workspace = here AND mention.document = d.document AND mention.chunk = c.id OFFSET 0) AS m
        CROSS JOIN LATERAL (SELECT phrase FROM name WHERE workspace = here AND name.id = m.name OFFSET 0) AS n);
    left_over := ARRAY(SELECT u.id FROM unnest(ids) AS u (id) WHERE u.id <> ALL (near));
    RETURN QUERY SELECT DISTINCT u.id FROM unnest(ids) AS u (id) WHERE u.id = ANY (near);
    IF left_over = '{}' THEN
        RETURN;
    END IF;
    few := few_seen();
    IF few IS NULL THEN
        RETURN QUERY SELECT u.id FROM unnest(left_over) AS u (id) WHERE EXISTS (
            SELECT FROM (SELECT name.id FROM name WHERE workspace = here AND phrase = u.id OFFSET 0) AS n
            CROSS JOIN LATERAL (SELECT chunk FROM mention WHERE workspace = here AND name = n.id OFFSET 0) AS m
            CROSS JOIN LATERAL (SELECT document FROM chunk WHERE workspace = here AND chunk.id = m.chunk OFFSET 0) AS c
            CROSS JOIN LATERAL (
                SELECT FROM document d WHERE d.workspace = here AND d.id = c.document AND d.visible
                    AND is_readable(d.id, d.readers, groups, wanted) OFFSET 0) AS d);
    ELSE
        named := ARRAY(
            SELECT n.id FROM unnest(left_over) AS u (id)
            CROSS JOIN LATERAL (SELECT name.id FROM name WHERE workspace = here AND phrase = u.id OFFSET 0) AS n);
        RETURN QUERY SELECT DISTINCT n.phrase FROM (
            SELECT DISTINCT m.name FROM unnest(few) AS d (id)
            CROSS JOIN LATERAL (SELECT name FROM mention WHERE workspace = here AND mention.document = d.id OFFSET 0) AS m
            WHERE m.name = ANY (named)) AS m
        CROSS JOIN LATERAL (SELECT phrase FROM name WHERE workspace = here AND name.id = m.name OFFSET 0) AS n;
    END IF;
END $$;

-- The names in those of these chunks that the caller sees, with the number of all chunks that each is in.
CREATE FUNCTION seen_occurrences(of_chunks uuid[])
RETURNS TABLE (chunk uuid, phrase bigint, chunks bigint, inside smallint, defines boolean)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = trueweave, pg_temp SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    here constant int := current_setting('trueweave.workspace')::int;
    seen constant uuid[] := ARRAY(SELECT seen_chunks(of_chunks));
BEGIN
    RETURN QUERY
    WITH found AS MATERIALIZED (
        SELECT u.id, o.phrase, p.chunks, o.inside, o.defines FROM unnest(seen) AS u (id)
        CROSS JOIN LATERAL (SELECT * FROM occurrence o WHERE o.workspace = here AND o.chunk = u.id OFFSET 0) AS o
        CROSS JOIN LATERAL (SELECT p.chunks FROM phrase p WHERE p.workspace = here AND p.id = o.phrase OFFSET 0) AS p),
    named AS MATERIALIZED (SELECT seen_phrases(ARRAY(SELECT DISTINCT phrase FROM found), seen) AS phrase)
    SELECT f.* FROM found f WHERE f.phrase IN (SELECT n.phrase FROM named n);
END $$;

-- The chunks that names lead to (see `chunks_of_names` in search.sql), as far as the caller sees both, with their
-- similarity to a vector (by cosine). `chunks` has the number of all chunks that each name is in. If the caller sees a few
-- documents, their chunks are looked through instead of those of the names.
CREATE FUNCTION seen_leads(names bigint[], chunks bigint[], cap int, pool uuid[], vector public.halfvec)
RETURNS TABLE (phrase bigint, chunk uuid, count smallint, defines boolean, similarity float8)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = trueweave, public, pg_temp SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    here constant int := current_setting('trueweave.workspace')::int;
    common constant bigint[] := ARRAY(SELECT u.phrase FROM unnest(names, chunks) AS u (phrase, chunks) WHERE u.chunks > cap);
    rare constant bigint[] := ARRAY(SELECT u.phrase FROM unnest(names, chunks) AS u (phrase, chunks) WHERE u.chunks <= cap);
    few constant uuid[] := few_seen();
BEGIN
    RETURN QUERY
    WITH found AS MATERIALIZED (
        SELECT u.phrase, o.chunk, o.count, o.defines FROM unnest(rare) AS u (phrase)
        CROSS JOIN LATERAL (
            SELECT o.chunk, o.count, o.defines FROM occurrence o WHERE o.workspace = here AND o.phrase = u.phrase OFFSET 0) AS o
        WHERE few IS NULL
        UNION ALL
        SELECT u.phrase, o.chunk, o.count, true FROM unnest(common) AS u (phrase)
        CROSS JOIN LATERAL (
            SELECT o.chunk, o.count FROM occurrence o WHERE o.workspace = here AND o.phrase = u.phrase AND o.defines
            ORDER BY o.count DESC, o.chunk LIMIT cap) AS o
        WHERE few IS NULL
        UNION ALL
        SELECT o.phrase, o.chunk, o.count, false FROM unnest(pool) AS u (id)
        CROSS JOIN LATERAL (
            SELECT o.phrase, o.chunk, o.count FROM occurrence o
            WHERE o.workspace = here AND o.chunk = u.id AND o.phrase = ANY (common) AND NOT o.defines OFFSET 0) AS o
        WHERE few IS NULL
        UNION ALL
        SELECT o.phrase, o.chunk, o.count, o.defines FROM unnest(few) AS d (id)
        CROSS JOIN LATERAL (SELECT c.id FROM chunk c WHERE c.workspace = here AND c.document = d.id OFFSET 0) AS c
        CROSS JOIN LATERAL (SELECT * FROM occurrence o WHERE o.workspace = here AND o.chunk = c.id OFFSET 0) AS o
        WHERE o.phrase = ANY (rare) OR o.phrase = ANY (common) AND (o.defines OR o.chunk = ANY (pool))),
    near AS MATERIALIZED (SELECT * FROM seen_similarity(vector, ARRAY(SELECT DISTINCT chunk FROM found))),
    lead AS MATERIALIZED (SELECT f.*, n.similarity FROM found f JOIN near n ON n.id = f.chunk),
    named AS MATERIALIZED (
        SELECT seen_phrases(array_agg(l.phrase), array_agg(l.chunk)) AS phrase
        FROM (SELECT DISTINCT ON (phrase) phrase, chunk FROM lead ORDER BY phrase) AS l)
    SELECT l.* FROM lead l WHERE l.phrase IN (SELECT n.phrase FROM named n);
END $$;

-- Names with their mentions in the documents that the caller sees: those of some stored entities, or all if none are
-- given. Each document is looked at once, not for each mention.
CREATE FUNCTION seen_names(of_entities uuid[], most int)
RETURNS TABLE (id uuid, written text, type text, entity uuid, count bigint, histogram bigint[])
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
#variable_conflict use_column
DECLARE
    here constant int := current_setting('trueweave.workspace')::int;
BEGIN
    RETURN QUERY
    WITH said AS MATERIALIZED (
        SELECT m.name, m.document, m.emphasis FROM unnest(of_entities) AS g (id)
        CROSS JOIN LATERAL (SELECT n.id FROM name n WHERE n.workspace = here AND n.entity = g.id OFFSET 0) AS n
        CROSS JOIN LATERAL (
            SELECT m.name, m.document, m.emphasis FROM mention m WHERE m.workspace = here AND m.name = n.id OFFSET 0) AS m
        UNION ALL
        SELECT m.name, m.document, m.emphasis FROM mention m WHERE m.workspace = here AND of_entities IS NULL),
    visible AS MATERIALIZED (SELECT seen_documents(ARRAY(SELECT DISTINCT document FROM said)) AS id),
    sums AS MATERIALIZED (
        SELECT s.name, count(*) AS count, ARRAY[
            count(*) FILTER (WHERE emphasis = 1), count(*) FILTER (WHERE emphasis = 2), count(*) FILTER (WHERE emphasis = 3),
            count(*) FILTER (WHERE emphasis = 4), count(*) FILTER (WHERE emphasis = 5), count(*) FILTER (WHERE emphasis = 6),
            count(*) FILTER (WHERE emphasis = 7), count(*) FILTER (WHERE emphasis = 8), count(*) FILTER (WHERE emphasis = 9)] AS histogram
        FROM said s WHERE s.document IN (SELECT v.id FROM visible v) GROUP BY s.name LIMIT most)
    SELECT n.id, n.written, n.type, n.entity, s.count, s.histogram FROM sums s
    CROSS JOIN LATERAL (
        SELECT n.id, n.written, n.type, n.entity FROM name n
        WHERE n.workspace = here AND n.id = s.name AND n.entity IS NOT NULL OFFSET 0) AS n;
END $$;

-- Pairs of names with their links in the documents that the caller sees, and the stored entities of both names: those
-- that any of some names is in, those of some stored relations, or all if neither are given.
CREATE FUNCTION seen_pairs(of_names uuid[], of_relations uuid[], most int)
RETURNS TABLE (source uuid, target uuid, count bigint, weight bigint, histogram bigint[], source_entity uuid, target_entity uuid)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
#variable_conflict use_column
DECLARE
    here constant int := current_setting('trueweave.workspace')::int;
BEGIN
    RETURN QUERY
    WITH pair AS MATERIALIZED (
        SELECT p.source, p.target FROM unnest(of_names) AS g (id)
        CROSS JOIN LATERAL (SELECT p.source, p.target FROM name_pair p WHERE p.workspace = here AND p.source = g.id OFFSET 0) AS p
        UNION
        SELECT p.source, p.target FROM unnest(of_names) AS g (id)
        CROSS JOIN LATERAL (SELECT p.source, p.target FROM name_pair p WHERE p.workspace = here AND p.target = g.id OFFSET 0) AS p
        UNION
        SELECT p.source, p.target FROM unnest(of_relations) AS g (id)
        CROSS JOIN LATERAL (SELECT p.source, p.target FROM name_pair p WHERE p.workspace = here AND p.relation = g.id OFFSET 0) AS p),
    said AS MATERIALIZED (
        SELECT l.source, l.target, l.document, l.emphasis, l.strength FROM pair p
        CROSS JOIN LATERAL (
            SELECT l.source, l.target, l.document, l.emphasis, l.strength FROM link l
            WHERE l.workspace = here AND l.source = p.source AND l.target = p.target OFFSET 0) AS l
        UNION ALL
        SELECT l.source, l.target, l.document, l.emphasis, l.strength FROM link l
        WHERE l.workspace = here AND of_names IS NULL AND of_relations IS NULL),
    visible AS MATERIALIZED (SELECT seen_documents(ARRAY(SELECT DISTINCT document FROM said)) AS id),
    sums AS MATERIALIZED (
        SELECT s.source, s.target, count(*) AS count, sum(s.strength)::bigint AS weight, ARRAY[
            count(*) FILTER (WHERE emphasis = 1), count(*) FILTER (WHERE emphasis = 2), count(*) FILTER (WHERE emphasis = 3),
            count(*) FILTER (WHERE emphasis = 4), count(*) FILTER (WHERE emphasis = 5), count(*) FILTER (WHERE emphasis = 6),
            count(*) FILTER (WHERE emphasis = 7), count(*) FILTER (WHERE emphasis = 8), count(*) FILTER (WHERE emphasis = 9)] AS histogram
        FROM said s WHERE s.document IN (SELECT v.id FROM visible v) GROUP BY s.source, s.target LIMIT most)
    SELECT s.source, s.target, s.count, s.weight, s.histogram, a.entity, b.entity FROM sums s
    CROSS JOIN LATERAL (SELECT n.entity FROM name n WHERE n.workspace = here AND n.id = s.source AND n.entity IS NOT NULL OFFSET 0) AS a
    CROSS JOIN LATERAL (SELECT n.entity FROM name n WHERE n.workspace = here AND n.id = s.target AND n.entity IS NOT NULL OFFSET 0) AS b;
END $$;

-- As `search_text`, for what the caller sees: the best of `most` chunks that it does not all see.
CREATE FUNCTION search_seen(question text, most int, k1 float8, b float8, scope uuid[]) RETURNS TABLE (chunk uuid, score float8)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
#variable_conflict use_column
DECLARE
    found uuid[];
    scores float8[];
BEGIN
    SELECT array_agg(s.chunk), array_agg(s.score) INTO found, scores FROM search_text(question, most, k1, b, coalesce(scope, few_seen())) AS s;
    RETURN QUERY SELECT u.id, u.score FROM unnest(found, scores) AS u (id, score)
    WHERE u.id = ANY (ARRAY(SELECT seen_chunks(found))) ORDER BY u.score DESC, u.id;
END $$;

-- As `term_coverage`, for those of these chunks that the caller sees.
CREATE FUNCTION seen_coverage(question text, chunks uuid[]) RETURNS TABLE (chunk uuid, words int, shares float8[])
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
BEGIN
    RETURN QUERY SELECT * FROM term_coverage(question, ARRAY(SELECT seen_chunks(chunks)));
END $$;

-- The chunks nearest to a vector among those that the caller sees; with a scope, of these documents. See
-- `near_visible_by_index` in search.sql, and docs/adr/0054-recall-of-searches.md.
CREATE FUNCTION near_seen(vector public.halfvec, most int, enough int, sparse int, scope uuid[]) RETURNS TABLE (id uuid, distance float8)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = trueweave, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
    here constant int := current_setting('trueweave.workspace')::int;
    groups constant text[] := current_setting('trueweave.groups')::text[];
    wanted constant jsonb := nullif(current_setting('trueweave.filter'), '')::jsonb;
    seen constant text := $sql$EXISTS (
        SELECT FROM (SELECT document FROM chunk WHERE workspace = $1 AND id = v.id OFFSET 0) AS c
        CROSS JOIN LATERAL (
            SELECT FROM document d WHERE d.workspace = $1 AND d.id = c.document AND d.visible
                AND is_readable(d.id, d.readers, $3, $4) OFFSET 0) AS d)$sql$;
    of_space space%ROWTYPE;
    operator text;
    own text;
    every text;
    few uuid[];
    within uuid[];  -- the chunks of a few documents
BEGIN
    few := CASE WHEN scope IS NULL THEN few_seen() ELSE ARRAY(SELECT DISTINCT seen_documents(scope)) END;
    IF few IS NOT NULL THEN
        within := ARRAY(
            SELECT c.id FROM unnest(few) AS d (id)
            CROSS JOIN LATERAL (SELECT id FROM chunk WHERE workspace = here AND document = d.id OFFSET 0) AS c);
    END IF;
    SELECT s.* INTO of_space FROM workspace w JOIN space s ON s.id = w.space WHERE w.id = here;
    operator := CASE of_space.metric WHEN 'cosine' THEN '<=>' WHEN 'l2' THEN '<->' ELSE '<#>' END;
    FOR own IN SELECT chunk_tables()
    LOOP
        every := format($sql$(
            SELECT v.id, v.distance FROM (
                SELECT id, v %s $2 AS distance FROM %I WHERE workspace = $1 ORDER BY (v %s $2) + 0 OFFSET 0) AS v
            WHERE %s LIMIT %s)$sql$, operator, own, operator, seen, most);
        IF within IS NOT NULL THEN
            every := format($sql$
                SELECT u.id, v.v %s $2 AS distance FROM unnest($5) AS u (id)
                CROSS JOIN LATERAL (SELECT v FROM %I WHERE workspace = $1 AND id = u.id OFFSET 0) AS v
                ORDER BY distance LIMIT %s$sql$, operator, own, most);
        ELSIF own <> format('vector_%s_chunk', of_space.id) THEN
            every := format($sql$(
                WITH by_index AS MATERIALIZED (
                    SELECT v.id, v.distance FROM (
                        SELECT id, v %s $2 AS distance FROM %I WHERE workspace = $1 ORDER BY v %s $2 LIMIT %s) AS v
                    WHERE %s LIMIT %s)
                SELECT id, distance FROM by_index WHERE (SELECT count(*) FROM by_index) = %s
                UNION ALL
                SELECT id, distance FROM %s AS every WHERE (SELECT count(*) FROM by_index) < %s)$sql$,
                operator, own, operator, sparse * enough, seen, enough, enough, every, enough);
        END IF;
        RETURN QUERY EXECUTE every USING here, vector, groups, wanted, within;
    END LOOP;
END $$;

REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA trueweave FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rule_readers, reader_facets, keep_readers, sees_all, await_sight TO trueweave_app;
GRANT EXECUTE ON FUNCTION holds_restricted TO trueweave_reader;
GRANT EXECUTE ON FUNCTION meets, may_differ, summaries_of, few_seen, seen_documents, seen_names, seen_pairs, seen_chunks, seen_similarity,
    seen_phrases, seen_occurrences, seen_leads, search_seen, seen_coverage, near_seen
    TO trueweave_app, trueweave_caller;
GRANT EXECUTE ON FUNCTION enter, places_of, folded_name, facets, place_of, moment, reader_facets TO trueweave_caller;
