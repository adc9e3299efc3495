-- Documents that were submitted together. See ingest_jobs.py.

-- name: make
INSERT INTO ingest_job (id) VALUES (%(id)s)

-- name: note
WITH noted AS (
    INSERT INTO ingest_job_document (job, uri) SELECT %(id)s, uri FROM unnest(%(uris)s::text[]) AS u (uri)
    ON CONFLICT DO NOTHING RETURNING 1)
UPDATE ingest_job SET documents = documents + (SELECT count(*) FROM noted) WHERE id = %(id)s

-- name: refuse
UPDATE ingest_job SET refused = (refused || %(refused)s::text[])[:%(most)s] WHERE id = %(id)s

-- name: listed
-- Jobs, latest first, with the progress of their documents: by id, or those made before another job.
SELECT j.id, j.made, j.documents, j.refused, d.waiting, d.indexing, d.indexed, d.failed
FROM (SELECT * FROM ingest_job
      WHERE (%(id)s::uuid IS NULL OR id = %(id)s)
          AND (%(made)s::timestamptz IS NULL OR (made, id) < (%(made)s::timestamptz, %(before)s::uuid))
      ORDER BY made DESC, id DESC LIMIT %(limit)s) j
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE NOT s.failed) AS waiting, count(*) FILTER (WHERE s.failed) AS failed,
           count(*) FILTER (WHERE s.failed IS NULL AND NOT d.visible AND NOT d.off) AS indexing,
           count(*) FILTER (WHERE s.failed IS NULL AND (d.visible OR d.off)) AS indexed
    FROM ingest_job_document u
    LEFT JOIN LATERAL (SELECT failed FROM source WHERE uri = u.uri OFFSET 0) s ON true
    LEFT JOIN LATERAL (SELECT visible, off FROM document WHERE uri = u.uri AND current OFFSET 0) d ON true
    WHERE u.job = j.id) d
ORDER BY j.made DESC, j.id DESC

-- name: states
-- The states of documents: a submitted version overrides the stored one.
SELECT u.uri, CASE WHEN s.failed THEN 'failed' WHEN NOT s.failed THEN 'waiting' WHEN d.off THEN 'off'
           WHEN d.visible THEN 'indexed' ELSE 'indexing' END,
       coalesce(s.error, ''), (SELECT count(*)::int FROM chunk c WHERE c.document = d.id), coalesce(d.notes, '{}'), d.added
FROM unnest(%(uris)s::text[]) AS u (uri)
LEFT JOIN LATERAL (SELECT failed, error FROM source WHERE uri = u.uri OFFSET 0) s ON true
LEFT JOIN LATERAL (SELECT id, visible, off, notes, added FROM document WHERE uri = u.uri AND current OFFSET 0) d ON true
WHERE s.failed IS NOT NULL OR d.visible IS NOT NULL

-- name: documents
-- The documents of a job, by uri.
SELECT uri FROM ingest_job_document WHERE job = %(id)s AND uri > %(after)s ORDER BY uri LIMIT %(limit)s

-- name: forget_documents
DELETE FROM ingest_job_document WHERE uri = ANY(%(uris)s)

-- name: forget_old
WITH old AS (SELECT id FROM ingest_job WHERE made < now() - %(kept)s::interval LIMIT %(limit)s),
     documents AS (DELETE FROM ingest_job_document WHERE job IN (SELECT id FROM old)),
     jobs AS (DELETE FROM ingest_job WHERE id IN (SELECT id FROM old) RETURNING 1)
SELECT count(*) FROM jobs
