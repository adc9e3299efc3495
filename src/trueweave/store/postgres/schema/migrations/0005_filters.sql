-- breaking
-- What documents can be filtered by: the values of their metadata and, for ranges, their numbers and times. The code
-- writes the former when it stores a document, triggers write the latter.

-- A document's metadata as keys for lookup: one for each value, and for each value in a list, with its path.
CREATE FUNCTION facets(metadata jsonb) RETURNS SETOF uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
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

CREATE TABLE facet (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    document  uuid NOT NULL,
    facet     uuid NOT NULL,
    PRIMARY KEY (workspace, document, facet)
);
COMMENT ON TABLE facet IS 'The values that a version of a document can be filtered by.';
CREATE INDEX facet_documents ON facet (facet, document, workspace);

-- A time in seconds since 1970: a year, a month, a day or a time in ISO 8601, in UTC unless it has an offset. NULL for
-- any other text.
CREATE FUNCTION moment(written text) RETURNS numeric LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN pg_input_is_valid(whole, 'timestamptz') THEN extract(epoch FROM whole::timestamptz) END FROM (
        SELECT CASE
            WHEN written ~ '^\d{4}$' THEN written || '-01-01 UTC'
            WHEN written ~ '^\d{4}-\d{2}$' THEN written || '-01 UTC'
            WHEN written ~ '^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?)?$' THEN written || ' UTC'
            WHEN written ~ '^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}:?\d{2})$' THEN written
        END AS whole) AS w WHERE whole IS NOT NULL
$$;

-- A number's sort position, for lookups: comparing numerics is not leakproof, so no index could be used under row-level
-- security. Numbers with equal positions are compared directly.
CREATE FUNCTION place_of(value numeric) RETURNS float8 LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN abs(value) > 1e300 THEN sign(value)::float8 * 'Infinity'::float8
        WHEN abs(value) < 1e-300 THEN 0::float8
        ELSE value::float8 END
$$;

-- A document's metadata as numbers and times with their paths. A text that looks like a number counts as one.
CREATE FUNCTION ordered_facets(metadata jsonb) RETURNS TABLE (key uuid, value numeric)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
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
$$;

CREATE TABLE ordered_facet (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    document  uuid NOT NULL,
    key       uuid NOT NULL,
    place     float8 NOT NULL,
    value     numeric NOT NULL,
    PRIMARY KEY (workspace, document, key, value)
);
COMMENT ON TABLE ordered_facet IS 'The values that a version of a document can be filtered by as a range: numbers, and times in seconds since 1970.';
CREATE INDEX ordered_facet_documents ON ordered_facet (key, place, document, workspace);

CREATE FUNCTION keep_ordered_facets() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO trueweave.ordered_facet (document, key, place, value)
    SELECT came.id, f.key, trueweave.place_of(f.value), f.value
    FROM came CROSS JOIN LATERAL trueweave.ordered_facets(came.metadata) AS f WHERE came.metadata <> '{}';
    RETURN NULL;
END $$;

CREATE FUNCTION drop_ordered_facets() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM trueweave.ordered_facet WHERE document = ANY(ARRAY(SELECT id FROM gone WHERE metadata <> '{}'));
    RETURN NULL;
END $$;

CREATE TRIGGER keep_ordered_facets AFTER INSERT ON document REFERENCING NEW TABLE AS came
    FOR EACH STATEMENT EXECUTE FUNCTION keep_ordered_facets();
CREATE TRIGGER drop_ordered_facets AFTER DELETE ON document REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION drop_ordered_facets();

SELECT guard('facet'), guard('ordered_facet');
GRANT SELECT ON facet, ordered_facet TO trueweave_reader;
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA trueweave FROM PUBLIC;
GRANT EXECUTE ON FUNCTION facets, moment, place_of, ordered_facets TO trueweave_app;
