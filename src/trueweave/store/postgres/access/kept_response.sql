-- Responses stored for Idempotency-Keys. See kept_responses.py.

-- name: begin
-- One row if the request is the first with its key. A response is valid for a day. A request without a response is
-- valid while its process has a lease, but no longer than ten minutes; a process that is not registered here counts as
-- alive.
INSERT INTO kept_response AS kept (caller, key_hash, request_hash, owner)
VALUES (%(caller)s, %(key)s, %(request)s, CASE WHEN is_alive(%(owner)s) THEN %(owner)s END)
ON CONFLICT (workspace, caller, key_hash) DO UPDATE
SET request_hash = excluded.request_hash, body = NULL, made = clock_timestamp(), owner = excluded.owner
WHERE kept.made < now() - CASE WHEN kept.body IS NULL THEN interval '10 minutes' ELSE interval '1 day' END
   OR (kept.body IS NULL AND kept.owner IS NOT NULL AND NOT is_alive(kept.owner))
RETURNING made

-- name: find
SELECT request_hash = %(request)s, body FROM kept_response WHERE caller = %(caller)s AND key_hash = %(key)s

-- name: keep
UPDATE kept_response SET body = %(body)s, owner = NULL
WHERE caller = %(caller)s AND key_hash = %(key)s AND made = %(made)s AND body IS NULL

-- name: forget
DELETE FROM kept_response WHERE caller = %(caller)s AND key_hash = %(key)s AND made = %(made)s AND body IS NULL

-- name: forget_old
WITH old AS (DELETE FROM kept_response WHERE ctid IN (
    SELECT ctid FROM kept_response WHERE made < now() - %(kept)s::interval LIMIT %(limit)s) RETURNING 1)
SELECT count(*) FROM old
