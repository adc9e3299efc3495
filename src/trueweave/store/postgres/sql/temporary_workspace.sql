-- name: make
SELECT make_temporary_workspace(%(name)s, %(lasts)s)

-- name: renew
UPDATE workspace SET expires = now() + %(lasts)s WHERE expires IS NOT NULL

-- name: expired
SELECT expired_workspaces()

-- name: is_temporary
SELECT expires IS NOT NULL FROM workspace
