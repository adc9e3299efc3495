-- name: facts
SELECT current_setting('server_version'), current_setting('server_version_num')::int,
       (SELECT extversion FROM pg_extension WHERE extname = 'vector'),
       (SELECT default_version FROM pg_available_extensions WHERE name = 'vector'),
       current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int

-- name: workspaces
SELECT name, created, coalesce(server, 'home') FROM trueweave.workspace WHERE expires IS NULL ORDER BY name COLLATE "C"
