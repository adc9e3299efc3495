-- What is compared between two indexes: rows of (key, id, name, what is compared, what is shown), ordered by key. Keys and
-- what is compared contain no generated ids; see digest.sql.

-- name: document
SELECT uri, id, uri, jsonb_build_array(title, content_hash, metadata)::text, title FROM document WHERE visible
ORDER BY uri COLLATE "C"

-- name: entity
SELECT a.id, e.id, e.name, jsonb_build_array(e.name, e.type, e.description, e.aliases)::text, e.description
FROM entity e JOIN stable_id a ON a.entity = e.id ORDER BY a.id COLLATE "C"

-- name: relation
SELECT r.key, r.id, r.name, r.line, r.description FROM (
    SELECT s.id || ' ' || t.id AS key, r.id, r.description,
        concat_ws(' ', r.source_name, '–', nullif(r.type, ''), CASE WHEN r.type <> '' THEN '→' END, r.target_name) AS name,
        jsonb_build_array(r.source_name, r.target_name, r.type, r.description, r.keywords)::text AS line
    FROM relation r JOIN stable_id s ON s.entity = r.source JOIN stable_id t ON t.entity = r.target) AS r
ORDER BY r.key COLLATE "C"

-- name: document_chunks
SELECT g.id, c.id FROM unnest(%(ids)s::uuid[]) AS g (id)
CROSS JOIN LATERAL (SELECT id FROM chunk WHERE document = g.id ORDER BY n LIMIT %(each)s) AS c

-- name: entity_chunks
SELECT g.id, m.chunk FROM unnest(%(ids)s::uuid[]) AS g (id)
CROSS JOIN LATERAL (
    SELECT m.chunk FROM (SELECT id FROM name WHERE entity = g.id OFFSET 0) AS n
    CROSS JOIN LATERAL (SELECT document, chunk, emphasis FROM mention WHERE name = n.id OFFSET 0) AS m
    CROSS JOIN LATERAL (SELECT FROM document WHERE id = m.document AND visible OFFSET 0) AS d
    GROUP BY m.chunk ORDER BY max(m.emphasis) DESC, m.chunk LIMIT %(each)s) AS m

-- name: relation_chunks
SELECT g.id, l.chunk FROM unnest(%(ids)s::uuid[]) AS g (id)
CROSS JOIN LATERAL (
    SELECT l.chunk FROM (SELECT source, target FROM name_pair WHERE relation = g.id OFFSET 0) AS p
    CROSS JOIN LATERAL (
        SELECT document, chunk, strength FROM link WHERE source = p.source AND target = p.target OFFSET 0) AS l
    CROSS JOIN LATERAL (SELECT FROM document WHERE id = l.document AND visible OFFSET 0) AS d
    GROUP BY l.chunk ORDER BY max(l.strength) DESC, l.chunk LIMIT %(each)s) AS l
