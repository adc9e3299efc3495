-- breaking
-- Embedding spaces: one set of vector tables for each (model, dimensions, metric). See docs/adr/0004-embedding-spaces.md.

CREATE TABLE space (
    id         int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    model      text NOT NULL,
    dimensions int NOT NULL CHECK (dimensions BETWEEN 1 AND 4000),
    metric     text NOT NULL CHECK (metric IN ('cosine', 'l2', 'inner')),
    UNIQUE (model, dimensions, metric)
);
COMMENT ON TABLE space IS 'The embedding spaces that exist. Shared by all workspaces; holds no one''s data.';
GRANT SELECT ON space TO trueweave_app, trueweave_reader;

CREATE TABLE own_table (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    space     int NOT NULL,
    kind      text NOT NULL,
    indexed   boolean NOT NULL DEFAULT false,
    PRIMARY KEY (workspace, space, kind)
);
COMMENT ON TABLE own_table IS 'Workspaces whose vectors of a kind outgrew the common table: most of them are in a table of their own, with an HNSW index once `indexed`; new ones arrive in the common table and follow in bulk.';
SELECT guard('own_table');
REVOKE INSERT, UPDATE, DELETE ON own_table FROM trueweave_app;

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
    -- In line, not in a side table: an exact scan reads every vector.
    EXECUTE format('ALTER TABLE %I ALTER v SET STORAGE PLAIN', named);
    PERFORM guard(named::regclass);
    EXECUTE format('GRANT SELECT ON %I TO trueweave_reader', named);
END $$;

-- The id of a space, made with its tables when it is new.
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

-- The functions below run with the owner's rights, which may be above row-level security: each of them names the
-- workspace of the transaction in every statement.

-- Gives the current workspace a vector table of its own beside the common one.
CREATE FUNCTION make_own_table(of_space int, of_kind text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, public, pg_temp AS $$
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

-- Builds the HNSW index of the current workspace's own vector table, or takes it away before much is put there.
-- Readers go on; writers of this table wait.
CREATE FUNCTION index_own_table(of_space int, of_kind text, is_indexed boolean) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, public, pg_temp AS $$
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

-- Takes the current workspace's vectors of a space away, and its own tables with them.
CREATE FUNCTION clear_space(of_space int) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, public, pg_temp AS $$
DECLARE here int := current_setting('trueweave.workspace')::int; kind text;
BEGIN
    FOREACH kind IN ARRAY ARRAY['chunk', 'entity', 'relation', 'community'] LOOP
        EXECUTE format('DELETE FROM %I WHERE workspace = %s', format('vector_%s_%s', of_space, kind), here);
        EXECUTE format('DROP TABLE IF EXISTS %I', format('vector_%s_%s_%s', of_space, kind, here));
    END LOOP;
    DELETE FROM own_table WHERE workspace = here AND space = of_space;
END $$;

REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA trueweave FROM PUBLIC;
GRANT EXECUTE ON FUNCTION make_space, make_own_table, index_own_table, clear_space TO trueweave_app;
