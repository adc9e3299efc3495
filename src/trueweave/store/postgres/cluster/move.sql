-- Moving a workspace to another server. All of this is done by the owners of the schemas, who may or may not be bound
-- by row-level security, so each statement names the workspace. See docs/adr/0036-many-servers.md.

-- name: find
-- In the home: the id of a workspace, and its server.
SELECT id, coalesce(server, 'home') FROM trueweave.workspace WHERE name = %(name)s AND NOT dropped AND expires IS NULL

-- name: lock
-- Held by the session. See servers.try_lock.
SELECT pg_try_advisory_lock(1415005014, %(id)s)

-- name: enter
SELECT set_config('trueweave.workspace', %(id)s::text, false), set_config('search_path', 'trueweave, public', false),
    set_config('client_min_messages', 'warning', false), set_config('jit', 'off', false)

-- name: place
-- Also returns how many seconds ago the workspace left, if it did.
SELECT place, extract(epoch FROM now() - (left_until - %(grace)s))::float8 FROM workspace WHERE id = %(id)s

-- name: set_place
UPDATE workspace SET place = %(place)s WHERE id = %(id)s AND place = ANY(%(before)s) AND NOT dropped

-- name: await_writers
SELECT pg_advisory_xact_lock(1415005012, %(id)s)

-- name: is_worked
SELECT EXISTS (SELECT FROM job WHERE workspace = %(id)s AND owner IS NOT NULL AND is_alive(owner))

-- name: roles
SELECT role::text FROM reader WHERE workspace = %(id)s ORDER BY 1

-- name: snapshot
SELECT pg_snapshot_xmin(pg_current_snapshot())::xid::text

-- name: row
SELECT name, mode, threshold, same, created, paused_until, changes_gone, settings::text, graph_vectors, space, next_space
FROM workspace WHERE id = %(id)s

-- name: make_row
INSERT INTO workspace (id, name, place) OVERRIDING SYSTEM VALUE VALUES (%(id)s, %(name)s, 'arriving')
ON CONFLICT (id) DO UPDATE SET place = 'arriving', left_until = NULL WHERE workspace.place = 'away'

-- name: write_row
UPDATE workspace SET mode = %(mode)s, threshold = %(threshold)s, same = %(same)s, created = %(created)s,
    paused_until = %(paused_until)s, changes_gone = %(changes_gone)s, settings = %(settings)s::jsonb, graph_vectors = %(graph_vectors)s,
    space = %(space)s, next_space = %(next_space)s
WHERE id = %(id)s

-- name: spaces
SELECT id, model, dimensions, metric FROM space WHERE id = ANY(%(used)s::int[]) ORDER BY id

-- name: make_space
SELECT make_space(%(model)s, %(dimensions)s, %(metric)s)

-- name: own_tables
SELECT space, kind, name, partitions, indexed FROM own_table WHERE workspace = %(id)s AND state = 'current' ORDER BY space, kind

-- name: make_own_table
SELECT make_own_table(%(space)s, %(kind)s, %(partitions)s, 'current')

-- name: index_partition
SELECT set_config('maintenance_work_mem', %(memory)s, false), index_partition(%(name)s, %(n)s)

-- name: mark_indexed
SELECT mark_indexed(%(name)s)

-- name: tables
-- The tables with rows of workspaces, and the columns to copy. Other tables and columns are derived from these, by
-- triggers or as generated columns; leases are not copied.
SELECT c.relname, array_agg(a.attname::text ORDER BY a.attnum)
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
WHERE c.relnamespace = 'trueweave'::regnamespace AND c.relkind = 'r' AND c.relrowsecurity
    AND EXISTS (SELECT FROM pg_attribute w WHERE w.attrelid = c.oid AND w.attname = 'workspace')
    AND c.relname NOT LIKE 'vector\_%%' AND c.relname NOT IN ('own_table', 'removed_vector', 'ordered_facet', 'stored_bytes', 'work_lease')
GROUP BY c.relname ORDER BY c.relname

-- name: identities
-- The identity columns of these tables.
SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attidentity <> '' AND NOT a.attisdropped
WHERE c.relnamespace = 'trueweave'::regnamespace AND c.relkind = 'r' AND c.relname = ANY(%(tables)s) ORDER BY 1

-- name: advance
-- New numbers start above the copied ones. Others draw numbers meanwhile: the gap is larger than they can draw in
-- between.
SELECT setval(pg_get_serial_sequence(%(table)s, %(column)s), %(most)s + 1000000)
FROM pg_sequences WHERE schemaname = 'trueweave' AND coalesce(last_value, 0) <= %(most)s
    AND format('%%I.%%I', schemaname, sequencename) = pg_get_serial_sequence(%(table)s, %(column)s)

-- name: switch
-- In the home. From this moment the workspace is on the other server for everybody.
UPDATE trueweave.workspace SET server = nullif(%(server)s, 'home'), moved = clock_timestamp() WHERE id = %(id)s AND NOT dropped
