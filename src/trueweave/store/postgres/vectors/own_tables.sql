-- A workspace's own tables for large numbers of vectors. See docs/adr/0039-partitions.md.

-- name: all
SELECT kind, name, partitions, indexed, state FROM own_table WHERE space = %(space)s AND state <> 'left'

-- name: any_unfinished
-- Interrupted builds, and tables that nobody reads any longer.
SELECT EXISTS (SELECT FROM workspace w JOIN own_table h ON h.space = w.space
    WHERE h.state = 'building' OR h.state = 'current' AND NOT h.indexed
        OR h.state = 'left' AND h.left_at < clock_timestamp() - %(kept)s::interval)

-- name: make
SELECT make_own_table(%(space)s, %(kind)s, %(partitions)s, %(state)s)

-- name: index_partition
SELECT set_config('maintenance_work_mem', %(memory)s, true), index_partition(%(name)s, %(n)s)

-- name: mark_indexed
SELECT mark_indexed(%(name)s)

-- name: switch
SELECT switch_own_table(%(space)s, %(kind)s)

-- name: drop_left
SELECT drop_left_tables(%(kept)s)

-- name: hold
SELECT FROM {table} LIMIT 0

-- name: page_end
SELECT id FROM {table} WHERE id > %(after)s ORDER BY id OFFSET %(size)s LIMIT 1

-- name: copy
INSERT INTO {into} (id, text_hash, v) SELECT id, text_hash, v FROM {table} WHERE id > %(after)s AND id <= %(upto)s
ON CONFLICT DO NOTHING

-- name: move
WITH moved AS (DELETE FROM {common} WHERE id <= %(upto)s RETURNING id, text_hash, v)
INSERT INTO {own} (id, text_hash, v) SELECT id, text_hash, v FROM moved

-- name: note_removed
INSERT INTO removed_vector (space, kind, id) SELECT %(space)s, %(kind)s, unnest(%(ids)s::uuid[]) ON CONFLICT DO NOTHING

-- name: take_removed
DELETE FROM {own} WHERE id = ANY(ARRAY(SELECT id FROM removed_vector WHERE space = %(space)s AND kind = %(kind)s))

-- name: take_copied
-- Each is looked up by key: a join might read all of the large table.
DELETE FROM {common} WHERE id = ANY(ARRAY(
    SELECT c.id FROM {common} c CROSS JOIN LATERAL (SELECT FROM {own} o WHERE o.id = c.id OFFSET 0) AS copied))
