CREATE SCHEMA trueweave;

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
BEGIN
    UPDATE workspace SET dropped = true WHERE id = current_setting('trueweave.workspace')::int;
END $$;

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
        RETURN;  -- what it claimed would be taken for abandoned
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
        -- Whoever has the lock is counting the jobs of this workspace just now, and claims one.
        CONTINUE WHEN NOT pg_try_advisory_xact_lock(1415005013, here);
        SELECT count(*), count(*) FILTER (WHERE j.worker = claimed_by) INTO under_way, at_claimant FROM job j WHERE j.workspace = here AND j.owner IS NOT NULL;
        SELECT coalesce((w.settings ->> 'jobs_at_once')::int, limit_each) INTO at_most FROM workspace w WHERE w.id = here;
        CONTINUE WHEN under_way >= at_most OR at_claimant >= share;
        -- Two who settle one workspace at a time would only wait for each other.
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
DECLARE here int := current_setting('trueweave.workspace')::int; kind text;
BEGIN
    FOREACH kind IN ARRAY ARRAY['chunk', 'entity', 'relation', 'community'] LOOP
        EXECUTE format('DELETE FROM %I WHERE workspace = %s', format('vector_%s_%s', of_space, kind), here);
        EXECUTE format('DROP TABLE IF EXISTS %I', format('vector_%s_%s_%s', of_space, kind, here));
    END LOOP;
    DELETE FROM own_table WHERE workspace = here AND space = of_space;
END $$;

CREATE FUNCTION trueweave.clear_text() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
    DELETE FROM bm25_index WHERE workspace = current_setting('trueweave.workspace')::int;
END $$;

CREATE FUNCTION trueweave.drop_workspace() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
BEGIN
    DELETE FROM workspace WHERE id = current_setting('trueweave.workspace')::int;
END $$;

CREATE FUNCTION trueweave.enter(entered integer, writing boolean) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
DECLARE is_there boolean := EXISTS (SELECT FROM workspace WHERE id = entered AND NOT dropped);
BEGIN
    IF is_there AND writing THEN
        PERFORM pg_advisory_xact_lock_shared(1415005012, entered);
        is_there := EXISTS (SELECT FROM workspace WHERE id = entered AND NOT dropped);
    END IF;
    RETURN is_there;
END $$;

CREATE FUNCTION trueweave.expired_workspaces() RETURNS SETOF integer
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
BEGIN
    RETURN QUERY SELECT id FROM workspace WHERE expires < now();
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

CREATE FUNCTION trueweave.finish_jobs(claimant integer, ids bigint[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
    DELETE FROM job j USING unnest(ids) AS done (id) WHERE j.id = done.id AND j.owner = claimant
$$;

CREATE FUNCTION trueweave.guard(guarded regclass, tenant text DEFAULT 'workspace'::text) RETURNS void
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION trueweave.guard_readers(guarded regclass, tenant text) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    EXECUTE format('CREATE POLICY reader ON %s AS RESTRICTIVE TO trueweave_reader
        USING (%I = ANY ((SELECT trueweave.readable(current_user))::int[]))', guarded, tenant);
END $$;

CREATE FUNCTION trueweave.index_own_table(of_space integer, of_kind text, is_indexed boolean) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'trueweave', 'public', 'pg_temp'
    AS $$
DECLARE
    here int := current_setting('trueweave.workspace')::int;
    own text := format('vector_%s_%s_%s', of_space, of_kind, here);
    ops text := CASE (SELECT metric FROM space WHERE id = of_space)
        WHEN 'cosine' THEN 'halfvec_cosine_ops' WHEN 'l2' THEN 'halfvec_l2_ops' ELSE 'halfvec_ip_ops' END;
BEGIN
    UPDATE own_table SET indexed = is_indexed
    WHERE workspace = here AND space = of_space AND kind = of_kind AND indexed <> is_indexed;
    IF FOUND AND is_indexed THEN
        EXECUTE format('CREATE INDEX %I ON %I USING hnsw (v %s) WITH (m = 16, ef_construction = 128)',
            own || '_hnsw', own, ops);
        EXECUTE format('ANALYZE %I', own);
    ELSIF FOUND THEN
        EXECUTE format('DROP INDEX %I', own || '_hnsw');
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
    ), said AS (
        SELECT u.id, l.language, w.word, w.frequency, sum(w.frequency) OVER (PARTITION BY u.id) AS length
        FROM unnest(coming) AS u (id)
        -- All versions of a document that have a chunk of this id give it the same language.
        CROSS JOIN LATERAL (SELECT text, document FROM chunk WHERE workspace = here AND id = u.id LIMIT 1) c
        CROSS JOIN LATERAL (SELECT language_of(c.text, (SELECT d.metadata ->> 'language' FROM document d
                                                        WHERE d.workspace = here AND d.id = c.document)) AS language OFFSET 0) l  -- once for a chunk, not for a word
        CROSS JOIN LATERAL words_of(c.text, l.language) w
    ), keyed AS (
        SELECT id, language, length, frequency, odds, word # salt | tier_of(odds) AS key
        FROM said CROSS JOIN LATERAL odds_of(frequency, length) AS odds
    ), listed AS (
        SELECT id, language, length, array_agg(key ORDER BY key) AS keys, array_agg(frequency ORDER BY key) AS counts,
            array_agg(odds / (1 + odds) ORDER BY key) AS weights
        FROM keyed GROUP BY id, language, length
    ), added AS (
        INSERT INTO bm25_index (workspace, chunk, length, keys, counts, sketch, language)
        SELECT here, id, length, keys, counts, sketch_of(keys, weights), language FROM listed
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

CREATE FUNCTION trueweave.make_own_table(of_space integer, of_kind text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'trueweave', 'public', 'pg_temp'
    AS $$
DECLARE here int := current_setting('trueweave.workspace')::int;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('trueweave.space', 0));
    INSERT INTO own_table (workspace, space, kind) VALUES (here, of_space, of_kind) ON CONFLICT DO NOTHING;
    IF FOUND THEN
        PERFORM make_vector_table(
            format('vector_%s_%s_%s', of_space, of_kind, here), (SELECT dimensions FROM space WHERE id = of_space));
        -- Here they tell the truth, that all rows are this workspace's, and that it takes the HNSW index to find ten.
        EXECUTE format('ALTER TABLE %I ALTER workspace SET STATISTICS -1',
            format('vector_%s_%s_%s', of_space, of_kind, here));
    END IF;
END $$;

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
    -- In line, not in a side table: an exact scan reads every vector.
    EXECUTE format('ALTER TABLE %I ALTER v SET STORAGE PLAIN', named);
    PERFORM guard(named::regclass);
    EXECUTE format('GRANT SELECT ON %I TO trueweave_reader', named);
END $_$;

CREATE FUNCTION trueweave.make_workspace(base_name text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
DECLARE
    made text := base_name;
    n int := 1;
BEGIN
    LOOP
        INSERT INTO workspace (name) VALUES (made) ON CONFLICT (name) DO NOTHING;
        EXIT WHEN FOUND;
        n := n + 1;
        made := format('%s-%s', base_name, n);
    END LOOP;
    RETURN made;
END $$;

COMMENT ON FUNCTION trueweave.make_workspace(base_name text) IS 'Make a workspace that was not there, of this name or one that begins like it; its name.';

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

CREATE FUNCTION trueweave.odds_of(frequency double precision, length double precision) RETURNS double precision
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT frequency / (0.3 + 0.009 * length)
$$;

CREATE FUNCTION trueweave.open_workspace(workspace_name text, make boolean, resolution text, OUT id integer, OUT has_space boolean, OUT settings jsonb) RETURNS SETOF record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
BEGIN
    IF make THEN
        INSERT INTO workspace (name, mode) VALUES (workspace_name, resolution) ON CONFLICT (name) DO NOTHING;
    END IF;
    RETURN QUERY SELECT w.id, w.space IS NOT NULL, w.settings FROM workspace w WHERE w.name = workspace_name;
END $$;

CREATE FUNCTION trueweave.pairs_of(said text) RETURNS SETOF text
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT substr(stretch[1], n, 2) FROM regexp_matches(said, '[\u0E00-\u0EFF\u1000-\u109F\u1780-\u17FF\u3005-\u3007\u3040-\u30FF\u3400-\u4DBF\u4E00-\u9FFF\uAC00-\uD7AF\uF900-\uFAFF]+', 'g') AS stretch
    CROSS JOIN LATERAL generate_series(1, greatest(length(stretch[1]) - 1, 1)) AS n
$$;

CREATE FUNCTION trueweave.places_of(places jsonb, first integer, behind integer) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    WITH place AS (
        SELECT p, (p ->> 0)::int AS start, p ->> 1 AS kind, (p ->> 3)::int AS level, n
        FROM jsonb_array_elements(places) WITH ORDINALITY AS e (p, n) WHERE (p ->> 0)::int < behind),
    over AS (
        SELECT *, min(level) OVER (ORDER BY start DESC, n DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS nearer
        FROM place WHERE kind = 'heading' AND start <= first)
    SELECT coalesce(jsonb_agg(p ORDER BY start, n), '[]') FROM (
        SELECT p, start, n FROM place WHERE start > first
        UNION ALL
        SELECT p, start, n FROM over WHERE nearer IS NULL OR level < nearer
        UNION ALL
        (SELECT p, start, n FROM place WHERE kind = 'page' AND start <= first ORDER BY start DESC, n DESC LIMIT 1)) AS known
$$;

COMMENT ON FUNCTION trueweave.places_of(places jsonb, first integer, behind integer) IS 'The page and the headings that a stretch of a document begins under, and all that begin within it, in order.';

CREATE FUNCTION trueweave.question_words(question text) RETURNS TABLE(word bigint)
    LANGUAGE plpgsql STABLE
    AS $$
BEGIN
    RETURN QUERY SELECT DISTINCT w.word FROM (
        SELECT t.language FROM text_language t WHERE t.workspace = current_setting('trueweave.workspace')::int
        ORDER BY t.chunks DESC, t.language LIMIT 16) AS spoken
    CROSS JOIN LATERAL words_of(question, spoken.language) w;
END $$;

CREATE FUNCTION trueweave.readable(who name) RETURNS integer[]
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
BEGIN
    RETURN ARRAY(SELECT r.workspace FROM reader r JOIN pg_roles p ON p.rolname = r.role
                 WHERE pg_has_role(who, p.oid, 'USAGE'));
END $$;

CREATE FUNCTION trueweave.release_jobs(claimant integer, ids bigint[], delays interval[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
    UPDATE job j SET owner = NULL, due = now() + r.delay FROM unnest(ids, delays) AS r (id, delay)
    WHERE j.id = r.id AND j.owner = claimant
$$;

CREATE FUNCTION trueweave.release_unknown_jobs(claimed_by bigint, known bigint[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'trueweave', 'pg_temp'
    AS $$
    UPDATE job j SET owner = NULL WHERE j.owner IS NOT NULL AND j.worker = claimed_by AND j.id <> ALL (known)
$$;

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
        -- A key is found in the ascending keys of a chunk by where it would stand: at its word's own, if that is there.
        SELECT sum(weight * frequency / (frequency + l.norm)) AS score
        FROM (SELECT weight, l.counts[width_bucket(key | 15, l.keys)]::float8 AS frequency
              FROM unnest(words, weights) AS a (key, weight)
              WHERE l.keys[width_bucket(key | 15, l.keys)] >= key) AS said) s
    WHERE s.score > 0 ORDER BY s.score DESC, l.chunk LIMIT most;
END $$;

CREATE FUNCTION trueweave.sketch_of(keys bigint[], weights double precision[]) RETURNS public.sparsevec
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT ('{' || coalesce(string_agg(place || ':' || weight, ','), '') || '}/536870912')::public.sparsevec
    FROM (SELECT (key >> 4 & 536870911) + 1 AS place, max(weight)::float4 AS weight
          FROM unnest(keys, weights) AS u (key, weight) GROUP BY place LIMIT 16000) AS places
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

CREATE FUNCTION trueweave.tier_of(odds double precision) RETURNS integer
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT greatest(0, least(15, round(8 + 2 * ln(odds) / ln(2::float8))))::int
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
    SELECT w.id FROM workspace w WHERE w.id > after AND NOT w.dropped AND w.expires IS NULL ORDER BY w.id LIMIT most
$$;

CREATE TABLE trueweave.alike (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    a uuid NOT NULL,
    b uuid NOT NULL
);
ALTER TABLE ONLY trueweave.alike ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.alike FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.alike IS 'Pairs of alike names, in both directions, whether or not they are live.';

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

COMMENT ON TABLE trueweave.bm25_index IS 'The words of each chunk that has any, as ascending keys, how often each occurs, how often all do, and a sketch of it all. Row-level security keeps GIN operators, which are not leakproof, from using their index, so it does not bind the owner here: the working role cannot touch the table, and reaches it by functions that name the workspace in every statement.';

COMMENT ON COLUMN trueweave.bm25_index.language IS 'The text search configuration by which its words were stemmed.';

CREATE TABLE trueweave.budget (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    price_cap numeric,
    token_cap bigint,
    price numeric DEFAULT 0 NOT NULL,
    tokens bigint DEFAULT 0 NOT NULL,
    held_price numeric DEFAULT 0 NOT NULL,
    held_tokens bigint DEFAULT 0 NOT NULL
);
ALTER TABLE ONLY trueweave.budget ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.budget FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.budget IS 'What a workspace has spent, what calls under way may cost at most, and the caps that both together never exceed.';

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

COMMENT ON TABLE trueweave.chunk IS 'A span of a document. Its id is the same in every version that has that text.';

CREATE TABLE trueweave.chunk_words (
    workspace integer NOT NULL,
    chunk uuid NOT NULL,
    words bigint[] NOT NULL
);
ALTER TABLE ONLY trueweave.chunk_words ALTER COLUMN workspace SET STATISTICS 0;
ALTER TABLE ONLY trueweave.chunk_words ALTER COLUMN words SET STATISTICS 0;

COMMENT ON TABLE trueweave.chunk_words IS 'The distinct words of each linked chunk, as phrases have them, mixed with the workspace.';

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
    changed timestamp with time zone NOT NULL
);
ALTER TABLE ONLY trueweave.community ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.community FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.community IS 'A community by its place in the tree: all within it come right after it, up to last. The id is a label that follows it through changes, the stable id the smallest id among the names of its members. The hash is of its members, their relations and all descriptions.';

CREATE TABLE trueweave.corpus (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    chunks bigint NOT NULL,
    length bigint NOT NULL
);
ALTER TABLE ONLY trueweave.corpus ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.corpus FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.corpus IS 'How many chunks have words, and how many they have together.';

CREATE TABLE trueweave.dirty_name (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    name uuid NOT NULL
);
ALTER TABLE ONLY trueweave.dirty_name ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.dirty_name FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.dirty_name IS 'Names whose entity must be found again because a rule or a setting changed.';

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
    recipe uuid
);
ALTER TABLE ONLY trueweave.document ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.document FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.document IS 'One version of one document. A new version is current and not yet visible, the old one visible and no longer current, until both are settled together. Source is the hash of what it was made from.';

COMMENT ON COLUMN trueweave.document.recipe IS 'How it was worked; none where its entities were given.';

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
    relation_targets uuid[] DEFAULT '{}'::uuid[] NOT NULL
);
ALTER TABLE ONLY trueweave.erasure ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.erasure FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.erasure IS 'Removed documents of which something is left elsewhere, with what they spoke of and how that was described.';

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

COMMENT ON TABLE trueweave.facet IS 'What a version of a document can be filtered by.';

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

COMMENT ON TABLE trueweave.failed_work IS 'Work that failed by a bug: its kind, what it was about (the uri of a document to be settled, the hash of a description to be summarised or of what a report would be written from; empty for the kind as a whole), how to name that to a person, and the latest error.';

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
    found timestamp with time zone DEFAULT now() NOT NULL,
    writing boolean DEFAULT false NOT NULL
);
ALTER TABLE ONLY trueweave.hierarchy ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.hierarchy FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.hierarchy IS 'How and when the communities of a workspace were found, and in how many settled batches its graph had come about. Writing: reports are wanted.';

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

COMMENT ON TABLE trueweave.job IS 'Work that waits or is under way. It is deleted when it is done.';

COMMENT ON COLUMN trueweave.job.priority IS 'Of the jobs of a workspace, those with a higher number are claimed first.';

COMMENT ON COLUMN trueweave.job.due IS 'It is not claimed before this.';

COMMENT ON COLUMN trueweave.job.owner IS 'The process that works on it; none while it waits. A process that has no lease any more owns nothing.';

COMMENT ON COLUMN trueweave.job.worker IS 'Which worker of that process it is, by a random number.';

ALTER TABLE trueweave.job ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME trueweave.job_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

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
    strength smallint NOT NULL,
    emphasis smallint NOT NULL,
    spans integer[] NOT NULL,
    CONSTRAINT link_emphasis_check CHECK (((emphasis >= 1) AND (emphasis <= 9))),
    CONSTRAINT link_strength_check CHECK (((strength >= 1) AND (strength <= 10)))
);
ALTER TABLE ONLY trueweave.link ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.link FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.link IS 'One relation as one chunk speaks of it, between two names that the chunk mentions.';

CREATE TABLE trueweave.member (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    entity uuid NOT NULL,
    leaf integer NOT NULL
);
ALTER TABLE ONLY trueweave.member ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.member FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.member IS 'The innermost community of each entity that has a relation. It is in all communities round that as well.';

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

COMMENT ON TABLE trueweave.mention IS 'One entity as one chunk speaks of it. Spans are pairs of offsets within the chunk.';

CREATE TABLE trueweave.migration (
    number integer NOT NULL,
    name text NOT NULL,
    additive boolean NOT NULL
);

COMMENT ON COLUMN trueweave.migration.additive IS 'Whether processes of the version before may go on beside it.';

CREATE TABLE trueweave.name (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    id uuid NOT NULL,
    written text NOT NULL,
    type text NOT NULL,
    count bigint DEFAULT 0 NOT NULL,
    histogram bigint[] DEFAULT '{0,0,0,0,0,0,0,0,0}'::bigint[] NOT NULL,
    entity uuid,
    phrase bigint,
    written_hash uuid GENERATED ALWAYS AS ((md5(written))::uuid) STORED NOT NULL
);
ALTER TABLE ONLY trueweave.name ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.name FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.name IS 'A name as written, its type, the sums over its live mentions, and the entity it belongs to (none while nothing mentions it).';

COMMENT ON COLUMN trueweave.name.phrase IS 'The phrase that it is looked for by in texts; none where it cannot be.';

COMMENT ON COLUMN trueweave.name.written_hash IS 'A hash of the name as written, whatever its type.';

CREATE TABLE trueweave.name_key (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    key bigint NOT NULL,
    name uuid NOT NULL,
    mask bigint NOT NULL
);
ALTER TABLE ONLY trueweave.name_key ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.name_key FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.name_key IS 'The keys under which alike names find each other, and a mask of the characters in them that rules most others out. A plain B-tree: row-level security keeps GIN operators, which are not leakproof, from using their index.';

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

COMMENT ON TABLE trueweave.name_pair IS 'Two names with the sums over the live links between them, and the relation they belong to (none when both are one entity).';

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

COMMENT ON TABLE trueweave.occurrence IS 'How often a phrase occurs in a chunk, how often of that outside its title, and whether it is what the chunk is about.';

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

COMMENT ON TABLE trueweave.outbox IS 'What each settled batch changed, for projections. Read only up to the oldest transaction still running, as positions are drawn before they commit.';

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
    indexed boolean DEFAULT false NOT NULL
);
ALTER TABLE ONLY trueweave.own_table ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.own_table FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.own_table IS 'Workspaces whose vectors of a kind outgrew the common table: most of them are in a table of their own, with an HNSW index once `indexed`; new ones arrive in the common table and follow in bulk.';

CREATE TABLE trueweave.pending_link (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    "position" bigint NOT NULL,
    chunk uuid,
    phrase bigint
);
ALTER TABLE ONLY trueweave.pending_link ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.pending_link FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.pending_link IS 'Chunks to be linked again, and phrases that may have come or gone. Only added to and taken from: nobody waits.';

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

COMMENT ON TABLE trueweave.pending_match IS 'Names that have not yet looked for others alike.';

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

COMMENT ON TABLE trueweave.phrase IS 'The phrases of live names, and in how many chunks each occurs. First is its first word.';

CREATE TABLE trueweave.phrase_count (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    owner uuid NOT NULL,
    kind "char" NOT NULL,
    hash uuid NOT NULL,
    value text NOT NULL,
    count bigint NOT NULL,
    CONSTRAINT phrase_count_kind_check CHECK ((kind = ANY (ARRAY['d'::"char", 'k'::"char"])))
);
ALTER TABLE ONLY trueweave.phrase_count ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.phrase_count FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.phrase_count IS 'How often each distinct description (d) or keyword (k) was said of a name or a pair of names.';

CREATE TABLE trueweave.process (
    id integer NOT NULL,
    since timestamp with time zone NOT NULL,
    expires timestamp with time zone NOT NULL
);

COMMENT ON TABLE trueweave.process IS 'Processes that claim things: since when each has renewed its lease without a gap, and until when that lasts. What is claimed by one that has no row is free.';

ALTER TABLE trueweave.process ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME trueweave.process_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE trueweave.rate_limit (
    model text NOT NULL,
    requests timestamp with time zone NOT NULL,
    tokens timestamp with time zone NOT NULL
);

COMMENT ON TABLE trueweave.rate_limit IS 'When the next call to a model may be made by each of its limits, given all calls that were promised a time so far.';

CREATE TABLE trueweave.reader (
    role name NOT NULL,
    workspace integer NOT NULL
);

COMMENT ON TABLE trueweave.reader IS 'Roles that read one workspace, and which. They belong to the cluster, workspaces to this database.';

CREATE TABLE trueweave.recipe (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    id uuid NOT NULL,
    recipe jsonb NOT NULL,
    fingerprint text NOT NULL
);
ALTER TABLE ONLY trueweave.recipe ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.recipe FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.recipe IS 'How documents were worked: by which settings, and by which version of the extractor and its prompts.';

CREATE TABLE trueweave.rejection (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    a uuid NOT NULL,
    b uuid NOT NULL
);
ALTER TABLE ONLY trueweave.rejection ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.rejection FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.rejection IS 'Pairs of normal forms, as hashes in ascending order, that a person said are two things: not to be suggested again.';

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
    text_hash uuid NOT NULL
);
ALTER TABLE ONLY trueweave.relation ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.relation FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.relation IS 'All pairs of names from one entity to another. The id follows from the two entities.';

CREATE TABLE trueweave.reply (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    key uuid NOT NULL,
    model text NOT NULL,
    payload bytea,
    owner integer NOT NULL,
    made timestamp with time zone DEFAULT now() NOT NULL,
    stage text DEFAULT ''::text NOT NULL,
    document text DEFAULT ''::text NOT NULL,
    text_hash uuid
);
ALTER TABLE ONLY trueweave.reply ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.reply FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.reply IS 'What a model replied, by a hash of all that it was asked: asked and paid for once. Without payload: its owner is asking now.';

COMMENT ON COLUMN trueweave.reply.document IS 'The uri of the document that it was first asked for, if it was for one.';

COMMENT ON COLUMN trueweave.reply.text_hash IS 'The one text that it was made from. Without it, it was made from several, or from a question.';

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

COMMENT ON TABLE trueweave.report IS 'What is written about a community, and the hash of what it was written from: another one by now, and it is stale. The author is a model, or empty where sentences were picked out without one; the problem says why no model wrote it.';

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

COMMENT ON TABLE trueweave.retired_community IS 'Communities that are no more, for those who ask what has changed; kept for a year.';

CREATE TABLE trueweave.rule (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    id uuid NOT NULL,
    ordinal bigint NOT NULL,
    kind text NOT NULL,
    label text NOT NULL,
    made timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT rule_kind_check CHECK ((kind = ANY (ARRAY['merge'::text, 'split'::text, 'rename'::text])))
);
ALTER TABLE ONLY trueweave.rule ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.rule FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.rule IS 'A person''s merge, split or rename; a later one outweighs an earlier one.';

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
END) STORED
);
ALTER TABLE ONLY trueweave.rule_name ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.rule_name FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.rule_name IS 'The names that a rule speaks of, whether or not a document mentions them now.';

COMMENT ON COLUMN trueweave.rule_name.written_hash IS 'Where the rule gives no type: it speaks of every name that is written so, whatever its type.';

ALTER TABLE trueweave.rule ALTER COLUMN ordinal ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME trueweave.rule_ordinal_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE trueweave.slot (
    model text NOT NULL,
    n integer NOT NULL,
    owner integer NOT NULL
);

COMMENT ON TABLE trueweave.slot IS 'Slots for calls to a model that are in use, and the process that uses each.';

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
    notes text[] DEFAULT '{}'::text[] NOT NULL
);
ALTER TABLE ONLY trueweave.source ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.source FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.source IS 'A document that was submitted, with the recipe to work it by. It leaves in the transaction that brings it into the record, or is marked as failed with its error.';

COMMENT ON COLUMN trueweave.source.notes IS 'What was odd about reading it. They become notes of the document.';

CREATE TABLE trueweave.space (
    id integer NOT NULL,
    model text NOT NULL,
    dimensions integer NOT NULL,
    metric text NOT NULL,
    CONSTRAINT space_dimensions_check CHECK (((dimensions >= 1) AND (dimensions <= 4000))),
    CONSTRAINT space_metric_check CHECK ((metric = ANY (ARRAY['cosine'::text, 'l2'::text, 'inner'::text])))
);

COMMENT ON TABLE trueweave.space IS 'The embedding spaces that exist. Shared by all workspaces; holds no one''s data.';

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

COMMENT ON TABLE trueweave.spend IS 'One model call. Open: under way, with the most that it may cost. Done: what it did cost. Lost: cut off, and it may have cost as much as that. A price that is not known is null.';

COMMENT ON COLUMN trueweave.spend.calls IS 'How many calls the row stands for: after some time, all of a day, stage and model together.';

CREATE VIEW trueweave.stable_id WITH (security_invoker='true') AS
 SELECT entity,
    min((id)::text) AS id
   FROM trueweave.name
  WHERE (entity IS NOT NULL)
  GROUP BY entity;

COMMENT ON VIEW trueweave.stable_id IS 'What an entity goes by where its id must not matter: the smallest id among its names.';

CREATE TABLE trueweave.stale_text (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    hash uuid NOT NULL,
    since timestamp with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY trueweave.stale_text ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.stale_text FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.stale_text IS 'Texts that something had and has no longer. What models made of them is kept for a while, in case they come back.';

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

COMMENT ON TABLE trueweave.suggestion IS 'Pairs of names that may be one thing, as they were last listed.';

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

COMMENT ON TABLE trueweave.summary IS 'A long description in short, by the hash of the text that it sums up. Without text: still to be written.';

CREATE TABLE trueweave.text_language (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    language text NOT NULL,
    chunks bigint NOT NULL
);
ALTER TABLE ONLY trueweave.text_language ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.text_language FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.text_language IS 'How many searched chunks there are in each language.';

CREATE TABLE trueweave.vector_1_chunk (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    id uuid NOT NULL,
    text_hash uuid NOT NULL,
    v public.halfvec(8) NOT NULL
);
ALTER TABLE ONLY trueweave.vector_1_chunk ALTER COLUMN workspace SET STATISTICS 0;
ALTER TABLE ONLY trueweave.vector_1_chunk ALTER COLUMN v SET STORAGE PLAIN;

ALTER TABLE ONLY trueweave.vector_1_chunk FORCE ROW LEVEL SECURITY;

CREATE TABLE trueweave.vector_1_chunk_2 (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    id uuid NOT NULL,
    text_hash uuid NOT NULL,
    v public.halfvec(8) NOT NULL
);
ALTER TABLE ONLY trueweave.vector_1_chunk_2 ALTER COLUMN v SET STORAGE PLAIN;

ALTER TABLE ONLY trueweave.vector_1_chunk_2 FORCE ROW LEVEL SECURITY;

CREATE TABLE trueweave.vector_1_community (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    id uuid NOT NULL,
    text_hash uuid NOT NULL,
    v public.halfvec(8) NOT NULL
);
ALTER TABLE ONLY trueweave.vector_1_community ALTER COLUMN workspace SET STATISTICS 0;
ALTER TABLE ONLY trueweave.vector_1_community ALTER COLUMN v SET STORAGE PLAIN;

ALTER TABLE ONLY trueweave.vector_1_community FORCE ROW LEVEL SECURITY;

CREATE TABLE trueweave.vector_1_entity (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    id uuid NOT NULL,
    text_hash uuid NOT NULL,
    v public.halfvec(8) NOT NULL
);
ALTER TABLE ONLY trueweave.vector_1_entity ALTER COLUMN workspace SET STATISTICS 0;
ALTER TABLE ONLY trueweave.vector_1_entity ALTER COLUMN v SET STORAGE PLAIN;

ALTER TABLE ONLY trueweave.vector_1_entity FORCE ROW LEVEL SECURITY;

CREATE TABLE trueweave.vector_1_entity_2 (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    id uuid NOT NULL,
    text_hash uuid NOT NULL,
    v public.halfvec(8) NOT NULL
);
ALTER TABLE ONLY trueweave.vector_1_entity_2 ALTER COLUMN v SET STORAGE PLAIN;

ALTER TABLE ONLY trueweave.vector_1_entity_2 FORCE ROW LEVEL SECURITY;

CREATE TABLE trueweave.vector_1_relation (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    id uuid NOT NULL,
    text_hash uuid NOT NULL,
    v public.halfvec(8) NOT NULL
);
ALTER TABLE ONLY trueweave.vector_1_relation ALTER COLUMN workspace SET STATISTICS 0;
ALTER TABLE ONLY trueweave.vector_1_relation ALTER COLUMN v SET STORAGE PLAIN;

ALTER TABLE ONLY trueweave.vector_1_relation FORCE ROW LEVEL SECURITY;

CREATE TABLE trueweave.vector_1_relation_2 (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    id uuid NOT NULL,
    text_hash uuid NOT NULL,
    v public.halfvec(8) NOT NULL
);
ALTER TABLE ONLY trueweave.vector_1_relation_2 ALTER COLUMN v SET STORAGE PLAIN;

ALTER TABLE ONLY trueweave.vector_1_relation_2 FORCE ROW LEVEL SECURITY;

CREATE TABLE trueweave.view_version (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    version bigint NOT NULL
);
ALTER TABLE ONLY trueweave.view_version ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.view_version FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.view_version IS 'How often the view of a workspace has changed.';

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

COMMENT ON TABLE trueweave.word IS 'How many chunks have each word in each tier.';

CREATE UNLOGGED TABLE trueweave.work_lease (
    workspace integer DEFAULT (current_setting('trueweave.workspace'::text))::integer NOT NULL,
    kind text NOT NULL,
    subject text NOT NULL,
    owner uuid NOT NULL,
    until timestamp with time zone NOT NULL
);
ALTER TABLE ONLY trueweave.work_lease ALTER COLUMN workspace SET STATISTICS 0;

ALTER TABLE ONLY trueweave.work_lease FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE trueweave.work_lease IS 'Leases: a document by its uri, all names that are to be resolved again, or a turn of one''s own, for which others hold back.';

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
    CONSTRAINT workspace_mode_check CHECK ((mode = ANY (ARRAY['fuzzy'::text, 'exact'::text, 'off'::text]))),
    CONSTRAINT workspace_same_check CHECK ((same = ANY (ARRAY['name_and_type'::text, 'name'::text]))),
    CONSTRAINT workspace_settings_check CHECK ((jsonb_typeof(settings) = 'object'::text)),
    CONSTRAINT workspace_threshold_check CHECK (((threshold >= 70) AND (threshold <= 100)))
);
ALTER TABLE ONLY trueweave.workspace ALTER COLUMN id SET STATISTICS 0;

COMMENT ON TABLE trueweave.workspace IS 'A tenant: what makes two names one entity for it, and the embedding space that answers.';

COMMENT ON COLUMN trueweave.workspace.dropped IS 'It is being dropped: nobody may write to it any more, and whoever drops it again goes on with that.';

COMMENT ON COLUMN trueweave.workspace.expires IS 'Until when whoever made a workspace for a while is known to be there; none for lasting ones.';

COMMENT ON COLUMN trueweave.workspace.next_space IS 'The embedding space that is being filled beside the one that answers.';

COMMENT ON COLUMN trueweave.workspace.paused_until IS 'Nothing new is settled before this, so that a change of embedding space can come to its end.';

COMMENT ON COLUMN trueweave.workspace.changes_gone IS 'The last position of the outbox that is kept no longer.';

COMMENT ON COLUMN trueweave.workspace.settings IS 'Settings of this workspace, by name; they outweigh those of the process.';

ALTER TABLE trueweave.workspace ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME trueweave.workspace_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

INSERT INTO trueweave.bm25_index VALUES
	(1, '0b06270b-13e0-691a-09f4-10beee2a6905', 4, '{-5261365064846105813,-2452247132636080741,1352029192145049243,4556714073866178427}', '{1,1,1,1}', '{205328632:0.74850297,280770922:0.74850297,390277683:0.74850297,459020634:0.74850297}/536870912', 'english'),
	(1, '33acd6db-1aed-29ce-b683-10000abe33c1', 4, '{-5261365064846105813,-2452247132636080741,4020782740133668683,4556714073866178427}', '{1,1,1,1}', '{205328632:0.74850297,369821301:0.74850297,390277683:0.74850297,459020634:0.74850297}/536870912', 'english'),
	(1, '363ce4f0-a723-493f-8adf-3a773e3ddd15', 4, '{-2452247132636080741,4020782740133668683,4556714073866178427,5001698108663787963}', '{1,1,1,1}', '{679708:0.74850297,205328632:0.74850297,369821301:0.74850297,459020634:0.74850297}/536870912', 'english'),
	(1, '6079cb86-a600-c1b9-78ab-4a7efe0f0686', 4, '{-2452247132636080741,1236416200011916059,4556714073866178427,5001698108663787963}', '{1,1,1,1}', '{679708:0.74850297,205328632:0.74850297,449051186:0.74850297,459020634:0.74850297}/536870912', 'english'),
	(1, '6cd27d8b-8442-9b91-f0de-ae011b5e98c4', 4, '{-5261365064846105813,-2452247132636080741,4556714073866178427,5001698108663787963}', '{1,1,1,1}', '{679708:0.74850297,205328632:0.74850297,390277683:0.74850297,459020634:0.74850297}/536870912', 'english'),
	(1, '709b9e48-0a09-3793-e157-0e233b800dfc', 4, '{-2452247132636080741,1236416200011916059,4020782740133668683,4556714073866178427}', '{1,1,1,1}', '{205328632:0.74850297,369821301:0.74850297,449051186:0.74850297,459020634:0.74850297}/536870912', 'english'),
	(1, '83943c9b-b767-8dcc-2e58-cfeabb72cab0', 4, '{-5261365064846105813,-2452247132636080741,1236416200011916059,4556714073866178427}', '{1,1,1,1}', '{205328632:0.74850297,390277683:0.74850297,449051186:0.74850297,459020634:0.74850297}/536870912', 'english'),
	(1, '93dd8f37-f0f1-dd8d-3c97-99847f595032', 4, '{-2452247132636080741,1236416200011916059,1352029192145049243,4556714073866178427}', '{1,1,1,1}', '{205328632:0.74850297,280770922:0.74850297,449051186:0.74850297,459020634:0.74850297}/536870912', 'english'),
	(1, 'dca6344f-4854-2afb-30bd-b46201fe6d03', 4, '{-2452247132636080741,1352029192145049243,4556714073866178427,5001698108663787963}', '{1,1,1,1}', '{679708:0.74850297,205328632:0.74850297,280770922:0.74850297,459020634:0.74850297}/536870912', 'english'),
	(1, 'e0a20070-28de-68d6-08e0-5a17629915c6', 4, '{-2452247132636080741,1352029192145049243,4020782740133668683,4556714073866178427}', '{1,1,1,1}', '{205328632:0.74850297,280770922:0.74850297,369821301:0.74850297,459020634:0.74850297}/536870912', 'english'),
	(2, '0b06270b-13e0-691a-09f4-10beee2a6905', 4, '{-4562999896713673525,-1345701177082356437,2479120211201777195,5290503412245293211}', '{1,1,1,1}', '{126010851:0.74850297,194901642:0.74850297,207807955:0.74850297,283364429:0.74850297}/536870912', 'english'),
	(2, '33acd6db-1aed-29ce-b683-10000abe33c1', 4, '{-4562999896713673525,-4009061207211397893,2479120211201777195,5290503412245293211}', '{1,1,1,1}', '{126010851:0.74850297,181787344:0.74850297,194901642:0.74850297,283364429:0.74850297}/536870912', 'english'),
	(2, '709b9e48-0a09-3793-e157-0e233b800dfc', 4, '{-4562999896713673525,-4009061207211397893,-1244993026127664981,2479120211201777195}', '{1,1,1,1}', '{102573707:0.74850297,126010851:0.74850297,181787344:0.74850297,283364429:0.74850297}/536870912', 'english'),
	(2, '83943c9b-b767-8dcc-2e58-cfeabb72cab0', 4, '{-4562999896713673525,-1244993026127664981,2479120211201777195,5290503412245293211}', '{1,1,1,1}', '{102573707:0.74850297,126010851:0.74850297,194901642:0.74850297,283364429:0.74850297}/536870912', 'english'),
	(2, '93dd8f37-f0f1-dd8d-3c97-99847f595032', 4, '{-4562999896713673525,-1345701177082356437,-1244993026127664981,2479120211201777195}', '{1,1,1,1}', '{102573707:0.74850297,126010851:0.74850297,207807955:0.74850297,283364429:0.74850297}/536870912', 'english'),
	(2, 'e0a20070-28de-68d6-08e0-5a17629915c6', 4, '{-4562999896713673525,-4009061207211397893,-1345701177082356437,2479120211201777195}', '{1,1,1,1}', '{126010851:0.74850297,181787344:0.74850297,207807955:0.74850297,283364429:0.74850297}/536870912', 'english');

INSERT INTO trueweave.chunk VALUES
	(1, '5816f523-bef2-068a-2cfe-02a194d5e790', '0b06270b-13e0-691a-09f4-10beee2a6905', 0, 0, 0, 'The miller of the village knows the priest.', '2571efc9-ade6-050c-3c38-31227f54b892'),
	(1, '5aa77b25-0402-466d-7acf-6e5822ad676f', '93dd8f37-f0f1-dd8d-3c97-99847f595032', 0, 0, 0, 'The miller of the village knows the reeve.', '0ca065b3-81d0-de58-93fb-2dd396f26833'),
	(1, 'b0b61599-49ce-7a6c-f724-7b86509f9a91', 'e0a20070-28de-68d6-08e0-5a17629915c6', 0, 0, 0, 'The miller of the village knows the smith.', 'b9a75796-1dc5-a701-04eb-c2254b4cb09a'),
	(1, 'b8b59072-1650-aa0d-b9ea-3e5fb54df32f', 'dca6344f-4854-2afb-30bd-b46201fe6d03', 0, 0, 0, 'The miller of the village knows the widow.', '55ca4b87-48fe-30e2-3eae-364f1c8193db'),
	(1, 'a7dc542b-5a6e-611a-1766-30b66aaacde1', '6cd27d8b-8442-9b91-f0de-ae011b5e98c4', 0, 0, 0, 'The priest of the village knows the widow.', 'ac919d20-6ad5-80c6-c03c-f7469057c81c'),
	(1, 'bcf83155-bcda-c14c-f78f-237a158e2a27', '83943c9b-b767-8dcc-2e58-cfeabb72cab0', 0, 0, 0, 'The reeve of the village knows the priest.', '44359cab-04bb-bd35-8395-469160a2281a'),
	(1, 'cf6f1498-8c08-846b-c237-9b2a85a6bacf', '6079cb86-a600-c1b9-78ab-4a7efe0f0686', 0, 0, 0, 'The reeve of the village knows the widow.', 'a5fe1d36-8a25-444d-77da-d1ddc73c2023'),
	(1, '6a2ed070-0af1-15bf-018a-bb112cae0959', '33acd6db-1aed-29ce-b683-10000abe33c1', 0, 0, 0, 'The smith of the village knows the priest.', '0ca13ccb-ba65-62ec-ab16-9bb8f37ee6be'),
	(1, '555a40da-a174-5bd9-6167-1acc2ec6d22b', '709b9e48-0a09-3793-e157-0e233b800dfc', 0, 0, 0, 'The smith of the village knows the reeve.', '76b76545-bcdf-a743-58f2-66773c94f19e'),
	(1, 'a5f37a48-e26f-4c29-d57b-38fd9004aa7b', '363ce4f0-a723-493f-8adf-3a773e3ddd15', 0, 0, 0, 'The smith of the village knows the widow.', 'e5b6f718-e98c-1f11-6ce1-6303460ccaf6'),
	(2, '5816f523-bef2-068a-2cfe-02a194d5e790', '0b06270b-13e0-691a-09f4-10beee2a6905', 0, 0, 0, 'The miller of the village knows the priest.', '2571efc9-ade6-050c-3c38-31227f54b892'),
	(2, '5aa77b25-0402-466d-7acf-6e5822ad676f', '93dd8f37-f0f1-dd8d-3c97-99847f595032', 0, 0, 0, 'The miller of the village knows the reeve.', '0ca065b3-81d0-de58-93fb-2dd396f26833'),
	(2, 'b0b61599-49ce-7a6c-f724-7b86509f9a91', 'e0a20070-28de-68d6-08e0-5a17629915c6', 0, 0, 0, 'The miller of the village knows the smith.', 'b9a75796-1dc5-a701-04eb-c2254b4cb09a'),
	(2, 'bcf83155-bcda-c14c-f78f-237a158e2a27', '83943c9b-b767-8dcc-2e58-cfeabb72cab0', 0, 0, 0, 'The reeve of the village knows the priest.', '44359cab-04bb-bd35-8395-469160a2281a'),
	(2, '6a2ed070-0af1-15bf-018a-bb112cae0959', '33acd6db-1aed-29ce-b683-10000abe33c1', 0, 0, 0, 'The smith of the village knows the priest.', '0ca13ccb-ba65-62ec-ab16-9bb8f37ee6be'),
	(2, '555a40da-a174-5bd9-6167-1acc2ec6d22b', '709b9e48-0a09-3793-e157-0e233b800dfc', 0, 0, 0, 'The smith of the village knows the reeve.', '76b76545-bcdf-a743-58f2-66773c94f19e');

INSERT INTO trueweave.chunk_words VALUES
	(1, '0b06270b-13e0-691a-09f4-10beee2a6905', '{8446395230819491592,8318476262319544787,3943946596804055211,-1118758820804383289,-7794109552766210706,-4860168211239991877}'),
	(1, '33acd6db-1aed-29ce-b683-10000abe33c1', '{9101296607320879956,8446395230819491592,8318476262319544787,-1118758820804383289,-7794109552766210706,-4860168211239991877}'),
	(1, '363ce4f0-a723-493f-8adf-3a773e3ddd15', '{6768537010729925510,9101296607320879956,8446395230819491592,8318476262319544787,-7794109552766210706,-4860168211239991877}'),
	(1, '6079cb86-a600-c1b9-78ab-4a7efe0f0686', '{6768537010729925510,8446395230819491592,8519287307015871945,8318476262319544787,-7794109552766210706,-4860168211239991877}'),
	(1, '6cd27d8b-8442-9b91-f0de-ae011b5e98c4', '{6768537010729925510,8446395230819491592,8318476262319544787,-1118758820804383289,-7794109552766210706,-4860168211239991877}'),
	(1, '709b9e48-0a09-3793-e157-0e233b800dfc', '{9101296607320879956,8446395230819491592,8519287307015871945,8318476262319544787,-7794109552766210706,-4860168211239991877}'),
	(1, '83943c9b-b767-8dcc-2e58-cfeabb72cab0', '{8446395230819491592,8519287307015871945,8318476262319544787,-1118758820804383289,-7794109552766210706,-4860168211239991877}'),
	(1, '93dd8f37-f0f1-dd8d-3c97-99847f595032', '{8446395230819491592,8519287307015871945,8318476262319544787,3943946596804055211,-7794109552766210706,-4860168211239991877}'),
	(1, 'dca6344f-4854-2afb-30bd-b46201fe6d03', '{6768537010729925510,8446395230819491592,8318476262319544787,3943946596804055211,-7794109552766210706,-4860168211239991877}'),
	(1, 'e0a20070-28de-68d6-08e0-5a17629915c6', '{9101296607320879956,8446395230819491592,8318476262319544787,3943946596804055211,-7794109552766210706,-4860168211239991877}'),
	(2, '0b06270b-13e0-691a-09f4-10beee2a6905', '{-8455548716426636104,-8295227415131680157,-3950798151670031589,1146476495564400247,7801789417911871198,4836147231944396299}'),
	(2, '33acd6db-1aed-29ce-b683-10000abe33c1', '{-9088816548747282204,-8455548716426636104,-8295227415131680157,1146476495564400247,7801789417911871198,4836147231944396299}'),
	(2, '709b9e48-0a09-3793-e157-0e233b800dfc', '{-9088816548747282204,-8455548716426636104,-8526771905703635335,-8295227415131680157,7801789417911871198,4836147231944396299}'),
	(2, '83943c9b-b767-8dcc-2e58-cfeabb72cab0', '{-8455548716426636104,-8526771905703635335,-8295227415131680157,1146476495564400247,7801789417911871198,4836147231944396299}'),
	(2, '93dd8f37-f0f1-dd8d-3c97-99847f595032', '{-8455548716426636104,-8526771905703635335,-8295227415131680157,-3950798151670031589,7801789417911871198,4836147231944396299}'),
	(2, 'e0a20070-28de-68d6-08e0-5a17629915c6', '{-9088816548747282204,-8455548716426636104,-8295227415131680157,-3950798151670031589,7801789417911871198,4836147231944396299}');

INSERT INTO trueweave.community VALUES
	(1, 0, 0, NULL, 'df50d90c-22ab-4da1-971b-941b5aec8ca4', '3740c2d3-f095-3573-d70a-98bf72536cfb', 0, 4, 6, 'c9870b2d-05fe-47af-ea55-930339567753', '2026-11-16 05:34:18.633188+00', '2026-11-16 05:34:18.633188+00');

INSERT INTO trueweave.corpus VALUES
	(1, 10, 40),
	(2, 6, 24);

INSERT INTO trueweave.document VALUES
	(1, '555a40da-a174-5bd9-6167-1acc2ec6d22b', 'smith-reeve', '', 'a62b54ab-bca8-40a8-9dc2-c2c2a92650b6', '{}', '[]', NULL, '{}', 3, true, true, '2026-11-16 05:34:18.140287+00', NULL),
	(1, '5816f523-bef2-068a-2cfe-02a194d5e790', 'miller-priest', '', '291e588e-fad2-3ee7-eef1-eea43b53a589', '{}', '[]', NULL, '{}', 3, true, true, '2026-11-16 05:34:18.140287+00', NULL),
	(1, '5aa77b25-0402-466d-7acf-6e5822ad676f', 'miller-reeve', '', 'dfe4fd65-3c07-4814-0178-2efac626153d', '{}', '[]', NULL, '{}', 3, true, true, '2026-11-16 05:34:18.140287+00', NULL),
	(1, '6a2ed070-0af1-15bf-018a-bb112cae0959', 'smith-priest', '', 'e84c0c31-5b6d-7a36-767e-98d72c910c70', '{}', '[]', NULL, '{}', 3, true, true, '2026-11-16 05:34:18.140287+00', NULL),
	(1, 'a5f37a48-e26f-4c29-d57b-38fd9004aa7b', 'smith-widow', '', 'df78e41a-3215-787f-87c7-9bf39182f46e', '{}', '[]', NULL, '{}', 3, true, true, '2026-11-16 05:34:18.140287+00', NULL),
	(1, 'a7dc542b-5a6e-611a-1766-30b66aaacde1', 'priest-widow', '', 'ff8b8f55-794e-6564-aa38-396639c7b110', '{}', '[]', NULL, '{}', 3, true, true, '2026-11-16 05:34:18.140287+00', NULL),
	(1, 'b0b61599-49ce-7a6c-f724-7b86509f9a91', 'miller-smith', '', 'aa3d713f-83c1-77de-4033-465b0f000ab7', '{}', '[]', NULL, '{}', 3, true, true, '2026-11-16 05:34:18.140287+00', NULL),
	(1, 'b8b59072-1650-aa0d-b9ea-3e5fb54df32f', 'miller-widow', '', '52756080-ca86-e193-cd04-dd0fc18d81f2', '{}', '[]', NULL, '{}', 3, true, true, '2026-11-16 05:34:18.140287+00', NULL),
	(1, 'bcf83155-bcda-c14c-f78f-237a158e2a27', 'reeve-priest', '', '5036d830-7690-c464-73d1-52fe31be0c9b', '{}', '[]', NULL, '{}', 3, true, true, '2026-11-16 05:34:18.140287+00', NULL),
	(1, 'cf6f1498-8c08-846b-c237-9b2a85a6bacf', 'reeve-widow', '', 'c3fcf05f-7750-4286-d355-656ac87e3388', '{}', '[]', NULL, '{}', 3, true, true, '2026-11-16 05:34:18.140287+00', NULL),
	(2, '555a40da-a174-5bd9-6167-1acc2ec6d22b', 'smith-reeve', '', 'a62b54ab-bca8-40a8-9dc2-c2c2a92650b6', '{}', '[]', NULL, '{}', 3, true, true, '2026-11-16 05:34:18.895251+00', NULL),
	(2, '5816f523-bef2-068a-2cfe-02a194d5e790', 'miller-priest', '', '291e588e-fad2-3ee7-eef1-eea43b53a589', '{}', '[]', NULL, '{}', 3, true, true, '2026-11-16 05:34:18.895251+00', NULL),
	(2, '5aa77b25-0402-466d-7acf-6e5822ad676f', 'miller-reeve', '', 'dfe4fd65-3c07-4814-0178-2efac626153d', '{}', '[]', NULL, '{}', 3, true, true, '2026-11-16 05:34:18.895251+00', NULL),
	(2, '6a2ed070-0af1-15bf-018a-bb112cae0959', 'smith-priest', '', 'e84c0c31-5b6d-7a36-767e-98d72c910c70', '{}', '[]', NULL, '{}', 3, true, true, '2026-11-16 05:34:18.895251+00', NULL),
	(2, 'b0b61599-49ce-7a6c-f724-7b86509f9a91', 'miller-smith', '', 'aa3d713f-83c1-77de-4033-465b0f000ab7', '{}', '[]', NULL, '{}', 3, true, true, '2026-11-16 05:34:18.895251+00', NULL),
	(2, 'bcf83155-bcda-c14c-f78f-237a158e2a27', 'reeve-priest', '', '5036d830-7690-c464-73d1-52fe31be0c9b', '{}', '[]', NULL, '{}', 3, true, true, '2026-11-16 05:34:18.895251+00', NULL);

INSERT INTO trueweave.entity VALUES
	(1, '65cea190-22a4-422a-8bc2-57c1af3b78b7', 'reeve', '', '', '{smith}', 8, '{0,0,0,0,8,0,0,0,0}', 3, 'e517d585-8f2a-5abf-c265-95210da1d5e3'),
	(1, '7e5f447f-76d7-449e-a372-11def111c105', 'miller', '', '', '{}', 4, '{0,0,0,0,4,0,0,0,0}', 3, '9574e337-9175-20ba-62ed-624e1f453226'),
	(1, '9e325192-3f11-491c-b975-aab2d1cecd67', 'priest', '', '', '{}', 4, '{0,0,0,0,4,0,0,0,0}', 3, '403b2440-6d47-26a4-3594-17d13a1a5ca4'),
	(1, '2ff0c4b4-fdec-4db3-9cdf-3d1e6e3ecdf1', 'widow', '', '', '{}', 4, '{0,0,0,0,4,0,0,0,0}', 3, 'b982ccdf-f164-44ae-2dfa-76b56a96a56d'),
	(2, '998cc69a-ab94-4eb1-8381-ad96f78127e9', 'smith', '', '', '{}', 3, '{0,0,0,0,3,0,0,0,0}', 3, '0f5407c8-48b5-49b6-636b-88952d9af4e5'),
	(2, '5ed8a1a3-b574-438e-8c5e-437e2ab03468', 'priest', '', '', '{}', 3, '{0,0,0,0,3,0,0,0,0}', 3, '403b2440-6d47-26a4-3594-17d13a1a5ca4'),
	(2, 'bf4b5a9e-a6f0-4f80-b8d3-35b697a7b54b', 'miller', '', '', '{}', 3, '{0,0,0,0,3,0,0,0,0}', 3, '9574e337-9175-20ba-62ed-624e1f453226'),
	(2, '0a38310e-aa47-4880-8bb4-0412d3d12770', 'reeve', '', '', '{}', 3, '{0,0,0,0,3,0,0,0,0}', 3, 'e517d585-8f2a-5abf-c265-95210da1d5e3');

INSERT INTO trueweave.hierarchy VALUES
	(1, 'graspologic-native 1.3.1, moving 1', 0, 1, 10, 7, 4, 0, 1, 0, '2026-11-16 05:34:18.633188+00', true);

INSERT INTO trueweave.job OVERRIDING SYSTEM VALUE VALUES
	(2, 3, 'document', 0, '\x5b5b2277616974696e67222c20226164383361363862643437633430343531643666343237383635343733383734225d5d', '2026-11-16 05:34:19.142584+00', NULL, NULL);

INSERT INTO trueweave.link VALUES
	(1, '5816f523-bef2-068a-2cfe-02a194d5e790', '0b06270b-13e0-691a-09f4-10beee2a6905', 0, '6a04db28-58bb-1231-04c8-845df9d45c03', '64701930-bcab-1915-413e-24cbe4f65c81', 'the miller knows the priest', '4c358cbb-b33b-31a8-2f11-b4d287cef875', '{}', 5, 5, '{}'),
	(1, '5aa77b25-0402-466d-7acf-6e5822ad676f', '93dd8f37-f0f1-dd8d-3c97-99847f595032', 0, '6a04db28-58bb-1231-04c8-845df9d45c03', '41883e1b-98a2-d815-b352-290116e202c2', 'the miller knows the reeve', 'de3a5306-550e-3390-ac51-a0500bccd88e', '{}', 5, 5, '{}'),
	(1, 'b0b61599-49ce-7a6c-f724-7b86509f9a91', 'e0a20070-28de-68d6-08e0-5a17629915c6', 0, '6a04db28-58bb-1231-04c8-845df9d45c03', '8bc79940-2edd-2499-5c4d-b0e08bc3271c', 'the miller knows the smith', '14ec8a8d-40b2-f373-e0a4-3f6ad38317ff', '{}', 5, 5, '{}'),
	(1, 'b8b59072-1650-aa0d-b9ea-3e5fb54df32f', 'dca6344f-4854-2afb-30bd-b46201fe6d03', 0, '6a04db28-58bb-1231-04c8-845df9d45c03', '3740c2d3-f095-3573-d70a-98bf72536cfb', 'the miller knows the widow', '50a35635-5e55-054a-5135-6aeb228320bc', '{}', 5, 5, '{}'),
	(1, 'a7dc542b-5a6e-611a-1766-30b66aaacde1', '6cd27d8b-8442-9b91-f0de-ae011b5e98c4', 0, '64701930-bcab-1915-413e-24cbe4f65c81', '3740c2d3-f095-3573-d70a-98bf72536cfb', 'the priest knows the widow', '5d502390-19ad-b049-e7ee-29024a1aab1d', '{}', 5, 5, '{}'),
	(1, 'bcf83155-bcda-c14c-f78f-237a158e2a27', '83943c9b-b767-8dcc-2e58-cfeabb72cab0', 0, '41883e1b-98a2-d815-b352-290116e202c2', '64701930-bcab-1915-413e-24cbe4f65c81', 'the reeve knows the priest', '34485f59-78c8-4af8-eb54-e6f08ea699fb', '{}', 5, 5, '{}'),
	(1, 'cf6f1498-8c08-846b-c237-9b2a85a6bacf', '6079cb86-a600-c1b9-78ab-4a7efe0f0686', 0, '41883e1b-98a2-d815-b352-290116e202c2', '3740c2d3-f095-3573-d70a-98bf72536cfb', 'the reeve knows the widow', 'a5ef0c59-0b09-72ef-b477-304f43692b0d', '{}', 5, 5, '{}'),
	(1, '6a2ed070-0af1-15bf-018a-bb112cae0959', '33acd6db-1aed-29ce-b683-10000abe33c1', 0, '8bc79940-2edd-2499-5c4d-b0e08bc3271c', '64701930-bcab-1915-413e-24cbe4f65c81', 'the smith knows the priest', 'c761a1bc-8c07-4a76-65d7-53a45e8ba045', '{}', 5, 5, '{}'),
	(1, '555a40da-a174-5bd9-6167-1acc2ec6d22b', '709b9e48-0a09-3793-e157-0e233b800dfc', 0, '8bc79940-2edd-2499-5c4d-b0e08bc3271c', '41883e1b-98a2-d815-b352-290116e202c2', 'the smith knows the reeve', '40032ab7-d20f-141a-e282-4ad687a9aef4', '{}', 5, 5, '{}'),
	(1, 'a5f37a48-e26f-4c29-d57b-38fd9004aa7b', '363ce4f0-a723-493f-8adf-3a773e3ddd15', 0, '8bc79940-2edd-2499-5c4d-b0e08bc3271c', '3740c2d3-f095-3573-d70a-98bf72536cfb', 'the smith knows the widow', 'b42eb171-8e53-9f0e-7738-6cc103ced82f', '{}', 5, 5, '{}'),
	(2, '5816f523-bef2-068a-2cfe-02a194d5e790', '0b06270b-13e0-691a-09f4-10beee2a6905', 0, '6a04db28-58bb-1231-04c8-845df9d45c03', '64701930-bcab-1915-413e-24cbe4f65c81', 'the miller knows the priest', '4c358cbb-b33b-31a8-2f11-b4d287cef875', '{}', 5, 5, '{}'),
	(2, '5aa77b25-0402-466d-7acf-6e5822ad676f', '93dd8f37-f0f1-dd8d-3c97-99847f595032', 0, '6a04db28-58bb-1231-04c8-845df9d45c03', '41883e1b-98a2-d815-b352-290116e202c2', 'the miller knows the reeve', 'de3a5306-550e-3390-ac51-a0500bccd88e', '{}', 5, 5, '{}'),
	(2, 'b0b61599-49ce-7a6c-f724-7b86509f9a91', 'e0a20070-28de-68d6-08e0-5a17629915c6', 0, '6a04db28-58bb-1231-04c8-845df9d45c03', '8bc79940-2edd-2499-5c4d-b0e08bc3271c', 'the miller knows the smith', '14ec8a8d-40b2-f373-e0a4-3f6ad38317ff', '{}', 5, 5, '{}'),
	(2, 'bcf83155-bcda-c14c-f78f-237a158e2a27', '83943c9b-b767-8dcc-2e58-cfeabb72cab0', 0, '41883e1b-98a2-d815-b352-290116e202c2', '64701930-bcab-1915-413e-24cbe4f65c81', 'the reeve knows the priest', '34485f59-78c8-4af8-eb54-e6f08ea699fb', '{}', 5, 5, '{}'),
	(2, '6a2ed070-0af1-15bf-018a-bb112cae0959', '33acd6db-1aed-29ce-b683-10000abe33c1', 0, '8bc79940-2edd-2499-5c4d-b0e08bc3271c', '64701930-bcab-1915-413e-24cbe4f65c81', 'the smith knows the priest', 'c761a1bc-8c07-4a76-65d7-53a45e8ba045', '{}', 5, 5, '{}'),
	(2, '555a40da-a174-5bd9-6167-1acc2ec6d22b', '709b9e48-0a09-3793-e157-0e233b800dfc', 0, '8bc79940-2edd-2499-5c4d-b0e08bc3271c', '41883e1b-98a2-d815-b352-290116e202c2', 'the smith knows the reeve', '40032ab7-d20f-141a-e282-4ad687a9aef4', '{}', 5, 5, '{}');

INSERT INTO trueweave.member VALUES
	(1, '2ff0c4b4-fdec-4db3-9cdf-3d1e6e3ecdf1', 0),
	(1, '65cea190-22a4-422a-8bc2-57c1af3b78b7', 0),
	(1, '9e325192-3f11-491c-b975-aab2d1cecd67', 0),
	(1, '7e5f447f-76d7-449e-a372-11def111c105', 0);

INSERT INTO trueweave.mention VALUES
	(1, '5816f523-bef2-068a-2cfe-02a194d5e790', '0b06270b-13e0-691a-09f4-10beee2a6905', 0, '6a04db28-58bb-1231-04c8-845df9d45c03', 'miller', '', '', '74c4b9cc-52e7-815e-838d-5f00cb957fc7', 5, '{}'),
	(1, '5816f523-bef2-068a-2cfe-02a194d5e790', '0b06270b-13e0-691a-09f4-10beee2a6905', 1, '64701930-bcab-1915-413e-24cbe4f65c81', 'priest', '', '', '74c4b9cc-52e7-815e-838d-5f00cb957fc7', 5, '{}'),
	(1, '5aa77b25-0402-466d-7acf-6e5822ad676f', '93dd8f37-f0f1-dd8d-3c97-99847f595032', 0, '6a04db28-58bb-1231-04c8-845df9d45c03', 'miller', '', '', '74c4b9cc-52e7-815e-838d-5f00cb957fc7', 5, '{}'),
	(1, '5aa77b25-0402-466d-7acf-6e5822ad676f', '93dd8f37-f0f1-dd8d-3c97-99847f595032', 1, '41883e1b-98a2-d815-b352-290116e202c2', 'reeve', '', '', '74c4b9cc-52e7-815e-838d-5f00cb957fc7', 5, '{}'),
	(1, 'b0b61599-49ce-7a6c-f724-7b86509f9a91', 'e0a20070-28de-68d6-08e0-5a17629915c6', 0, '6a04db28-58bb-1231-04c8-845df9d45c03', 'miller', '', '', '74c4b9cc-52e7-815e-838d-5f00cb957fc7', 5, '{}'),
	(1, 'b0b61599-49ce-7a6c-f724-7b86509f9a91', 'e0a20070-28de-68d6-08e0-5a17629915c6', 1, '8bc79940-2edd-2499-5c4d-b0e08bc3271c', 'smith', '', '', '74c4b9cc-52e7-815e-838d-5f00cb957fc7', 5, '{}'),
	(1, 'b8b59072-1650-aa0d-b9ea-3e5fb54df32f', 'dca6344f-4854-2afb-30bd-b46201fe6d03', 0, '6a04db28-58bb-1231-04c8-845df9d45c03', 'miller', '', '', '74c4b9cc-52e7-815e-838d-5f00cb957fc7', 5, '{}'),
	(1, 'b8b59072-1650-aa0d-b9ea-3e5fb54df32f', 'dca6344f-4854-2afb-30bd-b46201fe6d03', 1, '3740c2d3-f095-3573-d70a-98bf72536cfb', 'widow', '', '', '74c4b9cc-52e7-815e-838d-5f00cb957fc7', 5, '{}'),
	(1, 'a7dc542b-5a6e-611a-1766-30b66aaacde1', '6cd27d8b-8442-9b91-f0de-ae011b5e98c4', 0, '64701930-bcab-1915-413e-24cbe4f65c81', 'priest', '', '', '74c4b9cc-52e7-815e-838d-5f00cb957fc7', 5, '{}'),
	(1, 'a7dc542b-5a6e-611a-1766-30b66aaacde1', '6cd27d8b-8442-9b91-f0de-ae011b5e98c4', 1, '3740c2d3-f095-3573-d70a-98bf72536cfb', 'widow', '', '', '74c4b9cc-52e7-815e-838d-5f00cb957fc7', 5, '{}'),
	(1, 'bcf83155-bcda-c14c-f78f-237a158e2a27', '83943c9b-b767-8dcc-2e58-cfeabb72cab0', 0, '41883e1b-98a2-d815-b352-290116e202c2', 'reeve', '', '', '74c4b9cc-52e7-815e-838d-5f00cb957fc7', 5, '{}'),
	(1, 'bcf83155-bcda-c14c-f78f-237a158e2a27', '83943c9b-b767-8dcc-2e58-cfeabb72cab0', 1, '64701930-bcab-1915-413e-24cbe4f65c81', 'priest', '', '', '74c4b9cc-52e7-815e-838d-5f00cb957fc7', 5, '{}'),
	(1, 'cf6f1498-8c08-846b-c237-9b2a85a6bacf', '6079cb86-a600-c1b9-78ab-4a7efe0f0686', 0, '41883e1b-98a2-d815-b352-290116e202c2', 'reeve', '', '', '74c4b9cc-52e7-815e-838d-5f00cb957fc7', 5, '{}'),
	(1, 'cf6f1498-8c08-846b-c237-9b2a85a6bacf', '6079cb86-a600-c1b9-78ab-4a7efe0f0686', 1, '3740c2d3-f095-3573-d70a-98bf72536cfb', 'widow', '', '', '74c4b9cc-52e7-815e-838d-5f00cb957fc7', 5, '{}'),
	(1, '6a2ed070-0af1-15bf-018a-bb112cae0959', '33acd6db-1aed-29ce-b683-10000abe33c1', 0, '8bc79940-2edd-2499-5c4d-b0e08bc3271c', 'smith', '', '', '74c4b9cc-52e7-815e-838d-5f00cb957fc7', 5, '{}'),
	(1, '6a2ed070-0af1-15bf-018a-bb112cae0959', '33acd6db-1aed-29ce-b683-10000abe33c1', 1, '64701930-bcab-1915-413e-24cbe4f65c81', 'priest', '', '', '74c4b9cc-52e7-815e-838d-5f00cb957fc7', 5, '{}'),
	(1, '555a40da-a174-5bd9-6167-1acc2ec6d22b', '709b9e48-0a09-3793-e157-0e233b800dfc', 0, '8bc79940-2edd-2499-5c4d-b0e08bc3271c', 'smith', '', '', '74c4b9cc-52e7-815e-838d-5f00cb957fc7', 5, '{}'),
	(1, '555a40da-a174-5bd9-6167-1acc2ec6d22b', '709b9e48-0a09-3793-e157-0e233b800dfc', 1, '41883e1b-98a2-d815-b352-290116e202c2', 'reeve', '', '', '74c4b9cc-52e7-815e-838d-5f00cb957fc7', 5, '{}'),
	(1, 'a5f37a48-e26f-4c29-d57b-38fd9004aa7b', '363ce4f0-a723-493f-8adf-3a773e3ddd15', 0, '8bc79940-2edd-2499-5c4d-b0e08bc3271c', 'smith', '', '', '74c4b9cc-52e7-815e-838d-5f00cb957fc7', 5, '{}'),
	(1, 'a5f37a48-e26f-4c29-d57b-38fd9004aa7b', '363ce4f0-a723-493f-8adf-3a773e3ddd15', 1, '3740c2d3-f095-3573-d70a-98bf72536cfb', 'widow', '', '', '74c4b9cc-52e7-815e-838d-5f00cb957fc7', 5, '{}'),
	(2, '5816f523-bef2-068a-2cfe-02a194d5e790', '0b06270b-13e0-691a-09f4-10beee2a6905', 0, '6a04db28-58bb-1231-04c8-845df9d45c03', 'miller', '', '', '74c4b9cc-52e7-815e-838d-5f00cb957fc7', 5, '{}'),
	(2, '5816f523-bef2-068a-2cfe-02a194d5e790', '0b06270b-13e0-691a-09f4-10beee2a6905', 1, '64701930-bcab-1915-413e-24cbe4f65c81', 'priest', '', '', '74c4b9cc-52e7-815e-838d-5f00cb957fc7', 5, '{}'),
	(2, '5aa77b25-0402-466d-7acf-6e5822ad676f', '93dd8f37-f0f1-dd8d-3c97-99847f595032', 0, '6a04db28-58bb-1231-04c8-845df9d45c03', 'miller', '', '', '74c4b9cc-52e7-815e-838d-5f00cb957fc7', 5, '{}'),
	(2, '5aa77b25-0402-466d-7acf-6e5822ad676f', '93dd8f37-f0f1-dd8d-3c97-99847f595032', 1, '41883e1b-98a2-d815-b352-290116e202c2', 'reeve', '', '', '74c4b9cc-52e7-815e-838d-5f00cb957fc7', 5, '{}'),
	(2, 'b0b61599-49ce-7a6c-f724-7b86509f9a91', 'e0a20070-28de-68d6-08e0-5a17629915c6', 0, '6a04db28-58bb-1231-04c8-845df9d45c03', 'miller', '', '', '74c4b9cc-52e7-815e-838d-5f00cb957fc7', 5, '{}'),
	(2, 'b0b61599-49ce-7a6c-f724-7b86509f9a91', 'e0a20070-28de-68d6-08e0-5a17629915c6', 1, '8bc79940-2edd-2499-5c4d-b0e08bc3271c', 'smith', '', '', '74c4b9cc-52e7-815e-838d-5f00cb957fc7', 5, '{}'),
	(2, 'bcf83155-bcda-c14c-f78f-237a158e2a27', '83943c9b-b767-8dcc-2e58-cfeabb72cab0', 0, '41883e1b-98a2-d815-b352-290116e202c2', 'reeve', '', '', '74c4b9cc-52e7-815e-838d-5f00cb957fc7', 5, '{}'),
	(2, 'bcf83155-bcda-c14c-f78f-237a158e2a27', '83943c9b-b767-8dcc-2e58-cfeabb72cab0', 1, '64701930-bcab-1915-413e-24cbe4f65c81', 'priest', '', '', '74c4b9cc-52e7-815e-838d-5f00cb957fc7', 5, '{}'),
	(2, '6a2ed070-0af1-15bf-018a-bb112cae0959', '33acd6db-1aed-29ce-b683-10000abe33c1', 0, '8bc79940-2edd-2499-5c4d-b0e08bc3271c', 'smith', '', '', '74c4b9cc-52e7-815e-838d-5f00cb957fc7', 5, '{}'),
	(2, '6a2ed070-0af1-15bf-018a-bb112cae0959', '33acd6db-1aed-29ce-b683-10000abe33c1', 1, '64701930-bcab-1915-413e-24cbe4f65c81', 'priest', '', '', '74c4b9cc-52e7-815e-838d-5f00cb957fc7', 5, '{}'),
	(2, '555a40da-a174-5bd9-6167-1acc2ec6d22b', '709b9e48-0a09-3793-e157-0e233b800dfc', 0, '8bc79940-2edd-2499-5c4d-b0e08bc3271c', 'smith', '', '', '74c4b9cc-52e7-815e-838d-5f00cb957fc7', 5, '{}'),
	(2, '555a40da-a174-5bd9-6167-1acc2ec6d22b', '709b9e48-0a09-3793-e157-0e233b800dfc', 1, '41883e1b-98a2-d815-b352-290116e202c2', 'reeve', '', '', '74c4b9cc-52e7-815e-838d-5f00cb957fc7', 5, '{}');

INSERT INTO trueweave.migration VALUES
	(1, '0001_workspace', false),
	(2, '0002_record', false),
	(3, '0003_view', false),
	(4, '0004_vectors', false),
	(5, '0005_languages', false),
	(6, '0006_text_search', false),
	(7, '0007_occurrences', false),
	(8, '0008_communities', false),
	(9, '0009_ingest', false),
	(10, '0010_queue', false);

INSERT INTO trueweave.name VALUES
	(1, '64701930-bcab-1915-413e-24cbe4f65c81', 'priest', '', 4, '{0,0,0,0,4,0,0,0,0}', '9e325192-3f11-491c-b975-aab2d1cecd67', 4428787770243005063, DEFAULT),
	(1, '6a04db28-58bb-1231-04c8-845df9d45c03', 'miller', '', 4, '{0,0,0,0,4,0,0,0,0}', '7e5f447f-76d7-449e-a372-11def111c105', -309376956234807317, DEFAULT),
	(1, '3740c2d3-f095-3573-d70a-98bf72536cfb', 'widow', '', 4, '{0,0,0,0,4,0,0,0,0}', '2ff0c4b4-fdec-4db3-9cdf-3d1e6e3ecdf1', -8006901748321538874, DEFAULT),
	(1, '8bc79940-2edd-2499-5c4d-b0e08bc3271c', 'smith', '', 4, '{0,0,0,0,4,0,0,0,0}', '65cea190-22a4-422a-8bc2-57c1af3b78b7', -5530098393195011052, DEFAULT),
	(1, '41883e1b-98a2-d815-b352-290116e202c2', 'reeve', '', 4, '{0,0,0,0,4,0,0,0,0}', '65cea190-22a4-422a-8bc2-57c1af3b78b7', -4956774959887168887, DEFAULT),
	(2, '8bc79940-2edd-2499-5c4d-b0e08bc3271c', 'smith', '', 3, '{0,0,0,0,3,0,0,0,0}', '998cc69a-ab94-4eb1-8381-ad96f78127e9', -5530098393195011052, DEFAULT),
	(2, '64701930-bcab-1915-413e-24cbe4f65c81', 'priest', '', 3, '{0,0,0,0,3,0,0,0,0}', '5ed8a1a3-b574-438e-8c5e-437e2ab03468', 4428787770243005063, DEFAULT),
	(2, '6a04db28-58bb-1231-04c8-845df9d45c03', 'miller', '', 3, '{0,0,0,0,3,0,0,0,0}', 'bf4b5a9e-a6f0-4f80-b8d3-35b697a7b54b', -309376956234807317, DEFAULT),
	(2, '41883e1b-98a2-d815-b352-290116e202c2', 'reeve', '', 3, '{0,0,0,0,3,0,0,0,0}', '0a38310e-aa47-4880-8bb4-0412d3d12770', -4956774959887168887, DEFAULT);

INSERT INTO trueweave.name_key VALUES
	(1, -4004012623566437568, '3740c2d3-f095-3573-d70a-98bf72536cfb', 72343604500103168),
	(1, -4004012625256447505, '41883e1b-98a2-d815-b352-290116e202c2', 38280871710556160),
	(1, -2676461623929327201, '64701930-bcab-1915-413e-24cbe4f65c81', 16330221573636096),
	(1, -2676461625464693482, '6a04db28-58bb-1231-04c8-845df9d45c03', 2362025854369792),
	(1, -4004012622123833365, '8bc79940-2edd-2499-5c4d-b0e08bc3271c', 13587764696055808),
	(2, -4004012625256447505, '41883e1b-98a2-d815-b352-290116e202c2', 38280871710556160),
	(2, -2676461623929327201, '64701930-bcab-1915-413e-24cbe4f65c81', 16330221573636096),
	(2, -2676461625464693482, '6a04db28-58bb-1231-04c8-845df9d45c03', 2362025854369792),
	(2, -4004012622123833365, '8bc79940-2edd-2499-5c4d-b0e08bc3271c', 13587764696055808);

INSERT INTO trueweave.name_pair VALUES
	(1, '64701930-bcab-1915-413e-24cbe4f65c81', '3740c2d3-f095-3573-d70a-98bf72536cfb', 1, 5, '{0,0,0,0,1,0,0,0,0}', '0cc2e3c3-8a39-3437-3765-e8cbad80b6e7'),
	(1, '6a04db28-58bb-1231-04c8-845df9d45c03', '3740c2d3-f095-3573-d70a-98bf72536cfb', 1, 5, '{0,0,0,0,1,0,0,0,0}', '339f1888-9ee5-f181-2e6c-2bd8d425a6df'),
	(1, '6a04db28-58bb-1231-04c8-845df9d45c03', '64701930-bcab-1915-413e-24cbe4f65c81', 1, 5, '{0,0,0,0,1,0,0,0,0}', 'fb9b6dd2-40ba-d8c8-2f27-c50fd9977947'),
	(1, '6a04db28-58bb-1231-04c8-845df9d45c03', '8bc79940-2edd-2499-5c4d-b0e08bc3271c', 1, 5, '{0,0,0,0,1,0,0,0,0}', '7a4a9191-65e6-8039-fe92-951a842aff4b'),
	(1, '8bc79940-2edd-2499-5c4d-b0e08bc3271c', '3740c2d3-f095-3573-d70a-98bf72536cfb', 1, 5, '{0,0,0,0,1,0,0,0,0}', '155a34c1-e5cc-930c-ff15-da567dc39629'),
	(1, '8bc79940-2edd-2499-5c4d-b0e08bc3271c', '64701930-bcab-1915-413e-24cbe4f65c81', 1, 5, '{0,0,0,0,1,0,0,0,0}', '09299866-6d28-0bc2-c506-fab0630030be'),
	(1, '41883e1b-98a2-d815-b352-290116e202c2', '3740c2d3-f095-3573-d70a-98bf72536cfb', 1, 5, '{0,0,0,0,1,0,0,0,0}', '155a34c1-e5cc-930c-ff15-da567dc39629'),
	(1, '41883e1b-98a2-d815-b352-290116e202c2', '64701930-bcab-1915-413e-24cbe4f65c81', 1, 5, '{0,0,0,0,1,0,0,0,0}', '09299866-6d28-0bc2-c506-fab0630030be'),
	(1, '6a04db28-58bb-1231-04c8-845df9d45c03', '41883e1b-98a2-d815-b352-290116e202c2', 1, 5, '{0,0,0,0,1,0,0,0,0}', '7a4a9191-65e6-8039-fe92-951a842aff4b'),
	(1, '8bc79940-2edd-2499-5c4d-b0e08bc3271c', '41883e1b-98a2-d815-b352-290116e202c2', 1, 5, '{0,0,0,0,1,0,0,0,0}', NULL),
	(2, '41883e1b-98a2-d815-b352-290116e202c2', '64701930-bcab-1915-413e-24cbe4f65c81', 1, 5, '{0,0,0,0,1,0,0,0,0}', 'cad98b38-25d4-ff62-27d8-74b33013c189'),
	(2, '6a04db28-58bb-1231-04c8-845df9d45c03', '41883e1b-98a2-d815-b352-290116e202c2', 1, 5, '{0,0,0,0,1,0,0,0,0}', '797b8c4d-6dc3-45dc-795e-8a1025072fef'),
	(2, '6a04db28-58bb-1231-04c8-845df9d45c03', '64701930-bcab-1915-413e-24cbe4f65c81', 1, 5, '{0,0,0,0,1,0,0,0,0}', 'a794a313-da58-6a1f-1179-314ade65e23c'),
	(2, '6a04db28-58bb-1231-04c8-845df9d45c03', '8bc79940-2edd-2499-5c4d-b0e08bc3271c', 1, 5, '{0,0,0,0,1,0,0,0,0}', '955ab382-f7b1-1271-e4ce-4af9f1469542'),
	(2, '8bc79940-2edd-2499-5c4d-b0e08bc3271c', '41883e1b-98a2-d815-b352-290116e202c2', 1, 5, '{0,0,0,0,1,0,0,0,0}', '958e40a1-6ad3-8049-4b51-d6486f2ae88f'),
	(2, '8bc79940-2edd-2499-5c4d-b0e08bc3271c', '64701930-bcab-1915-413e-24cbe4f65c81', 1, 5, '{0,0,0,0,1,0,0,0,0}', 'd1338b0b-37d2-d343-8928-2e3554566535');

INSERT INTO trueweave.outbox OVERRIDING SYSTEM VALUE VALUES
	(1, 1, '775', 'document', false, '{5816f523-bef2-068a-2cfe-02a194d5e790,5aa77b25-0402-466d-7acf-6e5822ad676f,b0b61599-49ce-7a6c-f724-7b86509f9a91,b8b59072-1650-aa0d-b9ea-3e5fb54df32f,a7dc542b-5a6e-611a-1766-30b66aaacde1,bcf83155-bcda-c14c-f78f-237a158e2a27,cf6f1498-8c08-846b-c237-9b2a85a6bacf,6a2ed070-0af1-15bf-018a-bb112cae0959,555a40da-a174-5bd9-6167-1acc2ec6d22b,a5f37a48-e26f-4c29-d57b-38fd9004aa7b}', '2026-11-16 05:34:18.222985+00'),
	(1, 2, '775', 'chunk', false, '{0b06270b-13e0-691a-09f4-10beee2a6905,33acd6db-1aed-29ce-b683-10000abe33c1,363ce4f0-a723-493f-8adf-3a773e3ddd15,6079cb86-a600-c1b9-78ab-4a7efe0f0686,6cd27d8b-8442-9b91-f0de-ae011b5e98c4,709b9e48-0a09-3793-e157-0e233b800dfc,83943c9b-b767-8dcc-2e58-cfeabb72cab0,93dd8f37-f0f1-dd8d-3c97-99847f595032,dca6344f-4854-2afb-30bd-b46201fe6d03,e0a20070-28de-68d6-08e0-5a17629915c6}', '2026-11-16 05:34:18.222985+00'),
	(1, 3, '775', 'entity', false, '{9e325192-3f11-491c-b975-aab2d1cecd67,7e5f447f-76d7-449e-a372-11def111c105,2ff0c4b4-fdec-4db3-9cdf-3d1e6e3ecdf1,65cea190-22a4-422a-8bc2-57c1af3b78b7,e9ec1942-321c-4cdf-aceb-e886d8d0fbba}', '2026-11-16 05:34:18.222985+00'),
	(1, 4, '775', 'relation', false, '{25f6b78c-0aa8-9bd4-4f07-69643026fd73,9bb9ac10-9f50-407b-f79c-1e42df579652,0cc2e3c3-8a39-3437-3765-e8cbad80b6e7,339f1888-9ee5-f181-2e6c-2bd8d425a6df,968605c7-803f-112e-05e3-0483bebbc870,fb9b6dd2-40ba-d8c8-2f27-c50fd9977947,7a4a9191-65e6-8039-fe92-951a842aff4b,155a34c1-e5cc-930c-ff15-da567dc39629,f2775d03-b3a7-95ff-5d7f-0856bdaf0148,09299866-6d28-0bc2-c506-fab0630030be}', '2026-11-16 05:34:18.222985+00'),
	(1, 5, '781', 'document', false, '{f38757ca-cd92-3c6b-0d79-5cfa9e7a9034}', '2026-11-16 05:34:18.374471+00'),
	(1, 6, '781', 'chunk', false, '{0e0b95c2-030c-d2f6-b320-014c5c2302bc}', '2026-11-16 05:34:18.374471+00'),
	(1, 7, '781', 'entity', false, '{f51f2be6-9939-4992-b341-14435898fc8a}', '2026-11-16 05:34:18.374471+00'),
	(1, 8, '786', 'document', true, '{f38757ca-cd92-3c6b-0d79-5cfa9e7a9034}', '2026-11-16 05:34:18.467736+00'),
	(1, 9, '786', 'chunk', true, '{0e0b95c2-030c-d2f6-b320-014c5c2302bc}', '2026-11-16 05:34:18.467736+00'),
	(1, 10, '786', 'entity', true, '{f51f2be6-9939-4992-b341-14435898fc8a}', '2026-11-16 05:34:18.467736+00'),
	(1, 11, '793', 'entity', false, '{65cea190-22a4-422a-8bc2-57c1af3b78b7,7e5f447f-76d7-449e-a372-11def111c105,9e325192-3f11-491c-b975-aab2d1cecd67,2ff0c4b4-fdec-4db3-9cdf-3d1e6e3ecdf1}', '2026-11-16 05:34:18.588157+00'),
	(1, 12, '793', 'entity', true, '{e9ec1942-321c-4cdf-aceb-e886d8d0fbba}', '2026-11-16 05:34:18.588157+00'),
	(1, 13, '793', 'relation', false, '{7a4a9191-65e6-8039-fe92-951a842aff4b,155a34c1-e5cc-930c-ff15-da567dc39629,09299866-6d28-0bc2-c506-fab0630030be}', '2026-11-16 05:34:18.588157+00'),
	(1, 14, '793', 'relation', true, '{968605c7-803f-112e-05e3-0483bebbc870,9bb9ac10-9f50-407b-f79c-1e42df579652,25f6b78c-0aa8-9bd4-4f07-69643026fd73,f2775d03-b3a7-95ff-5d7f-0856bdaf0148}', '2026-11-16 05:34:18.588157+00'),
	(2, 15, '811', 'document', false, '{5816f523-bef2-068a-2cfe-02a194d5e790,5aa77b25-0402-466d-7acf-6e5822ad676f,b0b61599-49ce-7a6c-f724-7b86509f9a91,bcf83155-bcda-c14c-f78f-237a158e2a27,6a2ed070-0af1-15bf-018a-bb112cae0959,555a40da-a174-5bd9-6167-1acc2ec6d22b}', '2026-11-16 05:34:18.965976+00'),
	(2, 16, '811', 'chunk', false, '{0b06270b-13e0-691a-09f4-10beee2a6905,33acd6db-1aed-29ce-b683-10000abe33c1,709b9e48-0a09-3793-e157-0e233b800dfc,83943c9b-b767-8dcc-2e58-cfeabb72cab0,93dd8f37-f0f1-dd8d-3c97-99847f595032,e0a20070-28de-68d6-08e0-5a17629915c6}', '2026-11-16 05:34:18.965976+00'),
	(2, 17, '811', 'entity', false, '{998cc69a-ab94-4eb1-8381-ad96f78127e9,5ed8a1a3-b574-438e-8c5e-437e2ab03468,bf4b5a9e-a6f0-4f80-b8d3-35b697a7b54b,0a38310e-aa47-4880-8bb4-0412d3d12770}', '2026-11-16 05:34:18.965976+00'),
	(2, 18, '811', 'relation', false, '{cad98b38-25d4-ff62-27d8-74b33013c189,797b8c4d-6dc3-45dc-795e-8a1025072fef,a794a313-da58-6a1f-1179-314ade65e23c,955ab382-f7b1-1271-e4ce-4af9f1469542,958e40a1-6ad3-8049-4b51-d6486f2ae88f,d1338b0b-37d2-d343-8928-2e3554566535}', '2026-11-16 05:34:18.965976+00');

INSERT INTO trueweave.own_table VALUES
	(2, 1, 'chunk', true),
	(2, 1, 'entity', true),
	(2, 1, 'relation', true);

INSERT INTO trueweave.phrase VALUES
	(1, -8006901748321538874, 'widow', -8006901748321538874, 1, 0),
	(1, -4956774959887168887, 'reeve', -4956774959887168887, 1, 0),
	(1, 4428787770243005063, 'priest', 4428787770243005063, 1, 0),
	(1, -309376956234807317, 'miller', -309376956234807317, 1, 0),
	(1, -5530098393195011052, 'smith', -5530098393195011052, 1, 0),
	(2, 4428787770243005063, 'priest', 4428787770243005063, 1, 0),
	(2, -5530098393195011052, 'smith', -5530098393195011052, 1, 0),
	(2, -309376956234807317, 'miller', -309376956234807317, 1, 0),
	(2, -4956774959887168887, 'reeve', -4956774959887168887, 1, 0);

INSERT INTO trueweave.phrase_count VALUES
	(1, '26b8b847-0a07-0deb-3ed3-b567f264fae7', 'd', 'a5ef0c59-0b09-72ef-b477-304f43692b0d', 'the reeve knows the widow', 1),
	(1, '1dda1615-9de3-56bd-667a-1ff1ec21027e', 'd', '34485f59-78c8-4af8-eb54-e6f08ea699fb', 'the reeve knows the priest', 1),
	(1, 'f8c2bae9-e518-62d1-66b6-cf59e8bdd897', 'd', '5d502390-19ad-b049-e7ee-29024a1aab1d', 'the priest knows the widow', 1),
	(1, 'a7224e46-21de-f7c5-de53-23ec3a793fc9', 'd', '50a35635-5e55-054a-5135-6aeb228320bc', 'the miller knows the widow', 1),
	(1, 'c493af38-98fc-8e3c-b585-67af488570d0', 'd', 'de3a5306-550e-3390-ac51-a0500bccd88e', 'the miller knows the reeve', 1),
	(1, '3b76496f-6075-4b05-12f4-ff53230ea162', 'd', '4c358cbb-b33b-31a8-2f11-b4d287cef875', 'the miller knows the priest', 1),
	(1, '140e02fe-181a-df0c-4511-2e7e512715c6', 'd', '14ec8a8d-40b2-f373-e0a4-3f6ad38317ff', 'the miller knows the smith', 1),
	(1, '22efb23a-f1cc-8e83-c857-d753d867aebe', 'd', 'b42eb171-8e53-9f0e-7738-6cc103ced82f', 'the smith knows the widow', 1),
	(1, '78963a7d-1baa-0eee-96e1-b092c4226819', 'd', '40032ab7-d20f-141a-e282-4ad687a9aef4', 'the smith knows the reeve', 1),
	(1, 'f1a720de-d5c2-d885-8e4f-e84488e6c369', 'd', 'c761a1bc-8c07-4a76-65d7-53a45e8ba045', 'the smith knows the priest', 1),
	(2, '1dda1615-9de3-56bd-667a-1ff1ec21027e', 'd', '34485f59-78c8-4af8-eb54-e6f08ea699fb', 'the reeve knows the priest', 1),
	(2, 'c493af38-98fc-8e3c-b585-67af488570d0', 'd', 'de3a5306-550e-3390-ac51-a0500bccd88e', 'the miller knows the reeve', 1),
	(2, '3b76496f-6075-4b05-12f4-ff53230ea162', 'd', '4c358cbb-b33b-31a8-2f11-b4d287cef875', 'the miller knows the priest', 1),
	(2, '140e02fe-181a-df0c-4511-2e7e512715c6', 'd', '14ec8a8d-40b2-f373-e0a4-3f6ad38317ff', 'the miller knows the smith', 1),
	(2, '78963a7d-1baa-0eee-96e1-b092c4226819', 'd', '40032ab7-d20f-141a-e282-4ad687a9aef4', 'the smith knows the reeve', 1),
	(2, 'f1a720de-d5c2-d885-8e4f-e84488e6c369', 'd', 'c761a1bc-8c07-4a76-65d7-53a45e8ba045', 'the smith knows the priest', 1);

INSERT INTO trueweave.relation VALUES
	(1, '0cc2e3c3-8a39-3437-3765-e8cbad80b6e7', '9e325192-3f11-491c-b975-aab2d1cecd67', '2ff0c4b4-fdec-4db3-9cdf-3d1e6e3ecdf1', 'priest', 'widow', 'the priest knows the widow', '{}', 5, 1, '{0,0,0,0,1,0,0,0,0}', '4c788df2-a2e3-cb4a-53db-af3a59306bea'),
	(1, '339f1888-9ee5-f181-2e6c-2bd8d425a6df', '7e5f447f-76d7-449e-a372-11def111c105', '2ff0c4b4-fdec-4db3-9cdf-3d1e6e3ecdf1', 'miller', 'widow', 'the miller knows the widow', '{}', 5, 1, '{0,0,0,0,1,0,0,0,0}', 'fb4b4526-8ded-0d2f-2440-f5a2985dad47'),
	(1, 'fb9b6dd2-40ba-d8c8-2f27-c50fd9977947', '7e5f447f-76d7-449e-a372-11def111c105', '9e325192-3f11-491c-b975-aab2d1cecd67', 'miller', 'priest', 'the miller knows the priest', '{}', 5, 1, '{0,0,0,0,1,0,0,0,0}', '79fdcf6f-a61c-2e21-0d1e-99998f590d22'),
	(1, '7a4a9191-65e6-8039-fe92-951a842aff4b', '7e5f447f-76d7-449e-a372-11def111c105', '65cea190-22a4-422a-8bc2-57c1af3b78b7', 'miller', 'reeve', 'the miller knows the smith
the miller knows the reeve', '{}', 10, 2, '{0,0,0,0,2,0,0,0,0}', '9eb1c5a9-0d3e-fd89-423a-22d8ea657d09'),
	(1, '155a34c1-e5cc-930c-ff15-da567dc39629', '65cea190-22a4-422a-8bc2-57c1af3b78b7', '2ff0c4b4-fdec-4db3-9cdf-3d1e6e3ecdf1', 'reeve', 'widow', 'the reeve knows the widow
the smith knows the widow', '{}', 10, 2, '{0,0,0,0,2,0,0,0,0}', 'fb7893df-b504-1b65-e087-4fdd18f82f06'),
	(1, '09299866-6d28-0bc2-c506-fab0630030be', '65cea190-22a4-422a-8bc2-57c1af3b78b7', '9e325192-3f11-491c-b975-aab2d1cecd67', 'reeve', 'priest', 'the reeve knows the priest
the smith knows the priest', '{}', 10, 2, '{0,0,0,0,2,0,0,0,0}', 'bea4be8b-8293-d68f-1997-865e12bda24b'),
	(2, 'cad98b38-25d4-ff62-27d8-74b33013c189', '0a38310e-aa47-4880-8bb4-0412d3d12770', '5ed8a1a3-b574-438e-8c5e-437e2ab03468', 'reeve', 'priest', 'the reeve knows the priest', '{}', 5, 1, '{0,0,0,0,1,0,0,0,0}', '29c4c319-5936-c1c2-a8d6-ccefe0566e21'),
	(2, '797b8c4d-6dc3-45dc-795e-8a1025072fef', 'bf4b5a9e-a6f0-4f80-b8d3-35b697a7b54b', '0a38310e-aa47-4880-8bb4-0412d3d12770', 'miller', 'reeve', 'the miller knows the reeve', '{}', 5, 1, '{0,0,0,0,1,0,0,0,0}', '2031156e-8c50-e73f-ce0b-fe87f1567e8d'),
	(2, 'a794a313-da58-6a1f-1179-314ade65e23c', 'bf4b5a9e-a6f0-4f80-b8d3-35b697a7b54b', '5ed8a1a3-b574-438e-8c5e-437e2ab03468', 'miller', 'priest', 'the miller knows the priest', '{}', 5, 1, '{0,0,0,0,1,0,0,0,0}', '79fdcf6f-a61c-2e21-0d1e-99998f590d22'),
	(2, '955ab382-f7b1-1271-e4ce-4af9f1469542', 'bf4b5a9e-a6f0-4f80-b8d3-35b697a7b54b', '998cc69a-ab94-4eb1-8381-ad96f78127e9', 'miller', 'smith', 'the miller knows the smith', '{}', 5, 1, '{0,0,0,0,1,0,0,0,0}', '68ca145f-d700-7b46-0fd5-cfc909e44bfe'),
	(2, '958e40a1-6ad3-8049-4b51-d6486f2ae88f', '998cc69a-ab94-4eb1-8381-ad96f78127e9', '0a38310e-aa47-4880-8bb4-0412d3d12770', 'smith', 'reeve', 'the smith knows the reeve', '{}', 5, 1, '{0,0,0,0,1,0,0,0,0}', '23a7d2ab-80e8-6482-36cd-b96345d0afde'),
	(2, 'd1338b0b-37d2-d343-8928-2e3554566535', '998cc69a-ab94-4eb1-8381-ad96f78127e9', '5ed8a1a3-b574-438e-8c5e-437e2ab03468', 'smith', 'priest', 'the smith knows the priest', '{}', 5, 1, '{0,0,0,0,1,0,0,0,0}', '4efd0684-5ab8-45e6-9044-8103376b65bb');

INSERT INTO trueweave.report VALUES
	(1, 'df50d90c-22ab-4da1-971b-941b5aec8ca4', 'c9870b2d-05fe-47af-ea55-930339567753', 'miller, priest, reeve and 1 more', '4 entities with 6 relations between them, most of them round miller. The miller of the village knows the priest. The reeve of the village knows the widow.', 2, 'By its size alone, 4 entities: no model has judged it.', '[{"text": "The miller of the village knows the priest.", "chunks": ["0b06270b-13e0-691a-09f4-10beee2a6905"], "summary": "miller, priest", "entities": ["7e5f447f-76d7-449e-a372-11def111c105", "9e325192-3f11-491c-b975-aab2d1cecd67"], "relations": ["fb9b6dd2-40ba-d8c8-2f27-c50fd9977947"]}, {"text": "The reeve of the village knows the widow.", "chunks": ["6079cb86-a600-c1b9-78ab-4a7efe0f0686"], "summary": "reeve, widow", "entities": ["65cea190-22a4-422a-8bc2-57c1af3b78b7", "2ff0c4b4-fdec-4db3-9cdf-3d1e6e3ecdf1"], "relations": ["155a34c1-e5cc-930c-ff15-da567dc39629"]}, {"text": "The miller of the village knows the smith.", "chunks": ["e0a20070-28de-68d6-08e0-5a17629915c6"], "summary": "miller, reeve", "entities": ["7e5f447f-76d7-449e-a372-11def111c105", "65cea190-22a4-422a-8bc2-57c1af3b78b7"], "relations": ["7a4a9191-65e6-8039-fe92-951a842aff4b"]}, {"text": "The miller of the village knows the widow.", "chunks": ["dca6344f-4854-2afb-30bd-b46201fe6d03"], "summary": "miller, widow", "entities": ["7e5f447f-76d7-449e-a372-11def111c105", "2ff0c4b4-fdec-4db3-9cdf-3d1e6e3ecdf1"], "relations": ["339f1888-9ee5-f181-2e6c-2bd8d425a6df"]}, {"text": "The reeve of the village knows the priest.", "chunks": ["83943c9b-b767-8dcc-2e58-cfeabb72cab0"], "summary": "priest, reeve", "entities": ["9e325192-3f11-491c-b975-aab2d1cecd67", "65cea190-22a4-422a-8bc2-57c1af3b78b7"], "relations": ["09299866-6d28-0bc2-c506-fab0630030be"]}]', '', '', '4cea5ecd-6542-8914-ff5e-d20bc57c8f5f', '2026-11-16 05:34:18.747253+00');

INSERT INTO trueweave.rule OVERRIDING SYSTEM VALUE VALUES
	(1, '59516c20-03ab-4034-83eb-612f9973b069', 1, 'merge', '', '2026-11-16 05:34:18.546385+00');

INSERT INTO trueweave.rule_name VALUES
	(1, '59516c20-03ab-4034-83eb-612f9973b069', '41883e1b-98a2-d815-b352-290116e202c2', 'reeve', '', DEFAULT),
	(1, '59516c20-03ab-4034-83eb-612f9973b069', '8bc79940-2edd-2499-5c4d-b0e08bc3271c', 'smith', '', DEFAULT);

INSERT INTO trueweave.source VALUES
	(2, 'waiting', 'ad83a68b-d47c-4045-1d6f-427865473874', '', 'Ada met Bob in London.', '{}', '[]', '{"model": "", "pipeline": "", "extractor": "capitals", "entity_types": {}, "max_gleaning": 1, "chunk_overlap": 0, "max_chunk_size": 800, "min_chunk_size": 400, "max_reply_tokens": 4096, "max_paths_per_chunk": 20}', 0, 0, NULL, false, '2026-11-16 05:34:19.142584+00', '{}');

INSERT INTO trueweave.space OVERRIDING SYSTEM VALUE VALUES
	(1, 'testing/hash', 8, 'cosine');

INSERT INTO trueweave.text_language VALUES
	(1, 'english', 10),
	(2, 'english', 6);

INSERT INTO trueweave.vector_1_chunk VALUES
	(1, '0b06270b-13e0-691a-09f4-10beee2a6905', '2571efc9-ade6-050c-3c38-31227f54b892', '[0,0,-0.42651367,-0.21325684,0,0,-0.85302734,-0.21325684]'),
	(1, '33acd6db-1aed-29ce-b683-10000abe33c1', '0ca13ccb-ba65-62ec-ab16-9bb8f37ee6be', '[0,0,-0.53466797,0,0,0,-0.8017578,-0.26733398]'),
	(1, '363ce4f0-a723-493f-8adf-3a773e3ddd15', 'e5b6f718-e98c-1f11-6ce1-6303460ccaf6', '[0.26733398,0,-0.53466797,0,0,0,-0.8017578,0]'),
	(1, '6079cb86-a600-c1b9-78ab-4a7efe0f0686', 'a5fe1d36-8a25-444d-77da-d1ddc73c2023', '[0.25,0,-0.5,-0.25,0,0,-0.75,-0.25]'),
	(1, '6cd27d8b-8442-9b91-f0de-ae011b5e98c4', 'ac919d20-6ad5-80c6-c03c-f7469057c81c', '[0.25,0,-0.5,-0.25,0,0,-0.75,-0.25]'),
	(1, '709b9e48-0a09-3793-e157-0e233b800dfc', '76b76545-bcdf-a743-58f2-66773c94f19e', '[0,0,-0.53466797,0,0,0,-0.8017578,-0.26733398]'),
	(1, '83943c9b-b767-8dcc-2e58-cfeabb72cab0', '44359cab-04bb-bd35-8395-469160a2281a', '[0,0,-0.47143555,-0.23571777,0,0,-0.70703125,-0.47143555]'),
	(1, '93dd8f37-f0f1-dd8d-3c97-99847f595032', '0ca065b3-81d0-de58-93fb-2dd396f26833', '[0,0,-0.42651367,-0.21325684,0,0,-0.85302734,-0.21325684]'),
	(1, 'dca6344f-4854-2afb-30bd-b46201fe6d03', '55ca4b87-48fe-30e2-3eae-364f1c8193db', '[0.21325684,0,-0.42651367,-0.21325684,0,0,-0.85302734,0]'),
	(1, 'e0a20070-28de-68d6-08e0-5a17629915c6', 'b9a75796-1dc5-a701-04eb-c2254b4cb09a', '[0,0,-0.44726562,0,0,0,-0.89453125,0]');

INSERT INTO trueweave.vector_1_chunk_2 VALUES
	(2, '0b06270b-13e0-691a-09f4-10beee2a6905', '2571efc9-ade6-050c-3c38-31227f54b892', '[0,0,-0.42651367,-0.21325684,0,0,-0.85302734,-0.21325684]'),
	(2, '33acd6db-1aed-29ce-b683-10000abe33c1', '0ca13ccb-ba65-62ec-ab16-9bb8f37ee6be', '[0,0,-0.53466797,0,0,0,-0.8017578,-0.26733398]'),
	(2, '709b9e48-0a09-3793-e157-0e233b800dfc', '76b76545-bcdf-a743-58f2-66773c94f19e', '[0,0,-0.53466797,0,0,0,-0.8017578,-0.26733398]'),
	(2, '83943c9b-b767-8dcc-2e58-cfeabb72cab0', '44359cab-04bb-bd35-8395-469160a2281a', '[0,0,-0.47143555,-0.23571777,0,0,-0.70703125,-0.47143555]'),
	(2, '93dd8f37-f0f1-dd8d-3c97-99847f595032', '0ca065b3-81d0-de58-93fb-2dd396f26833', '[0,0,-0.42651367,-0.21325684,0,0,-0.85302734,-0.21325684]'),
	(2, 'e0a20070-28de-68d6-08e0-5a17629915c6', 'b9a75796-1dc5-a701-04eb-c2254b4cb09a', '[0,0,-0.44726562,0,0,0,-0.89453125,0]');

INSERT INTO trueweave.vector_1_community VALUES
	(1, 'df50d90c-22ab-4da1-971b-941b5aec8ca4', '4cea5ecd-6542-8914-ff5e-d20bc57c8f5f', '[0.28857422,0,-0.48120117,-0.19250488,0.09625244,-0.19250488,-0.77001953,-0.09625244]');

INSERT INTO trueweave.vector_1_entity VALUES
	(1, '2ff0c4b4-fdec-4db3-9cdf-3d1e6e3ecdf1', 'b982ccdf-f164-44ae-2dfa-76b56a96a56d', '[1,0,0,0,0,0,0,0]'),
	(1, '7e5f447f-76d7-449e-a372-11def111c105', '9574e337-9175-20ba-62ed-624e1f453226', '[0,0,0,0,0,0,-1,0]'),
	(1, '9e325192-3f11-491c-b975-aab2d1cecd67', '403b2440-6d47-26a4-3594-17d13a1a5ca4', '[0,0,0,0,0,0,0,-1]'),
	(1, '65cea190-22a4-422a-8bc2-57c1af3b78b7', 'e517d585-8f2a-5abf-c265-95210da1d5e3', '[0,0,0,0,0,0,0,-1]');

INSERT INTO trueweave.vector_1_entity_2 VALUES
	(2, '0a38310e-aa47-4880-8bb4-0412d3d12770', 'e517d585-8f2a-5abf-c265-95210da1d5e3', '[0,0,0,0,0,0,0,-1]'),
	(2, '5ed8a1a3-b574-438e-8c5e-437e2ab03468', '403b2440-6d47-26a4-3594-17d13a1a5ca4', '[0,0,0,0,0,0,0,-1]'),
	(2, '998cc69a-ab94-4eb1-8381-ad96f78127e9', '0f5407c8-48b5-49b6-636b-88952d9af4e5', '[0,0,0,1,0,0,0,0]'),
	(2, 'bf4b5a9e-a6f0-4f80-b8d3-35b697a7b54b', '9574e337-9175-20ba-62ed-624e1f453226', '[0,0,0,0,0,0,-1,0]');

INSERT INTO trueweave.vector_1_relation VALUES
	(1, '0cc2e3c3-8a39-3437-3765-e8cbad80b6e7', '4c788df2-a2e3-cb4a-53db-af3a59306bea', '[0.5546875,0,0,-0.27734375,0,0,-0.5546875,-0.5546875]'),
	(1, '339f1888-9ee5-f181-2e6c-2bd8d425a6df', 'fb4b4526-8ded-0d2f-2440-f5a2985dad47', '[0.43652344,0,0,-0.21826172,0,0,-0.8730469,0]'),
	(1, 'fb9b6dd2-40ba-d8c8-2f27-c50fd9977947', '79fdcf6f-a61c-2e21-0d1e-99998f590d22', '[0,0,0,-0.21826172,0,0,-0.8730469,-0.43652344]'),
	(1, '09299866-6d28-0bc2-c506-fab0630030be', 'bea4be8b-8293-d68f-1997-865e12bda24b', '[0,0,0,-0.15429688,0,0,-0.6171875,-0.7714844]'),
	(1, '155a34c1-e5cc-930c-ff15-da567dc39629', 'fb7893df-b504-1b65-e087-4fdd18f82f06', '[0.54785156,0,0,-0.18261719,0,0,-0.73046875,-0.36523438]'),
	(1, '7a4a9191-65e6-8039-fe92-951a842aff4b', '9eb1c5a9-0d3e-fd89-423a-22d8ea657d09', '[0,0,0,-0.1361084,0,0,-0.9526367,-0.2722168]');

INSERT INTO trueweave.vector_1_relation_2 VALUES
	(2, '797b8c4d-6dc3-45dc-795e-8a1025072fef', '2031156e-8c50-e73f-ce0b-fe87f1567e8d', '[0,0,0,-0.21826172,0,0,-0.8730469,-0.43652344]'),
	(2, '955ab382-f7b1-1271-e4ce-4af9f1469542', '68ca145f-d700-7b46-0fd5-cfc909e44bfe', '[0,0,0,0.24255371,0,0,-0.97021484,0]'),
	(2, '958e40a1-6ad3-8049-4b51-d6486f2ae88f', '23a7d2ab-80e8-6482-36cd-b96345d0afde', '[0,0,0,0.33325195,0,0,-0.6665039,-0.6665039]'),
	(2, 'a794a313-da58-6a1f-1179-314ade65e23c', '79fdcf6f-a61c-2e21-0d1e-99998f590d22', '[0,0,0,-0.21826172,0,0,-0.8730469,-0.43652344]'),
	(2, 'cad98b38-25d4-ff62-27d8-74b33013c189', '29c4c319-5936-c1c2-a8d6-ccefe0566e21', '[0,0,0,-0.21826172,0,0,-0.43652344,-0.8730469]'),
	(2, 'd1338b0b-37d2-d343-8928-2e3554566535', '4efd0684-5ab8-45e6-9044-8103376b65bb', '[0,0,0,0.33325195,0,0,-0.6665039,-0.6665039]');

INSERT INTO trueweave.view_version VALUES
	(1, 7),
	(2, 2);

INSERT INTO trueweave.word VALUES
	(1, -8617936771351124240, 11, 4),
	(1, -2582875687789743024, 11, 4),
	(1, -2320419614872272432, 11, 4),
	(1, -994210805175936976, 11, 10),
	(1, -377218946308018176, 11, 4),
	(1, 1222929597087253200, 11, 10),
	(1, 8931915272584016992, 11, 4),
	(2, -2582875687789743024, 11, 3),
	(2, -2320419614872272432, 11, 3),
	(2, -994210805175936976, 11, 6),
	(2, -377218946308018176, 11, 3),
	(2, 1222929597087253200, 11, 6),
	(2, 8931915272584016992, 11, 3);

INSERT INTO trueweave.workspace OVERRIDING SYSTEM VALUE VALUES
	(1, 'village', 'exact', 90, 'name_and_type', 1, '2026-11-16 05:34:18.064935+00', false, NULL, NULL, NULL, 0, '{}'),
	(2, 'large', 'exact', 90, 'name_and_type', 1, '2026-11-16 05:34:18.844396+00', false, NULL, NULL, NULL, 0, '{}');

SELECT pg_catalog.setval('trueweave.erasure_id_seq', 1, true);

SELECT pg_catalog.setval('trueweave.job_id_seq', 3, true);

SELECT pg_catalog.setval('trueweave.outbox_position_seq', 18, true);

SELECT pg_catalog.setval('trueweave.pending_link_position_seq', 29, true);

SELECT pg_catalog.setval('trueweave.process_id_seq', 1, true);

SELECT pg_catalog.setval('trueweave.rule_ordinal_seq', 1, true);

SELECT pg_catalog.setval('trueweave.space_id_seq', 1, true);

SELECT pg_catalog.setval('trueweave.workspace_id_seq', 2, true);

ALTER TABLE ONLY trueweave.alike
    ADD CONSTRAINT alike_pkey PRIMARY KEY (workspace, a, b);

ALTER TABLE ONLY trueweave.bm25_index
    ADD CONSTRAINT bm25_index_pkey PRIMARY KEY (workspace, chunk);

ALTER TABLE ONLY trueweave.budget
    ADD CONSTRAINT budget_pkey PRIMARY KEY (workspace);

ALTER TABLE ONLY trueweave.chunk
    ADD CONSTRAINT chunk_pkey PRIMARY KEY (workspace, document, id);

ALTER TABLE ONLY trueweave.chunk_words
    ADD CONSTRAINT chunk_words_pkey PRIMARY KEY (workspace, chunk);

ALTER TABLE ONLY trueweave.community
    ADD CONSTRAINT community_pkey PRIMARY KEY (workspace, n);

ALTER TABLE ONLY trueweave.corpus
    ADD CONSTRAINT corpus_pkey PRIMARY KEY (workspace);

ALTER TABLE ONLY trueweave.dirty_name
    ADD CONSTRAINT dirty_name_pkey PRIMARY KEY (workspace, name);

ALTER TABLE ONLY trueweave.document
    ADD CONSTRAINT document_pkey PRIMARY KEY (workspace, id);

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

ALTER TABLE ONLY trueweave.job
    ADD CONSTRAINT job_pkey PRIMARY KEY (workspace, id);

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

ALTER TABLE ONLY trueweave.outbox
    ADD CONSTRAINT outbox_pkey PRIMARY KEY (workspace, "position");

ALTER TABLE ONLY trueweave.own_table
    ADD CONSTRAINT own_table_pkey PRIMARY KEY (workspace, space, kind);

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

ALTER TABLE ONLY trueweave.suggestion
    ADD CONSTRAINT suggestion_pkey PRIMARY KEY (workspace, n);

ALTER TABLE ONLY trueweave.summary
    ADD CONSTRAINT summary_pkey PRIMARY KEY (workspace, hash);

ALTER TABLE ONLY trueweave.text_language
    ADD CONSTRAINT text_language_pkey PRIMARY KEY (workspace, language);

ALTER TABLE ONLY trueweave.vector_1_chunk_2
    ADD CONSTRAINT vector_1_chunk_2_pkey PRIMARY KEY (workspace, id);

ALTER TABLE ONLY trueweave.vector_1_chunk
    ADD CONSTRAINT vector_1_chunk_pkey PRIMARY KEY (workspace, id);

ALTER TABLE ONLY trueweave.vector_1_community
    ADD CONSTRAINT vector_1_community_pkey PRIMARY KEY (workspace, id);

ALTER TABLE ONLY trueweave.vector_1_entity_2
    ADD CONSTRAINT vector_1_entity_2_pkey PRIMARY KEY (workspace, id);

ALTER TABLE ONLY trueweave.vector_1_entity
    ADD CONSTRAINT vector_1_entity_pkey PRIMARY KEY (workspace, id);

ALTER TABLE ONLY trueweave.vector_1_relation_2
    ADD CONSTRAINT vector_1_relation_2_pkey PRIMARY KEY (workspace, id);

ALTER TABLE ONLY trueweave.vector_1_relation
    ADD CONSTRAINT vector_1_relation_pkey PRIMARY KEY (workspace, id);

ALTER TABLE ONLY trueweave.view_version
    ADD CONSTRAINT view_version_pkey PRIMARY KEY (workspace);

ALTER TABLE ONLY trueweave.word
    ADD CONSTRAINT word_pkey PRIMARY KEY (workspace, word, tier);

ALTER TABLE ONLY trueweave.work_lease
    ADD CONSTRAINT work_lease_pkey PRIMARY KEY (workspace, kind, subject);

ALTER TABLE ONLY trueweave.workspace
    ADD CONSTRAINT workspace_name_key UNIQUE (name);

ALTER TABLE ONLY trueweave.workspace
    ADD CONSTRAINT workspace_pkey PRIMARY KEY (id);

CREATE INDEX bm25_index_keys ON trueweave.bm25_index USING gin (keys) WITH (fastupdate=off);

CREATE INDEX chunk_copies ON trueweave.chunk USING btree (text_hash, id, workspace);

CREATE INDEX chunk_id ON trueweave.chunk USING btree (id, workspace);

CREATE INDEX chunk_text ON trueweave.chunk USING btree (text_hash, workspace);

CREATE INDEX chunk_words_index ON trueweave.chunk_words USING gin (words) WITH (fastupdate=off);

CREATE UNIQUE INDEX community_id ON trueweave.community USING btree (id, workspace);

CREATE INDEX community_level ON trueweave.community USING btree (level, workspace);

CREATE INDEX community_parent ON trueweave.community USING btree (parent, workspace);

CREATE INDEX document_content ON trueweave.document USING btree (content_hash, added, workspace) WHERE current;

CREATE INDEX document_due ON trueweave.document USING btree (workspace, uri) WHERE (current <> visible);

CREATE UNIQUE INDEX document_uri ON trueweave.document USING btree (uri, workspace) WHERE current;

CREATE INDEX document_versions ON trueweave.document USING btree (uri, workspace);

CREATE INDEX entity_long ON trueweave.entity USING btree (text_hash, workspace) WHERE (length(description) > 2000);

CREATE INDEX facet_documents ON trueweave.facet USING btree (facet, document, workspace);

CREATE INDEX job_by_id ON trueweave.job USING btree (id) INCLUDE (workspace);

CREATE INDEX job_claimed ON trueweave.job USING btree (workspace, owner) WHERE (owner IS NOT NULL);

CREATE INDEX job_waiting ON trueweave.job USING btree (workspace, priority DESC, id) WHERE (owner IS NULL);

CREATE INDEX link_ends ON trueweave.link USING btree (source, target, strength DESC, chunk, workspace);

CREATE INDEX member_leaf ON trueweave.member USING btree (leaf, workspace);

CREATE INDEX mention_name ON trueweave.mention USING btree (name, emphasis DESC, chunk, workspace);

CREATE INDEX name_entity ON trueweave.name USING btree (entity, workspace);

CREATE INDEX name_pair_relation ON trueweave.name_pair USING btree (relation, workspace);

CREATE INDEX name_pair_target ON trueweave.name_pair USING btree (target, workspace);

CREATE INDEX name_phrase ON trueweave.name USING btree (phrase, workspace) WHERE (phrase IS NOT NULL);

CREATE INDEX name_written_hash ON trueweave.name USING btree (written_hash, workspace);

CREATE INDEX occurrence_phrase ON trueweave.occurrence USING btree (phrase, defines DESC, count DESC, chunk, workspace);

CREATE INDEX phrase_first ON trueweave.phrase USING btree (first, words DESC, workspace);

CREATE INDEX relation_long ON trueweave.relation USING btree (text_hash, workspace) WHERE (length(description) > 2000);

CREATE INDEX relation_source ON trueweave.relation USING btree (source, weight DESC, target, workspace);

CREATE INDEX relation_target ON trueweave.relation USING btree (target, weight DESC, source, workspace);

CREATE INDEX reply_document ON trueweave.reply USING btree (document, workspace) WHERE (document <> ''::text);

CREATE INDEX reply_text ON trueweave.reply USING btree (text_hash, workspace) WHERE (text_hash IS NOT NULL);

CREATE INDEX retired_community_gone ON trueweave.retired_community USING btree (gone, workspace);

CREATE INDEX rule_name_rule ON trueweave.rule_name USING btree (rule, workspace);

CREATE INDEX rule_name_written_hash ON trueweave.rule_name USING btree (written_hash, workspace) WHERE (written_hash IS NOT NULL);

CREATE INDEX source_failed ON trueweave.source USING btree (workspace, uri) WHERE failed;

CREATE INDEX spend_at ON trueweave.spend USING btree (workspace, at);

CREATE INDEX spend_document ON trueweave.spend USING btree (document, workspace) WHERE (document <> ''::text);

CREATE INDEX spend_open ON trueweave.spend USING btree (workspace, owner) WHERE (state = 'open'::text);

CREATE INDEX summary_due ON trueweave.summary USING btree (workspace, hash) WHERE (text IS NULL);

CREATE INDEX vector_1_chunk_2_hnsw ON trueweave.vector_1_chunk_2 USING hnsw (v public.halfvec_cosine_ops) WITH (m='16', ef_construction='128');

CREATE INDEX vector_1_entity_2_hnsw ON trueweave.vector_1_entity_2 USING hnsw (v public.halfvec_cosine_ops) WITH (m='16', ef_construction='128');

CREATE INDEX vector_1_relation_2_hnsw ON trueweave.vector_1_relation_2 USING hnsw (v public.halfvec_cosine_ops) WITH (m='16', ef_construction='128');

ALTER TABLE trueweave.alike ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.bm25_index ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.budget ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.chunk ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.chunk_words ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.community ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.corpus ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.dirty_name ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.document ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.entity ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.erasure ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.facet ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.failed_work ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.hierarchy ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.job ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.link ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.member ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.mention ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.name ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.name_key ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.name_pair ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.occurrence ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.outbox ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.own_table ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.pending_link ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.pending_match ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.phrase ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.phrase_count ENABLE ROW LEVEL SECURITY;

CREATE POLICY reader ON trueweave.alike AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.budget AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.chunk AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.community AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.corpus AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.dirty_name AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.document AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.entity AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.erasure AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.facet AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.failed_work AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.hierarchy AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.job AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.link AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.member AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.mention AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.name AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.name_key AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.name_pair AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.occurrence AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.outbox AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.own_table AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.pending_link AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.pending_match AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.phrase AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.phrase_count AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.recipe AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.rejection AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.relation AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.reply AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.report AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.retired_community AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.rule AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.rule_name AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.source AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.spend AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.stale_text AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.suggestion AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.summary AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.text_language AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.vector_1_chunk AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.vector_1_chunk_2 AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.vector_1_community AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.vector_1_entity AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.vector_1_entity_2 AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.vector_1_relation AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.vector_1_relation_2 AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.view_version AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.word AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.work_lease AS RESTRICTIVE TO trueweave_reader USING ((workspace = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

CREATE POLICY reader ON trueweave.workspace AS RESTRICTIVE TO trueweave_reader USING ((id = ANY (( SELECT trueweave.readable(CURRENT_USER) AS readable)::integer[])));

ALTER TABLE trueweave.recipe ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.rejection ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.relation ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.reply ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.report ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.retired_community ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.rule ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.rule_name ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.source ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.spend ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.stale_text ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.suggestion ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.summary ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.text_language ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.vector_1_chunk ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.vector_1_chunk_2 ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.vector_1_community ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.vector_1_entity ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.vector_1_entity_2 ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.vector_1_relation ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.vector_1_relation_2 ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.view_version ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.word ENABLE ROW LEVEL SECURITY;

ALTER TABLE trueweave.work_lease ENABLE ROW LEVEL SECURITY;

CREATE POLICY workspace ON trueweave.alike USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.budget USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.chunk USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.community USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.corpus USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.dirty_name USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.document USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.entity USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.erasure USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.facet USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.failed_work USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.hierarchy USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.job USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.link USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.member USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.mention USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.name USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.name_key USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.name_pair USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.occurrence USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.outbox USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.own_table USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.pending_link USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.pending_match USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.phrase USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.phrase_count USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.recipe USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.rejection USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.relation USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.reply USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.report USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.retired_community USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.rule USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.rule_name USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.source USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.spend USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.stale_text USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.suggestion USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.summary USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.text_language USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.vector_1_chunk USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.vector_1_chunk_2 USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.vector_1_community USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.vector_1_entity USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.vector_1_entity_2 USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.vector_1_relation USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.vector_1_relation_2 USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.view_version USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.word USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

CREATE POLICY workspace ON trueweave.work_lease USING ((workspace = (current_setting('trueweave.workspace'::text))::integer));

ALTER TABLE trueweave.workspace ENABLE ROW LEVEL SECURITY;

CREATE POLICY workspace ON trueweave.workspace USING ((id = (current_setting('trueweave.workspace'::text))::integer));

GRANT USAGE ON SCHEMA trueweave TO trueweave_app;
GRANT USAGE ON SCHEMA trueweave TO trueweave_reader;

REVOKE ALL ON FUNCTION trueweave.await_writers() FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.await_writers() TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.begin_drop() FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.begin_drop() TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.chunks_with(sizes bigint[], words bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.chunks_with(sizes bigint[], words bigint[]) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.claim_jobs(claimant integer, claimed_by bigint, most integer, after integer, limit_each integer, share integer, reclaim boolean, OUT workspace integer, OUT id bigint, OUT kind text, OUT payload bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.claim_jobs(claimant integer, claimed_by bigint, most integer, after integer, limit_each integer, share integer, reclaim boolean, OUT workspace integer, OUT id bigint, OUT kind text, OUT payload bytea) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.clear_chunk_words() FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.clear_chunk_words() TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.clear_space(of_space integer) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.clear_space(of_space integer) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.clear_text() FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.clear_text() TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.drop_workspace() FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.drop_workspace() TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.enter(entered integer, writing boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.enter(entered integer, writing boolean) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.expired_workspaces() FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.expired_workspaces() TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.facets(metadata jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.facets(metadata jsonb) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.finish_jobs(claimant integer, ids bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.finish_jobs(claimant integer, ids bigint[]) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.guard(guarded regclass, tenant text) FROM PUBLIC;

REVOKE ALL ON FUNCTION trueweave.guard_readers(guarded regclass, tenant text) FROM PUBLIC;

REVOKE ALL ON FUNCTION trueweave.index_own_table(of_space integer, of_kind text, is_indexed boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.index_own_table(of_space integer, of_kind text, is_indexed boolean) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.index_text(coming uuid[], going uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.index_text(coming uuid[], going uuid[]) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.is_alive(owner integer) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.is_alive(owner integer) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.language_of(said text, given text) FROM PUBLIC;

REVOKE ALL ON FUNCTION trueweave.make_own_table(of_space integer, of_kind text) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.make_own_table(of_space integer, of_kind text) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.make_space(of_model text, of_dimensions integer, of_metric text) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.make_space(of_model text, of_dimensions integer, of_metric text) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.make_temporary_workspace(named text, lasts interval) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.make_temporary_workspace(named text, lasts interval) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.make_vector_table(named text, dimensions integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION trueweave.make_workspace(base_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.make_workspace(base_name text) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.named_language(given text) FROM PUBLIC;

REVOKE ALL ON FUNCTION trueweave.odds_of(frequency double precision, length double precision) FROM PUBLIC;

REVOKE ALL ON FUNCTION trueweave.open_workspace(workspace_name text, make boolean, resolution text, OUT id integer, OUT has_space boolean, OUT settings jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.open_workspace(workspace_name text, make boolean, resolution text, OUT id integer, OUT has_space boolean, OUT settings jsonb) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.pairs_of(said text) FROM PUBLIC;

REVOKE ALL ON FUNCTION trueweave.places_of(places jsonb, first integer, behind integer) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.places_of(places jsonb, first integer, behind integer) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.question_words(question text) FROM PUBLIC;

REVOKE ALL ON FUNCTION trueweave.readable(who name) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.readable(who name) TO trueweave_reader;

REVOKE ALL ON FUNCTION trueweave.release_jobs(claimant integer, ids bigint[], delays interval[]) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.release_jobs(claimant integer, ids bigint[], delays interval[]) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.release_unknown_jobs(claimed_by bigint, known bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.release_unknown_jobs(claimed_by bigint, known bigint[]) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.search_text(question text, most integer, k1 double precision, b double precision, scope uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.search_text(question text, most integer, k1 double precision, b double precision, scope uuid[]) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.sketch_of(keys bigint[], weights double precision[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION trueweave.store_chunk_words(chunks uuid[], sizes bigint[], words bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.store_chunk_words(chunks uuid[], sizes bigint[], words bigint[]) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.term_coverage(question text, chunks uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.term_coverage(question text, chunks uuid[]) TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.text_lines() FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.text_lines() TO trueweave_app;

REVOKE ALL ON FUNCTION trueweave.tier_of(odds double precision) FROM PUBLIC;

REVOKE ALL ON FUNCTION trueweave.words_of(said text, language text) FROM PUBLIC;

REVOKE ALL ON FUNCTION trueweave.workspace_salt() FROM PUBLIC;

REVOKE ALL ON FUNCTION trueweave.workspaces_after(after integer, most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION trueweave.workspaces_after(after integer, most integer) TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.alike TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.budget TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.chunk TO trueweave_app;
GRANT SELECT ON TABLE trueweave.chunk TO trueweave_reader;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.community TO trueweave_app;
GRANT SELECT ON TABLE trueweave.community TO trueweave_reader;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.corpus TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.dirty_name TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.document TO trueweave_app;
GRANT SELECT ON TABLE trueweave.document TO trueweave_reader;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.entity TO trueweave_app;
GRANT SELECT ON TABLE trueweave.entity TO trueweave_reader;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.erasure TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.facet TO trueweave_app;
GRANT SELECT ON TABLE trueweave.facet TO trueweave_reader;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.failed_work TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.hierarchy TO trueweave_app;
GRANT SELECT ON TABLE trueweave.hierarchy TO trueweave_reader;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.job TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.link TO trueweave_app;
GRANT SELECT ON TABLE trueweave.link TO trueweave_reader;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.member TO trueweave_app;
GRANT SELECT ON TABLE trueweave.member TO trueweave_reader;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.mention TO trueweave_app;
GRANT SELECT ON TABLE trueweave.mention TO trueweave_reader;

GRANT SELECT ON TABLE trueweave.migration TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.name TO trueweave_app;
GRANT SELECT ON TABLE trueweave.name TO trueweave_reader;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.name_key TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.name_pair TO trueweave_app;
GRANT SELECT ON TABLE trueweave.name_pair TO trueweave_reader;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.occurrence TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.outbox TO trueweave_app;

GRANT SELECT ON TABLE trueweave.own_table TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.pending_link TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.pending_match TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.phrase TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.phrase_count TO trueweave_app;
GRANT SELECT ON TABLE trueweave.phrase_count TO trueweave_reader;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.process TO trueweave_app;

GRANT SELECT,INSERT,UPDATE ON TABLE trueweave.rate_limit TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.recipe TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.rejection TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.relation TO trueweave_app;
GRANT SELECT ON TABLE trueweave.relation TO trueweave_reader;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.reply TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.report TO trueweave_app;
GRANT SELECT ON TABLE trueweave.report TO trueweave_reader;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.retired_community TO trueweave_app;
GRANT SELECT ON TABLE trueweave.retired_community TO trueweave_reader;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.rule TO trueweave_app;
GRANT SELECT ON TABLE trueweave.rule TO trueweave_reader;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.rule_name TO trueweave_app;
GRANT SELECT ON TABLE trueweave.rule_name TO trueweave_reader;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.slot TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.source TO trueweave_app;

GRANT SELECT ON TABLE trueweave.space TO trueweave_app;
GRANT SELECT ON TABLE trueweave.space TO trueweave_reader;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.spend TO trueweave_app;

GRANT SELECT ON TABLE trueweave.stable_id TO trueweave_app;
GRANT SELECT ON TABLE trueweave.stable_id TO trueweave_reader;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.stale_text TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.suggestion TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.summary TO trueweave_app;
GRANT SELECT ON TABLE trueweave.summary TO trueweave_reader;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.text_language TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.vector_1_chunk TO trueweave_app;
GRANT SELECT ON TABLE trueweave.vector_1_chunk TO trueweave_reader;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.vector_1_chunk_2 TO trueweave_app;
GRANT SELECT ON TABLE trueweave.vector_1_chunk_2 TO trueweave_reader;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.vector_1_community TO trueweave_app;
GRANT SELECT ON TABLE trueweave.vector_1_community TO trueweave_reader;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.vector_1_entity TO trueweave_app;
GRANT SELECT ON TABLE trueweave.vector_1_entity TO trueweave_reader;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.vector_1_entity_2 TO trueweave_app;
GRANT SELECT ON TABLE trueweave.vector_1_entity_2 TO trueweave_reader;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.vector_1_relation TO trueweave_app;
GRANT SELECT ON TABLE trueweave.vector_1_relation TO trueweave_reader;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.vector_1_relation_2 TO trueweave_app;
GRANT SELECT ON TABLE trueweave.vector_1_relation_2 TO trueweave_reader;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.view_version TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.word TO trueweave_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE trueweave.work_lease TO trueweave_app;

GRANT SELECT,UPDATE ON TABLE trueweave.workspace TO trueweave_app;
GRANT SELECT ON TABLE trueweave.workspace TO trueweave_reader;
