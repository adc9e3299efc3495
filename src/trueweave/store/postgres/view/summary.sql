-- name: request
INSERT INTO summary (hash, kind, id)
SELECT * FROM unnest(%(hash)s::uuid[], %(kind)s::text[], %(id)s::uuid[])
ON CONFLICT (workspace, hash) DO UPDATE SET kind = excluded.kind, id = excluded.id WHERE summary.text IS NULL

-- name: due
SELECT s.hash, d.name, d.description, coalesce(d.text_hash = s.hash, false)
FROM (SELECT hash, kind, id FROM summary WHERE text IS NULL
      AND NOT EXISTS (SELECT FROM failed_work f WHERE f.kind = 'summary' AND f.subject IN ('', summary.hash::text))
      ORDER BY hash LIMIT %(limit)s) s
LEFT JOIN LATERAL (
    SELECT name, description, text_hash FROM entity WHERE s.kind = 'entity' AND id = s.id
    UNION ALL
    SELECT source_name || ' - ' || target_name, description, text_hash FROM relation
    WHERE s.kind = 'relation' AND id = s.id
    OFFSET 0) d ON true

-- name: keep
UPDATE summary s SET text = u.text FROM unnest(%(hashes)s::uuid[], %(texts)s::text[]) AS u (hash, text)
WHERE s.hash = u.hash AND s.text IS NULL RETURNING s.kind, s.id

-- name: drop
-- Summaries of descriptions that have changed are no longer needed.
DELETE FROM summary WHERE hash = ANY(%(hashes)s) AND text IS NULL

-- name: any_due
SELECT EXISTS (SELECT FROM summary s WHERE text IS NULL
    AND NOT EXISTS (SELECT FROM failed_work f WHERE f.kind = 'summary' AND f.subject IN ('', s.hash::text)))
