-- name: workspace
SELECT id, current_database() FROM trueweave.workspace WHERE name = %(name)s AND NOT dropped

-- name: create
-- The setting is only a default: the role determines which workspace it can read.
CREATE ROLE {role} LOGIN PASSWORD {hash} IN ROLE trueweave_reader;
ALTER ROLE {role} IN DATABASE {database} SET search_path = trueweave, public;
ALTER ROLE {role} IN DATABASE {database} SET trueweave.workspace = {workspace};
ALTER ROLE {role} IN DATABASE {database} SET default_transaction_read_only = on;
GRANT CONNECT ON DATABASE {database} TO {role}

-- name: drop
REVOKE CONNECT ON DATABASE {database} FROM {role};
DROP ROLE {role}

-- name: remember
INSERT INTO trueweave.reader (role, workspace) VALUES (%(role)s, %(workspace)s)

-- name: forget
DELETE FROM trueweave.reader WHERE role = %(role)s
