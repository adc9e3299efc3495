CREATE SCHEMA trueweave;

CREATE FUNCTION trueweave.add_text(coming uuid[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
BEGIN
    INSERT INTO bm25_index (workspace, chunk, length, keys, counts, sketch, language)
    SELECT current_setting('trueweave.workspace')::int, chunk, length, keys, counts, sketch, language FROM text_rows(coming)
    ON CONFLICT DO NOTHING;
END $$;

CREATE FUNCTION trueweave.await_sight(uris text[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
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

CREATE FUNCTION trueweave.await_writers() RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(1415005012, current_setting('trueweave.workspace')::int);
END $$;

CREATE FUNCTION trueweave.begin_drop() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
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

CREATE FUNCTION trueweave.choose_server(among text[]) RETURNS text
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
    UPDATE server SET placed = placed + 1 WHERE name = (
        SELECT s.name FROM server s WHERE s.weight > 0 AND (s.name = 'home' OR s.name = ANY (among))
        ORDER BY (s.bytes + 1048576.0::float8 * s.placed) / s.weight, s.name <> 'home', s.name LIMIT 1)
    RETURNING nullif(name, 'home')
$$;

CREATE FUNCTION trueweave.chunk_tables() RETURNS SETOF text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
    SELECT format('vector_%s_chunk', w.space) FROM workspace w WHERE w.id = current_setting('trueweave.workspace')::int AND w.space IS NOT NULL
    UNION ALL
    SELECT o.name FROM workspace w JOIN own_table o ON o.workspace = w.id AND o.space = w.space AND o.kind = 'chunk' AND o.state = 'current'
    WHERE w.id = current_setting('trueweave.workspace')::int
$$;

CREATE FUNCTION trueweave.chunks_with(sizes bigint[], words bigint[]) RETURNS SETOF uuid
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
DECLARE
    here constant int := current_setting('trueweave.workspace')::int;
    salt constant bigint := workspace_salt();
    size bigint;
    upto bigint := 0;
    phrase_words bigint[];
BEGIN
    FOREACH size IN ARRAY sizes LOOP
        upto := upto + size;
        phrase_words := ARRAY(SELECT w # salt FROM unnest(words[upto - size + 1:upto]) AS w);
        RETURN QUERY SELECT f.chunk FROM (SELECT * FROM chunk_words s WHERE s.words @> phrase_words OFFSET 0) AS f
        WHERE f.workspace = here;
    END LOOP;
END $$;

CREATE FUNCTION trueweave.claim_jobs(claimant integer, claimed_by bigint, most integer, after integer, limit_each integer, share integer, reclaim boolean, OUT workspace integer, OUT id bigint, OUT kind text, OUT payload bytea) RETURNS SETOF record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
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
        RETURN;  -- its claims would be treated as abandoned
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
        -- Whoever holds the lock is just counting the jobs of this workspace, and claims one.
        CONTINUE WHEN NOT pg_try_advisory_xact_lock(1415005013, here);
        SELECT count(*), count(*) FILTER (WHERE j.worker = claimed_by) INTO under_way, at_claimant FROM job j WHERE j.workspace = here AND j.owner IS NOT NULL;
        SELECT coalesce((w.settings ->> 'jobs_at_once')::int, limit_each) INTO at_most FROM workspace w
        WHERE w.id = here AND w.place = 'here';
        CONTINUE WHEN at_most IS NULL OR under_way >= at_most OR at_claimant >= share;
        -- Two jobs settling the same workspace at once would only wait for each other.
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

CREATE FUNCTION trueweave.claim_projection(of_store text, claimant uuid, seconds double precision, after integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
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

CREATE FUNCTION trueweave.claim_sources(claimant integer, claim_id uuid, most integer, OUT workspace integer, OUT name text) RETURNS SETOF record
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
    WITH next AS (
        SELECT DISTINCT ON (s.workspace) s.workspace, s.name, s.due FROM connector_source s
        JOIN workspace w ON w.id = s.workspace AND w.place = 'here' AND NOT w.dropped
        WHERE s.due <= now() AND NOT s.stopping AND is_alive(claimant)
            AND coalesce(s.workspace = nullif(current_setting('trueweave.workspace', true), '')::int, true)
            AND NOT EXISTS (SELECT FROM connector_source r WHERE r.workspace = s.workspace AND is_alive(r.owner))
        ORDER BY s.workspace, s.due, s.name),
    free AS (
        SELECT s.workspace, s.name FROM connector_source s JOIN next n ON n.workspace = s.workspace AND n.name = s.name
        WHERE s.due <= now() AND NOT s.stopping AND (s.owner IS NULL OR NOT is_alive(s.owner))
        ORDER BY n.due LIMIT most FOR UPDATE OF s SKIP LOCKED)
    UPDATE connector_source s SET owner = claimant, claim = claim_id, claimed = now() FROM free f
    WHERE s.workspace = f.workspace AND s.name = f.name
    RETURNING s.workspace, s.name
$$;

CREATE FUNCTION trueweave.clear_chunk_words() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
    DELETE FROM chunk_words WHERE workspace = current_setting('trueweave.workspace')::int;
END $$;

CREATE FUNCTION trueweave.clear_space(of_space integer) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'trueweave', 'public', 'pg_temp'
    AS $$
DECLARE here constant int := current_setting('trueweave.workspace')::int; gone text;
BEGIN
    FOREACH gone IN ARRAY ARRAY['chunk', 'entity', 'relation', 'community'] LOOP
        EXECUTE format('DELETE FROM %I WHERE workspace = %s', format('vector_%s_%s', of_space, gone), here);
    END LOOP;
    FOR gone IN SELECT name FROM own_table WHERE workspace = here AND space = of_space LOOP
        EXECUTE format('DROP TABLE IF EXISTS %I', gone);
    END LOOP;
    DELETE FROM own_table WHERE workspace = here AND space = of_space;
    DELETE FROM removed_vector WHERE workspace = here AND space = of_space;
END $$;

CREATE FUNCTION trueweave.clear_text() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
    DELETE FROM bm25_index WHERE workspace = current_setting('trueweave.workspace')::int;
END $$;

CREATE FUNCTION trueweave.completed_names(typed text, most integer) RETURNS TABLE(entity uuid, place integer, count bigint, folded text)
    LANGUAGE sql STABLE
    SET enable_bitmapscan TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_sort TO 'off'
    AS $$
    (SELECT n.entity, (n.folded <> folded_name(typed))::int, n.count, n.folded FROM name n
     WHERE n.folded >= folded_name(typed) AND n.folded < folded_name(typed) || chr(1114111) AND n.entity IS NOT NULL
     ORDER BY n.folded LIMIT most)
    UNION ALL
    (SELECT n.entity, 2, n.count, n.folded FROM name n
     WHERE n.last_word >= folded_name(typed) AND n.last_word < folded_name(typed) || chr(1114111) AND n.entity IS NOT NULL
     ORDER BY n.last_word LIMIT most)
$$;

CREATE FUNCTION trueweave.count_bytes_that_came() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO trueweave.stored_bytes (workspace, bytes)
    SELECT workspace, sum(octet_length(text)) FROM came GROUP BY workspace;
    RETURN NULL;
END $$;

CREATE FUNCTION trueweave.count_bytes_that_went() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO trueweave.stored_bytes (workspace, bytes)
    SELECT workspace, -sum(octet_length(text)) FROM gone GROUP BY workspace;
    RETURN NULL;
END $$;

CREATE FUNCTION trueweave.count_text() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
DECLARE
    here constant int := current_setting('trueweave.workspace')::int;
    salt constant bigint := workspace_salt();
BEGIN
    DELETE FROM corpus WHERE workspace = here;
    DELETE FROM text_language WHERE workspace = here;
    DELETE FROM word WHERE workspace = here;
    INSERT INTO corpus (workspace, chunks, length)
    SELECT here, count(*), sum(length) FROM bm25_index WHERE workspace = here HAVING count(*) > 0;
    INSERT INTO text_language (workspace, language, chunks)
    SELECT here, language, count(*) FROM bm25_index WHERE workspace = here GROUP BY language;
    INSERT INTO word (workspace, word, tier, chunks)
    SELECT here, (key # salt) & ~15, key & 15, count(*) FROM bm25_index CROSS JOIN unnest(keys) AS key
    WHERE workspace = here GROUP BY key;
END $$;

CREATE FUNCTION trueweave.create_workspace(workspace_name text, resolution text, among text[]) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
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

CREATE FUNCTION trueweave.drop_left_tables(kept interval) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'trueweave', 'public', 'pg_temp'
    AS $$
DECLARE here constant int := current_setting('trueweave.workspace')::int; old own_table%ROWTYPE;
BEGIN
    FOR old IN SELECT * FROM own_table WHERE workspace = here AND state = 'left' AND left_at < clock_timestamp() - kept LOOP
        BEGIN
            EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE NOWAIT', old.name);
            EXECUTE format('DROP TABLE %I', old.name);
            DELETE FROM own_table
            WHERE workspace = here AND space = old.space AND kind = old.kind AND version = old.version;
        EXCEPTION WHEN lock_not_available THEN
            CONTINUE;
        END;
    END LOOP;
END $$;

CREATE FUNCTION trueweave.drop_ordered_facets() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    DELETE FROM trueweave.ordered_facet WHERE document = ANY(ARRAY(SELECT id FROM gone WHERE metadata <> '{}'));
    RETURN NULL;
END $$;

CREATE FUNCTION trueweave.drop_past() RETURNS SETOF integer
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
    UPDATE workspace SET dropped = true WHERE expires IS NOT NULL
        AND starts_with(name, format('past-%s-', current_setting('trueweave.workspace')::int)) RETURNING id
$$;

CREATE FUNCTION trueweave.drop_workspace() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
BEGIN
    DELETE FROM workspace WHERE id = current_setting('trueweave.workspace')::int;
END $$;

CREATE FUNCTION trueweave.end_copy() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
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

CREATE FUNCTION trueweave.enter(entered integer, writing boolean, booking boolean DEFAULT false) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
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

CREATE FUNCTION trueweave.expired_workspaces() RETURNS SETOF integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
BEGIN
    RETURN QUERY UPDATE workspace SET dropped = true
    WHERE id IN (SELECT w.id FROM workspace w WHERE w.expires < now() FOR UPDATE SKIP LOCKED) RETURNING id;
END $$;

CREATE FUNCTION trueweave.facets(metadata jsonb) RETURNS SETOF uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    WITH RECURSIVE part (path, value) AS (
        SELECT key, value FROM jsonb_each(metadata)
        UNION ALL
        SELECT inner_part.path, inner_part.value FROM part CROSS JOIN LATERAL (
            SELECT part.path || '.' || key, value
            FROM jsonb_each(CASE jsonb_typeof(part.value) WHEN 'object' THEN part.value ELSE '{}' END) AS o (key, value)
            UNION ALL
            SELECT part.path, value
            FROM jsonb_array_elements(CASE jsonb_typeof(part.value) WHEN 'array' THEN part.value ELSE '[]' END) AS a (value)
        ) AS inner_part (path, value))
    SELECT DISTINCT md5(path || E'\x01' || jsonb_typeof(value) || E'\x01' || CASE jsonb_typeof(value)
        WHEN 'number' THEN trim_scale(value::numeric)::text ELSE value #>> '{}' END)::uuid
    FROM part WHERE jsonb_typeof(value) IN ('string', 'number', 'boolean')
$$;

CREATE FUNCTION trueweave.few_seen() RETURNS uuid[]
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
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

CREATE FUNCTION trueweave.finish_jobs(claimant integer, ids bigint[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
    DELETE FROM job j USING unnest(ids) AS done (id) WHERE j.id = done.id AND j.owner = claimant
$$;

CREATE FUNCTION trueweave.folded_name(given text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT left(regexp_replace(ltrim(CASE WHEN octet_length(given) = length(given) THEN lower(left(given, 100)) ELSE
        translate(regexp_replace(normalize(lower(left(given, 100)), NFKD), '[\u0300-\u036f]', '', 'g'), '‘’', '''''')
        END), '^(the|an|a) +', ''), 80)
$$;

CREATE FUNCTION trueweave.guard(guarded regclass, tenant text DEFAULT 'workspace'::text) RETURNS void
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION trueweave.guard_callers(guarded regclass, columns text, seen text) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    EXECUTE format('CREATE POLICY caller ON %s AS RESTRICTIVE TO trueweave_caller USING (EXISTS (%s OFFSET 0))', guarded, seen);
    EXECUTE format('GRANT SELECT %s ON %s TO trueweave_caller', '(' || nullif(columns, '') || ')', guarded);
END $$;

CREATE FUNCTION trueweave.guard_derived(guarded regclass) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'trueweave', 'pg_temp'
    AS $_$
BEGIN
    IF guarded::text = ANY ('{chunk,mention,link,facet,ordered_facet}') THEN
        EXECUTE format('CREATE POLICY open ON %1$s AS RESTRICTIVE TO trueweave_reader
            USING (EXISTS (SELECT FROM trueweave.document d WHERE d.id = %1$s.document OFFSET 0))', guarded);
    ELSE
        EXECUTE format('CREATE POLICY open ON %s AS RESTRICTIVE TO trueweave_reader
            USING (NOT (SELECT trueweave.holds_restricted()))', guarded);
    END IF;
END $_$;

CREATE FUNCTION trueweave.guard_readers(guarded regclass, tenant text) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    EXECUTE format('CREATE POLICY reader ON %s AS RESTRICTIVE TO trueweave_reader
        USING (%I = ANY ((SELECT trueweave.readable(current_user))::int[]))', guarded, tenant);
END $$;

CREATE FUNCTION trueweave.guard_vectors(guarded regclass) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'trueweave', 'public', 'pg_temp'
    AS $$
BEGIN
    PERFORM guard_derived(guarded);
    IF guarded::text ~ '^(trueweave\.)?vector_\d+_chunk' THEN
        PERFORM guard_callers(guarded, '', format('SELECT FROM trueweave.chunk c WHERE c.id = %s.id', guarded));
    END IF;
END $$;

CREATE FUNCTION trueweave.hash_rules() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    UPDATE trueweave.workspace w SET rules_hash = w.rules_hash # c.hash
    FROM (SELECT r.workspace, bit_xor(hashtextextended(r.id::text, 0)) AS hash FROM changed r GROUP BY r.workspace) AS c
    WHERE w.id = c.workspace;
    RETURN NULL;
END $$;

CREATE FUNCTION trueweave.hides_documents(every boolean) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
BEGIN
    RETURN NOT every AND EXISTS (
        SELECT FROM document d WHERE d.workspace = current_setting('trueweave.workspace')::int AND d.readers <> '{}');
END $$;

CREATE FUNCTION trueweave.holds_restricted() RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
    SELECT EXISTS (SELECT FROM document d WHERE d.workspace = current_setting('trueweave.workspace')::int AND d.readers <> '{}')
$$;

CREATE FUNCTION trueweave.index_partition(of_name text, n integer) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'trueweave', 'public', 'pg_temp'
    AS $$
DECLARE
    here constant int := current_setting('trueweave.workspace')::int;
    partition text;
    ops text;
BEGIN
    SELECT o.name || '_p' || n,
           CASE s.metric WHEN 'cosine' THEN 'halfvec_cosine_ops' WHEN 'l2' THEN 'halfvec_l2_ops' ELSE 'halfvec_ip_ops' END
    INTO STRICT partition, ops
    FROM own_table o JOIN space s ON s.id = o.space WHERE o.workspace = here AND o.name = of_name;
    EXECUTE format('LOCK TABLE %I IN SHARE ROW EXCLUSIVE MODE', partition);  -- one at a time
    IF to_regclass(quote_ident(partition || '_hnsw')) IS NULL THEN
        EXECUTE format('CREATE INDEX %I ON %I USING hnsw (v %s) WITH (m = 16, ef_construction = 128)',
            partition || '_hnsw', partition, ops);
        EXECUTE format('ANALYZE %I', partition);
    END IF;
END $$;

CREATE FUNCTION trueweave.index_text(coming uuid[], going uuid[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    here constant int := current_setting('trueweave.workspace')::int;
    salt constant bigint := workspace_salt();
    unused bigint[];
BEGIN
    WITH gone AS (
        DELETE FROM bm25_index WHERE workspace = here AND chunk = ANY(going) RETURNING length, keys, language
    ), added AS (
        INSERT INTO bm25_index (workspace, chunk, length, keys, counts, sketch, language)
        SELECT here, chunk, length, keys, counts, sketch, language FROM text_rows(coming)
        ON CONFLICT DO NOTHING RETURNING length, keys, language
    ), changes AS (
        SELECT 1 AS sign, length, keys, language FROM added UNION ALL SELECT -1, length, keys, language FROM gone
    ), totals AS (
        INSERT INTO corpus AS c (workspace, chunks, length)
        SELECT here, sum(sign), sum(sign * length) FROM changes HAVING count(*) > 0
        ON CONFLICT (workspace) DO UPDATE SET chunks = c.chunks + excluded.chunks, length = c.length + excluded.length
    ), spoken AS (
        INSERT INTO text_language AS t (workspace, language, chunks)
        SELECT here, language, sum(sign) FROM changes GROUP BY language HAVING sum(sign) <> 0 ORDER BY 2
        ON CONFLICT (workspace, language) DO UPDATE SET chunks = t.chunks + excluded.chunks
    ), counted AS (
        INSERT INTO word AS w (workspace, word, tier, chunks)
        SELECT here, (key # salt) & ~15, key & 15, sum(sign) FROM changes CROSS JOIN unnest(keys) AS key
        GROUP BY key HAVING sum(sign) <> 0 ORDER BY 2, 3
        ON CONFLICT (workspace, word, tier) DO UPDATE SET chunks = w.chunks + excluded.chunks
        RETURNING w.word, w.chunks
    )
    SELECT array_agg(word) FILTER (WHERE chunks = 0) INTO unused FROM counted;
    DELETE FROM word WHERE workspace = here AND word = ANY(unused) AND chunks = 0;
    DELETE FROM corpus WHERE workspace = here AND chunks = 0;
    DELETE FROM text_language WHERE workspace = here AND chunks = 0;
END $$;

CREATE FUNCTION trueweave.is_alive(owner integer) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
    SELECT EXISTS (SELECT FROM process p WHERE p.id = owner)
$$;

CREATE FUNCTION trueweave.is_readable(of_document uuid, readers text[], groups text[], wanted jsonb) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
    SELECT (readers = '{}' OR readers && groups OR '*' = ANY (groups)) AND (wanted IS NULL OR trueweave.passes(of_document, wanted))
$$;

CREATE FUNCTION trueweave.keep_ordered_facets() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO trueweave.ordered_facet (document, key, place, value)
    SELECT came.id, f.key, trueweave.place_of(f.value), f.value
    FROM came CROSS JOIN LATERAL trueweave.ordered_facets(came.metadata) AS f WHERE came.metadata <> '{}';
    RETURN NULL;
END $$;

CREATE FUNCTION trueweave.keep_readers(ids uuid[]) RETURNS bigint
    LANGUAGE sql
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
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

CREATE FUNCTION trueweave.keep_sight() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM document d WHERE d.workspace = NEW.workspace AND d.readers <> '{}') THEN
        PERFORM pg_advisory_xact_lock(1415005017, NEW.workspace);
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION trueweave.language_of(said text, given text) RETURNS text
    LANGUAGE plpgsql STABLE
    AS $$
DECLARE
    beginning constant text := translate(lower(left(said, 1500)), E'\n\t', '  ');
    found text := named_language(given);
BEGIN
    IF found IS NOT NULL THEN
        RETURN found;
    END IF;
    IF length(beginning) - length(replace(beginning, ' the ', '')) >= 15 THEN  -- three of them: no need to count others
        RETURN 'english';
    END IF;
    SELECT f.language INTO found FROM string_to_table(beginning, ' ') AS t (word) JOIN (VALUES
            ('english', 'the'), ('english', 'of'), ('english', 'and'), ('english', 'to'), ('english', 'in'),
            ('english', 'is'), ('english', 'was'), ('english', 'for'), ('english', 'on'), ('english', 'that'),
            ('english', 'with'), ('english', 'as'), ('english', 'by'), ('english', 'it'), ('english', 'are'),
            ('english', 'from'), ('english', 'at'), ('english', 'this'), ('english', 'be'), ('english', 'which'),
            ('german', 'der'), ('german', 'die'), ('german', 'das'), ('german', 'und'), ('german', 'ist'),
            ('german', 'nicht'), ('german', 'ein'), ('german', 'eine'), ('german', 'mit'), ('german', 'von'),
            ('german', 'zu'), ('german', 'den'), ('german', 'des'), ('german', 'auf'), ('german', 'für'), ('german', 'im'),
            ('german', 'dem'), ('german', 'sich'), ('german', 'wird'), ('german', 'auch'), ('german', 'war'),
            ('german', 'wurde'), ('french', 'le'), ('french', 'la'), ('french', 'les'), ('french', 'des'),
            ('french', 'est'), ('french', 'et'), ('french', 'une'), ('french', 'un'), ('french', 'du'), ('french', 'dans'),
            ('french', 'que'), ('french', 'qui'), ('french', 'pour'), ('french', 'sur'), ('french', 'pas'),
            ('french', 'avec'), ('french', 'par'), ('french', 'au'), ('french', 'sont'), ('french', 'été'),
            ('french', 'il'), ('french', 'elle'), ('spanish', 'el'), ('spanish', 'la'), ('spanish', 'los'),
            ('spanish', 'las'), ('spanish', 'de'), ('spanish', 'y'), ('spanish', 'en'), ('spanish', 'que'),
            ('spanish', 'es'), ('spanish', 'una'), ('spanish', 'un'), ('spanish', 'por'), ('spanish', 'con'),
            ('spanish', 'para'), ('spanish', 'del'), ('spanish', 'se'), ('spanish', 'no'), ('spanish', 'su'),
            ('spanish', 'fue'), ('spanish', 'al'), ('spanish', 'como'), ('spanish', 'más'), ('italian', 'il'),
            ('italian', 'la'), ('italian', 'di'), ('italian', 'che'), ('italian', 'e'), ('italian', 'è'),
            ('italian', 'un'), ('italian', 'una'), ('italian', 'per'), ('italian', 'non'), ('italian', 'sono'),
            ('italian', 'con'), ('italian', 'del'), ('italian', 'della'), ('italian', 'dei'), ('italian', 'nel'),
            ('italian', 'si'), ('italian', 'da'), ('italian', 'le'), ('italian', 'gli'), ('italian', 'alla'),
            ('portuguese', 'o'), ('portuguese', 'os'), ('portuguese', 'de'), ('portuguese', 'e'), ('portuguese', 'que'),
            ('portuguese', 'do'), ('portuguese', 'da'), ('portuguese', 'em'), ('portuguese', 'um'), ('portuguese', 'uma'),
            ('portuguese', 'para'), ('portuguese', 'com'), ('portuguese', 'não'), ('portuguese', 'por'),
            ('portuguese', 'dos'), ('portuguese', 'das'), ('portuguese', 'foi'), ('portuguese', 'ao'),
            ('portuguese', 'se'), ('portuguese', 'na'), ('portuguese', 'no'), ('portuguese', 'são'), ('dutch', 'de'),
            ('dutch', 'het'), ('dutch', 'een'), ('dutch', 'en'), ('dutch', 'van'), ('dutch', 'is'), ('dutch', 'dat'),
            ('dutch', 'niet'), ('dutch', 'zijn'), ('dutch', 'op'), ('dutch', 'met'), ('dutch', 'voor'), ('dutch', 'te'),
            ('dutch', 'aan'), ('dutch', 'er'), ('dutch', 'door'), ('dutch', 'werd'), ('dutch', 'ook'), ('dutch', 'bij'),
            ('danish', 'og'), ('danish', 'det'), ('danish', 'er'), ('danish', 'en'), ('danish', 'af'), ('danish', 'at'),
            ('danish', 'til'), ('danish', 'på'), ('danish', 'med'), ('danish', 'den'), ('danish', 'ikke'),
            ('danish', 'for'), ('danish', 'som'), ('danish', 'der'), ('danish', 'han'), ('danish', 'blev'),
            ('danish', 'har'), ('danish', 'et'), ('norwegian', 'og'), ('norwegian', 'det'), ('norwegian', 'er'),
            ('norwegian', 'en'), ('norwegian', 'av'), ('norwegian', 'til'), ('norwegian', 'på'), ('norwegian', 'med'),
            ('norwegian', 'ikke'), ('norwegian', 'for'), ('norwegian', 'som'), ('norwegian', 'den'), ('norwegian', 'han'),
            ('norwegian', 'ble'), ('norwegian', 'har'), ('norwegian', 'et'), ('norwegian', 'å'), ('norwegian', 'var'),
            ('swedish', 'och'), ('swedish', 'det'), ('swedish', 'är'), ('swedish', 'en'), ('swedish', 'av'),
            ('swedish', 'att'), ('swedish', 'på'), ('swedish', 'med'), ('swedish', 'den'), ('swedish', 'inte'),
            ('swedish', 'för'), ('swedish', 'som'), ('swedish', 'ett'), ('swedish', 'han'), ('swedish', 'var'),
            ('swedish', 'har'), ('swedish', 'till'), ('swedish', 'i'), ('finnish', 'ja'), ('finnish', 'on'),
            ('finnish', 'ei'), ('finnish', 'se'), ('finnish', 'että'), ('finnish', 'oli'), ('finnish', 'hän'),
            ('finnish', 'myös'), ('finnish', 'ovat'), ('finnish', 'joka'), ('finnish', 'kun'), ('finnish', 'mutta'),
            ('finnish', 'tai'), ('finnish', 'niin'), ('finnish', 'mukaan'), ('hungarian', 'a'), ('hungarian', 'az'),
            ('hungarian', 'és'), ('hungarian', 'hogy'), ('hungarian', 'nem'), ('hungarian', 'egy'), ('hungarian', 'is'),
            ('hungarian', 'volt'), ('hungarian', 'ez'), ('hungarian', 'meg'), ('hungarian', 'van'), ('hungarian', 'már'),
            ('hungarian', 'csak'), ('hungarian', 'mint'), ('romanian', 'și'), ('romanian', 'în'), ('romanian', 'de'),
            ('romanian', 'la'), ('romanian', 'cu'), ('romanian', 'este'), ('romanian', 'un'), ('romanian', 'o'),
            ('romanian', 'pe'), ('romanian', 'nu'), ('romanian', 'că'), ('romanian', 'din'), ('romanian', 'care'),
            ('romanian', 'a'), ('romanian', 'fost'), ('romanian', 'mai'), ('romanian', 'pentru'), ('turkish', 've'),
            ('turkish', 'bir'), ('turkish', 'bu'), ('turkish', 'için'), ('turkish', 'ile'), ('turkish', 'da'),
            ('turkish', 'de'), ('turkish', 'çok'), ('turkish', 'olarak'), ('turkish', 'olan'), ('turkish', 'daha'),
            ('turkish', 'gibi'), ('turkish', 'ne'), ('turkish', 'kadar'), ('turkish', 'sonra'), ('turkish', 'oldu'),
            ('catalan', 'el'), ('catalan', 'la'), ('catalan', 'els'), ('catalan', 'les'), ('catalan', 'de'),
            ('catalan', 'i'), ('catalan', 'que'), ('catalan', 'en'), ('catalan', 'un'), ('catalan', 'una'),
            ('catalan', 'per'), ('catalan', 'amb'), ('catalan', 'és'), ('catalan', 'no'), ('catalan', 'del'),
            ('catalan', 'al'), ('catalan', 'va'), ('catalan', 'són'), ('indonesian', 'yang'), ('indonesian', 'dan'),
            ('indonesian', 'di'), ('indonesian', 'dengan'), ('indonesian', 'untuk'), ('indonesian', 'dari'),
            ('indonesian', 'pada'), ('indonesian', 'ini'), ('indonesian', 'itu'), ('indonesian', 'adalah'),
            ('indonesian', 'tidak'), ('indonesian', 'ke'), ('indonesian', 'dalam'), ('indonesian', 'oleh'),
            ('indonesian', 'sebagai'), ('lithuanian', 'ir'), ('lithuanian', 'yra'), ('lithuanian', 'kad'),
            ('lithuanian', 'į'), ('lithuanian', 'su'), ('lithuanian', 'iš'), ('lithuanian', 'tai'), ('lithuanian', 'buvo'),
            ('lithuanian', 'bet'), ('lithuanian', 'kaip'), ('lithuanian', 'ar'), ('lithuanian', 'jis'),
            ('lithuanian', 'per'), ('lithuanian', 'apie'), ('basque', 'eta'), ('basque', 'da'), ('basque', 'ez'),
            ('basque', 'bat'), ('basque', 'dira'), ('basque', 'zen'), ('basque', 'izan'), ('basque', 'du'),
            ('basque', 'ere'), ('basque', 'baina'), ('basque', 'hau'), ('basque', 'egin'), ('irish', 'an'),
            ('irish', 'na'), ('irish', 'agus'), ('irish', 'is'), ('irish', 'ar'), ('irish', 'i'), ('irish', 'tá'),
            ('irish', 'ag'), ('irish', 'le'), ('irish', 'go'), ('irish', 'bhí'), ('irish', 'sé'), ('irish', 'do'),
            ('irish', 'ní'), ('serbian', 'и'), ('serbian', 'у'), ('serbian', 'је'), ('serbian', 'да'), ('serbian', 'се'),
            ('serbian', 'на'), ('serbian', 'за'), ('serbian', 'од'), ('serbian', 'су'), ('serbian', 'са'),
            ('serbian', 'као'), ('serbian', 'није'), ('serbian', 'који'), ('serbian', 'али'), ('serbian', 'то'),
            ('russian', 'и'), ('russian', 'в'), ('russian', 'не'), ('russian', 'на'), ('russian', 'что'),
            ('russian', 'он'), ('russian', 'с'), ('russian', 'как'), ('russian', 'это'), ('russian', 'по'),
            ('russian', 'из'), ('russian', 'за'), ('russian', 'но'), ('russian', 'от'), ('russian', 'для'),
            ('russian', 'был'), ('russian', 'была'), ('greek', 'και'), ('greek', 'το'), ('greek', 'να'), ('greek', 'της'),
            ('greek', 'η'), ('greek', 'του'), ('greek', 'που'), ('greek', 'με'), ('greek', 'για'), ('greek', 'από'),
            ('greek', 'είναι'), ('greek', 'στο'), ('greek', 'τα'), ('greek', 'δεν'), ('greek', 'ο'), ('armenian', 'և'),
            ('armenian', 'է'), ('armenian', 'են'), ('armenian', 'որ'), ('armenian', 'մեջ'), ('armenian', 'իր'),
            ('armenian', 'այս'), ('armenian', 'ու'), ('armenian', 'համար'), ('arabic', 'في'), ('arabic', 'من'),
            ('arabic', 'على'), ('arabic', 'أن'), ('arabic', 'إلى'), ('arabic', 'عن'), ('arabic', 'هذا'), ('arabic', 'كان'),
            ('arabic', 'التي'), ('arabic', 'الذي'), ('arabic', 'لا'), ('arabic', 'ما'), ('arabic', 'مع'), ('hindi', 'के'),
            ('hindi', 'में'), ('hindi', 'है'), ('hindi', 'की'), ('hindi', 'से'), ('hindi', 'का'), ('hindi', 'और'),
            ('hindi', 'को'), ('hindi', 'पर'), ('hindi', 'कि'), ('hindi', 'ने'), ('hindi', 'यह'), ('hindi', 'था'),
            ('nepali', 'छ'), ('nepali', 'र'), ('nepali', 'को'), ('nepali', 'मा'), ('nepali', 'हो'), ('nepali', 'यो'),
            ('nepali', 'भने'), ('nepali', 'छन्'), ('nepali', 'गर्न'), ('nepali', 'पनि'), ('tamil', 'ஒரு'),
            ('tamil', 'மற்றும்'), ('tamil', 'இந்த'), ('tamil', 'என்று'), ('tamil', 'உள்ளது'), ('tamil', 'இது'),
            ('tamil', 'அந்த'), ('yiddish', 'די'), ('yiddish', 'און'), ('yiddish', 'איז'), ('yiddish', 'אַז'),
            ('yiddish', 'פֿון'), ('yiddish', 'צו'), ('yiddish', 'אין'), ('yiddish', 'דער'), ('yiddish', 'מיט'),
            ('yiddish', 'נישט')
        ) AS f (language, word) USING (word)
    GROUP BY f.language HAVING count(DISTINCT word) > 1
    ORDER BY count(*) DESC, f.language <> 'english', f.language LIMIT 1;
    IF found IS NOT NULL OR octet_length(said) = length(said) THEN
        RETURN coalesce(found, 'english');
    END IF;
    RETURN CASE WHEN said ~ '[\u0400-\u04FF]' THEN 'russian' WHEN said ~ '[\u0370-\u03FF]' THEN 'greek'
                WHEN said ~ '[\u0600-\u06FF]' THEN 'arabic' WHEN said ~ '[\u0900-\u097F]' THEN 'hindi'
                WHEN said ~ '[\u0B80-\u0BFF]' THEN 'tamil' WHEN said ~ '[\u0530-\u058F]' THEN 'armenian'
                ELSE 'english' END;
END $$;

CREATE FUNCTION trueweave.leave_graph_tables() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'trueweave', 'public', 'pg_temp'
    AS $$
DECLARE here constant int := current_setting('trueweave.workspace')::int;
BEGIN
    UPDATE own_table SET state = 'left', left_at = clock_timestamp()
    WHERE workspace = here AND kind IN ('entity', 'relation') AND state <> 'left';
    DELETE FROM removed_vector WHERE workspace = here AND kind IN ('entity', 'relation');
END $$;

CREATE FUNCTION trueweave.list_workspaces(only_ids integer[], after_name text, most integer, OUT id integer, OUT name text, OUT created timestamp with time zone) RETURNS SETOF record
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
    SELECT w.id, w.name, w.created FROM workspace w
    WHERE NOT w.dropped AND w.expires IS NULL AND (only_ids IS NULL OR w.id = ANY(only_ids)) AND w.name COLLATE "C" > after_name
    ORDER BY w.name COLLATE "C" LIMIT most
$$;

CREATE FUNCTION trueweave.make_own_table(of_space integer, of_kind text, of_partitions integer, of_state text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'trueweave', 'public', 'pg_temp'
    AS $_$
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
END $_$;

CREATE FUNCTION trueweave.make_space(of_model text, of_dimensions integer, of_metric text) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'trueweave', 'public', 'pg_temp'
    AS $$
DECLARE made int; kind text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('trueweave.space', 0));
    SELECT id INTO made FROM space
    WHERE model = of_model AND dimensions = of_dimensions AND metric = of_metric;
    IF made IS NULL THEN
        INSERT INTO space (model, dimensions, metric) VALUES (of_model, of_dimensions, of_metric)
        RETURNING id INTO made;
        FOREACH kind IN ARRAY ARRAY['chunk', 'entity', 'relation', 'community'] LOOP
            PERFORM make_vector_table(format('vector_%s_%s', made, kind), of_dimensions);
        END LOOP;
    END IF;
    RETURN made;
END $$;

CREATE FUNCTION trueweave.make_temporary_workspace(named text, lasts interval) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
DECLARE made int;
BEGIN
    INSERT INTO workspace (name, expires) VALUES (named, now() + lasts) RETURNING id INTO made;
    RETURN made;
END $$;

CREATE FUNCTION trueweave.make_vector_table(named text, dimensions integer) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'trueweave', 'public', 'pg_temp'
    AS $_$
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
END $_$;

CREATE FUNCTION trueweave.make_workspace(base_name text, among text[] DEFAULT '{}'::text[]) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
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

COMMENT ON FUNCTION trueweave.make_workspace(base_name text, among text[]) IS 'Creates a new workspace with this name, or with a number appended if the name is taken; returns its name.';

CREATE FUNCTION trueweave.mark_indexed(of_name text) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'trueweave', 'public', 'pg_temp'
    AS $$
    UPDATE own_table SET indexed = true
    WHERE workspace = current_setting('trueweave.workspace')::int AND name = of_name AND NOT indexed
$$;

CREATE FUNCTION trueweave.may_differ() RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
    SELECT EXISTS (SELECT FROM rule r WHERE r.workspace = current_setting('trueweave.workspace')::int)
        OR (SELECT w.mode = 'fuzzy' FROM workspace w WHERE w.id = current_setting('trueweave.workspace')::int)
$$;

CREATE FUNCTION trueweave.meets(of_document uuid, wanted jsonb) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
    SELECT EXISTS (
        SELECT FROM document d WHERE d.workspace = current_setting('trueweave.workspace')::int AND d.id = of_document
            AND is_readable(d.id, d.readers, current_setting('trueweave.groups')::text[], wanted))
$$;

CREATE FUNCTION trueweave.moment(written text) RETURNS numeric
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $_$
    SELECT CASE WHEN pg_input_is_valid(whole, 'timestamptz') THEN extract(epoch FROM whole::timestamptz) END FROM (
        SELECT CASE
            WHEN written ~ '^\d{4}$' THEN written || '-01-01 UTC'
            WHEN written ~ '^\d{4}-\d{2}$' THEN written || '-01 UTC'
            WHEN written ~ '^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?)?$' THEN written || ' UTC'
            WHEN written ~ '^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}:?\d{2})$' THEN written
        END AS whole) AS w WHERE whole IS NOT NULL
$_$;

CREATE FUNCTION trueweave.named_language(given text) RETURNS text
    LANGUAGE sql STABLE
    AS $$
    SELECT cfgname::text FROM pg_ts_config WHERE cfgnamespace = 'pg_catalog'::regnamespace AND cfgname = CASE split_part(lower(given), '-', 1)
        WHEN 'en' THEN 'english'
        WHEN 'de' THEN 'german'
        WHEN 'fr' THEN 'french'
        WHEN 'es' THEN 'spanish'
        WHEN 'it' THEN 'italian'
        WHEN 'pt' THEN 'portuguese'
        WHEN 'nl' THEN 'dutch'
        WHEN 'da' THEN 'danish'
        WHEN 'no' THEN 'norwegian'
        WHEN 'nb' THEN 'norwegian'
        WHEN 'nn' THEN 'norwegian'
        WHEN 'sv' THEN 'swedish'
        WHEN 'fi' THEN 'finnish'
        WHEN 'hu' THEN 'hungarian'
        WHEN 'ro' THEN 'romanian'
        WHEN 'tr' THEN 'turkish'
        WHEN 'ca' THEN 'catalan'
        WHEN 'id' THEN 'indonesian'
        WHEN 'lt' THEN 'lithuanian'
        WHEN 'eu' THEN 'basque'
        WHEN 'ga' THEN 'irish'
        WHEN 'sr' THEN 'serbian'
        WHEN 'ru' THEN 'russian'
        WHEN 'el' THEN 'greek'
        WHEN 'hy' THEN 'armenian'
        WHEN 'ar' THEN 'arabic'
        WHEN 'hi' THEN 'hindi'
        WHEN 'ne' THEN 'nepali'
        WHEN 'ta' THEN 'tamil'
        WHEN 'yi' THEN 'yiddish'
        ELSE lower(given) END
$$;

CREATE FUNCTION trueweave.near_seen(vector public.halfvec, most integer, enough integer, sparse integer, scope uuid[]) RETURNS TABLE(id uuid, distance double precision)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'trueweave', 'public', 'pg_temp'
    AS $_$
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
END $_$;

CREATE FUNCTION trueweave.note_server_size(of_server text, size bigint) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
    UPDATE server SET bytes = size, placed = 0, measured = now() WHERE name = of_server
$$;

CREATE FUNCTION trueweave.odds_of(frequency double precision, length double precision) RETURNS double precision
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT frequency / (0.3 + 0.009 * length)
$$;

CREATE FUNCTION trueweave.open_placed(of_workspace integer, workspace_name text, resolution text, OUT has_space boolean, OUT settings jsonb) RETURNS SETOF record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
#variable_conflict use_column
BEGIN
    IF NOT EXISTS (SELECT FROM workspace w WHERE w.id = of_workspace) THEN
        INSERT INTO workspace (id, name, mode) OVERRIDING SYSTEM VALUE VALUES (of_workspace, workspace_name, resolution)
        ON CONFLICT DO NOTHING;
    END IF;
    RETURN QUERY SELECT w.space IS NOT NULL, w.settings FROM workspace w WHERE w.id = of_workspace;
END $$;

CREATE FUNCTION trueweave.open_workspace(workspace_name text, make boolean, resolution text, among text[] DEFAULT '{}'::text[], OUT id integer, OUT has_space boolean, OUT settings jsonb, OUT server text, OUT mode text, OUT dropped boolean) RETURNS SETOF record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
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

CREATE FUNCTION trueweave.ordered_facets(metadata jsonb) RETURNS TABLE(key uuid, value numeric)
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $_$
    WITH RECURSIVE part (path, value) AS (
        SELECT key, value FROM jsonb_each(metadata)
        UNION ALL
        SELECT inner_part.path, inner_part.value FROM part CROSS JOIN LATERAL (
            SELECT part.path || '.' || key, value
            FROM jsonb_each(CASE jsonb_typeof(part.value) WHEN 'object' THEN part.value ELSE '{}' END) AS o (key, value)
            UNION ALL
            SELECT part.path, value
            FROM jsonb_array_elements(CASE jsonb_typeof(part.value) WHEN 'array' THEN part.value ELSE '[]' END) AS a (value)
        ) AS inner_part (path, value)),
    read AS (
        SELECT path, 'number' AS kind, CASE
            WHEN jsonb_typeof(value) = 'number' THEN value::numeric
            WHEN jsonb_typeof(value) = 'string' AND value #>> '{}' ~ '^[+-]?\d{1,200}(\.\d{1,200})?$'
                THEN (value #>> '{}')::numeric END AS value
        FROM part
        UNION ALL
        SELECT path, 'moment', moment(value #>> '{}') FROM part WHERE jsonb_typeof(value) = 'string')
    SELECT DISTINCT md5(path || E'\x01' || kind)::uuid, value FROM read WHERE value IS NOT NULL
$_$;

CREATE FUNCTION trueweave.pairs_of(said text) RETURNS SETOF text
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT substr(stretch[1], n, 2) FROM regexp_matches(said, '[\u0E00-\u0EFF\u1000-\u109F\u1780-\u17FF\u3005-\u3007\u3040-\u30FF\u3400-\u4DBF\u4E00-\u9FFF\uAC00-\uD7AF\uF900-\uFAFF]+', 'g') AS stretch
    CROSS JOIN LATERAL generate_series(1, greatest(length(stretch[1]) - 1, 1)) AS n
$$;

CREATE FUNCTION trueweave.passes(of_document uuid, wanted jsonb) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
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

CREATE FUNCTION trueweave.place_of(value numeric) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT CASE
        WHEN abs(value) > 1e300 THEN sign(value)::float8 * 'Infinity'::float8
        WHEN abs(value) < 1e-300 THEN 0::float8
        ELSE value::float8 END
$$;

CREATE FUNCTION trueweave.placements(of_workspaces integer[], since timestamp with time zone, OUT id integer, OUT server text, OUT at timestamp with time zone) RETURNS SETOF record
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
    SELECT w.id, w.server, now() FROM workspace w WHERE w.id = ANY (of_workspaces)
    UNION ALL
    SELECT w.id, w.server, now() FROM workspace w WHERE w.moved > since
    UNION ALL
    SELECT NULL, NULL, now()
$$;

CREATE FUNCTION trueweave.places_of(places jsonb, first integer, behind integer) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    WITH place AS (
        SELECT p, (p ->> 0)::int AS start, p ->> 1 AS kind, (p ->> 3)::int AS level, (p ->> 6)::int AS ending, n
        FROM jsonb_array_elements(places) WITH ORDINALITY AS e (p, n) WHERE (p ->> 0)::int < behind),
    over AS (
        SELECT *, min(level) OVER (ORDER BY start DESC, n DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS nearer
        FROM place WHERE kind = 'heading' AND start <= first)
    SELECT coalesce(jsonb_agg(p ORDER BY start, n), '[]') FROM (
        SELECT p, start, n FROM place WHERE start > first OR ending > first
        UNION ALL
        SELECT p, start, n FROM over WHERE nearer IS NULL OR level < nearer
        UNION ALL
        (SELECT p, start, n FROM place WHERE kind = 'page' AND start <= first ORDER BY start DESC, n DESC LIMIT 1)) AS known
$$;

COMMENT ON FUNCTION trueweave.places_of(places jsonb, first integer, behind integer) IS 'The page and headings in force where a span of a document begins, the picture or the block that it is in, and all that begin within it, in order.';

CREATE FUNCTION trueweave.question_words(question text) RETURNS TABLE(word bigint)
    LANGUAGE plpgsql STABLE
    AS $$
DECLARE
    own constant text := language_of(question, NULL);
    stem constant regdictionary := (own || '_stem')::regdictionary;
    told constant text := (SELECT string_agg(p.token, ' ') FROM ts_parse('default', question) p
                           WHERE ts_lexize(stem, lower(p.token)) IS DISTINCT FROM '{}');
BEGIN
    RETURN QUERY SELECT DISTINCT w.word FROM (
        SELECT t.language FROM text_language t WHERE t.workspace = current_setting('trueweave.workspace')::int
        ORDER BY t.chunks DESC, t.language LIMIT 16) AS spoken
    CROSS JOIN LATERAL words_of(CASE WHEN spoken.language = own THEN question ELSE told END, spoken.language) w;
END $$;

CREATE FUNCTION trueweave.queue_state(OUT kind text, OUT waiting bigint, OUT delayed bigint, OUT running bigint, OUT oldest double precision) RETURNS SETOF record
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
    SELECT j.kind, count(*) FILTER (WHERE j.owner IS NULL AND j.due <= now()), count(*) FILTER (WHERE j.owner IS NULL AND j.due > now()),
           count(*) FILTER (WHERE j.owner IS NOT NULL),
           coalesce(extract(epoch FROM now() - min(j.due) FILTER (WHERE j.owner IS NULL AND j.due <= now())), 0)::double precision
    FROM job j GROUP BY j.kind
$$;

CREATE FUNCTION trueweave.readable(who name) RETURNS integer[]
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
BEGIN
    RETURN ARRAY(SELECT r.workspace FROM reader r JOIN pg_roles p ON p.rolname = r.role
                 WHERE pg_has_role(who, p.oid, 'USAGE'));
END $$;

CREATE FUNCTION trueweave.reader_facets(readers text[]) RETURNS SETOF uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT md5(E'\x02readers\x01string\x01' || r)::uuid FROM unnest(readers) AS u (r)
$$;

CREATE FUNCTION trueweave.release_jobs(claimant integer, ids bigint[], delays interval[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
    UPDATE job j SET owner = NULL, due = now() + r.delay FROM unnest(ids, delays) AS r (id, delay)
    WHERE j.id = r.id AND j.owner = claimant
$$;

CREATE FUNCTION trueweave.release_replaced(former integer) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
    UPDATE workspace SET expires = now() + interval '5 minutes'
    WHERE id = former AND expires = 'infinity' AND replaced_by IS NOT NULL
$$;

CREATE FUNCTION trueweave.release_sources(claim_id uuid) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
    UPDATE connector_source s SET owner = NULL, claim = NULL WHERE s.claim = claim_id
$$;

CREATE FUNCTION trueweave.release_unknown_jobs(claimed_by bigint, known bigint[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
    UPDATE job j SET owner = NULL WHERE j.owner IS NOT NULL AND j.worker = claimed_by AND j.id <> ALL (known)
$$;

CREATE FUNCTION trueweave.replace_workspace(made integer) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
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

CREATE FUNCTION trueweave.replaced_workspaces(OUT former integer, OUT successor integer) RETURNS SETOF record
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
    SELECT w.id, s.id FROM workspace w
    LEFT JOIN workspace s ON s.id = w.replaced_by AND NOT s.dropped AND s.place <> 'away'
    WHERE w.expires = 'infinity' AND w.replaced_by IS NOT NULL ORDER BY w.id
$$;

CREATE FUNCTION trueweave.rule_readers(of_uri text) RETURNS text[]
    LANGUAGE sql STABLE
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
    SELECT coalesce((
        SELECT r.readers FROM access_rule r
        WHERE r.workspace = current_setting('trueweave.workspace')::int AND starts_with(of_uri, r.prefix)
        ORDER BY length(r.prefix) DESC LIMIT 1), '{}')
$$;

CREATE FUNCTION trueweave.search_seen(question text, most integer, k1 double precision, b double precision, scope uuid[]) RETURNS TABLE(chunk uuid, score double precision)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
#variable_conflict use_column
DECLARE
    found uuid[];
    scores float8[];
BEGIN
    SELECT array_agg(s.chunk), array_agg(s.score) INTO found, scores FROM search_text(question, most, k1, b, coalesce(scope, few_seen())) AS s;
    RETURN QUERY SELECT u.id, u.score FROM unnest(found, scores) AS u (id, score)
    WHERE u.id = ANY (ARRAY(SELECT seen_chunks(found))) ORDER BY u.score DESC, u.id;
END $$;

CREATE FUNCTION trueweave.search_text(question text, most integer, k1 double precision, b double precision, scope uuid[]) RETURNS TABLE(chunk uuid, score double precision)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'trueweave', 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
#variable_conflict use_column
DECLARE
    here constant int := current_setting('trueweave.workspace')::int;
    salt constant bigint := workspace_salt();
    budget constant int := 2000;
    used int := 0;
    total float8;
    average float8;
    words bigint[];
    weights float8[];
    asked sparsevec;
    posting record;
    chosen bigint[] := '{}';
    next bigint[] := '{}';
BEGIN
    SELECT chunks, length::float8 / chunks INTO total, average FROM corpus WHERE workspace = here;
    SELECT array_agg(word # salt), array_agg(ln(1 + (total - holders + 0.5) / (holders + 0.5))) INTO words, weights
    FROM (SELECT a.word, w.holders FROM question_words(question) a CROSS JOIN LATERAL (
              SELECT sum(chunks)::float8 AS holders FROM word WHERE workspace = here AND word = a.word) w
          WHERE w.holders > 0 ORDER BY w.holders, a.word LIMIT 64) AS known;
    asked := sketch_of(words, weights);

    FOR posting IN
        SELECT a.key | w.tier AS key, w.chunks FROM unnest(words, weights) AS a (key, weight)
        CROSS JOIN LATERAL (SELECT tier, chunks FROM word WHERE workspace = here AND word = a.key # salt OFFSET 0) w
        CROSS JOIN LATERAL (SELECT 2 ^ ((w.tier - 8) / 2.0::float8) * (1 - b + b * average / 100) AS odds) o
        WHERE scope IS NULL ORDER BY a.weight ^ 4 * odds / (1 + odds) DESC, key
    LOOP
        IF used + posting.chunks > budget THEN  -- read only if there is little else, and only in part
            next := ARRAY[posting.key];
            EXIT;
        END IF;
        chosen := chosen || posting.key;
        used := used + posting.chunks;
    END LOOP;

    RETURN QUERY
    WITH found AS (
        SELECT f.* FROM (SELECT * FROM bm25_index WHERE keys && chosen OFFSET 0) f WHERE workspace = here
        UNION ALL
        (SELECT f.* FROM (SELECT * FROM bm25_index WHERE keys && next OFFSET 0) f
         WHERE workspace = here AND NOT keys && chosen LIMIT greatest(0, budget / 2 - used))
        UNION ALL
        SELECT f.* FROM (
            SELECT DISTINCT c.id FROM unnest(scope) AS d (id)
            CROSS JOIN LATERAL (SELECT id FROM chunk WHERE workspace = here AND document = d.id OFFSET 0) c) AS inside
        CROSS JOIN LATERAL (SELECT * FROM bm25_index WHERE workspace = here AND chunk = inside.id OFFSET 0) f
    ), likely AS (
        SELECT chunk, keys, counts, k1 * (1 - b + b * length / average) AS norm
        FROM found ORDER BY sketch <#> asked, chunk LIMIT 100 + 2 * most
    )
    SELECT l.chunk, s.score FROM likely l CROSS JOIN LATERAL (
        -- A key is found in the ascending keys of a chunk by its sort position, which is that of its word if the chunk
        -- has it.
        SELECT sum(weight * frequency / (frequency + l.norm)) AS score
        FROM (SELECT weight, l.counts[width_bucket(key | 15, l.keys)]::float8 AS frequency
              FROM unnest(words, weights) AS a (key, weight)
              WHERE l.keys[width_bucket(key | 15, l.keys)] >= key) AS said) s
    WHERE s.score > 0 ORDER BY s.score DESC, l.chunk LIMIT most;
END $$;

CREATE FUNCTION trueweave.seen_chunks(ids uuid[]) RETURNS SETOF uuid
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
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

CREATE FUNCTION trueweave.seen_coverage(question text, chunks uuid[]) RETURNS TABLE(chunk uuid, words integer, shares double precision[])
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
BEGIN
    RETURN QUERY SELECT * FROM term_coverage(question, ARRAY(SELECT seen_chunks(chunks)));
END $$;

CREATE FUNCTION trueweave.seen_documents(ids uuid[]) RETURNS SETOF uuid
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    here constant int := current_setting('trueweave.workspace')::int;
    groups constant text[] := current_setting('trueweave.groups')::text[];
    wanted constant jsonb := nullif(current_setting('trueweave.filter'), '')::jsonb;
BEGIN
    RETURN QUERY SELECT u.id FROM unnest(ids) AS u (id) CROSS JOIN LATERAL (
        SELECT FROM document d WHERE d.workspace = here AND d.id = u.id AND d.visible
            AND is_readable(d.id, d.readers, groups, wanted) OFFSET 0) AS d;
END $$;

CREATE FUNCTION trueweave.seen_leads(names bigint[], chunks bigint[], cap integer, pool uuid[], vector public.halfvec) RETURNS TABLE(phrase bigint, chunk uuid, count smallint, defines boolean, similarity double precision)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'trueweave', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
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

CREATE FUNCTION trueweave.seen_names(of_entities uuid[], most integer) RETURNS TABLE(id uuid, written text, type text, entity uuid, count bigint, histogram bigint[])
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
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

CREATE FUNCTION trueweave.seen_occurrences(of_chunks uuid[]) RETURNS TABLE(chunk uuid, phrase bigint, chunks bigint, inside smallint, defines boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
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

CREATE FUNCTION trueweave.seen_pairs(of_names uuid[], of_relations uuid[], most integer) RETURNS TABLE(source uuid, target uuid, count bigint, weight bigint, histogram bigint[], source_entity uuid, target_entity uuid)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
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

CREATE FUNCTION trueweave.seen_phrases(ids bigint[], chunks uuid[]) RETURNS SETOF bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
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

CREATE FUNCTION trueweave.seen_similarity(vector public.halfvec, ids uuid[]) RETURNS TABLE(id uuid, similarity double precision)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'trueweave', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $_$
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
END $_$;

CREATE FUNCTION trueweave.sees_all() RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
DECLARE
    every constant boolean := '*' = ANY (current_setting('trueweave.groups')::text[]);
BEGIN
    IF current_setting('trueweave.filter') <> '' OR pg_is_in_recovery() OR hides_documents(every) THEN
        RETURN false;
    END IF;
    PERFORM pg_advisory_xact_lock_shared(1415005017, current_setting('trueweave.workspace')::int);
    RETURN NOT hides_documents(every);
END $$;

CREATE FUNCTION trueweave.set_place(of_workspace integer, is_here boolean, grace interval) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
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

CREATE FUNCTION trueweave.sketch_of(keys bigint[], weights double precision[]) RETURNS public.sparsevec
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT ('{' || coalesce(string_agg(place || ':' || weight, ','), '') || '}/536870912')::public.sparsevec
    FROM (SELECT (key >> 4 & 536870911) + 1 AS place, max(weight)::float4 AS weight
          FROM unnest(keys, weights) AS u (key, weight) GROUP BY place LIMIT 16000) AS places
$$;

CREATE FUNCTION trueweave.standby_reach(upto pg_lsn, OUT name text, OUT has_all boolean) RETURNS SETOF record
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
    SELECT coalesce(application_name, ''), replay_lsn >= upto FROM pg_stat_replication ORDER BY 1
$$;

CREATE FUNCTION trueweave.store_chunk_words(chunks uuid[], sizes bigint[], words bigint[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    here constant int := current_setting('trueweave.workspace')::int;
    salt constant bigint := workspace_salt();
BEGIN
    DELETE FROM chunk_words s WHERE s.workspace = here AND s.chunk = ANY(chunks);
    INSERT INTO chunk_words (workspace, chunk, words)
    SELECT here, c.id, ARRAY(SELECT w # salt FROM unnest(words[c.upto - c.size + 1:c.upto]) AS w)
    FROM (SELECT id, size, sum(size) OVER (ORDER BY n)::bigint AS upto
          FROM unnest(chunks, sizes) WITH ORDINALITY AS u (id, size, n)) AS c
    WHERE c.size > 0;
END $$;

CREATE FUNCTION trueweave.summaries_of(hashes uuid[]) RETURNS TABLE(hash uuid, text text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
    SELECT s.hash, s.text FROM (SELECT DISTINCT u.hash FROM unnest(hashes) AS u (hash)) AS g
    CROSS JOIN LATERAL (
        SELECT x.hash, x.text FROM summary x
        WHERE x.workspace = current_setting('trueweave.workspace')::int AND x.hash = g.hash AND x.text IS NOT NULL OFFSET 0) AS s
$$;

CREATE FUNCTION trueweave.switch_own_table(of_space integer, of_kind text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'trueweave', 'public', 'pg_temp'
    AS $$
DECLARE here constant int := current_setting('trueweave.workspace')::int;
BEGIN
    UPDATE own_table SET state = 'left', left_at = clock_timestamp()
    WHERE workspace = here AND space = of_space AND kind = of_kind AND state = 'current';
    UPDATE own_table SET state = 'current', indexed = true
    WHERE workspace = here AND space = of_space AND kind = of_kind AND state = 'building';
    DELETE FROM removed_vector WHERE workspace = here AND space = of_space AND kind = of_kind;
END $$;

CREATE FUNCTION trueweave.term_coverage(question text, chunks uuid[]) RETURNS TABLE(chunk uuid, words integer, shares double precision[])
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
    here constant int := current_setting('trueweave.workspace')::int;
    salt constant bigint := workspace_salt();
    total float8;
    asked bigint[];
    weights float8[];
    whole float8;
BEGIN
    SELECT c.chunks INTO total FROM corpus c WHERE c.workspace = here;
    SELECT array_agg(known.word # salt), array_agg(known.weight), sum(known.weight) INTO asked, weights, whole
    FROM (SELECT a.word, ln(1 + total / (1 + w.holders)) AS weight FROM question_words(question) a CROSS JOIN LATERAL (
              SELECT sum(w.chunks)::float8 AS holders FROM word w WHERE w.workspace = here AND w.word = a.word) w
          WHERE w.holders > 0 ORDER BY w.holders, a.word LIMIT 64) AS known;
    RETURN QUERY
    SELECT l.chunk, cardinality(l.keys), ARRAY(
        SELECT CASE WHEN l.keys[width_bucket(a.key | 15, l.keys)] >= a.key THEN a.weight / whole ELSE 0 END
        FROM unnest(asked, weights) WITH ORDINALITY AS a (key, weight, n) ORDER BY a.n)
    FROM unnest(chunks) AS u (id)
    CROSS JOIN LATERAL (SELECT * FROM bm25_index x WHERE x.workspace = here AND x.chunk = u.id OFFSET 0) AS l;
END $$;

CREATE FUNCTION trueweave.text_lines() RETURNS TABLE(key text, line text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
BEGIN
    RETURN QUERY
    SELECT l.chunk::text, l.length || ' ' || coalesce(sum(hashint8extended(u.key # workspace_salt(), u.frequency)), 0) || ' ' || l.language
    FROM bm25_index l LEFT JOIN LATERAL unnest(l.keys, l.counts) AS u (key, frequency) ON true
    WHERE l.workspace = current_setting('trueweave.workspace')::int GROUP BY l.workspace, l.chunk;
END $$;

CREATE FUNCTION trueweave.text_rows(coming uuid[], OUT chunk uuid, OUT language text, OUT length integer, OUT keys bigint[], OUT counts smallint[], OUT sketch public.sparsevec) RETURNS SETOF record
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
    here constant int := current_setting('trueweave.workspace')::int;
    salt constant bigint := workspace_salt();
BEGIN
    RETURN QUERY WITH said AS (
        SELECT u.id, l.language, w.word, w.frequency, sum(w.frequency) OVER (PARTITION BY u.id) AS length
        FROM unnest(coming) AS u (id)
        -- A chunk with this id has the same language in all versions of a document.
        CROSS JOIN LATERAL (SELECT text, document FROM chunk WHERE workspace = here AND id = u.id LIMIT 1) c
        CROSS JOIN LATERAL (SELECT language_of(c.text, (SELECT d.metadata ->> 'language' FROM document d
                                                        WHERE d.workspace = here AND d.id = c.document)) AS language OFFSET 0) l  -- once per chunk, not per word
        CROSS JOIN LATERAL words_of(c.text, l.language) w
    ), keyed AS (
        SELECT id, language, length, frequency, odds, word # salt | tier_of(odds) AS key
        FROM said CROSS JOIN LATERAL odds_of(frequency, length) AS odds
    ), listed AS (
        SELECT id, language, length, array_agg(key ORDER BY key) AS keys, array_agg(frequency ORDER BY key) AS counts,
            array_agg(odds / (1 + odds) ORDER BY key) AS weights
        FROM keyed GROUP BY id, language, length
    )
    SELECT id, language, length::int, keys, counts::smallint[], sketch_of(keys, weights) FROM listed;
END $$;

CREATE FUNCTION trueweave.tier_of(odds double precision) RETURNS integer
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT greatest(0, least(15, round(8 + 2 * ln(odds) / ln(2::float8))))::int
$$;

CREATE FUNCTION trueweave.unsettled_places(OUT id integer, OUT place text, OUT is_over boolean) RETURNS SETOF record
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
    SELECT w.id, w.place, coalesce(w.left_until < now(), false) FROM workspace w WHERE w.place NOT IN ('here', 'away') ORDER BY w.id
$$;

CREATE FUNCTION trueweave.watched_workspaces(after integer, most integer) RETURNS SETOF integer
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
    SELECT w.id FROM workspace w WHERE w.id > after AND w.place = 'here' AND NOT w.dropped AND w.expires IS NULL
        AND EXISTS (SELECT FROM watch WHERE workspace = w.id)
    ORDER BY w.id LIMIT most
$$;

CREATE FUNCTION trueweave.words_of(said text, language text) RETURNS TABLE(word bigint, frequency smallint)
    LANGUAGE sql STABLE
    AS $$
    WITH plain AS MATERIALIZED (
        SELECT CASE WHEN language = 'turkish' THEN translate(n, 'Iİ', 'ıi') ELSE n END AS t FROM left(said, 100000) AS s
        CROSS JOIN LATERAL (SELECT CASE WHEN octet_length(s) = length(s) THEN s ELSE normalize(s, NFKC) END AS n OFFSET 0) AS normal
    ), lexemes AS (
        SELECT l.lexeme, cardinality(l.positions) AS frequency FROM plain
        CROSS JOIN LATERAL unnest(to_tsvector(language::regconfig, translate(
            CASE WHEN octet_length(t) = length(t) THEN t ELSE regexp_replace(t, '[\u0E00-\u0EFF\u1000-\u109F\u1780-\u17FF\u3005-\u3007\u3040-\u30FF\u3400-\u4DBF\u4E00-\u9FFF\uAC00-\uD7AF\uF900-\uFAFF]+', ' ', 'g') END,
            '-/._@:<>&+~।॥“”„«»‹›‘’‚–—…·•،؛؟、。，！？（）「」『』', repeat(' ', 42)))) l
        UNION ALL
        SELECT p, least(count(*), 256)::int FROM plain CROSS JOIN LATERAL pairs_of(t) AS p
        WHERE octet_length(t) <> length(t) GROUP BY p
    )
    SELECT hashtextextended(lexeme, 0) & ~15, sum(frequency)::smallint FROM lexemes GROUP BY lexeme
$$;

CREATE FUNCTION trueweave.workspace_salt() RETURNS bigint
    LANGUAGE sql STABLE
    AS $$
    SELECT hashint4extended(current_setting('trueweave.workspace')::int, 0) & ~15
$$;

CREATE FUNCTION trueweave.workspaces_after(after integer, most integer) RETURNS SETOF integer
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
    SELECT w.id FROM workspace w WHERE w.id > after AND NOT w.dropped AND w.expires IS NULL AND w.place = 'here'
    ORDER BY w.id LIMIT most
$$;

CREATE TABLE trueweave.access_rule (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    prefix text NOT NULL,
    readers text[] NOT NULL
);
ALTER TABLE ONLY trueweave.access_rule ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.access_rule FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.access_rule IS 'Readers of the documents whose uris begin with a prefix, unless readers were given with them. The longest prefix applies.';

CREATE TABLE trueweave.alert (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    id bigint NOT NULL,
    watch text NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    is_first boolean NOT NULL,
    added integer NOT NULL,
    removed integer NOT NULL,
    answer text DEFAULT ''::text NOT NULL,
    tokens bigint DEFAULT 0 NOT NULL,
    problem text DEFAULT ''::text NOT NULL,
    delivery text NOT NULL,
    CONSTRAINT alert_delivery_check CHECK ((delivery = ANY (ARRAY['none'::text, 'waiting'::text, 'delivered'::text, 'failed'::text])))
);
ALTER TABLE ONLY trueweave.alert ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.alert FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.alert IS 'A change in the evidence of a watch; the first of a watch is what it found when it was made.';

COMMENT ON COLUMN trueweave.alert.id IS 'Microseconds since 1970, or one more than the last: ids of a workspace grow with time, on whichever server it is.';

CREATE TABLE trueweave.alert_passage (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    alert bigint NOT NULL,
    n integer NOT NULL,
    change text NOT NULL,
    chunk uuid NOT NULL,
    uri text NOT NULL,
    CONSTRAINT alert_passage_change_check CHECK ((change = ANY (ARRAY['added'::text, 'removed'::text, 'kept'::text])))
);
ALTER TABLE ONLY trueweave.alert_passage ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.alert_passage FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.alert_passage IS 'A passage of an alert. When its document is erased, chunk is replaced by a random id, and uri is emptied.';

CREATE TABLE trueweave.alike (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    a uuid NOT NULL,
    b uuid NOT NULL
);
ALTER TABLE ONLY trueweave.alike ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.alike FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.alike IS 'Pairs of similar names, in both directions, whether or not they are live.';

CREATE TABLE trueweave.api_key (
    prefix text NOT NULL,
    secret_hash bytea NOT NULL,
    name text NOT NULL,
    scope text NOT NULL,
    workspaces integer[],
    created timestamp with time zone DEFAULT now() NOT NULL,
    expires timestamp with time zone,
    revoked timestamp with time zone,
    last_used date,
    max_tokens_per_day bigint,
    max_spend_per_day numeric,
    makers text[] DEFAULT '{}'::text[] NOT NULL,
    groups text[] DEFAULT '{}'::text[] NOT NULL,
    CONSTRAINT api_key_max_spend_per_day_check CHECK ((max_spend_per_day >= (0)::numeric)),
    CONSTRAINT api_key_max_tokens_per_day_check CHECK ((max_tokens_per_day >= 0)),
    CONSTRAINT api_key_scope_check CHECK ((scope = ANY (ARRAY['read'::text, 'write'::text, 'admin'::text]))),
    CONSTRAINT api_key_secret_hash_check CHECK ((length(secret_hash) = 32))
);

COMMENT ON TABLE trueweave.api_key IS 'API keys of the server. They belong to no workspace, because a request is authenticated before it enters one.';

COMMENT ON COLUMN trueweave.api_key.secret_hash IS 'SHA-256 of the secret. A slow hash would add nothing: the secret has 256 random bits and cannot be guessed.';

COMMENT ON COLUMN trueweave.api_key.workspaces IS 'The workspaces it is valid for, by id, so that it does not extend to a workspace created later under the name of a dropped one. NULL means all.';

COMMENT ON COLUMN trueweave.api_key.last_used IS 'The last day on which it was used.';

COMMENT ON COLUMN trueweave.api_key.max_tokens_per_day IS 'Model tokens, in and out, that requests with this key may use per day (UTC). NULL: the server''s default applies.';

COMMENT ON COLUMN trueweave.api_key.max_spend_per_day IS 'The most that requests with this key may spend per day (UTC). NULL: the server''s default applies.';

COMMENT ON COLUMN trueweave.api_key.makers IS 'The callers whose limits it shares, first maker first: prefixes of keys, or issuer and subject of tokens. Empty if it was created on the command line, or by an administrator of all workspaces without limits.';

COMMENT ON COLUMN trueweave.api_key.groups IS 'The groups that its requests read as. * means all documents. Empty: only documents that everybody reads.';

CREATE TABLE trueweave.audit_log (
    id bigint NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    request text NOT NULL,
    caller text NOT NULL,
    method text NOT NULL,
    route text NOT NULL,
    workspace integer,
    status smallint NOT NULL
);

COMMENT ON TABLE trueweave.audit_log IS 'Writes, and refused requests, of the server: who, what and when. Routes are stored as patterns, so that no document names are kept here.';

COMMENT ON COLUMN trueweave.audit_log.caller IS 'The prefix of a key, or issuer and subject of a token; empty for a request without valid credentials.';

ALTER TABLE trueweave.audit_log ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME trueweave.audit_log_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE trueweave.bench_outcome (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    run uuid NOT NULL,
    n integer NOT NULL,
    question text NOT NULL,
    asked uuid NOT NULL,
    kind text NOT NULL,
    supporting integer[] NOT NULL,
    findings jsonb NOT NULL
);
ALTER TABLE ONLY trueweave.bench_outcome ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.bench_outcome FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.bench_outcome IS 'One question of a run. supporting has the numbers of its right passages in bench_passage; findings has, for each method, the numbers of the passages found, its scores in the order of bench_run.measures, and its seconds.';

COMMENT ON COLUMN trueweave.bench_outcome.asked IS 'A hash of the question and of its right passages: questions of two runs with the same one are compared.';

CREATE TABLE trueweave.bench_passage (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    owner uuid NOT NULL,
    n integer NOT NULL,
    uri text NOT NULL,
    chunk uuid,
    first integer,
    behind integer,
    content uuid,
    CONSTRAINT bench_passage_check CHECK (((first IS NULL) = (behind IS NULL)))
);
ALTER TABLE ONLY trueweave.bench_passage ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.bench_passage FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.bench_passage IS 'The passages that a question or a run refers to, without their texts. Both spans are NULL for a whole document. The uri becomes empty when the document is removed.';

COMMENT ON COLUMN trueweave.bench_passage.content IS 'document.content_hash at that time: while it is the same, first and behind are valid, even if the chunk is no longer there.';

CREATE TABLE trueweave.bench_question (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    id uuid NOT NULL,
    question text NOT NULL,
    question_hash uuid GENERATED ALWAYS AS ((md5(question))::uuid) STORED,
    answers text[] NOT NULL,
    kind text NOT NULL,
    made timestamp with time zone DEFAULT now() NOT NULL,
    author text DEFAULT ''::text NOT NULL
);
ALTER TABLE ONLY trueweave.bench_question ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.bench_question FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.bench_question IS 'People''s own questions to measure methods with. Their right passages are in bench_passage.';

CREATE TABLE trueweave.bench_run (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    id uuid NOT NULL,
    made timestamp with time zone DEFAULT now() NOT NULL,
    author text DEFAULT ''::text NOT NULL,
    name text NOT NULL,
    own boolean NOT NULL,
    questions integer NOT NULL,
    documents integer NOT NULL,
    version text NOT NULL,
    measures text[] NOT NULL,
    main_measure text NOT NULL,
    under jsonb NOT NULL,
    methods jsonb NOT NULL,
    left_out jsonb NOT NULL,
    notes text[] NOT NULL,
    verdict text NOT NULL
);
ALTER TABLE ONLY trueweave.bench_run ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.bench_run FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.bench_run IS 'Finished benchmarks. methods has the parameters and mean scores of each method, in the order of bench_outcome.findings.';

CREATE TABLE trueweave.bm25_index (
    workspace integer NOT NULL,
    chunk uuid NOT NULL,
    length integer NOT NULL,
    keys bigint[] NOT NULL,
    counts smallint[] NOT NULL,
    sketch public.sparsevec NOT NULL,
    language text DEFAULT 'english'::text NOT NULL
)
WITH (toast_tuple_target='8160');
ALTER TABLE ONLY trueweave.bm25_index ALTER COLUMN workspace SET STATISTICS 0;
ALTER TABLE ONLY trueweave.bm25_index ALTER COLUMN keys SET STATISTICS 0;
ALTER TABLE ONLY trueweave.bm25_index ALTER COLUMN counts SET STATISTICS 0;

COMMENT ON TABLE trueweave.bm25_index IS 'For each chunk that contains words: the words as ascending keys, the frequency of each, their total, and a sketch of them. GIN operators are not leakproof, so row-level security would keep them from using their index. It therefore does not bind the owner here: trueweave_app cannot access the table itself, and calls functions that name the workspace in every statement.';

COMMENT ON COLUMN trueweave.bm25_index.language IS 'The text search configuration that its words were stemmed with.';

CREATE TABLE trueweave.budget (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    price_cap numeric,
    token_cap bigint,
    price numeric DEFAULT 0 NOT NULL,
    tokens bigint DEFAULT 0 NOT NULL,
    held_price numeric DEFAULT 0 NOT NULL,
    held_tokens bigint DEFAULT 0 NOT NULL,
    run_owner integer,
    run_price_cap numeric,
    run_token_cap bigint
);
ALTER TABLE ONLY trueweave.budget ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.budget FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.budget IS 'What a workspace has spent, the most that running calls can cost, and the caps that the two together never exceed.';

COMMENT ON COLUMN trueweave.budget.run_owner IS 'The process of the run that has its own budget. The caps of the run apply while that process is alive.';

CREATE TABLE trueweave.caller_usage (
    caller text NOT NULL,
    day date NOT NULL,
    tokens bigint NOT NULL,
    price numeric NOT NULL
);

COMMENT ON TABLE trueweave.caller_usage IS 'Model usage by callers with a daily limit, per day (UTC).';

COMMENT ON COLUMN trueweave.caller_usage.caller IS 'The prefix of a key, or issuer and subject of a token.';

CREATE TABLE trueweave.catalogue (
    one boolean DEFAULT true NOT NULL,
    home uuid NOT NULL,
    name text NOT NULL,
    CONSTRAINT catalogue_one_check CHECK (one)
);

COMMENT ON TABLE trueweave.catalogue IS 'The role of this database among several: the id of their home, and the name of this one ("home" for the home itself). Empty if it is the only one.';

CREATE TABLE trueweave.chunk (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    document uuid NOT NULL,
    id uuid NOT NULL,
    n integer NOT NULL,
    start integer NOT NULL,
    tokens integer NOT NULL,
    text text NOT NULL,
    text_hash uuid NOT NULL
);
ALTER TABLE ONLY trueweave.chunk ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.chunk FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.chunk IS 'A span of a document. Its id is the same in every version that contains the same text.';

CREATE TABLE trueweave.chunk_words (
    workspace integer NOT NULL,
    chunk uuid NOT NULL,
    words bigint[] NOT NULL
);
ALTER TABLE ONLY trueweave.chunk_words ALTER COLUMN workspace SET STATISTICS 0;
ALTER TABLE ONLY trueweave.chunk_words ALTER COLUMN words SET STATISTICS 0;

COMMENT ON TABLE trueweave.chunk_words IS 'The distinct words of each linked chunk, hashed as in phrases and mixed with the workspace.';

CREATE TABLE trueweave.community (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    n integer NOT NULL,
    last integer NOT NULL,
    parent integer,
    id uuid NOT NULL,
    stable_id uuid NOT NULL,
    level integer NOT NULL,
    size bigint NOT NULL,
    relations bigint NOT NULL,
    hash uuid NOT NULL,
    since timestamp with time zone NOT NULL,
    changed timestamp with time zone NOT NULL,
    x double precision,
    y double precision,
    radius double precision,
    around double precision,
    best uuid,
    linked bytea
);
ALTER TABLE ONLY trueweave.community ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.community FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.community IS 'A community by its position in the tree: all communities within it follow it directly, up to last. id is a label that follows it through changes; stable_id is the smallest id among the names of its members. hash covers its members, their relations and all descriptions.';

COMMENT ON COLUMN trueweave.community.radius IS 'Everything in it lies within this circle. The whole map has the radius 1.';

COMMENT ON COLUMN trueweave.community.around IS 'The radius of the community around it, or infinity.';

COMMENT ON COLUMN trueweave.community.best IS 'Its member with the most relations.';

COMMENT ON COLUMN trueweave.community.linked IS 'Innermost communities only: for each innermost community with a larger n whose members are related to its members, that n (int4), the number of these relations (int4) and their weight in thousandths (int8), in network byte order. A window adds up tens of thousands of them, which takes four times as long with arrays.';

CREATE TABLE trueweave.connector_document (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    origin uuid NOT NULL,
    uri text NOT NULL,
    item text NOT NULL,
    version text NOT NULL,
    validator text NOT NULL,
    recipe uuid NOT NULL
);
ALTER TABLE ONLY trueweave.connector_document ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.connector_document FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.connector_document IS 'A document that was fetched from an address, and the version of the item that it was read from. An item may hold several documents.';

COMMENT ON COLUMN trueweave.connector_document.origin IS 'A hash of the address.';

COMMENT ON COLUMN trueweave.connector_document.validator IS 'What the connector asks with whether the item has changed, such as an ETag.';

COMMENT ON COLUMN trueweave.connector_document.recipe IS 'A hash of the recipe that its documents were submitted with. With another one, the item is fetched again.';

CREATE TABLE trueweave.connector_source (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    name text NOT NULL,
    address text NOT NULL,
    secrets jsonb NOT NULL,
    every_seconds integer,
    restricted boolean NOT NULL,
    author text NOT NULL,
    made timestamp with time zone DEFAULT now() NOT NULL,
    due timestamp with time zone,
    confirmed boolean DEFAULT false NOT NULL,
    stopping boolean DEFAULT false NOT NULL,
    owner integer,
    claim uuid,
    claimed timestamp with time zone,
    began timestamp with time zone,
    ended timestamp with time zone,
    outcome text,
    documents integer DEFAULT 0 NOT NULL,
    new integer DEFAULT 0 NOT NULL,
    removed integer DEFAULT 0 NOT NULL,
    unreadable integer DEFAULT 0 NOT NULL,
    problem text DEFAULT ''::text NOT NULL,
    readers text[],
    CONSTRAINT connector_source_every_seconds_check CHECK ((every_seconds > 0)),
    CONSTRAINT connector_source_outcome_check CHECK ((outcome = ANY (ARRAY['done'::text, 'failed'::text, 'stopped'::text])))
);
ALTER TABLE ONLY trueweave.connector_source ALTER COLUMN workspace SET STATISTICS 0;

COMMENT ON TABLE trueweave.connector_source IS 'An address that the workspace follows, its schedule, and the result of its last run.';

COMMENT ON COLUMN trueweave.connector_source.secrets IS 'For each credential, the name of the environment variable that holds it. Never the credential itself.';

COMMENT ON COLUMN trueweave.connector_source.restricted IS 'It was added through a server, so it runs only with connectors and variables that the administrator allows for the workspace.';

COMMENT ON COLUMN trueweave.connector_source.due IS 'When a worker runs it; NULL if only on request.';

COMMENT ON COLUMN trueweave.connector_source.confirmed IS 'Whether the next run may remove more than a fifth of its documents.';

COMMENT ON COLUMN trueweave.connector_source.stopping IS 'It is being removed: its run ends, and no other begins.';

COMMENT ON COLUMN trueweave.connector_source.owner IS 'The process that runs it. A process whose lease has expired owns nothing.';

COMMENT ON COLUMN trueweave.connector_source.claim IS 'Identifies the run, which may be resumed by another process under another claim.';

COMMENT ON COLUMN trueweave.connector_source.began IS 'began, ended, outcome, the counts and problem are about the last run that ended.';

COMMENT ON COLUMN trueweave.connector_source.readers IS 'The readers that its documents are given, unless they state their own. NULL if none are given: then they keep those that they have.';

CREATE TABLE trueweave.consumer (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    name text NOT NULL,
    "position" bigint NOT NULL,
    seen timestamp with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY trueweave.consumer ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.consumer FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.consumer IS 'Consumers of the outbox, and the last position each has applied.';

CREATE TABLE trueweave.corpus (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    chunks bigint NOT NULL,
    length bigint NOT NULL
);
ALTER TABLE ONLY trueweave.corpus ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.corpus FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.corpus IS 'The number of chunks that contain words, and the total number of words in them.';

CREATE TABLE trueweave.dirty_name (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    name uuid NOT NULL
);
ALTER TABLE ONLY trueweave.dirty_name ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.dirty_name FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.dirty_name IS 'Names whose entity must be determined again because a rule or a setting changed.';

CREATE TABLE trueweave.dirty_pair (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    source uuid NOT NULL,
    target uuid NOT NULL
);
ALTER TABLE ONLY trueweave.dirty_pair ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.dirty_pair FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.dirty_pair IS 'Pairs of names whose relation must be computed again because a rule changed.';

CREATE TABLE trueweave.document (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    id uuid NOT NULL,
    uri text NOT NULL,
    title text NOT NULL,
    content_hash uuid NOT NULL,
    metadata jsonb NOT NULL,
    places jsonb NOT NULL,
    source uuid,
    notes text[] NOT NULL,
    size integer NOT NULL,
    current boolean NOT NULL,
    visible boolean NOT NULL,
    added timestamp with time zone DEFAULT now() NOT NULL,
    recipe uuid,
    readers text[] DEFAULT '{}'::text[] NOT NULL,
    given_readers text[],
    off boolean DEFAULT false NOT NULL
);
ALTER TABLE ONLY trueweave.document ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.document FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.document IS 'One version of one document. A new version is current but not yet visible, and the old one visible but no longer current, until indexing switches both at once. One that is switched off is current and not visible, and a former one, which is kept as history, is neither. source is the hash of what the text was made from.';

COMMENT ON COLUMN trueweave.document.recipe IS 'How it was processed. NULL if its entities were supplied with it.';

COMMENT ON COLUMN trueweave.document.readers IS 'The groups that can read it; empty for everybody. Derived from given_readers and access_rule by keep_readers.';

COMMENT ON COLUMN trueweave.document.given_readers IS 'The readers that were given with it. NULL if none were: then the access rule with the longest matching prefix applies.';

COMMENT ON COLUMN trueweave.document.off IS 'It is switched off: it is stored, and left out of the index. Without meaning in versions that are not current.';

CREATE TABLE trueweave.dropped_workspace (
    id integer NOT NULL,
    dropped timestamp with time zone DEFAULT now() NOT NULL,
    copies text[] DEFAULT '{}'::text[] NOT NULL
);

COMMENT ON TABLE trueweave.dropped_workspace IS 'Dropped workspaces that had consumers, so that these can remove their copies. No names, because those belonged to the tenant.';

COMMENT ON COLUMN trueweave.dropped_workspace.copies IS 'Its copies in other stores that must still be dropped, as "store:copy".';

CREATE TABLE trueweave.entity (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    type text NOT NULL,
    description text NOT NULL,
    aliases text[] NOT NULL,
    count bigint NOT NULL,
    histogram bigint[] NOT NULL,
    degree bigint NOT NULL,
    text_hash uuid NOT NULL
);
ALTER TABLE ONLY trueweave.entity ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.entity FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.entity IS 'A connected component of live names. The id is a label that follows it through merges and splits.';

CREATE TABLE trueweave.erasure (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    id bigint NOT NULL,
    uri text NOT NULL,
    names uuid[] NOT NULL,
    entities uuid[] NOT NULL,
    entity_hashes uuid[] NOT NULL,
    relations uuid[] NOT NULL,
    relation_hashes uuid[] NOT NULL,
    communities uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    relation_sources uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    relation_targets uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    off boolean DEFAULT false NOT NULL
);
ALTER TABLE ONLY trueweave.erasure ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.erasure FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.erasure IS 'Removed documents that may have left traces elsewhere: the entities and relations they mentioned, and hashes of the descriptions at that time.';

COMMENT ON COLUMN trueweave.erasure.off IS 'The document was switched off, not removed: only reports that may quote it are erased.';

ALTER TABLE trueweave.erasure ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME trueweave.erasure_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE trueweave.facet (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    document uuid NOT NULL,
    facet uuid NOT NULL
);
ALTER TABLE ONLY trueweave.facet ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.facet FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.facet IS 'The values that a version of a document can be filtered by.';

CREATE TABLE trueweave.failed_work (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    kind text NOT NULL,
    subject text NOT NULL,
    label text NOT NULL,
    error text NOT NULL,
    count integer DEFAULT 1 NOT NULL,
    failed timestamp with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY trueweave.failed_work ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.failed_work FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.failed_work IS 'Work that failed because of a bug: its kind, its subject (the uri of a document to be indexed, or the hash of a description to be summarised or of the data for a report; empty for the kind as a whole), a label for people to read, and the latest error.';

CREATE TABLE trueweave.hierarchy (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    library text NOT NULL,
    seed bigint NOT NULL,
    resolution double precision NOT NULL,
    most integer NOT NULL,
    graph bigint NOT NULL,
    entities bigint NOT NULL,
    alone bigint NOT NULL,
    levels integer NOT NULL,
    modularity double precision NOT NULL,
    found timestamp with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY trueweave.hierarchy ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.hierarchy FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.hierarchy IS 'How and when the communities of a workspace were found, and the version of the view at that time (graph).';

CREATE TABLE trueweave.history (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    since timestamp with time zone NOT NULL,
    changed timestamp with time zone NOT NULL,
    erased bigint DEFAULT 0 NOT NULL,
    days integer,
    CONSTRAINT history_days_check CHECK ((days > 0))
);
ALTER TABLE ONLY trueweave.history ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.history FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.history IS 'A row if the workspace keeps history: since when, when documents last came into the index or left it, how often former versions were erased, and after how many days they are deleted (NULL: never).';

CREATE TABLE trueweave.ingest_job (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    id uuid NOT NULL,
    made timestamp with time zone DEFAULT now() NOT NULL,
    documents integer DEFAULT 0 NOT NULL,
    refused text[] DEFAULT '{}'::text[] NOT NULL
);
ALTER TABLE ONLY trueweave.ingest_job ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.ingest_job FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.ingest_job IS 'Documents that were submitted together, for tracking their progress.';

COMMENT ON COLUMN trueweave.ingest_job.refused IS 'Why files, or rows of files, could not be used: the first reasons.';

CREATE TABLE trueweave.ingest_job_document (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    job uuid NOT NULL,
    uri text NOT NULL
);
ALTER TABLE ONLY trueweave.ingest_job_document ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.ingest_job_document FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.ingest_job_document IS 'The documents of an ingest_job. A row is deleted with its document.';

CREATE TABLE trueweave.job (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    id bigint NOT NULL,
    kind text NOT NULL,
    priority smallint DEFAULT 0 NOT NULL,
    payload bytea DEFAULT '\x'::bytea NOT NULL,
    due timestamp with time zone DEFAULT now() NOT NULL,
    owner integer,
    worker bigint
);
ALTER TABLE ONLY trueweave.job ALTER COLUMN workspace SET STATISTICS 0;

COMMENT ON TABLE trueweave.job IS 'A queued or running job. It is deleted when done.';

COMMENT ON COLUMN trueweave.job.priority IS 'Among the jobs of a workspace, higher numbers are claimed first.';

COMMENT ON COLUMN trueweave.job.due IS 'It is not claimed before this time.';

COMMENT ON COLUMN trueweave.job.owner IS 'The process running it; NULL while it is queued. A process whose lease has expired owns nothing.';

COMMENT ON COLUMN trueweave.job.worker IS 'Identifies the worker within that process, by a random number.';

ALTER TABLE trueweave.job ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME trueweave.job_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE trueweave.kept_response (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    caller text NOT NULL,
    key_hash bytea NOT NULL,
    request_hash bytea NOT NULL,
    body jsonb,
    made timestamp with time zone DEFAULT now() NOT NULL,
    owner integer
);
ALTER TABLE ONLY trueweave.kept_response ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.kept_response FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.kept_response IS 'Responses to writes with an Idempotency-Key, kept for a day. NULL body: the request is running.';

COMMENT ON COLUMN trueweave.kept_response.owner IS 'The process running the request; NULL once it has been answered, or if that process was not registered here.';

CREATE TABLE trueweave.link (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    document uuid NOT NULL,
    chunk uuid NOT NULL,
    n integer NOT NULL,
    source uuid NOT NULL,
    target uuid NOT NULL,
    description text NOT NULL,
    description_hash uuid NOT NULL,
    keywords text[] NOT NULL,
    strength bigint NOT NULL,
    emphasis smallint NOT NULL,
    spans integer[] NOT NULL,
    CONSTRAINT link_emphasis_check CHECK (((emphasis >= 1) AND (emphasis <= 9))),
    CONSTRAINT link_strength_check CHECK ((strength > 0))
);
ALTER TABLE ONLY trueweave.link ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.link FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.link IS 'One relation as stated by one chunk, between two names that the chunk mentions.';

COMMENT ON COLUMN trueweave.link.strength IS 'In thousandths, so that sums are exact.';

CREATE TABLE trueweave.member (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    entity uuid NOT NULL,
    leaf integer NOT NULL,
    x double precision,
    y double precision
);
ALTER TABLE ONLY trueweave.member ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.member FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.member IS 'The innermost community of each entity that has a relation. The entity is also in all communities around that one.';

CREATE TABLE trueweave.mention (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    document uuid NOT NULL,
    chunk uuid NOT NULL,
    n integer NOT NULL,
    name uuid NOT NULL,
    written text NOT NULL,
    type text NOT NULL,
    description text NOT NULL,
    description_hash uuid NOT NULL,
    emphasis smallint NOT NULL,
    spans integer[] NOT NULL,
    CONSTRAINT mention_emphasis_check CHECK (((emphasis >= 1) AND (emphasis <= 9)))
);
ALTER TABLE ONLY trueweave.mention ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.mention FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.mention IS 'One entity as described by one chunk. spans holds pairs of offsets within the chunk.';

CREATE TABLE trueweave.migration (
    number integer NOT NULL,
    name text NOT NULL,
    additive boolean NOT NULL
);

COMMENT ON COLUMN trueweave.migration.additive IS 'Whether processes of the previous version can keep running after it.';

CREATE TABLE trueweave.name (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    id uuid NOT NULL,
    written text NOT NULL,
    type text NOT NULL,
    count bigint DEFAULT 0 NOT NULL,
    histogram bigint[] DEFAULT '{0,0,0,0,0,0,0,0,0}'::bigint[] NOT NULL,
    entity uuid,
    phrase bigint,
    written_hash uuid GENERATED ALWAYS AS ((md5(written))::uuid) STORED NOT NULL,
    folded text GENERATED ALWAYS AS (trueweave.folded_name(written)) STORED COLLATE pg_catalog."C",
    last_word text GENERATED ALWAYS AS ("substring"(trueweave.folded_name(written), ' [("“]*([^ ]+)$'::text)) STORED COLLATE pg_catalog."C"
);
ALTER TABLE ONLY trueweave.name ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.name FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.name IS 'A name as written, its type, the totals of its live mentions, and its entity (NULL while nothing mentions it).';

COMMENT ON COLUMN trueweave.name.phrase IS 'The phrase by which it is found in texts. NULL if it cannot be found that way.';

COMMENT ON COLUMN trueweave.name.written_hash IS 'A hash of the name as written, whatever its type.';

COMMENT ON COLUMN trueweave.name.folded IS 'The beginning of the name without case, accents and leading article.';

COMMENT ON COLUMN trueweave.name.last_word IS 'The last word of the column folded. NULL if there is only one.';

CREATE TABLE trueweave.name_key (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    key bigint NOT NULL,
    name uuid NOT NULL,
    mask bigint NOT NULL
);
ALTER TABLE ONLY trueweave.name_key ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.name_key FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.name_key IS 'Keys that similar names have in common, and a mask of their characters that rules out most other candidates. A plain B-tree, because GIN operators are not leakproof, so row-level security would keep them from using a GIN index.';

CREATE TABLE trueweave.name_pair (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    source uuid NOT NULL,
    target uuid NOT NULL,
    count bigint NOT NULL,
    weight bigint NOT NULL,
    histogram bigint[] NOT NULL,
    relation uuid
);
ALTER TABLE ONLY trueweave.name_pair ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.name_pair FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.name_pair IS 'Two names, the totals of the live links between them, and their relation (NULL if both are the same entity).';

COMMENT ON COLUMN trueweave.name_pair.weight IS 'The sum of the strengths, in thousandths.';

CREATE TABLE trueweave.occurrence (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    chunk uuid NOT NULL,
    phrase bigint NOT NULL,
    count smallint NOT NULL,
    inside smallint NOT NULL,
    defines boolean NOT NULL
);
ALTER TABLE ONLY trueweave.occurrence ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.occurrence FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.occurrence IS 'How often a phrase occurs in a chunk, how often outside the heading (inside), and whether the chunk is about it (defines).';

CREATE TABLE trueweave.ordered_facet (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    document uuid NOT NULL,
    key uuid NOT NULL,
    place double precision NOT NULL,
    value numeric NOT NULL
);
ALTER TABLE ONLY trueweave.ordered_facet ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.ordered_facet FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.ordered_facet IS 'The values that a version of a document can be filtered by as a range: numbers, and times in seconds since 1970.';

CREATE TABLE trueweave.outbox (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    "position" bigint NOT NULL,
    tx xid8 DEFAULT pg_current_xact_id() NOT NULL,
    kind text NOT NULL,
    removed boolean NOT NULL,
    ids uuid[] NOT NULL,
    made timestamp with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY trueweave.outbox ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.outbox FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.outbox IS 'What each indexed batch changed, for projections. Read it only up to the oldest running transaction, because positions are assigned before commit.';

ALTER TABLE trueweave.outbox ALTER COLUMN "position" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME trueweave.outbox_position_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE trueweave.own_table (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    space integer NOT NULL,
    kind text NOT NULL,
    indexed boolean DEFAULT false NOT NULL,
    version integer NOT NULL,
    partitions integer NOT NULL,
    state text NOT NULL,
    left_at timestamp with time zone,
    name text GENERATED ALWAYS AS (((((((('vector_'::text || (space)::text) || '_'::text) || kind) || '_'::text) || (workspace)::text) || '_v'::text) || (version)::text)) STORED NOT NULL,
    CONSTRAINT own_table_state_check CHECK ((state = ANY (ARRAY['building'::text, 'current'::text, 'left'::text])))
);
ALTER TABLE ONLY trueweave.own_table ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.own_table FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.own_table IS 'Workspaces whose vectors of a kind outgrew the shared table. Most of their vectors are in a table of their own, in hash partitions, each with an HNSW index once `indexed` is true. New vectors go to the shared table first and are moved in bulk. A table in state `building` is being filled to replace the `current` one; one in state `left` was replaced, and is kept for queries that still read it.';

CREATE TABLE trueweave.pending_certificate (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    request bytea NOT NULL,
    secret bytea NOT NULL,
    asked timestamp with time zone DEFAULT now() NOT NULL,
    documents jsonb NOT NULL,
    view text NOT NULL,
    sizes integer[] NOT NULL,
    windows bytea NOT NULL,
    named bytea NOT NULL,
    short integer NOT NULL,
    before jsonb NOT NULL
);
ALTER TABLE ONLY trueweave.pending_certificate ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.pending_certificate FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.pending_certificate IS 'A removal whose certificate is not written yet. It holds hashes of the removed documents, and none of their text; it is deleted when the certificate is written.';

COMMENT ON COLUMN trueweave.pending_certificate.request IS 'A hash of what was to be removed, by which the same command finds it again.';

COMMENT ON COLUMN trueweave.pending_certificate.secret IS 'The key of the hashes.';

COMMENT ON COLUMN trueweave.pending_certificate.view IS 'The digest of the view before the removal.';

COMMENT ON COLUMN trueweave.pending_certificate.sizes IS 'The numbers of words of the windows.';

COMMENT ON COLUMN trueweave.pending_certificate.windows IS 'Hashes of runs of words of the texts, 8 bytes each, sorted.';

COMMENT ON COLUMN trueweave.pending_certificate.named IS 'Hashes of uris and ids, 8 bytes each, sorted.';

COMMENT ON COLUMN trueweave.pending_certificate.short IS 'How many texts were too short to be searched for.';

COMMENT ON COLUMN trueweave.pending_certificate.before IS 'The rows that the search found before the removal, by column.';

CREATE TABLE trueweave.pending_link (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    "position" bigint NOT NULL,
    chunk uuid,
    phrase bigint
);
ALTER TABLE ONLY trueweave.pending_link ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.pending_link FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.pending_link IS 'Chunks to be linked again, and phrases that may have become live or ceased to be. Rows are only inserted and deleted, so nobody waits.';

ALTER TABLE trueweave.pending_link ALTER COLUMN "position" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME trueweave.pending_link_position_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE trueweave.pending_match (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    name uuid NOT NULL
);
ALTER TABLE ONLY trueweave.pending_match ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.pending_match FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.pending_match IS 'Names that have not been compared with similar ones yet.';

CREATE TABLE trueweave.phrase (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    id bigint NOT NULL,
    key text NOT NULL,
    first bigint NOT NULL,
    words smallint NOT NULL,
    chunks bigint NOT NULL
);
ALTER TABLE ONLY trueweave.phrase ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.phrase FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.phrase IS 'The phrases of live names, and the number of chunks that contain each. first is its first word.';

CREATE TABLE trueweave.phrase_count (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    owner uuid NOT NULL,
    kind "char" NOT NULL,
    hash uuid NOT NULL,
    value text NOT NULL,
    count bigint NOT NULL,
    weight bigint NOT NULL,
    CONSTRAINT phrase_count_kind_check CHECK ((kind = ANY (ARRAY['d'::"char", 'k'::"char", 't'::"char"])))
);
ALTER TABLE ONLY trueweave.phrase_count ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.phrase_count FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.phrase_count IS 'How often each distinct description (d), keyword (k) or first keyword (t, in lower case) was given for a name or a pair of names.';

COMMENT ON COLUMN trueweave.phrase_count.weight IS 'Decides which value is chosen: the sum of the emphases it was given with or, for a first keyword, the count.';

CREATE TABLE trueweave.process (
    id integer NOT NULL,
    since timestamp with time zone NOT NULL,
    expires timestamp with time zone NOT NULL
);

COMMENT ON TABLE trueweave.process IS 'Processes that hold claims: since when each has renewed its lease without a gap, and when that expires. A claim by a process without a row is void.';

ALTER TABLE trueweave.process ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME trueweave.process_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE trueweave.projection (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    store text NOT NULL,
    live text,
    building text,
    replaced text[] DEFAULT '{}'::text[] NOT NULL,
    switched timestamp with time zone,
    problem text DEFAULT ''::text NOT NULL,
    owner uuid,
    until timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL
);
ALTER TABLE ONLY trueweave.projection ALTER COLUMN workspace SET STATISTICS 0;

COMMENT ON TABLE trueweave.projection IS 'Copies of a workspace in another store. The position of a copy is that of the consumer "store:copy".';

COMMENT ON COLUMN trueweave.projection.live IS 'The copy that answers questions; NULL until the first one is complete.';

COMMENT ON COLUMN trueweave.projection.building IS 'A copy that is being built to replace the live one.';

COMMENT ON COLUMN trueweave.projection.replaced IS 'Former live copies that must still be dropped.';

COMMENT ON COLUMN trueweave.projection.switched IS 'When the live copy began to answer questions.';

COMMENT ON COLUMN trueweave.projection.problem IS 'Why the projector cannot continue; empty while it can.';

COMMENT ON COLUMN trueweave.projection.owner IS 'The projector working on it, while the lease in "until" is valid.';

CREATE TABLE trueweave.rate_limit (
    model text NOT NULL,
    requests timestamp with time zone NOT NULL,
    tokens timestamp with time zone NOT NULL
);

COMMENT ON TABLE trueweave.rate_limit IS 'When the next call to a model may start under each of its limits, after all calls that already have a start time.';

CREATE TABLE trueweave.reader (
    role name NOT NULL,
    workspace integer NOT NULL
);

COMMENT ON TABLE trueweave.reader IS 'Roles that can read one workspace, and which. Roles belong to the cluster, workspaces to this database.';

CREATE TABLE trueweave.recipe (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    id uuid NOT NULL,
    recipe jsonb NOT NULL,
    fingerprint text NOT NULL
);
ALTER TABLE ONLY trueweave.recipe ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.recipe FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.recipe IS 'How documents were processed: the settings, and the version of the extractor and its prompts.';

CREATE TABLE trueweave.rejection (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    a uuid NOT NULL,
    b uuid NOT NULL
);
ALTER TABLE ONLY trueweave.rejection ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.rejection FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.rejection IS 'Pairs of normal forms, as hashes in ascending order, that a person said are different entities. They are not suggested again.';

CREATE TABLE trueweave.relation (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    id uuid NOT NULL,
    source uuid NOT NULL,
    target uuid NOT NULL,
    source_name text NOT NULL,
    target_name text NOT NULL,
    description text NOT NULL,
    keywords text[] NOT NULL,
    weight bigint NOT NULL,
    count bigint NOT NULL,
    histogram bigint[] NOT NULL,
    text_hash uuid NOT NULL,
    type text NOT NULL
);
ALTER TABLE ONLY trueweave.relation ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.relation FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.relation IS 'All pairs of names from one entity to another. The id is derived from the two entities.';

COMMENT ON COLUMN trueweave.relation.weight IS 'The sum of the strengths, in thousandths.';

COMMENT ON COLUMN trueweave.relation.type IS 'The keyword that most links give first, in lower case.';

CREATE TABLE trueweave.removed_vector (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    space integer NOT NULL,
    kind text NOT NULL,
    id uuid NOT NULL
);
ALTER TABLE ONLY trueweave.removed_vector ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.removed_vector FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.removed_vector IS 'Vectors removed or replaced while a table is `building`. Their copies are deleted from it before it is used.';

CREATE TABLE trueweave.reply (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    key uuid NOT NULL,
    model text NOT NULL,
    payload bytea,
    owner integer NOT NULL,
    made timestamp with time zone DEFAULT now() NOT NULL,
    stage text DEFAULT ''::text NOT NULL,
    document text DEFAULT ''::text NOT NULL,
    text_hash uuid,
    chunk_hashes uuid[]
);
ALTER TABLE ONLY trueweave.reply ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.reply FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.reply IS 'A model''s reply, by a hash of the whole request, so that the same request is made and paid for once. NULL payload: its owner is waiting for the reply.';

COMMENT ON COLUMN trueweave.reply.document IS 'The uri of the document it was first requested for, if any.';

COMMENT ON COLUMN trueweave.reply.text_hash IS 'The one text it was made from. NULL if it was made from several, or from a question.';

COMMENT ON COLUMN trueweave.reply.chunk_hashes IS 'If the text that it was made from is made of several chunks: their hashes. The reply is kept as long as all of them.';

CREATE TABLE trueweave.report (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    community uuid NOT NULL,
    hash uuid NOT NULL,
    title text NOT NULL,
    summary text NOT NULL,
    rating double precision NOT NULL,
    reason text NOT NULL,
    findings jsonb NOT NULL,
    author text NOT NULL,
    problem text NOT NULL,
    text_hash uuid NOT NULL,
    made timestamp with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY trueweave.report ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.report FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.report IS 'The report on a community, and the hash of what it was written from: if the community''s hash differs, the report is stale. author is a model, or empty if sentences were selected without one; problem says why no model wrote it.';

CREATE TABLE trueweave.retired_community (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    id uuid NOT NULL,
    level integer NOT NULL,
    size bigint NOT NULL,
    title text NOT NULL,
    gone timestamp with time zone NOT NULL
);
ALTER TABLE ONLY trueweave.retired_community ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.retired_community FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.retired_community IS 'Communities that no longer exist, for listing changes. Kept for a year.';

CREATE TABLE trueweave.rule (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    id uuid NOT NULL,
    ordinal bigint NOT NULL,
    kind text NOT NULL,
    label text NOT NULL,
    made timestamp with time zone DEFAULT now() NOT NULL,
    author text DEFAULT ''::text NOT NULL,
    CONSTRAINT rule_kind_check CHECK ((kind = ANY (ARRAY['merge'::text, 'split'::text, 'rename'::text, 'retype'::text, 'describe'::text, 'suppress'::text])))
);
ALTER TABLE ONLY trueweave.rule ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.rule FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.rule IS 'People''s decisions about names, entities and relations. A later rule overrides an earlier one.';

COMMENT ON COLUMN trueweave.rule.author IS 'Who made it; empty if not given.';

CREATE TABLE trueweave.rule_name (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    rule uuid NOT NULL,
    name uuid NOT NULL,
    written text NOT NULL,
    type text NOT NULL,
    written_hash uuid GENERATED ALWAYS AS (
CASE
    WHEN (type = ''::text) THEN (md5(written))::uuid
    ELSE NULL::uuid
END) STORED,
    side smallint DEFAULT 0 NOT NULL,
    CONSTRAINT rule_name_side_check CHECK (((side >= 0) AND (side <= 3)))
);
ALTER TABLE ONLY trueweave.rule_name ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.rule_name FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.rule_name IS 'The names that a rule applies to, whether or not a document mentions them now.';

COMMENT ON COLUMN trueweave.rule_name.written_hash IS 'Set if the rule gives no type: it then applies to every name with this spelling, whatever its type.';

COMMENT ON COLUMN trueweave.rule_name.side IS 'In a rule about a relation, 1 for its source and 2 for its target; 3 for a suppressed entity.';

ALTER TABLE trueweave.rule ALTER COLUMN ordinal ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME trueweave.rule_ordinal_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE trueweave.server (
    name text NOT NULL,
    weight double precision DEFAULT 1 NOT NULL,
    bytes bigint DEFAULT 0 NOT NULL,
    placed bigint DEFAULT 0 NOT NULL,
    measured timestamp with time zone,
    CONSTRAINT server_weight_check CHECK ((weight >= (0)::double precision))
);

COMMENT ON TABLE trueweave.server IS 'In the home: the servers that workspaces can be on. Their addresses are in the settings of each process.';

COMMENT ON COLUMN trueweave.server.weight IS 'How much data it should hold relative to the others. With 0 it gets no new workspaces.';

COMMENT ON COLUMN trueweave.server.bytes IS 'The size of its database when last measured.';

COMMENT ON COLUMN trueweave.server.placed IS 'The number of workspaces placed there since.';

CREATE TABLE trueweave.shown (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    document uuid NOT NULL,
    since timestamp with time zone NOT NULL,
    until timestamp with time zone
);
ALTER TABLE ONLY trueweave.shown ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.shown FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.shown IS 'The intervals in which versions of documents were in the index, while the workspace keeps history. A version that has one is kept when it leaves the index.';

CREATE TABLE trueweave.slot (
    model text NOT NULL,
    n integer NOT NULL,
    owner integer NOT NULL
);

COMMENT ON TABLE trueweave.slot IS 'Slots for concurrent calls to a model that are in use, and the process using each.';

CREATE TABLE trueweave.source (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    uri text NOT NULL,
    id uuid NOT NULL,
    title text NOT NULL,
    text text NOT NULL,
    metadata jsonb NOT NULL,
    places jsonb NOT NULL,
    recipe jsonb NOT NULL,
    starts integer DEFAULT 0 NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    error text,
    failed boolean DEFAULT false NOT NULL,
    added timestamp with time zone DEFAULT now() NOT NULL,
    notes text[] DEFAULT '{}'::text[] NOT NULL,
    trace text,
    pictures bytea,
    given_readers text[],
    off boolean DEFAULT false NOT NULL
);
ALTER TABLE ONLY trueweave.source ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.source FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.source IS 'A submitted document, with the recipe to process it by. It is deleted in the transaction that stores it in the record, or marked as failed with its error.';

COMMENT ON COLUMN trueweave.source.notes IS 'Anything odd noticed while reading it. These become notes of the document.';

COMMENT ON COLUMN trueweave.source.trace IS 'The traceparent of the request that submitted it, if tracing is on.';

COMMENT ON COLUMN trueweave.source.pictures IS 'The pictures that a model is to describe, as JSON. NULL if there are none. They are deleted with the source.';

COMMENT ON COLUMN trueweave.source.given_readers IS 'The readers of the document. NULL if none were given: then it keeps those that it was given before.';

COMMENT ON COLUMN trueweave.source.off IS 'The document that is made from it is switched off.';

CREATE TABLE trueweave.space (
    id integer NOT NULL,
    model text NOT NULL,
    dimensions integer NOT NULL,
    metric text NOT NULL,
    CONSTRAINT space_dimensions_check CHECK (((dimensions >= 1) AND (dimensions <= 4000))),
    CONSTRAINT space_metric_check CHECK ((metric = ANY (ARRAY['cosine'::text, 'l2'::text, 'inner'::text])))
);

COMMENT ON TABLE trueweave.space IS 'The embedding spaces that exist. All workspaces share this table; it holds no tenant''s data.';

ALTER TABLE trueweave.space ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME trueweave.space_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE trueweave.spend (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    id uuid NOT NULL,
    stage text NOT NULL,
    document text NOT NULL,
    model text NOT NULL,
    tokens_in bigint NOT NULL,
    tokens_out bigint NOT NULL,
    price numeric,
    state text NOT NULL,
    owner integer NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    calls bigint DEFAULT 1 NOT NULL,
    CONSTRAINT spend_state_check CHECK ((state = ANY (ARRAY['open'::text, 'done'::text, 'lost'::text])))
);
ALTER TABLE ONLY trueweave.spend ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.spend FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.spend IS 'A model call. open: running, with the most it can cost. done: what it cost. lost: interrupted, and it may have cost that much. An unknown price is NULL.';

COMMENT ON COLUMN trueweave.spend.calls IS 'The number of calls in this row: after some time, all calls of one day, stage and model are combined.';

CREATE VIEW trueweave.stable_id WITH (security_invoker='true') AS
 SELECT entity,
    min((id)::text) AS id
   FROM trueweave.name
  WHERE (entity IS NOT NULL)
  GROUP BY entity;

COMMENT ON VIEW trueweave.stable_id IS 'Identifies an entity independently of its id: the smallest id among its names.';

CREATE TABLE trueweave.stale_text (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    hash uuid NOT NULL,
    since timestamp with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY trueweave.stale_text ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.stale_text FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.stale_text IS 'Texts that a chunk, entity or relation had and no longer has. What models made of them is kept for a while, in case they return.';

CREATE TABLE trueweave.stored_bytes (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    id bigint NOT NULL,
    bytes bigint NOT NULL
);
ALTER TABLE ONLY trueweave.stored_bytes ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.stored_bytes FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.stored_bytes IS 'Bytes of text added by chunks, and removed (negative). The sum is the current size.';

ALTER TABLE trueweave.stored_bytes ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME trueweave.stored_bytes_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE trueweave.suggestion (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    n integer NOT NULL,
    id uuid NOT NULL,
    a uuid NOT NULL,
    b uuid NOT NULL,
    score real NOT NULL
);
ALTER TABLE ONLY trueweave.suggestion ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.suggestion FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.suggestion IS 'Pairs of names that may be the same entity, as last listed.';

CREATE TABLE trueweave.summary (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    hash uuid NOT NULL,
    kind text NOT NULL,
    id uuid NOT NULL,
    text text,
    CONSTRAINT summary_kind_check CHECK ((kind = ANY (ARRAY['entity'::text, 'relation'::text])))
);
ALTER TABLE ONLY trueweave.summary ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.summary FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.summary IS 'A summary of a long description, by the hash of the text it summarises. NULL text: not written yet.';

CREATE TABLE trueweave.text_language (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    language text NOT NULL,
    chunks bigint NOT NULL
);
ALTER TABLE ONLY trueweave.text_language ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.text_language FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.text_language IS 'The number of searchable chunks in each language.';

CREATE TABLE trueweave.view_version (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    version bigint NOT NULL
);
ALTER TABLE ONLY trueweave.view_version ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.view_version FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.view_version IS 'How often the view of a workspace has changed.';

CREATE TABLE trueweave.watch (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    name text NOT NULL,
    question text NOT NULL,
    method text NOT NULL,
    filter jsonb NOT NULL,
    groups text[] NOT NULL,
    passages integer NOT NULL,
    answers boolean NOT NULL,
    tokens_per_day bigint NOT NULL,
    webhook text NOT NULL,
    key text,
    author text NOT NULL,
    made timestamp with time zone DEFAULT now() NOT NULL,
    state text NOT NULL,
    asked timestamp with time zone DEFAULT now() NOT NULL,
    changed timestamp with time zone,
    owner integer,
    claim uuid,
    attempts integer DEFAULT 0 NOT NULL,
    next_try timestamp with time zone,
    problem text DEFAULT ''::text NOT NULL,
    not_asked boolean DEFAULT false NOT NULL,
    CONSTRAINT watch_passages_check CHECK (((passages >= 1) AND (passages <= 50))),
    CONSTRAINT watch_tokens_per_day_check CHECK ((tokens_per_day >= 0))
);
ALTER TABLE ONLY trueweave.watch ALTER COLUMN workspace SET STATISTICS 0;

COMMENT ON TABLE trueweave.watch IS 'A question that is asked again when the index has changed.';

COMMENT ON COLUMN trueweave.watch.method IS 'A name; empty for the method of the settings.';

COMMENT ON COLUMN trueweave.watch.groups IS 'The groups as which it reads; * reads all documents.';

COMMENT ON COLUMN trueweave.watch.key IS 'The caller of a server who added it: the prefix of a key, or issuer and subject of a token. It is asked as long as the key is valid. NULL if it was added beside the database.';

COMMENT ON COLUMN trueweave.watch.state IS 'The state of the index at which it was last asked.';

COMMENT ON COLUMN trueweave.watch.asked IS 'When it was last asked, or when that was last tried.';

COMMENT ON COLUMN trueweave.watch.changed IS 'When the index was first seen to have changed since, while something was still waiting to be indexed.';

COMMENT ON COLUMN trueweave.watch.owner IS 'The process that asks it. A process whose lease has expired owns nothing.';

COMMENT ON COLUMN trueweave.watch.attempts IS 'How often sending the oldest waiting alert has failed.';

COMMENT ON COLUMN trueweave.watch.next_try IS 'When the oldest waiting alert is sent to the webhook.';

COMMENT ON COLUMN trueweave.watch.not_asked IS 'It could not be asked the last time; problem says why. Otherwise problem is about an alert that was not sent.';

CREATE TABLE trueweave.web_session (
    secret_hash bytea NOT NULL,
    key text,
    caller text,
    name text,
    scope text,
    workspaces integer[],
    created timestamp with time zone DEFAULT now() NOT NULL,
    last_used timestamp with time zone DEFAULT now() NOT NULL,
    ends timestamp with time zone NOT NULL,
    groups text[] DEFAULT '{}'::text[] NOT NULL,
    CONSTRAINT web_session_check CHECK (
CASE
    WHEN (key IS NULL) THEN ((caller IS NOT NULL) AND (name IS NOT NULL) AND (scope IS NOT NULL))
    ELSE ((caller IS NULL) AND (name IS NULL) AND (scope IS NULL) AND (workspaces IS NULL))
END),
    CONSTRAINT web_session_scope_check CHECK ((scope = ANY (ARRAY['read'::text, 'write'::text, 'admin'::text]))),
    CONSTRAINT web_session_secret_hash_check CHECK ((length(secret_hash) = 32))
);

COMMENT ON TABLE trueweave.web_session IS 'Sessions of browsers that logged in. They belong to no workspace, because a request is authenticated before it enters one.';

COMMENT ON COLUMN trueweave.web_session.secret_hash IS 'SHA-256 of the secret in the cookie, which has 256 random bits.';

COMMENT ON COLUMN trueweave.web_session.key IS 'The key that it was opened with. The key says what the session may do, and the session ends with it.';

COMMENT ON COLUMN trueweave.web_session.caller IS 'Who logged in without a key; name, scope and workspaces are those of the login. NULL workspaces: all.';

COMMENT ON COLUMN trueweave.web_session.groups IS 'The groups of a login without a key. A session with a key has those of the key.';

CREATE TABLE trueweave.word (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    word bigint NOT NULL,
    tier smallint NOT NULL,
    chunks integer NOT NULL,
    CONSTRAINT word_tier_check CHECK (((tier >= 0) AND (tier <= 15)))
)
WITH (fillfactor='80');
ALTER TABLE ONLY trueweave.word ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.word FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.word IS 'The number of chunks that contain each word, by tier.';

CREATE UNLOGGED TABLE trueweave.work_lease (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    kind text NOT NULL,
    subject text NOT NULL,
    owner uuid NOT NULL,
    until timestamp with time zone NOT NULL
);
ALTER TABLE ONLY trueweave.work_lease ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.work_lease FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.work_lease IS 'Leases on work that one process does at a time: indexing a document (by its uri), resolving all names again, writing reports, moving vectors to a table of their own; or a turn, during which other processes hold back.';

CREATE TABLE trueweave.workspace (
    id integer NOT NULL,
    name text NOT NULL,
    mode text DEFAULT 'exact'::text NOT NULL,
    threshold smallint DEFAULT 90 NOT NULL,
    same text DEFAULT 'name_and_type'::text NOT NULL,
    space integer,
    created timestamp with time zone DEFAULT now() NOT NULL,
    dropped boolean DEFAULT false NOT NULL,
    expires timestamp with time zone,
    next_space integer,
    paused_until timestamp with time zone,
    changes_gone bigint DEFAULT 0 NOT NULL,
    settings jsonb DEFAULT '{}'::jsonb NOT NULL,
    server text,
    moved timestamp with time zone,
    place text DEFAULT 'here'::text NOT NULL,
    left_until timestamp with time zone,
    replaced_by integer,
    rules_hash bigint DEFAULT 0 NOT NULL,
    graph_vectors text DEFAULT 'kept'::text NOT NULL,
    CONSTRAINT workspace_graph_vectors_check CHECK ((graph_vectors = ANY (ARRAY['kept'::text, 'none'::text, 'making'::text]))),
    CONSTRAINT workspace_mode_check CHECK ((mode = ANY (ARRAY['fuzzy'::text, 'exact'::text, 'off'::text]))),
    CONSTRAINT workspace_place_check CHECK ((place = ANY (ARRAY['here'::text, 'draining'::text, 'leaving'::text, 'switching'::text, 'left'::text, 'arriving'::text, 'away'::text]))),
    CONSTRAINT workspace_same_check CHECK ((same = ANY (ARRAY['name_and_type'::text, 'name'::text]))),
    CONSTRAINT workspace_settings_check CHECK ((jsonb_typeof(settings) = 'object'::text)),
    CONSTRAINT workspace_threshold_check CHECK (((threshold >= 70) AND (threshold <= 100)))
);
ALTER TABLE ONLY trueweave.workspace ALTER COLUMN id SET STATISTICS 0;

COMMENT ON TABLE trueweave.workspace IS 'A tenant: how it decides which names are one entity, and the embedding space it is searched in.';

COMMENT ON COLUMN trueweave.workspace.dropped IS 'It is being dropped and takes no more writes. Dropping it again resumes an interrupted drop.';

COMMENT ON COLUMN trueweave.workspace.expires IS 'For a temporary workspace: when it expires, unless the process that created it extends this. NULL for a permanent one.';

COMMENT ON COLUMN trueweave.workspace.next_space IS 'The embedding space that is being filled, to replace the current one.';

COMMENT ON COLUMN trueweave.workspace.paused_until IS 'No indexing before this time, so that a change of embedding space can finish.';

COMMENT ON COLUMN trueweave.workspace.changes_gone IS 'The last outbox position that has been deleted.';

COMMENT ON COLUMN trueweave.workspace.settings IS 'Settings of this workspace, by name. They override those of the process.';

COMMENT ON COLUMN trueweave.workspace.server IS 'In the home: the server it is on. NULL means the home itself.';

COMMENT ON COLUMN trueweave.workspace.moved IS 'In the home: when it was last assigned to another server.';

COMMENT ON COLUMN trueweave.workspace.place IS 'here: it is in this database. draining: also here, but no new jobs start. leaving: being copied to another server, and read-only. switching: the same, and model calls cannot be booked either. left: it is on another server now, and this copy can be read until left_until. arriving: being copied to this database. away: only this row is in this database.';

COMMENT ON COLUMN trueweave.workspace.replaced_by IS 'The workspace that replaced it in a bulk load. Until the new one has been read, expires is infinity.';

COMMENT ON COLUMN trueweave.workspace.rules_hash IS 'XOR of the hashes of all rule ids. A bulk load copies it, so that verify notices a lost rule.';

COMMENT ON COLUMN trueweave.workspace.graph_vectors IS 'Whether there are vectors of entities and relations. kept: each has one. none: they are not embedded; vectors that are left are being deleted. making: new ones are embedded, and those that are missing are being made.';

ALTER TABLE trueweave.workspace ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME trueweave.workspace_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY trueweave.access_rule
    ADD CONSTRAINT access_rule_pkey PRIMARY KEY (workspace, prefix);

ALTER TABLE ONLY trueweave.alert_passage
    ADD CONSTRAINT alert_passage_pkey PRIMARY KEY (workspace, alert, n);

ALTER TABLE ONLY trueweave.alert
    ADD CONSTRAINT alert_pkey PRIMARY KEY (workspace, id);

ALTER TABLE ONLY trueweave.alike
    ADD CONSTRAINT alike_pkey PRIMARY KEY (workspace, a, b);

ALTER TABLE ONLY trueweave.api_key
    ADD CONSTRAINT api_key_pkey PRIMARY KEY (prefix);

ALTER TABLE ONLY trueweave.audit_log
    ADD CONSTRAINT audit_log_pkey PRIMARY KEY (id);

ALTER TABLE ONLY trueweave.bench_outcome
    ADD CONSTRAINT bench_outcome_pkey PRIMARY KEY (workspace, run, n);

ALTER TABLE ONLY trueweave.bench_passage
    ADD CONSTRAINT bench_passage_pkey PRIMARY KEY (workspace, owner, n);

ALTER TABLE ONLY trueweave.bench_question
    ADD CONSTRAINT bench_question_pkey PRIMARY KEY (workspace, id);

ALTER TABLE ONLY trueweave.bench_run
    ADD CONSTRAINT bench_run_pkey PRIMARY KEY (workspace, id);

ALTER TABLE ONLY trueweave.bm25_index
    ADD CONSTRAINT bm25_index_pkey PRIMARY KEY (workspace, chunk);

ALTER TABLE ONLY trueweave.budget
    ADD CONSTRAINT budget_pkey PRIMARY KEY (workspace);

ALTER TABLE ONLY trueweave.caller_usage
    ADD CONSTRAINT caller_usage_pkey PRIMARY KEY (caller, day);

ALTER TABLE ONLY trueweave.catalogue
    ADD CONSTRAINT catalogue_pkey PRIMARY KEY (one);

ALTER TABLE ONLY trueweave.chunk
    ADD CONSTRAINT chunk_pkey PRIMARY KEY (workspace, document, id);

ALTER TABLE ONLY trueweave.chunk_words
    ADD CONSTRAINT chunk_words_pkey PRIMARY KEY (workspace, chunk);

ALTER TABLE ONLY trueweave.community
    ADD CONSTRAINT community_pkey PRIMARY KEY (workspace, n);

ALTER TABLE ONLY trueweave.connector_document
    ADD CONSTRAINT connector_document_pkey PRIMARY KEY (workspace, origin, uri);

ALTER TABLE ONLY trueweave.connector_source
    ADD CONSTRAINT connector_source_pkey PRIMARY KEY (workspace, name);

ALTER TABLE ONLY trueweave.consumer
    ADD CONSTRAINT consumer_pkey PRIMARY KEY (workspace, name);

ALTER TABLE ONLY trueweave.corpus
    ADD CONSTRAINT corpus_pkey PRIMARY KEY (workspace);

ALTER TABLE ONLY trueweave.dirty_name
    ADD CONSTRAINT dirty_name_pkey PRIMARY KEY (workspace, name);

ALTER TABLE ONLY trueweave.dirty_pair
    ADD CONSTRAINT dirty_pair_pkey PRIMARY KEY (workspace, source, target);

ALTER TABLE ONLY trueweave.document
    ADD CONSTRAINT document_pkey PRIMARY KEY (workspace, id);

ALTER TABLE ONLY trueweave.dropped_workspace
    ADD CONSTRAINT dropped_workspace_pkey PRIMARY KEY (id);

ALTER TABLE ONLY trueweave.entity
    ADD CONSTRAINT entity_pkey PRIMARY KEY (workspace, id);

ALTER TABLE ONLY trueweave.erasure
    ADD CONSTRAINT erasure_pkey PRIMARY KEY (workspace, id);

ALTER TABLE ONLY trueweave.facet
    ADD CONSTRAINT facet_pkey PRIMARY KEY (workspace, document, facet);

ALTER TABLE ONLY trueweave.failed_work
    ADD CONSTRAINT failed_work_pkey PRIMARY KEY (workspace, kind, subject);

ALTER TABLE ONLY trueweave.hierarchy
    ADD CONSTRAINT hierarchy_pkey PRIMARY KEY (workspace);

ALTER TABLE ONLY trueweave.history
    ADD CONSTRAINT history_pkey PRIMARY KEY (workspace);

ALTER TABLE ONLY trueweave.ingest_job_document
    ADD CONSTRAINT ingest_job_document_pkey PRIMARY KEY (workspace, job, uri);

ALTER TABLE ONLY trueweave.ingest_job
    ADD CONSTRAINT ingest_job_pkey PRIMARY KEY (workspace, id);

ALTER TABLE ONLY trueweave.job
    ADD CONSTRAINT job_pkey PRIMARY KEY (workspace, id);

ALTER TABLE ONLY trueweave.kept_response
    ADD CONSTRAINT kept_response_pkey PRIMARY KEY (workspace, caller, key_hash);

ALTER TABLE ONLY trueweave.link
    ADD CONSTRAINT link_pkey PRIMARY KEY (workspace, document, chunk, n);

ALTER TABLE ONLY trueweave.member
    ADD CONSTRAINT member_pkey PRIMARY KEY (workspace, entity);

ALTER TABLE ONLY trueweave.mention
    ADD CONSTRAINT mention_pkey PRIMARY KEY (workspace, document, chunk, n);

ALTER TABLE ONLY trueweave.migration
    ADD CONSTRAINT migration_pkey PRIMARY KEY (number);

ALTER TABLE ONLY trueweave.name_key
    ADD CONSTRAINT name_key_pkey PRIMARY KEY (workspace, key, name) INCLUDE (mask);

ALTER TABLE ONLY trueweave.name_pair
    ADD CONSTRAINT name_pair_pkey PRIMARY KEY (workspace, source, target);

ALTER TABLE ONLY trueweave.name
    ADD CONSTRAINT name_pkey PRIMARY KEY (workspace, id);

ALTER TABLE ONLY trueweave.occurrence
    ADD CONSTRAINT occurrence_pkey PRIMARY KEY (workspace, chunk, phrase);

ALTER TABLE ONLY trueweave.ordered_facet
    ADD CONSTRAINT ordered_facet_pkey PRIMARY KEY (workspace, document, key, value);

ALTER TABLE ONLY trueweave.outbox
    ADD CONSTRAINT outbox_pkey PRIMARY KEY (workspace, "position");

ALTER TABLE ONLY trueweave.own_table
    ADD CONSTRAINT own_table_pkey PRIMARY KEY (workspace, space, kind, version);

ALTER TABLE ONLY trueweave.pending_certificate
    ADD CONSTRAINT pending_certificate_pkey PRIMARY KEY (workspace, request);

ALTER TABLE ONLY trueweave.pending_link
    ADD CONSTRAINT pending_link_pkey PRIMARY KEY (workspace, "position");

ALTER TABLE ONLY trueweave.pending_match
    ADD CONSTRAINT pending_match_pkey PRIMARY KEY (workspace, name);

ALTER TABLE ONLY trueweave.phrase_count
    ADD CONSTRAINT phrase_count_pkey PRIMARY KEY (workspace, owner, kind, hash);

ALTER TABLE ONLY trueweave.phrase
    ADD CONSTRAINT phrase_pkey PRIMARY KEY (workspace, id);

ALTER TABLE ONLY trueweave.process
    ADD CONSTRAINT process_pkey PRIMARY KEY (id);

ALTER TABLE ONLY trueweave.projection
    ADD CONSTRAINT projection_pkey PRIMARY KEY (workspace, store);

ALTER TABLE ONLY trueweave.rate_limit
    ADD CONSTRAINT rate_limit_pkey PRIMARY KEY (model);

ALTER TABLE ONLY trueweave.reader
    ADD CONSTRAINT reader_pkey PRIMARY KEY (role);

ALTER TABLE ONLY trueweave.recipe
    ADD CONSTRAINT recipe_pkey PRIMARY KEY (workspace, id);

ALTER TABLE ONLY trueweave.rejection
    ADD CONSTRAINT rejection_pkey PRIMARY KEY (workspace, a, b);

ALTER TABLE ONLY trueweave.relation
    ADD CONSTRAINT relation_pkey PRIMARY KEY (workspace, id);

ALTER TABLE ONLY trueweave.removed_vector
    ADD CONSTRAINT removed_vector_pkey PRIMARY KEY (workspace, space, kind, id);

ALTER TABLE ONLY trueweave.reply
    ADD CONSTRAINT reply_pkey PRIMARY KEY (workspace, key);

ALTER TABLE ONLY trueweave.report
    ADD CONSTRAINT report_pkey PRIMARY KEY (workspace, community);

ALTER TABLE ONLY trueweave.retired_community
    ADD CONSTRAINT retired_community_pkey PRIMARY KEY (workspace, id);

ALTER TABLE ONLY trueweave.rule_name
    ADD CONSTRAINT rule_name_pkey PRIMARY KEY (workspace, name, rule);

ALTER TABLE ONLY trueweave.rule
    ADD CONSTRAINT rule_pkey PRIMARY KEY (workspace, id);

ALTER TABLE ONLY trueweave.server
    ADD CONSTRAINT server_pkey PRIMARY KEY (name);

ALTER TABLE ONLY trueweave.shown
    ADD CONSTRAINT shown_pkey PRIMARY KEY (workspace, document, since);

ALTER TABLE ONLY trueweave.slot
    ADD CONSTRAINT slot_pkey PRIMARY KEY (model, n);

ALTER TABLE ONLY trueweave.source
    ADD CONSTRAINT source_pkey PRIMARY KEY (workspace, uri);

ALTER TABLE ONLY trueweave.space
    ADD CONSTRAINT space_model_dimensions_metric_key UNIQUE (model, dimensions, metric);

ALTER TABLE ONLY trueweave.space
    ADD CONSTRAINT space_pkey PRIMARY KEY (id);

ALTER TABLE ONLY trueweave.spend
    ADD CONSTRAINT spend_pkey PRIMARY KEY (workspace, id);

ALTER TABLE ONLY trueweave.stale_text
    ADD CONSTRAINT stale_text_pkey PRIMARY KEY (workspace, hash);

ALTER TABLE ONLY trueweave.stored_bytes
    ADD CONSTRAINT stored_bytes_pkey PRIMARY KEY (workspace, id);

ALTER TABLE ONLY trueweave.suggestion
    ADD CONSTRAINT suggestion_pkey PRIMARY KEY (workspace, n);

ALTER TABLE ONLY trueweave.summary
    ADD CONSTRAINT summary_pkey PRIMARY KEY (workspace, hash);

ALTER TABLE ONLY trueweave.text_language
    ADD CONSTRAINT text_language_pkey PRIMARY KEY (workspace, language);

ALTER TABLE ONLY trueweave.view_version
    ADD CONSTRAINT view_version_pkey PRIMARY KEY (workspace);

ALTER TABLE ONLY trueweave.watch
    ADD CONSTRAINT watch_pkey PRIMARY KEY (workspace, name);

ALTER TABLE ONLY trueweave.web_session
    ADD CONSTRAINT web_session_pkey PRIMARY KEY (secret_hash);

ALTER TABLE ONLY trueweave.word
    ADD CONSTRAINT word_pkey PRIMARY KEY (workspace, word, tier);

ALTER TABLE ONLY trueweave.work_lease
    ADD CONSTRAINT work_lease_pkey PRIMARY KEY (workspace, kind, subject);

ALTER TABLE ONLY trueweave.workspace
    ADD CONSTRAINT workspace_name_key UNIQUE (name);

ALTER TABLE ONLY trueweave.workspace
    ADD CONSTRAINT workspace_pkey PRIMARY KEY (id);

CREATE INDEX alert_passage_uri ON trueweave.alert_passage USING btree (uri, workspace);

CREATE INDEX alert_watch ON trueweave.alert USING btree (watch, id, workspace);

CREATE INDEX audit_log_at ON trueweave.audit_log USING btree (at);

CREATE INDEX bench_passage_uri ON trueweave.bench_passage USING btree (uri, workspace);

CREATE UNIQUE INDEX bench_question_hash ON trueweave.bench_question USING btree (question_hash, workspace);

CREATE INDEX bench_run_made ON trueweave.bench_run USING btree (workspace, made, id);

CREATE INDEX bm25_index_keys ON trueweave.bm25_index USING gin (keys) WITH (fastupdate=off);

CREATE INDEX caller_usage_day ON trueweave.caller_usage USING btree (day);

CREATE INDEX chunk_copies ON trueweave.chunk USING btree (text_hash, id, workspace);

CREATE INDEX chunk_id ON trueweave.chunk USING btree (id, workspace) INCLUDE (document);

CREATE INDEX chunk_text ON trueweave.chunk USING btree (text_hash, workspace);

CREATE INDEX chunk_words_index ON trueweave.chunk_words USING gin (words) WITH (fastupdate=off);

CREATE UNIQUE INDEX community_id ON trueweave.community USING btree (id, workspace);

CREATE INDEX community_level ON trueweave.community USING btree (level, workspace);

CREATE INDEX community_parent ON trueweave.community USING btree (parent, workspace);

CREATE INDEX connector_document_item ON trueweave.connector_document USING btree (item, origin, workspace);

CREATE INDEX connector_document_uri ON trueweave.connector_document USING btree (uri, workspace);

CREATE UNIQUE INDEX connector_source_address ON trueweave.connector_source USING btree (((md5(address))::uuid), workspace);

CREATE INDEX connector_source_due ON trueweave.connector_source USING btree (due, workspace) WHERE (due IS NOT NULL);

CREATE INDEX document_added ON trueweave.document USING btree (added, workspace) WHERE current;

CREATE INDEX document_content ON trueweave.document USING btree (content_hash, added, workspace) WHERE current;

CREATE INDEX document_due ON trueweave.document USING btree (workspace, uri) WHERE ((current AND (NOT off)) <> visible);

CREATE INDEX document_former ON trueweave.document USING btree (workspace, uri) WHERE ((NOT current) AND (NOT visible));

CREATE INDEX document_off ON trueweave.document USING btree (workspace, uri) WHERE (current AND off);

CREATE INDEX document_open ON trueweave.document USING btree (workspace, id) WHERE (visible AND (readers = '{}'::text[]));

CREATE INDEX document_restricted ON trueweave.document USING btree (workspace) WHERE (readers <> '{}'::text[]);

CREATE INDEX document_seen ON trueweave.document USING btree (id, workspace) INCLUDE (readers) WHERE visible;

CREATE UNIQUE INDEX document_uri ON trueweave.document USING btree (uri, workspace) WHERE current;

CREATE INDEX document_versions ON trueweave.document USING btree (uri, workspace);

CREATE INDEX entity_long ON trueweave.entity USING btree (text_hash, workspace) WHERE (length(description) > 2000);

CREATE INDEX facet_documents ON trueweave.facet USING btree (facet, document, workspace);

CREATE INDEX ingest_job_document_uri ON trueweave.ingest_job_document USING btree (uri, workspace);

CREATE INDEX ingest_job_made ON trueweave.ingest_job USING btree (made DESC, id DESC, workspace);

CREATE INDEX job_by_id ON trueweave.job USING btree (id) INCLUDE (workspace);

CREATE INDEX job_claimed ON trueweave.job USING btree (workspace, owner) WHERE (owner IS NOT NULL);

CREATE INDEX job_waiting ON trueweave.job USING btree (workspace, priority DESC, id) WHERE (owner IS NULL);

CREATE INDEX link_ends ON trueweave.link USING btree (source, target, strength DESC, chunk, workspace);

CREATE INDEX member_leaf ON trueweave.member USING btree (leaf, workspace);

CREATE INDEX mention_name ON trueweave.mention USING btree (name, emphasis DESC, chunk, workspace);

CREATE INDEX name_entity ON trueweave.name USING btree (entity, workspace);

CREATE INDEX name_folded ON trueweave.name USING btree (workspace, folded);

CREATE INDEX name_last_word ON trueweave.name USING btree (workspace, last_word) WHERE (last_word IS NOT NULL);

CREATE INDEX name_pair_relation ON trueweave.name_pair USING btree (relation, workspace);

CREATE INDEX name_pair_target ON trueweave.name_pair USING btree (target, workspace);

CREATE INDEX name_phrase ON trueweave.name USING btree (phrase, workspace) WHERE (phrase IS NOT NULL);

CREATE INDEX name_written_hash ON trueweave.name USING btree (written_hash, workspace);

CREATE INDEX occurrence_phrase ON trueweave.occurrence USING btree (phrase, defines DESC, count DESC, chunk, workspace);

CREATE INDEX ordered_facet_documents ON trueweave.ordered_facet USING btree (key, place, document, workspace);

CREATE UNIQUE INDEX own_table_building ON trueweave.own_table USING btree (workspace, space, kind) WHERE (state = 'building'::text);

CREATE UNIQUE INDEX own_table_current ON trueweave.own_table USING btree (workspace, space, kind) WHERE (state = 'current'::text);

CREATE INDEX phrase_count_weight ON trueweave.phrase_count USING btree (owner, kind, weight DESC, hash, workspace);

CREATE INDEX phrase_first ON trueweave.phrase USING btree (first, words DESC, workspace);

CREATE INDEX relation_long ON trueweave.relation USING btree (text_hash, workspace) WHERE (length(description) > 2000);

CREATE INDEX relation_source ON trueweave.relation USING btree (source, weight DESC, target, workspace);

CREATE INDEX relation_target ON trueweave.relation USING btree (target, weight DESC, source, workspace);

CREATE INDEX reply_document ON trueweave.reply USING btree (document, workspace) WHERE (document <> ''::text);

CREATE INDEX reply_of_several ON trueweave.reply USING btree (workspace) WHERE (chunk_hashes IS NOT NULL);

CREATE INDEX reply_text ON trueweave.reply USING btree (text_hash, workspace) WHERE (text_hash IS NOT NULL);

CREATE INDEX retired_community_gone ON trueweave.retired_community USING btree (gone, workspace);

CREATE INDEX rule_name_rule ON trueweave.rule_name USING btree (rule, workspace);

CREATE INDEX rule_name_side ON trueweave.rule_name USING btree (rule, workspace) WHERE (side > 0);

CREATE INDEX rule_name_written_hash ON trueweave.rule_name USING btree (written_hash, workspace) WHERE (written_hash IS NOT NULL);

CREATE INDEX shown_ended ON trueweave.shown USING btree (until, workspace) WHERE (until IS NOT NULL);

CREATE INDEX source_failed ON trueweave.source USING btree (workspace, uri) WHERE failed;

CREATE INDEX spend_at ON trueweave.spend USING btree (workspace, at);

CREATE INDEX spend_document ON trueweave.spend USING btree (document, workspace) WHERE (document <> ''::text);

CREATE INDEX spend_open ON trueweave.spend USING btree (workspace, owner) WHERE (state = 'open'::text);

CREATE INDEX summary_due ON trueweave.summary USING btree (workspace, hash) WHERE (text IS NULL);

CREATE INDEX web_session_caller ON trueweave.web_session USING btree (caller);

CREATE INDEX web_session_key ON trueweave.web_session USING btree (key);

CREATE INDEX workspace_moved ON trueweave.workspace USING btree (moved) WHERE (moved IS NOT NULL);

CREATE INDEX workspace_place ON trueweave.workspace USING btree (place) WHERE (place <> ALL (ARRAY['here'::text, 'away'::text]));

CREATE TRIGGER count_bytes_that_came AFTER INSERT ON trueweave.chunk REFERENCING NEW TABLE AS came FOR EACH STATEMENT EXECUTE FUNCTION trueweave.count_bytes_that_came();

CREATE TRIGGER count_bytes_that_went AFTER DELETE ON trueweave.chunk REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION trueweave.count_bytes_that_went();

CREATE TRIGGER drop_ordered_facets AFTER DELETE ON trueweave.document REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION trueweave.drop_ordered_facets();

CREATE TRIGGER hash_rules_added AFTER INSERT ON trueweave.rule REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION trueweave.hash_rules();

CREATE TRIGGER hash_rules_removed AFTER DELETE ON trueweave.rule REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION trueweave.hash_rules();

CREATE TRIGGER keep_ordered_facets AFTER INSERT ON trueweave.document REFERENCING NEW TABLE AS came FOR EACH STATEMENT EXECUTE FUNCTION trueweave.keep_ordered_facets();

CREATE TRIGGER keep_sight BEFORE UPDATE OF readers ON trueweave.document FOR EACH ROW WHEN ((new.readers <> '{}'::text[])) EXECUTE FUNCTION trueweave.keep_sight();

CREATE TRIGGER keep_sight_of_new BEFORE INSERT ON trueweave.document FOR EACH ROW WHEN ((new.readers <> '{}'::text[])) EXECUTE FUNCTION trueweave.keep_sight();

ALTER TABLE ONLY trueweave.web_session
    ADD CONSTRAINT web_session_key_fkey FOREIGN KEY (key) REFERENCES trueweave.api_key(prefix);

ALTER TABLE trueweave.access_rule ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.alert ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.alert_passage ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.alike ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.bench_outcome ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.bench_passage ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.bench_question ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.bench_run ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.bm25_index ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.budget ENABLE ROW LEVEL SECURITY;

CREATE POLICY caller ON trueweave.alike AS RESTRICTIVE TO trueweave_caller USING ((EXISTS ( SELECT
   FROM (trueweave.name a
     CROSS JOIN trueweave.name b)
  WHERE ((a.id = alike.a) AND (b.id = alike.b))
 OFFSET 0)));

CREATE POLICY caller ON trueweave.chunk AS RESTRICTIVE TO trueweave_caller USING ((EXISTS ( SELECT
   FROM trueweave.document d
  WHERE ((d.id = chunk.document) AND d.visible)
 OFFSET 0)));

CREATE POLICY caller ON trueweave.dirty_name AS RESTRICTIVE TO trueweave_caller USING ((EXISTS ( SELECT
   FROM trueweave.name n
  WHERE (n.id = dirty_name.name)
 OFFSET 0)));

CREATE POLICY caller ON trueweave.dirty_pair AS RESTRICTIVE TO trueweave_caller USING ((EXISTS ( SELECT
   FROM trueweave.name_pair p
  WHERE ((p.source = dirty_pair.source) AND (p.target = dirty_pair.target))
 OFFSET 0)));

CREATE POLICY caller ON trueweave.document AS RESTRICTIVE TO trueweave_caller USING ((((readers = '{}'::text[]) OR (readers && ( SELECT (current_setting('trueweave.groups'::text))::text[] AS current_setting)) OR ( SELECT ('*'::text = ANY ((current_setting('trueweave.groups'::text))::text[])))) AND (( SELECT (current_setting('trueweave.filter'::text) = ''::text)) OR trueweave.meets(id, ( SELECT (NULLIF(current_setting('trueweave.filter'::text), ''::text))::jsonb AS "nullif")))));

CREATE POLICY caller ON trueweave.entity AS RESTRICTIVE TO trueweave_caller USING ((EXISTS ( SELECT
   FROM trueweave.name n
  WHERE (n.entity = entity.id)
 OFFSET 0)));

CREATE POLICY caller ON trueweave.facet AS RESTRICTIVE TO trueweave_caller USING ((EXISTS ( SELECT
   FROM trueweave.document d
  WHERE ((d.id = facet.document) AND d.visible)
 OFFSET 0)));

CREATE POLICY caller ON trueweave.link AS RESTRICTIVE TO trueweave_caller USING ((EXISTS ( SELECT
   FROM trueweave.document d
  WHERE ((d.id = link.document) AND d.visible)
 OFFSET 0)));

CREATE POLICY caller ON trueweave.mention AS RESTRICTIVE TO trueweave_caller USING ((EXISTS ( SELECT
   FROM trueweave.document d
  WHERE ((d.id = mention.document) AND d.visible)
 OFFSET 0)));

CREATE POLICY caller ON trueweave.name AS RESTRICTIVE TO trueweave_caller USING ((EXISTS ( SELECT
   FROM trueweave.mention m
  WHERE (m.name = name.id)
 OFFSET 0)));

CREATE POLICY caller ON trueweave.name_pair AS RESTRICTIVE TO trueweave_caller USING ((EXISTS ( SELECT
   FROM trueweave.link l
  WHERE ((l.source = name_pair.source) AND (l.target = name_pair.target))
 OFFSET 0)));

CREATE POLICY caller ON trueweave.occurrence AS RESTRICTIVE TO trueweave_caller USING (((EXISTS ( SELECT
   FROM trueweave.chunk c
  WHERE (c.id = occurrence.chunk)
 OFFSET 0)) AND (EXISTS ( SELECT
   FROM trueweave.phrase p
  WHERE (p.id = occurrence.phrase)
 OFFSET 0))));

CREATE POLICY caller ON trueweave.ordered_facet AS RESTRICTIVE TO trueweave_caller USING ((EXISTS ( SELECT
   FROM trueweave.document d
  WHERE ((d.id = ordered_facet.document) AND d.visible)
 OFFSET 0)));

CREATE POLICY caller ON trueweave.phrase AS RESTRICTIVE TO trueweave_caller USING ((EXISTS ( SELECT
   FROM trueweave.name n
  WHERE (n.phrase = phrase.id)
 OFFSET 0)));

CREATE POLICY caller ON trueweave.relation AS RESTRICTIVE TO trueweave_caller USING ((EXISTS ( SELECT
   FROM trueweave.name_pair p
  WHERE (p.relation = relation.id)
 OFFSET 0)));

CREATE POLICY caller ON trueweave.rule AS RESTRICTIVE TO trueweave_caller USING ((EXISTS ( SELECT
   FROM trueweave.rule_name r
  WHERE (r.rule = rule.id)
 OFFSET 0)));

CREATE POLICY caller ON trueweave.rule_name AS RESTRICTIVE TO trueweave_caller USING ((EXISTS ( SELECT
   FROM ( SELECT
           FROM trueweave.name n_1
          WHERE (n_1.id = rule_name.name)
        UNION ALL
         SELECT
           FROM trueweave.name n_1
          WHERE (n_1.written_hash = rule_name.written_hash)) n
 OFFSET 0)));

ALTER TABLE trueweave.chunk ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.chunk_words ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.community ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.connector_document ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.connector_source ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.consumer ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.corpus ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.dirty_name ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.dirty_pair ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.document ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.entity ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.erasure ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.facet ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.failed_work ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.hierarchy ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.history ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.ingest_job ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.ingest_job_document ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.job ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.kept_response ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.link ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.member ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.mention ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.name ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.name_key ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.name_pair ENABLE ROW LEVEL SECURITY;

CREATE POLICY not_former ON trueweave.document AS RESTRICTIVE TO trueweave_reader USING ((current OR visible));

ALTER TABLE trueweave.occurrence ENABLE ROW LEVEL SECURITY;

CREATE POLICY open ON trueweave.chunk AS RESTRICTIVE TO trueweave_reader USING ((EXISTS ( SELECT
   FROM trueweave.document d
  WHERE (d.id = chunk.document)
 OFFSET 0)));

CREATE POLICY open ON trueweave.community AS RESTRICTIVE TO trueweave_reader USING ((NOT ( SELECT trueweave.holds_restricted() AS holds_restricted)));

CREATE POLICY open ON trueweave.document AS RESTRICTIVE TO trueweave_reader USING ((readers = '{}'::text[]));

CREATE POLICY open ON trueweave.entity AS RESTRICTIVE TO trueweave_reader USING ((NOT ( SELECT trueweave.holds_restricted() AS holds_restricted)));

CREATE POLICY open ON trueweave.facet AS RESTRICTIVE TO trueweave_reader USING ((EXISTS ( SELECT
   FROM trueweave.document d
  WHERE (d.id = facet.document)
 OFFSET 0)));

CREATE POLICY open ON trueweave.hierarchy AS RESTRICTIVE TO trueweave_reader USING ((NOT ( SELECT trueweave.holds_restricted() AS holds_restricted)));

CREATE POLICY open ON trueweave.link AS RESTRICTIVE TO trueweave_reader USING ((EXISTS ( SELECT
   FROM trueweave.document d
  WHERE (d.id = link.document)
 OFFSET 0)));

CREATE POLICY open ON trueweave.member AS RESTRICTIVE TO trueweave_reader USING ((NOT ( SELECT trueweave.holds_restricted() AS holds_restricted)));

CREATE POLICY open ON trueweave.mention AS RESTRICTIVE TO trueweave_reader USING ((EXISTS ( SELECT
   FROM trueweave.document d
  WHERE (d.id = mention.document)
 OFFSET 0)));

CREATE POLICY open ON trueweave.name AS RESTRICTIVE TO trueweave_reader USING ((NOT ( SELECT trueweave.holds_restricted() AS holds_restricted)));

CREATE POLICY open ON trueweave.name_pair AS RESTRICTIVE TO trueweave_reader USING ((NOT ( SELECT trueweave.holds_restricted() AS holds_restricted)));

CREATE POLICY open ON trueweave.ordered_facet AS RESTRICTIVE TO trueweave_reader USING ((EXISTS ( SELECT
   FROM trueweave.document d
  WHERE (d.id = ordered_facet.document)
 OFFSET 0)));

CREATE POLICY open ON trueweave.phrase_count AS RESTRICTIVE TO trueweave_reader USING ((NOT ( SELECT trueweave.holds_restricted() AS holds_restricted)));

CREATE POLICY open ON trueweave.relation AS RESTRICTIVE TO trueweave_reader USING ((NOT ( SELECT trueweave.holds_restricted() AS holds_restricted)));

CREATE POLICY open ON trueweave.report AS RESTRICTIVE TO trueweave_reader USING ((NOT ( SELECT trueweave.holds_restricted() AS holds_restricted)));

CREATE POLICY open ON trueweave.retired_community AS RESTRICTIVE TO trueweave_reader USING ((NOT ( SELECT trueweave.holds_restricted() AS holds_restricted)));

CREATE POLICY open ON trueweave.rule AS RESTRICTIVE TO trueweave_reader USING ((NOT ( SELECT trueweave.holds_restricted() AS holds_restricted)));

CREATE POLICY open ON trueweave.rule_name AS RESTRICTIVE TO trueweave_reader USING ((NOT ( SELECT trueweave.holds_restricted() AS holds_restricted)));

CREATE POLICY open ON trueweave.summary AS RESTRICTIVE TO trueweave_reader USING ((NOT ( SELECT trueweave.holds_restricted() AS holds_restricted)));

ALTER TABLE trueweave.ordered_facet ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.outbox ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.own_table ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.pending_certificate ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.pending_link ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.pending_match ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.phrase ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.phrase_count ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.projection ENABLE ROW LEVEL SECURITY;

CREATE POLICY reader ON trueweave.access_rule AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.alert AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.alert_passage AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.alike AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.bench_outcome AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.bench_passage AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.bench_question AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.bench_run AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.budget AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.chunk AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.community AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.connector_document AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.connector_source AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.consumer AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.corpus AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.dirty_name AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.dirty_pair AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.document AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.entity AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.erasure AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.facet AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.failed_work AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.hierarchy AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.history AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.ingest_job AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.ingest_job_document AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.job AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.kept_response AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.link AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.member AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.mention AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.name AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.name_key AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.name_pair AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.occurrence AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.ordered_facet AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.outbox AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.own_table AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.pending_certificate AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.pending_link AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.pending_match AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.phrase AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.phrase_count AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.projection AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.recipe AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.rejection AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.relation AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.removed_vector AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.reply AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.report AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.retired_community AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.rule AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.rule_name AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.shown AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.source AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.spend AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.stale_text AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.stored_bytes AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.suggestion AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.summary AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.text_language AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.view_version AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.watch AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.word AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.work_lease AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.workspace AS RESTRICTIVE TO trueweave_reader USING ((id = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

ALTER TABLE trueweave.recipe ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.rejection ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.relation ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.removed_vector ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.reply ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.report ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.retired_community ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.rule ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.rule_name ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.shown ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.source ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.spend ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.stale_text ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.stored_bytes ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.suggestion ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.summary ENABLE ROW LEVEL SECURITY;

CREATE POLICY switched_on ON trueweave.document AS RESTRICTIVE TO trueweave_reader USING ((NOT off));

ALTER TABLE trueweave.text_language ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.view_version ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.watch ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.word ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.work_lease ENABLE ROW LEVEL SECURITY;

CREATE POLICY workspace ON trueweave.access_rule USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.alert USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.alert_passage USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.alike USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.bench_outcome USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.bench_passage USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.bench_question USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.bench_run USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.budget USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.chunk USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.community USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.connector_document USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.connector_source USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.consumer USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.corpus USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.dirty_name USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.dirty_pair USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.document USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.entity USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.erasure USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.facet USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.failed_work USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.hierarchy USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.history USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.ingest_job USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.ingest_job_document USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.job USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.kept_response USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.link USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.member USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.mention USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.name USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.name_key USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.name_pair USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.occurrence USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.ordered_facet USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.outbox USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.own_table USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.pending_certificate USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.pending_link USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.pending_match USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.phrase USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.phrase_count USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.projection USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.recipe USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.rejection USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.relation USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.removed_vector USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.reply USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.report USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.retired_community USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.rule USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.rule_name USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.shown USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.source USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.spend USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.stale_text USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.stored_bytes USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.suggestion USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.summary USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.text_language USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.view_version USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.watch USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.word USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.work_lease USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

ALTER TABLE trueweave.workspace ENABLE ROW LEVEL SECURITY;

CREATE POLICY workspace ON trueweave.workspace USING ((id = (current_setting('trueweave.workspace'::text))::integer));

GRANT USAGE ON SCHEMA trueweave TO trueweave_app;
GRANT USAGE ON SCHEMA trueweave TO trueweave_reader;
GRANT USAGE ON SCHEMA trueweave TO trueweave_caller;

REVOKE ALL ON FUNCTION trueweave.add_text(coming uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.add_text(coming uuid[]) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.await_sight(uris text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.await_sight(uris text[]) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.await_writers() FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.await_writers() TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.begin_drop() FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.begin_drop() TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.choose_server(among text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION trueweave.chunk_tables() FROM PUBLIC;

REVOKE ALL ON FUNCTION trueweave.chunks_with(sizes bigint[], words bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.chunks_with(sizes bigint[], words bigint[]) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.claim_jobs(claimant integer, claimed_by bigint, most integer, after integer, limit_each integer, share integer, reclaim boolean, OUT workspace integer, OUT id bigint, OUT kind text, OUT payload bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.claim_jobs(claimant integer, claimed_by bigint, most integer, after integer, limit_each integer, share integer, reclaim boolean, OUT workspace integer, OUT id bigint, OUT kind text, OUT payload bytea) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.claim_projection(of_store text, claimant uuid, seconds double precision, after integer) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.claim_projection(of_store text, claimant uuid, seconds double precision, after integer) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.claim_sources(claimant integer, claim_id uuid, most integer, OUT workspace integer, OUT name text) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.claim_sources(claimant integer, claim_id uuid, most integer, OUT workspace integer, OUT name text) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.clear_chunk_words() FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.clear_chunk_words() TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.clear_space(of_space integer) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.clear_space(of_space integer) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.clear_text() FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.clear_text() TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.completed_names(typed text, most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.completed_names(typed text, most integer) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.count_bytes_that_came() FROM PUBLIC;

REVOKE ALL ON FUNCTION trueweave.count_bytes_that_went() FROM PUBLIC;

REVOKE ALL ON FUNCTION trueweave.count_text() FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.count_text() TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.create_workspace(workspace_name text, resolution text, among text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.create_workspace(workspace_name text, resolution text, among text[]) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.drop_left_tables(kept interval) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.drop_left_tables(kept interval) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.drop_ordered_facets() FROM PUBLIC;

REVOKE ALL ON FUNCTION trueweave.drop_past() FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.drop_past() TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.drop_workspace() FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.drop_workspace() TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.end_copy() FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.end_copy() TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.enter(entered integer, writing boolean, booking boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.enter(entered integer, writing boolean, booking boolean) TO trueweave_app;
GRANT ALL ON FUNCTION trueweave.enter(entered integer, writing boolean, booking boolean) TO trueweave_caller;

REVOKE ALL ON FUNCTION trueweave.expired_workspaces() FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.expired_workspaces() TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.facets(metadata jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.facets(metadata jsonb) TO trueweave_app;
GRANT ALL ON FUNCTION trueweave.facets(metadata jsonb) TO trueweave_caller;

REVOKE ALL ON FUNCTION trueweave.few_seen() FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.few_seen() TO trueweave_app;
GRANT ALL ON FUNCTION trueweave.few_seen() TO trueweave_caller;

REVOKE ALL ON FUNCTION trueweave.finish_jobs(claimant integer, ids bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.finish_jobs(claimant integer, ids bigint[]) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.folded_name(given text) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.folded_name(given text) TO trueweave_app;
GRANT ALL ON FUNCTION trueweave.folded_name(given text) TO trueweave_caller;

REVOKE ALL ON FUNCTION trueweave.guard(guarded regclass, tenant text) FROM PUBLIC;

REVOKE ALL ON FUNCTION trueweave.guard_callers(guarded regclass, columns text, seen text) FROM PUBLIC;

REVOKE ALL ON FUNCTION trueweave.guard_derived(guarded regclass) FROM PUBLIC;

REVOKE ALL ON FUNCTION trueweave.guard_readers(guarded regclass, tenant text) FROM PUBLIC;

REVOKE ALL ON FUNCTION trueweave.guard_vectors(guarded regclass) FROM PUBLIC;

REVOKE ALL ON FUNCTION trueweave.hash_rules() FROM PUBLIC;

REVOKE ALL ON FUNCTION trueweave.hides_documents(every boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION trueweave.holds_restricted() FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.holds_restricted() TO trueweave_reader;

REVOKE ALL ON FUNCTION trueweave.index_partition(of_name text, n integer) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.index_partition(of_name text, n integer) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.index_text(coming uuid[], going uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.index_text(coming uuid[], going uuid[]) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.is_alive(owner integer) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.is_alive(owner integer) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.is_readable(of_document uuid, readers text[], groups text[], wanted jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION trueweave.keep_ordered_facets() FROM PUBLIC;

REVOKE ALL ON FUNCTION trueweave.keep_readers(ids uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.keep_readers(ids uuid[]) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.keep_sight() FROM PUBLIC;

REVOKE ALL ON FUNCTION trueweave.language_of(said text, given text) FROM PUBLIC;

REVOKE ALL ON FUNCTION trueweave.leave_graph_tables() FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.leave_graph_tables() TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.list_workspaces(only_ids integer[], after_name text, most integer, OUT id integer, OUT name text, OUT created timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.list_workspaces(only_ids integer[], after_name text, most integer, OUT id integer, OUT name text, OUT created timestamp with time zone) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.make_own_table(of_space integer, of_kind text, of_partitions integer, of_state text) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.make_own_table(of_space integer, of_kind text, of_partitions integer, of_state text) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.make_space(of_model text, of_dimensions integer, of_metric text) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.make_space(of_model text, of_dimensions integer, of_metric text) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.make_temporary_workspace(named text, lasts interval) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.make_temporary_workspace(named text, lasts interval) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.make_vector_table(named text, dimensions integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION trueweave.make_workspace(base_name text, among text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.make_workspace(base_name text, among text[]) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.mark_indexed(of_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.mark_indexed(of_name text) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.may_differ() FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.may_differ() TO trueweave_app;
GRANT ALL ON FUNCTION trueweave.may_differ() TO trueweave_caller;

REVOKE ALL ON FUNCTION trueweave.meets(of_document uuid, wanted jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.meets(of_document uuid, wanted jsonb) TO trueweave_app;
GRANT ALL ON FUNCTION trueweave.meets(of_document uuid, wanted jsonb) TO trueweave_caller;

REVOKE ALL ON FUNCTION trueweave.moment(written text) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.moment(written text) TO trueweave_app;
GRANT ALL ON FUNCTION trueweave.moment(written text) TO trueweave_caller;

REVOKE ALL ON FUNCTION trueweave.named_language(given text) FROM PUBLIC;

REVOKE ALL ON FUNCTION trueweave.near_seen(vector public.halfvec, most integer, enough integer, sparse integer, scope uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.near_seen(vector public.halfvec, most integer, enough integer, sparse integer, scope uuid[]) TO trueweave_app;
GRANT ALL ON FUNCTION trueweave.near_seen(vector public.halfvec, most integer, enough integer, sparse integer, scope uuid[]) TO trueweave_caller;

REVOKE ALL ON FUNCTION trueweave.note_server_size(of_server text, size bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.note_server_size(of_server text, size bigint) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.odds_of(frequency double precision, length double precision) FROM PUBLIC;

REVOKE ALL ON FUNCTION trueweave.open_placed(of_workspace integer, workspace_name text, resolution text, OUT has_space boolean, OUT settings jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.open_placed(of_workspace integer, workspace_name text, resolution text, OUT has_space boolean, OUT settings jsonb) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.open_workspace(workspace_name text, make boolean, resolution text, among text[], OUT id integer, OUT has_space boolean, OUT settings jsonb, OUT server text, OUT mode text, OUT dropped boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.open_workspace(workspace_name text, make boolean, resolution text, among text[], OUT id integer, OUT has_space boolean, OUT settings jsonb, OUT server text, OUT mode text, OUT dropped boolean) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.ordered_facets(metadata jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.ordered_facets(metadata jsonb) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.pairs_of(said text) FROM PUBLIC;

REVOKE ALL ON FUNCTION trueweave.passes(of_document uuid, wanted jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION trueweave.place_of(value numeric) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.place_of(value numeric) TO trueweave_app;
GRANT ALL ON FUNCTION trueweave.place_of(value numeric) TO trueweave_caller;

REVOKE ALL ON FUNCTION trueweave.placements(of_workspaces integer[], since timestamp with time zone, OUT id integer, OUT server text, OUT at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.placements(of_workspaces integer[], since timestamp with time zone, OUT id integer, OUT server text, OUT at timestamp with time zone) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.places_of(places jsonb, first integer, behind integer) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.places_of(places jsonb, first integer, behind integer) TO trueweave_app;
GRANT ALL ON FUNCTION trueweave.places_of(places jsonb, first integer, behind integer) TO trueweave_caller;

REVOKE ALL ON FUNCTION trueweave.question_words(question text) FROM PUBLIC;

REVOKE ALL ON FUNCTION trueweave.queue_state(OUT kind text, OUT waiting bigint, OUT delayed bigint, OUT running bigint, OUT oldest double precision) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.queue_state(OUT kind text, OUT waiting bigint, OUT delayed bigint, OUT running bigint, OUT oldest double precision) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.readable(who name) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.readable(who name) TO trueweave_reader;

REVOKE ALL ON FUNCTION trueweave.reader_facets(readers text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.reader_facets(readers text[]) TO trueweave_app;
GRANT ALL ON FUNCTION trueweave.reader_facets(readers text[]) TO trueweave_caller;

REVOKE ALL ON FUNCTION trueweave.release_jobs(claimant integer, ids bigint[], delays interval[]) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.release_jobs(claimant integer, ids bigint[], delays interval[]) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.release_replaced(former integer) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.release_replaced(former integer) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.release_sources(claim_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.release_sources(claim_id uuid) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.release_unknown_jobs(claimed_by bigint, known bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.release_unknown_jobs(claimed_by bigint, known bigint[]) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.replace_workspace(made integer) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.replace_workspace(made integer) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.replaced_workspaces(OUT former integer, OUT successor integer) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.replaced_workspaces(OUT former integer, OUT successor integer) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.rule_readers(of_uri text) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.rule_readers(of_uri text) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.search_seen(question text, most integer, k1 double precision, b double precision, scope uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.search_seen(question text, most integer, k1 double precision, b double precision, scope uuid[]) TO trueweave_app;
GRANT ALL ON FUNCTION trueweave.search_seen(question text, most integer, k1 double precision, b double precision, scope uuid[]) TO trueweave_caller;

REVOKE ALL ON FUNCTION trueweave.search_text(question text, most integer, k1 double precision, b double precision, scope uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.search_text(question text, most integer, k1 double precision, b double precision, scope uuid[]) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.seen_chunks(ids uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.seen_chunks(ids uuid[]) TO trueweave_app;
GRANT ALL ON FUNCTION trueweave.seen_chunks(ids uuid[]) TO trueweave_caller;

REVOKE ALL ON FUNCTION trueweave.seen_coverage(question text, chunks uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.seen_coverage(question text, chunks uuid[]) TO trueweave_app;
GRANT ALL ON FUNCTION trueweave.seen_coverage(question text, chunks uuid[]) TO trueweave_caller;

REVOKE ALL ON FUNCTION trueweave.seen_documents(ids uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.seen_documents(ids uuid[]) TO trueweave_app;
GRANT ALL ON FUNCTION trueweave.seen_documents(ids uuid[]) TO trueweave_caller;

REVOKE ALL ON FUNCTION trueweave.seen_leads(names bigint[], chunks bigint[], cap integer, pool uuid[], vector public.halfvec) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.seen_leads(names bigint[], chunks bigint[], cap integer, pool uuid[], vector public.halfvec) TO trueweave_app;
GRANT ALL ON FUNCTION trueweave.seen_leads(names bigint[], chunks bigint[], cap integer, pool uuid[], vector public.halfvec) TO trueweave_caller;

REVOKE ALL ON FUNCTION trueweave.seen_names(of_entities uuid[], most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.seen_names(of_entities uuid[], most integer) TO trueweave_app;
GRANT ALL ON FUNCTION trueweave.seen_names(of_entities uuid[], most integer) TO trueweave_caller;

REVOKE ALL ON FUNCTION trueweave.seen_occurrences(of_chunks uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.seen_occurrences(of_chunks uuid[]) TO trueweave_app;
GRANT ALL ON FUNCTION trueweave.seen_occurrences(of_chunks uuid[]) TO trueweave_caller;

REVOKE ALL ON FUNCTION trueweave.seen_pairs(of_names uuid[], of_relations uuid[], most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.seen_pairs(of_names uuid[], of_relations uuid[], most integer) TO trueweave_app;
GRANT ALL ON FUNCTION trueweave.seen_pairs(of_names uuid[], of_relations uuid[], most integer) TO trueweave_caller;

REVOKE ALL ON FUNCTION trueweave.seen_phrases(ids bigint[], chunks uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.seen_phrases(ids bigint[], chunks uuid[]) TO trueweave_app;
GRANT ALL ON FUNCTION trueweave.seen_phrases(ids bigint[], chunks uuid[]) TO trueweave_caller;

REVOKE ALL ON FUNCTION trueweave.seen_similarity(vector public.halfvec, ids uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.seen_similarity(vector public.halfvec, ids uuid[]) TO trueweave_app;
GRANT ALL ON FUNCTION trueweave.seen_similarity(vector public.halfvec, ids uuid[]) TO trueweave_caller;

REVOKE ALL ON FUNCTION trueweave.sees_all() FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.sees_all() TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.set_place(of_workspace integer, is_here boolean, grace interval) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.set_place(of_workspace integer, is_here boolean, grace interval) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.sketch_of(keys bigint[], weights double precision[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION trueweave.standby_reach(upto pg_lsn, OUT name text, OUT has_all boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.standby_reach(upto pg_lsn, OUT name text, OUT has_all boolean) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.store_chunk_words(chunks uuid[], sizes bigint[], words bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.store_chunk_words(chunks uuid[], sizes bigint[], words bigint[]) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.summaries_of(hashes uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.summaries_of(hashes uuid[]) TO trueweave_app;
GRANT ALL ON FUNCTION trueweave.summaries_of(hashes uuid[]) TO trueweave_caller;

REVOKE ALL ON FUNCTION trueweave.switch_own_table(of_space integer, of_kind text) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.switch_own_table(of_space integer, of_kind text) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.term_coverage(question text, chunks uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.term_coverage(question text, chunks uuid[]) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.text_lines() FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.text_lines() TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.text_rows(coming uuid[], OUT chunk uuid, OUT language text, OUT length integer, OUT keys bigint[], OUT counts smallint[], OUT sketch public.sparsevec) FROM PUBLIC;

REVOKE ALL ON FUNCTION trueweave.tier_of(odds double precision) FROM PUBLIC;

REVOKE ALL ON FUNCTION trueweave.unsettled_places(OUT id integer, OUT place text, OUT is_over boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.unsettled_places(OUT id integer, OUT place text, OUT is_over boolean) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.watched_workspaces(after integer, most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.watched_workspaces(after integer, most integer) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.words_of(said text, language text) FROM PUBLIC;

REVOKE ALL ON FUNCTION trueweave.workspace_salt() FROM PUBLIC;

REVOKE ALL ON FUNCTION trueweave.workspaces_after(after integer, most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.workspaces_after(after integer, most integer) TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.access_rule TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.alert TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.alert_passage TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.alike TO trueweave_app;
GRANT SELECT ON TABLE trueweave.alike TO trueweave_caller;

GRANT SELECT,INSERT,UPDATE ON TABLE trueweave.api_key TO trueweave_app;

GRANT SELECT,INSERT,DELETE ON TABLE trueweave.audit_log TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.bench_outcome TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.bench_passage TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.bench_question TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.bench_run TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.budget TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.caller_usage TO trueweave_app;

GRANT SELECT ON TABLE trueweave.catalogue TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.chunk TO trueweave_app;
GRANT SELECT ON TABLE trueweave.chunk TO trueweave_reader;
GRANT SELECT ON TABLE trueweave.chunk TO trueweave_caller;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.community TO trueweave_app;
GRANT SELECT ON TABLE trueweave.community TO trueweave_reader;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.connector_document TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.connector_source TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.consumer TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.corpus TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.dirty_name TO trueweave_app;
GRANT SELECT ON TABLE trueweave.dirty_name TO trueweave_caller;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.dirty_pair TO trueweave_app;
GRANT SELECT ON TABLE trueweave.dirty_pair TO trueweave_caller;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.document TO trueweave_app;
GRANT SELECT ON TABLE trueweave.document TO trueweave_reader;

GRANT SELECT(workspace) ON TABLE trueweave.document TO trueweave_caller;

GRANT SELECT(id) ON TABLE trueweave.document TO trueweave_caller;

GRANT SELECT(uri) ON TABLE trueweave.document TO trueweave_caller;

GRANT SELECT(title) ON TABLE trueweave.document TO trueweave_caller;

GRANT SELECT(content_hash) ON TABLE trueweave.document TO trueweave_caller;

GRANT SELECT(metadata) ON TABLE trueweave.document TO trueweave_caller;

GRANT SELECT(places) ON TABLE trueweave.document TO trueweave_caller;

GRANT SELECT(notes) ON TABLE trueweave.document TO trueweave_caller;

GRANT SELECT(size) ON TABLE trueweave.document TO trueweave_caller;

GRANT SELECT(current) ON TABLE trueweave.document TO trueweave_caller;

GRANT SELECT(visible) ON TABLE trueweave.document TO trueweave_caller;

GRANT SELECT(added) ON TABLE trueweave.document TO trueweave_caller;

GRANT SELECT(readers) ON TABLE trueweave.document TO trueweave_caller;

GRANT SELECT(off) ON TABLE trueweave.document TO trueweave_caller;

GRANT SELECT ON TABLE trueweave.dropped_workspace TO trueweave_app;

GRANT UPDATE(copies) ON TABLE trueweave.dropped_workspace TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.entity TO trueweave_app;
GRANT SELECT ON TABLE trueweave.entity TO trueweave_reader;

GRANT SELECT(workspace) ON TABLE trueweave.entity TO trueweave_caller;

GRANT SELECT(id) ON TABLE trueweave.entity TO trueweave_caller;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.erasure TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.facet TO trueweave_app;
GRANT SELECT ON TABLE trueweave.facet TO trueweave_reader;
GRANT SELECT ON TABLE trueweave.facet TO trueweave_caller;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.failed_work TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.hierarchy TO trueweave_app;
GRANT SELECT ON TABLE trueweave.hierarchy TO trueweave_reader;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.history TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.ingest_job TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.ingest_job_document TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.job TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.kept_response TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.link TO trueweave_app;
GRANT SELECT ON TABLE trueweave.link TO trueweave_reader;
GRANT SELECT ON TABLE trueweave.link TO trueweave_caller;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.member TO trueweave_app;
GRANT SELECT ON TABLE trueweave.member TO trueweave_reader;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.mention TO trueweave_app;
GRANT SELECT ON TABLE trueweave.mention TO trueweave_reader;
GRANT SELECT ON TABLE trueweave.mention TO trueweave_caller;

GRANT SELECT ON TABLE trueweave.migration TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.name TO trueweave_app;
GRANT SELECT ON TABLE trueweave.name TO trueweave_reader;

GRANT SELECT(workspace) ON TABLE trueweave.name TO trueweave_caller;

GRANT SELECT(id) ON TABLE trueweave.name TO trueweave_caller;

GRANT SELECT(written) ON TABLE trueweave.name TO trueweave_caller;

GRANT SELECT(type) ON TABLE trueweave.name TO trueweave_caller;

GRANT SELECT(entity) ON TABLE trueweave.name TO trueweave_caller;

GRANT SELECT(phrase) ON TABLE trueweave.name TO trueweave_caller;

GRANT SELECT(written_hash) ON TABLE trueweave.name TO trueweave_caller;

GRANT SELECT(folded) ON TABLE trueweave.name TO trueweave_caller;

GRANT SELECT(last_word) ON TABLE trueweave.name TO trueweave_caller;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.name_key TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.name_pair TO trueweave_app;
GRANT SELECT ON TABLE trueweave.name_pair TO trueweave_reader;

GRANT SELECT(workspace) ON TABLE trueweave.name_pair TO trueweave_caller;

GRANT SELECT(source) ON TABLE trueweave.name_pair TO trueweave_caller;

GRANT SELECT(target) ON TABLE trueweave.name_pair TO trueweave_caller;

GRANT SELECT(relation) ON TABLE trueweave.name_pair TO trueweave_caller;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.occurrence TO trueweave_app;
GRANT SELECT ON TABLE trueweave.occurrence TO trueweave_caller;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.ordered_facet TO trueweave_app;
GRANT SELECT ON TABLE trueweave.ordered_facet TO trueweave_reader;
GRANT SELECT ON TABLE trueweave.ordered_facet TO trueweave_caller;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.outbox TO trueweave_app;

GRANT SELECT ON TABLE trueweave.own_table TO trueweave_app;
GRANT SELECT ON TABLE trueweave.own_table TO trueweave_caller;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.pending_certificate TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.pending_link TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.pending_match TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.phrase TO trueweave_app;

GRANT SELECT(workspace) ON TABLE trueweave.phrase TO trueweave_caller;

GRANT SELECT(id) ON TABLE trueweave.phrase TO trueweave_caller;

GRANT SELECT(key) ON TABLE trueweave.phrase TO trueweave_caller;

GRANT SELECT(chunks) ON TABLE trueweave.phrase TO trueweave_caller;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.phrase_count TO trueweave_app;
GRANT SELECT ON TABLE trueweave.phrase_count TO trueweave_reader;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.process TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.projection TO trueweave_app;

GRANT SELECT,INSERT,UPDATE ON TABLE trueweave.rate_limit TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.recipe TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.rejection TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.relation TO trueweave_app;
GRANT SELECT ON TABLE trueweave.relation TO trueweave_reader;

GRANT SELECT(workspace) ON TABLE trueweave.relation TO trueweave_caller;

GRANT SELECT(id) ON TABLE trueweave.relation TO trueweave_caller;

GRANT SELECT(source) ON TABLE trueweave.relation TO trueweave_caller;

GRANT SELECT(target) ON TABLE trueweave.relation TO trueweave_caller;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.removed_vector TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.reply TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.report TO trueweave_app;
GRANT SELECT ON TABLE trueweave.report TO trueweave_reader;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.retired_community TO trueweave_app;
GRANT SELECT ON TABLE trueweave.retired_community TO trueweave_reader;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.rule TO trueweave_app;
GRANT SELECT ON TABLE trueweave.rule TO trueweave_reader;

GRANT SELECT(workspace) ON TABLE trueweave.rule TO trueweave_caller;

GRANT SELECT(id) ON TABLE trueweave.rule TO trueweave_caller;

GRANT SELECT(ordinal) ON TABLE trueweave.rule TO trueweave_caller;

GRANT SELECT(kind) ON TABLE trueweave.rule TO trueweave_caller;

GRANT SELECT(label) ON TABLE trueweave.rule TO trueweave_caller;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.rule_name TO trueweave_app;
GRANT SELECT ON TABLE trueweave.rule_name TO trueweave_reader;

GRANT SELECT(workspace) ON TABLE trueweave.rule_name TO trueweave_caller;

GRANT SELECT(rule) ON TABLE trueweave.rule_name TO trueweave_caller;

GRANT SELECT(name) ON TABLE trueweave.rule_name TO trueweave_caller;

GRANT SELECT(written_hash) ON TABLE trueweave.rule_name TO trueweave_caller;

GRANT SELECT(side) ON TABLE trueweave.rule_name TO trueweave_caller;

GRANT SELECT ON TABLE trueweave.server TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.shown TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.slot TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.source TO trueweave_app;

GRANT SELECT ON TABLE trueweave.space TO trueweave_app;
GRANT SELECT ON TABLE trueweave.space TO trueweave_reader;
GRANT SELECT ON TABLE trueweave.space TO trueweave_caller;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.spend TO trueweave_app;

GRANT SELECT ON TABLE trueweave.stable_id TO trueweave_app;
GRANT SELECT ON TABLE trueweave.stable_id TO trueweave_reader;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.stale_text TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.stored_bytes TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.suggestion TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.summary TO trueweave_app;
GRANT SELECT ON TABLE trueweave.summary TO trueweave_reader;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.text_language TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.view_version TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.watch TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.web_session TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.word TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.work_lease TO trueweave_app;

GRANT SELECT,UPDATE ON TABLE trueweave.workspace TO trueweave_app;
GRANT SELECT ON TABLE trueweave.workspace TO trueweave_reader;

GRANT SELECT(id) ON TABLE trueweave.workspace TO trueweave_caller;

GRANT SELECT(name) ON TABLE trueweave.workspace TO trueweave_caller;

GRANT SELECT(mode) ON TABLE trueweave.workspace TO trueweave_caller;

GRANT SELECT(space) ON TABLE trueweave.workspace TO trueweave_caller;

GRANT SELECT(graph_vectors) ON TABLE trueweave.workspace TO trueweave_caller;
