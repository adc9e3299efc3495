-- How many bytes of text a workspace holds. See storage.py.

-- name: used
SELECT coalesce(c.bytes, 0)::bigint + (SELECT coalesce(sum(octet_length(text)), 0)::bigint FROM source WHERE uri <> ALL(%(replaced)s::text[])), c.n
FROM (SELECT sum(bytes) AS bytes, count(*) AS n FROM stored_bytes) c

-- name: compact
WITH gone AS (
    DELETE FROM stored_bytes WHERE id = ANY(ARRAY(SELECT id FROM stored_bytes FOR UPDATE SKIP LOCKED)) RETURNING bytes)
INSERT INTO stored_bytes (bytes) SELECT sum(bytes) FROM gone HAVING count(*) > 0

-- name: index_bytes
-- A vector has two bytes for each dimension, and each chunk, entity and relation one vector.
SELECT (c.bytes + e.bytes + r.bytes + m.bytes + l.bytes + (c.n + e.n + r.n) * 2 * coalesce((
    SELECT dimensions FROM space WHERE id = (SELECT space FROM workspace)), 0))::bigint
FROM (SELECT count(*) AS n, coalesce(sum(pg_column_size(t)), 0) AS bytes FROM chunk t) c,
     (SELECT count(*) AS n, coalesce(sum(pg_column_size(t)), 0) AS bytes FROM entity t) e,
     (SELECT count(*) AS n, coalesce(sum(pg_column_size(t)), 0) AS bytes FROM relation t) r,
     (SELECT coalesce(sum(pg_column_size(t)), 0) AS bytes FROM mention t) m,
     (SELECT coalesce(sum(pg_column_size(t)), 0) AS bytes FROM link t) l
