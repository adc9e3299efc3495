-- name: stage
CREATE TEMP TABLE IF NOT EXISTS stage_vector (kind text, id uuid, text_hash uuid, v halfvec) ON COMMIT DELETE ROWS

-- name: make_space
SELECT make_space(%(model)s, %(dimensions)s, %(metric)s)

-- name: space
SELECT s.id, s.model, s.dimensions, s.metric FROM workspace w JOIN space s ON s.id = w.space

-- name: graph_vectors
SELECT graph_vectors FROM workspace

-- name: wanted
SELECT w.graph_vectors, s.id, s.model, s.dimensions, s.metric FROM workspace w LEFT JOIN space s ON s.id = w.space

-- name: begin_making
UPDATE workspace SET graph_vectors = 'making' WHERE graph_vectors = 'none'

-- name: finish_making
UPDATE workspace SET graph_vectors = 'kept' WHERE graph_vectors = 'making'

-- name: drop_graph_vectors
UPDATE workspace SET graph_vectors = 'none'

-- name: leave_graph_tables
SELECT leave_graph_tables()

-- name: place
-- Where to search: the space, and the workspace's own table for vectors of a kind, if there is one.
SELECT w.graph_vectors, s.id, s.model, s.dimensions, s.metric, h.name FROM workspace w JOIN space s ON s.id = w.space
LEFT JOIN own_table h ON h.space = s.id AND h.kind = %(kind)s AND h.state = 'current'

-- name: find_space
SELECT id, model, dimensions, metric FROM space
WHERE model = %(model)s AND dimensions = %(dimensions)s AND metric = %(metric)s

-- name: all_spaces
SELECT id FROM space ORDER BY id

-- name: other_spaces
SELECT s.id, s.model, s.dimensions, s.metric FROM space s
WHERE NOT EXISTS (SELECT FROM workspace w WHERE s.id IN (w.space, w.next_space)) ORDER BY s.id

-- name: spaces_here
SELECT s.id, s.model, s.dimensions, s.metric FROM workspace w JOIN space s ON s.id IN (w.space, w.next_space) ORDER BY s.id

-- name: begin_change
UPDATE workspace SET next_space = %(space)s, graph_vectors = CASE WHEN space IS NULL THEN %(graph)s ELSE graph_vectors END

-- name: pause
UPDATE workspace SET paused_until = now() + %(lasts)s

-- name: switch
UPDATE workspace SET space = %(space)s, next_space = NULL, paused_until = NULL

-- name: of_ids
SELECT id, v FROM {table} WHERE id = ANY(%(ids)s)

-- name: clear_space
SELECT clear_space(%(space)s)

-- name: count_up_to
SELECT count(*) FROM (SELECT FROM {table} LIMIT %(limit)s) AS counted

-- name: nearest
(SELECT id, v {operator} %(vector)s AS distance FROM {table} ORDER BY distance LIMIT %(limit)s)

-- name: nearest_of_all
SELECT id, distance FROM ({each}) AS found ORDER BY distance, id LIMIT %(limit)s

-- name: remove
DELETE FROM {table} WHERE id = ANY(%(ids)s)

-- name: insert
-- Two processes filling the same space may insert the same rows.
INSERT INTO {table} (id, text_hash, v) SELECT id, text_hash, v FROM stage_vector WHERE kind = %(kind)s ORDER BY id
ON CONFLICT (workspace, id) DO UPDATE SET text_hash = excluded.text_hash, v = excluded.v

-- name: remove_some
DELETE FROM {table} WHERE id = ANY(ARRAY(SELECT id FROM {table} LIMIT %(limit)s))

-- name: texts_of_entity
SELECT id, text_hash FROM entity WHERE id = ANY(%(ids)s)

-- name: texts_of_relation
SELECT id, text_hash FROM relation WHERE id = ANY(%(ids)s)

-- name: missing_chunk
SELECT DISTINCT ON (c.id) c.id, c.text_hash, c.text FROM chunk c JOIN document d ON d.id = c.document
WHERE d.visible AND c.id > %(after)s
    AND NOT EXISTS (SELECT FROM {table} v WHERE v.id = c.id AND v.text_hash = c.text_hash)
ORDER BY c.id LIMIT %(limit)s

-- name: missing_entity
SELECT e.id, e.text_hash, e.name, e.type, e.description FROM entity e
WHERE e.id > %(after)s AND NOT EXISTS (SELECT FROM {table} v WHERE v.id = e.id AND v.text_hash = e.text_hash)
ORDER BY e.id LIMIT %(limit)s

-- name: missing_relation
SELECT r.id, r.text_hash, r.source_name, r.target_name, r.description, r.keywords FROM relation r
WHERE r.id > %(after)s AND NOT EXISTS (SELECT FROM {table} v WHERE v.id = r.id AND v.text_hash = r.text_hash)
ORDER BY r.id LIMIT %(limit)s

-- name: extra_chunk
DELETE FROM {table} v WHERE NOT EXISTS (
    SELECT FROM chunk c JOIN document d ON d.id = c.document WHERE d.visible AND c.id = v.id)
RETURNING v.id

-- name: extra_entity
DELETE FROM {table} v WHERE NOT EXISTS (SELECT FROM entity e WHERE e.id = v.id) RETURNING v.id

-- name: extra_relation
DELETE FROM {table} v WHERE NOT EXISTS (SELECT FROM relation r WHERE r.id = v.id) RETURNING v.id

-- name: missing_community
SELECT r.community, r.text_hash, r.title, r.summary FROM report r
WHERE r.community > %(after)s
    AND NOT EXISTS (SELECT FROM {table} v WHERE v.id = r.community AND v.text_hash = r.text_hash)
ORDER BY r.community LIMIT %(limit)s

-- name: extra_community
DELETE FROM {table} v WHERE NOT EXISTS (SELECT FROM report r WHERE r.community = v.id) RETURNING v.id
