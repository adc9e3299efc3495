-- name: put
INSERT INTO access_rule (prefix, readers) VALUES (%(prefix)s, %(readers)s::text[])
ON CONFLICT (workspace, prefix) DO UPDATE SET readers = excluded.readers

-- name: others
SELECT count(*) FROM access_rule WHERE prefix <> %(prefix)s

-- name: remove
DELETE FROM access_rule WHERE prefix = %(prefix)s

-- name: page
SELECT prefix, readers FROM access_rule WHERE (%(after)s::text IS NULL OR prefix > %(after)s::text)
ORDER BY prefix LIMIT %(limit)s

-- name: keep
-- All versions: one that waits to be indexed becomes visible later.
SELECT keep_readers(ARRAY(
    SELECT id FROM document WHERE starts_with(uri, %(prefix)s) AND given_readers IS NULL))
