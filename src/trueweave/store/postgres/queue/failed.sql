-- name: mark
INSERT INTO failed_work (kind, subject, label, error) VALUES (%(kind)s, %(subject)s, %(label)s, %(error)s)
ON CONFLICT (workspace, kind, subject) DO UPDATE
SET label = excluded.label, error = excluded.error, count = failed_work.count + 1, failed = now()

-- name: listed
SELECT kind, label, error, count, failed FROM failed_work ORDER BY failed DESC, kind, subject LIMIT %(limit)s

-- name: forget
DELETE FROM failed_work WHERE kind = ANY(%(kinds)s)

-- name: forget_documents
DELETE FROM failed_work WHERE kind = 'settle' AND subject = ANY(%(uris)s)

-- name: erase_documents
-- Errors of other work may quote the erased documents, so that work is no longer marked as failed and is tried again.
DELETE FROM failed_work WHERE (kind = 'settle' AND subject = ANY(%(uris)s)) OR kind IN ('summary', 'report', 'link')

-- name: forget_whole
-- Failures of a whole kind of work that other work depends on: a starting worker tries it again.
DELETE FROM failed_work WHERE subject = '' AND kind IN ('settle', 'names', 'link')
