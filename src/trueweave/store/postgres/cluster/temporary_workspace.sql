-- name: make
SELECT make_temporary_workspace(%(name)s, %(lasts)s)

-- name: renew
UPDATE workspace SET expires = now() + %(lasts)s WHERE expires IS NOT NULL AND NOT dropped

-- name: expired
SELECT expired_workspaces()

-- name: replaced
SELECT former, successor FROM replaced_workspaces()

-- name: release
SELECT release_replaced(%(former)s)

-- name: is_temporary
SELECT expires IS NOT NULL FROM workspace
