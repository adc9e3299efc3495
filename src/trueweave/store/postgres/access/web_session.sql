-- Sessions of browsers. See sessions.py.

-- name: open_for_key
-- A session for a key that is valid now. It ends no later than its key.
INSERT INTO web_session (secret_hash, key, ends)
SELECT %(secret_hash)s, k.prefix, least(now() + %(longest)s, k.expires)
FROM api_key k WHERE k.prefix = %(prefix)s AND k.revoked IS NULL AND (k.expires IS NULL OR k.expires > now())
RETURNING ends

-- name: open_for_caller
INSERT INTO web_session (secret_hash, caller, name, scope, workspaces, groups, ends)
VALUES (%(secret_hash)s, %(caller)s, %(name)s, %(scope)s, %(workspaces)s, %(groups)s, now() + %(longest)s)
RETURNING ends

-- name: prune
-- Sessions that have ended, and the oldest of a caller that has too many.
DELETE FROM web_session WHERE secret_hash IN (
    (SELECT secret_hash FROM web_session WHERE ends <= now() OR last_used <= now() - %(idle)s LIMIT 1000)
    UNION ALL
    (SELECT secret_hash FROM web_session WHERE key = %(caller)s OR caller = %(caller)s ORDER BY created DESC OFFSET %(most)s))

-- name: find
SELECT secret_hash, key, caller, name, scope, workspaces, groups, ends, last_used < now() - interval '1 minute'
FROM web_session
WHERE secret_hash = ANY (%(hashes)s::bytea[]) AND ends > now() AND last_used > now() - %(idle)s

-- name: used
-- Sorted, so that two concurrent updates wait for each other instead of deadlocking.
UPDATE web_session SET last_used = now()
FROM (SELECT secret_hash FROM web_session WHERE secret_hash = ANY (%(hashes)s::bytea[]) ORDER BY secret_hash FOR UPDATE) u
WHERE web_session.secret_hash = u.secret_hash

-- name: close
DELETE FROM web_session WHERE secret_hash = %(secret_hash)s
