-- name: enqueue
INSERT INTO job (kind, priority, payload, due)
SELECT %(kind)s, %(priority)s, payload, now() + %(after)s FROM unnest(%(payloads)s::bytea[]) WITH ORDINALITY AS p (payload, n)
ORDER BY n

-- name: ask_for
-- Skipped if such a job is already waiting and due by then.
INSERT INTO job (kind, priority, due) SELECT %(kind)s, %(priority)s, now() + %(after)s
WHERE NOT EXISTS (SELECT FROM job WHERE kind = %(kind)s AND owner IS NULL AND due <= now() + %(after)s)

-- name: is_asked_for
SELECT EXISTS (SELECT FROM job WHERE kind = %(kind)s)

-- name: absorb
DELETE FROM job WHERE kind = %(kind)s AND owner IS NULL

-- name: forget
DELETE FROM job

-- name: claim
SELECT workspace, id, kind, payload FROM claim_jobs(%(owner)s, %(worker)s, %(most)s, %(after)s, %(limit)s, %(share)s, %(reclaim)s)

-- name: finish
SELECT finish_jobs(%(owner)s, %(ids)s)

-- name: release
SELECT release_jobs(%(owner)s, %(ids)s, %(delays)s)

-- name: release_unknown
SELECT release_unknown_jobs(%(worker)s, %(known)s)

-- name: workspaces
SELECT workspaces_after(%(after)s, %(limit)s)

-- name: state
SELECT kind, waiting, delayed, running, oldest FROM queue_state()
