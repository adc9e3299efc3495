-- Writes and refused requests of the server. See audit.py.

-- name: write
INSERT INTO audit_log (at, request, caller, method, route, workspace, status)
SELECT * FROM unnest(%(at)s::timestamptz[], %(requests)s::text[], %(callers)s::text[], %(methods)s::text[],
    %(routes)s::text[], %(workspaces)s::int[], %(statuses)s::smallint[])

-- name: prune
WITH old AS (DELETE FROM audit_log WHERE id IN (
    SELECT id FROM audit_log WHERE at < now() - %(kept)s::interval ORDER BY at LIMIT %(limit)s) RETURNING 1)
SELECT count(*) FROM old
