-- Certificates of erasure: what is pending, and the search for what is left. See certificates.py and leftovers.py.

-- name: columns
-- Every column that could hold text or an id, with whether it may be read: all except numbers, times, truth values and
-- vectors. Taken from the catalogue, so that a new table or column is never left out.
SELECT c.relname, a.attname, t.typname, e.typname IS NOT NULL, has_column_privilege(c.oid, a.attnum, 'SELECT')
FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_type e ON e.oid = t.typelem AND t.typcategory = 'A'
WHERE s.nspname = 'trueweave' AND c.relkind IN ('r', 'p', 'm') AND NOT c.relispartition
    AND coalesce(e.typcategory, t.typcategory) NOT IN ('B', 'D', 'N', 'T')
    AND coalesce(e.typname, t.typname) NOT IN ('vector', 'halfvec', 'sparsevec', 'xid8', 'xid')
ORDER BY 1, a.attnum

-- name: documents
-- All versions of these documents, and those that wait to be processed.
SELECT d.uri, d.id, d.content_hash, d.source, d.title, NULL FROM document d WHERE d.uri = ANY(%(uris)s::text[])
UNION ALL
SELECT s.uri, s.id, NULL, NULL, s.title, s.text FROM source s WHERE s.uri = ANY(%(uris)s::text[])

-- name: chunks
SELECT c.document, c.id, c.text_hash, c.text FROM chunk c WHERE c.document = ANY(%(documents)s::uuid[])

-- name: note
INSERT INTO pending_certificate (request, secret, documents, view, sizes, windows, named, short, before)
VALUES (%(request)s, %(secret)s, %(documents)s, %(view)s, %(sizes)s, %(windows)s, %(named)s, %(short)s, %(before)s)
ON CONFLICT (workspace, request) DO UPDATE SET documents = excluded.documents, sizes = excluded.sizes,
    windows = excluded.windows, named = excluded.named, short = excluded.short, before = excluded.before

-- name: pending
SELECT secret, asked, documents, view, sizes, windows, named, short, before FROM pending_certificate
WHERE request = %(request)s

-- name: issued
DELETE FROM pending_certificate WHERE request = %(request)s

-- name: forget_old
-- Certificates that nobody asked for again.
WITH gone AS (
    DELETE FROM pending_certificate WHERE request = ANY(ARRAY(
        SELECT request FROM pending_certificate WHERE asked < now() - %(kept)s LIMIT %(limit)s)) RETURNING request)
SELECT count(*) FROM gone

-- name: moment
-- The name of the workspace, and the time.
SELECT name, clock_timestamp() FROM workspace

-- name: written
-- The position up to which this server has written its log.
SELECT pg_current_wal_lsn()::text

-- name: standbys
SELECT name, has_all FROM standby_reach(%(position)s::pg_lsn)
