-- name: add
INSERT INTO outbox (kind, removed, ids) SELECT kind, removed, ids::uuid[]
FROM unnest(%(kinds)s::text[], %(removed)s::boolean[], %(ids)s::text[]) AS u (kind, removed, ids)

-- name: changes
-- Nothing beyond the oldest running transaction, which may still commit an earlier position.
SELECT position, kind, removed, ids FROM outbox
WHERE position > %(after)s AND tx < pg_snapshot_xmin(pg_current_snapshot()) ORDER BY position LIMIT %(limit)s

-- name: newest
-- The last readable position.
SELECT greatest(
    (SELECT changes_gone FROM workspace),
    coalesce((SELECT max(position) FROM outbox WHERE tx < pg_snapshot_xmin(pg_current_snapshot())), 0))

-- name: gone
SELECT changes_gone FROM workspace

-- name: advance
-- A position never goes back: another process may have advanced it further.
INSERT INTO consumer (name, position) VALUES (%(name)s, %(position)s)
ON CONFLICT (workspace, name) DO UPDATE SET position = greatest(consumer.position, excluded.position), seen = now()

-- name: consumers
SELECT c.name, c.position, c.seen,
    (SELECT count(*) FROM outbox o WHERE o.position > c.position AND o.tx < pg_snapshot_xmin(pg_current_snapshot()))
FROM consumer c ORDER BY c.name

-- name: remove_consumer
DELETE FROM consumer WHERE name = %(name)s

-- name: dropped_workspaces
SELECT id FROM dropped_workspace WHERE id > %(after)s ORDER BY id LIMIT %(limit)s

-- name: page_of_documents
SELECT id FROM document WHERE visible AND id > %(after)s ORDER BY id LIMIT %(limit)s

-- name: page_of_chunks
SELECT DISTINCT c.id FROM (SELECT id FROM chunk WHERE id > %(after)s ORDER BY id LIMIT %(limit)s) AS c ORDER BY c.id

-- name: page_of_entities
SELECT id FROM entity WHERE id > %(after)s ORDER BY id LIMIT %(limit)s

-- name: page_of_relations
SELECT id FROM relation WHERE id > %(after)s ORDER BY id LIMIT %(limit)s

-- name: page_of_communities
SELECT id FROM community WHERE id > %(after)s ORDER BY id LIMIT %(limit)s

-- name: documents
SELECT d.id, d.uri, d.title, d.metadata FROM unnest(%(ids)s::uuid[]) AS u (id)
CROSS JOIN LATERAL (SELECT id, uri, title, metadata, visible FROM document WHERE id = u.id OFFSET 0) AS d WHERE d.visible

-- name: chunks
SELECT c.id, c.document, c.n, c.text,
    (SELECT coalesce(jsonb_agg(jsonb_build_array(m.name, m.emphasis) ORDER BY m.name), '[]') FROM mention m
     WHERE m.document = c.document AND m.chunk = c.id),
    (SELECT coalesce(jsonb_agg(jsonb_build_array(l.source, l.target, l.strength::float8 / 1000) ORDER BY l.source, l.target), '[]')
     FROM link l WHERE l.document = c.document AND l.chunk = c.id)
FROM unnest(%(ids)s::uuid[]) AS u (id)
CROSS JOIN LATERAL (
    SELECT c.* FROM (SELECT id, document, n, text FROM chunk WHERE id = u.id OFFSET 0) AS c
    WHERE EXISTS (SELECT FROM document d WHERE d.id = c.document AND d.visible OFFSET 0) LIMIT 1) AS c

-- name: names_of_entities
SELECT u.id, array_agg(n.id ORDER BY n.id) FROM unnest(%(ids)s::uuid[]) AS u (id)
CROSS JOIN LATERAL (SELECT id FROM name WHERE entity = u.id OFFSET 0) AS n GROUP BY u.id

-- name: communities_of_entities
SELECT u.id, c.id FROM unnest(%(ids)s::uuid[]) AS u (id)
CROSS JOIN LATERAL (SELECT leaf FROM member WHERE entity = u.id OFFSET 0) AS m
CROSS JOIN LATERAL (SELECT id FROM community WHERE n = m.leaf OFFSET 0) AS c

-- name: pairs_of_relations
SELECT u.id, array_agg(t.source ORDER BY t.source, t.target), array_agg(t.target ORDER BY t.source, t.target)
FROM unnest(%(ids)s::uuid[]) AS u (id)
CROSS JOIN LATERAL (SELECT source, target FROM name_pair WHERE relation = u.id OFFSET 0) AS t GROUP BY u.id

-- name: communities
-- Members removed since communities were detected are left out. If one returns, its entity carries its community.
SELECT c.id, c.level, (SELECT p.id FROM community p WHERE p.n = c.parent), c.size, coalesce(r.title, ''),
    coalesce(r.summary, ''), ARRAY(SELECT m.entity FROM member m WHERE m.leaf = c.n
        AND EXISTS (SELECT FROM entity e WHERE e.id = m.entity OFFSET 0) ORDER BY m.entity)
FROM unnest(%(ids)s::uuid[]) AS u (id)
CROSS JOIN LATERAL (SELECT * FROM community WHERE id = u.id OFFSET 0) AS c
LEFT JOIN LATERAL (SELECT title, summary FROM report WHERE community = c.id OFFSET 0) AS r ON true

-- name: entities_of_names
SELECT n.id, n.entity FROM unnest(%(ids)s::uuid[]) AS u (id)
CROSS JOIN LATERAL (SELECT id, entity FROM name WHERE id = u.id OFFSET 0) AS n
WHERE EXISTS (SELECT FROM entity e WHERE e.id = n.entity OFFSET 0)  -- suppressed entities have no row

-- name: relations_of_pairs
SELECT t.source, t.target, t.relation FROM unnest(%(sources)s::uuid[], %(targets)s::uuid[]) AS u (source, target)
CROSS JOIN LATERAL (SELECT source, target, relation FROM name_pair
    WHERE source = u.source AND target = u.target OFFSET 0) AS t WHERE t.relation IS NOT NULL
