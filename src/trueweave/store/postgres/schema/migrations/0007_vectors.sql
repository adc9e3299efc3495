-- breaking
-- Embedding spaces: one set of vector tables for each (model, dimensions, metric). See docs/adr/0004-embedding-spaces.md
-- and docs/adr/0039-partitions.md.

CREATE TABLE space (
    id         int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    model      text NOT NULL,
    dimensions int NOT NULL CHECK (dimensions BETWEEN 1 AND 4000),
    metric     text NOT NULL CHECK (metric IN ('cosine', 'l2', 'inner')),
    UNIQUE (model, dimensions, metric)
);
COMMENT ON TABLE space IS 'The embedding spaces that exist. All workspaces share this table; it holds no tenant''s data.';
GRANT SELECT ON space TO trueweave_app, trueweave_reader;

CREATE TABLE own_table (
    workspace  int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    space      int NOT NULL,
    kind       text NOT NULL,
    indexed    boolean NOT NULL DEFAULT false,
    version    int NOT NULL,
    partitions int NOT NULL,
    state      text NOT NULL CHECK (state IN ('building', 'current', 'left')),
    left_at    timestamptz,
    name       text NOT NULL GENERATED ALWAYS AS (
        'vector_' || space::text || '_' || kind || '_' || workspace::text || '_v' || version::text) STORED,
    PRIMARY KEY (workspace, space, kind, version)
);
COMMENT ON TABLE own_table IS 'Workspaces whose vectors of a kind outgrew the shared table. Most of their vectors are in a table of their own, in hash partitions, each with an HNSW index once `indexed` is true. New vectors go to the shared table first and are moved in bulk. A table in state `building` is being filled to replace the `current` one; one in state `left` was replaced, and is kept for queries that still read it.';
CREATE UNIQUE INDEX own_table_current ON own_table (workspace, space, kind) WHERE state = 'current';
CREATE UNIQUE INDEX own_table_building ON own_table (workspace, space, kind) WHERE state = 'building';
SELECT guard('own_table');
REVOKE INSERT, UPDATE, DELETE ON own_table FROM trueweave_app;

CREATE TABLE removed_vector (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    space     int NOT NULL,
    kind      text NOT NULL,
    id        uuid NOT NULL,
    PRIMARY KEY (workspace, space, kind, id)
);
COMMENT ON TABLE removed_vector IS 'Vectors removed or replaced while a table is `building`. Their copies are deleted from it before it is used.';
SELECT guard('removed_vector');

CREATE FUNCTION make_vector_table(named text, dimensions int) RETURNS void
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
END $$;

-- The id of a space, created with its tables if it is new.
CREATE FUNCTION make_space(of_model text, of_dimensions int, of_metric text) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, public, pg_temp AS $$
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

-- The functions below run with the owner's rights, which may bypass row-level security, so each statement names the
-- workspace of the transaction.

-- Creates a vector table for the current workspace alone, with this many partitions, either for immediate use
-- ('current') or next to the one in use ('building'); returns its name. An existing table is kept, unless it is being
-- built with fewer partitions. To start building, the caller must hold the view lock, so that everybody who removes
-- vectors from now on knows about it.
CREATE FUNCTION make_own_table(of_space int, of_kind text, of_partitions int, of_state text) RETURNS text
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

-- Builds the HNSW index of one partition of the current workspace's own table, unless it exists. Readers continue;
-- removing vectors from this partition has to wait.
CREATE FUNCTION index_partition(of_name text, n int) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, public, pg_temp AS $$
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

-- Records that all partitions of the current workspace's own table have their indexes.
CREATE FUNCTION mark_indexed(of_name text) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = trueweave, public, pg_temp AS $$
    UPDATE own_table SET indexed = true
    WHERE workspace = current_setting('trueweave.workspace')::int AND name = of_name AND NOT indexed
$$;

-- Replaces the table in use by the one that was built. The old one is kept for those who still read it.
CREATE FUNCTION switch_own_table(of_space int, of_kind text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, public, pg_temp AS $$
DECLARE here constant int := current_setting('trueweave.workspace')::int;
BEGIN
    UPDATE own_table SET state = 'left', left_at = clock_timestamp()
    WHERE workspace = here AND space = of_space AND kind = of_kind AND state = 'current';
    UPDATE own_table SET state = 'current', indexed = true
    WHERE workspace = here AND space = of_space AND kind = of_kind AND state = 'building';
    DELETE FROM removed_vector WHERE workspace = here AND space = of_space AND kind = of_kind;
END $$;

-- Drops the current workspace's tables that were replaced longer ago than `kept`. A table that is being read stays
-- until the next time.
CREATE FUNCTION drop_left_tables(kept interval) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, public, pg_temp AS $$
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

-- Deletes the current workspace's vectors of a space, and its own tables for it.
CREATE FUNCTION clear_space(of_space int) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, public, pg_temp AS $$
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

REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA trueweave FROM PUBLIC;
GRANT EXECUTE ON FUNCTION make_space, make_own_table, index_partition, mark_indexed, switch_own_table, drop_left_tables, clear_space
    TO trueweave_app;
