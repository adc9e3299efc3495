-- How many bytes of text a workspace holds. See storage.py.

-- name: used
SELECT coalesce(c.bytes, 0)::bigint + (SELECT coalesce(sum(octet_length(text)), 0)::bigint FROM source WHERE uri <> ALL(%(replaced)s::text[])), c.n
FROM (SELECT sum(bytes) AS bytes, count(*) AS n FROM stored_bytes) c

-- name: compact
WITH gone AS (
    DELETE FROM stored_bytes WHERE id = ANY(ARRAY(SELECT id FROM stored_bytes FOR UPDATE SKIP LOCKED)) RETURNING bytes)
INSERT INTO stored_bytes (bytes) SELECT sum(bytes) FROM gone HAVING count(*) > 0
