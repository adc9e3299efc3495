-- Several PostgreSQL servers, one of which is the home. See docs/adr/0036-many-servers.md.

-- name: placements
SELECT id, server, at FROM placements(%(workspaces)s::int[], %(since)s)

-- name: catalogue
SELECT home, name FROM catalogue

-- name: size
SELECT pg_database_size(current_database())

-- name: note_size
SELECT note_server_size(%(name)s, %(size)s)

-- name: unsettled
SELECT id, place, is_over FROM unsettled_places()

-- name: set_place
SELECT set_place(%(workspace)s, %(is_here)s, %(grace)s)

-- name: try_lock
-- Whether nobody is moving the workspace. A process that moves it holds this lock in the home for the whole move.
SELECT pg_try_advisory_xact_lock(1415005014, %(workspace)s)

-- name: end_copy
SELECT end_copy()

-- name: make_home
-- As the owner, in the home.
INSERT INTO trueweave.catalogue (home, name) SELECT gen_random_uuid(), 'home' WHERE NOT EXISTS (SELECT FROM trueweave.catalogue)

-- name: read_catalogue
SELECT home, name FROM trueweave.catalogue

-- name: add_server
INSERT INTO trueweave.server (name) VALUES (%(name)s) ON CONFLICT DO NOTHING

-- name: own_workspaces
-- As the owner, on another server: whether it has workspaces that no home has placed there.
SELECT EXISTS (SELECT FROM trueweave.workspace WHERE expires IS NULL)

-- name: join
INSERT INTO trueweave.catalogue (home, name) VALUES (%(home)s, %(name)s)

-- name: number_apart
-- Temporary workspaces are created without the home, with ids that it never reaches.
SELECT setval(pg_get_serial_sequence('trueweave.workspace', 'id'), 1500000000)

-- name: list
SELECT s.name, s.weight, s.bytes, s.measured,
    (SELECT count(*) FROM trueweave.workspace w WHERE coalesce(w.server, 'home') = s.name AND NOT w.dropped AND w.expires IS NULL)
FROM trueweave.server s ORDER BY s.name <> 'home', s.name

-- name: measured
SELECT trueweave.note_server_size(%(name)s, %(size)s)

-- name: weigh
UPDATE trueweave.server SET weight = %(weight)s WHERE name = %(name)s
