-- What writes with an Idempotency-Key were answered. See kept_responses.py.

-- name: begin
-- One row where the request is the first with its key: what was kept for a day counts no longer, and neither does what was
-- begun ten minutes ago and has no answer.
INSERT INTO kept_response (caller, key_hash, request_hash) VALUES (%(caller)s, %(key)s, %(request)s)
ON CONFLICT (workspace, caller, key_hash) DO UPDATE SET request_hash = excluded.request_hash, body = NULL, made = now()
WHERE kept_response.made < now() - CASE WHEN kept_response.body IS NULL THEN interval '10 minutes' ELSE interval '1 day' END
RETURNING made

-- name: find
SELECT request_hash = %(request)s, body FROM kept_response WHERE caller = %(caller)s AND key_hash = %(key)s

-- name: keep
UPDATE kept_response SET body = %(body)s WHERE caller = %(caller)s AND key_hash = %(key)s

-- name: forget
DELETE FROM kept_response WHERE caller = %(caller)s AND key_hash = %(key)s AND body IS NULL

-- name: forget_old
WITH old AS (DELETE FROM kept_response WHERE ctid IN (
    SELECT ctid FROM kept_response WHERE made < now() - %(kept)s::interval LIMIT %(limit)s) RETURNING 1)
SELECT count(*) FROM old
