-- Each section is (key, line), ordered by key. It contains no generated ids of entities or relations: an entity is
-- identified by the smallest id among its names, its stable id, which depends only on what documents say.

-- name: documents
SELECT uri, jsonb_build_array(title, content_hash, metadata)::text FROM document WHERE visible
ORDER BY uri COLLATE "C"

-- name: chunks
SELECT d.uri || ' #' || to_char(c.n, 'FM000000000'), jsonb_build_array(c.id, c.start, c.tokens, c.text_hash)::text
FROM chunk c JOIN document d ON d.id = c.document WHERE d.visible
ORDER BY d.uri COLLATE "C", c.n

-- name: names
SELECT n.id::text, jsonb_build_array(n.written, n.type, n.count, n.histogram, a.id)::text
FROM name n JOIN stable_id a ON a.entity = n.entity ORDER BY n.id

-- name: entities
SELECT a.id, jsonb_build_array(e.name, e.type, e.description, e.aliases, e.count, e.histogram, e.degree)::text
FROM entity e LEFT JOIN stable_id a ON a.entity = e.id ORDER BY a.id COLLATE "C"

-- name: relations
SELECT key, line FROM (
    SELECT s.id || ' ' || t.id, jsonb_build_array(r.source_name, r.target_name, r.type, r.description, r.keywords, r.weight, r.count, r.histogram)::text
    FROM relation r LEFT JOIN stable_id s ON s.entity = r.source LEFT JOIN stable_id t ON t.entity = r.target
) AS lines (key, line) ORDER BY key COLLATE "C"

-- name: phrase_counts
SELECT key, line FROM (
    SELECT owner::text || ' ' || kind::text || ' ' || hash::text, jsonb_build_array(value, count, weight)::text FROM phrase_count
) AS lines (key, line) ORDER BY key COLLATE "C"

-- name: words
SELECT key, line FROM (
    SELECT word || ' ' || tier, chunks::text FROM word
    UNION ALL
    SELECT 'all', jsonb_build_array(chunks, length)::text FROM corpus
    UNION ALL
    SELECT 'in ' || language, chunks::text FROM text_language
) AS lines (key, line) ORDER BY key COLLATE "C"

-- name: texts
SELECT key, line FROM text_lines() ORDER BY key COLLATE "C"

-- name: phrases
SELECT key, chunks::text FROM phrase ORDER BY key COLLATE "C"

-- name: occurrences
SELECT key, line FROM (
    SELECT o.chunk || ' ' || coalesce(p.key, o.phrase::text), jsonb_build_array(o.count, o.inside, o.defines)::text
    FROM occurrence o LEFT JOIN phrase p ON p.id = o.phrase
) AS lines (key, line) ORDER BY key COLLATE "C"

-- name: communities
-- A community is identified by its level and its stable id, because its id is generated.
SELECT key, line FROM (
    SELECT 'community ' || c.level || ' ' || c.stable_id, jsonb_build_array(p.stable_id, c.size, c.relations, c.hash)::text
    FROM community c LEFT JOIN community p ON p.n = c.parent
    UNION ALL
    SELECT 'member ' || a.id, jsonb_build_array(c.level, c.stable_id)::text
    FROM member m LEFT JOIN stable_id a ON a.entity = m.entity LEFT JOIN community c ON c.n = m.leaf
) AS lines (key, line) ORDER BY key COLLATE "C"

-- name: vectors
-- If there are vector tables: the text that each vector stands for.
SELECT key, line FROM (
    SELECT 'chunk ' || v.id, v.text_hash::text FROM {chunk} v
    UNION ALL
    SELECT 'entity ' || a.id, v.text_hash::text FROM {entity} v LEFT JOIN stable_id a ON a.entity = v.id
    UNION ALL
    SELECT 'relation ' || s.id || ' ' || t.id, v.text_hash::text FROM {relation} v
    LEFT JOIN relation r ON r.id = v.id
    LEFT JOIN stable_id s ON s.entity = r.source LEFT JOIN stable_id t ON t.entity = r.target
) AS lines (key, line) ORDER BY key COLLATE "C"

-- name: vectors_expected
-- If there are none: the text that each vector would stand for; those of entities and relations only if they are compared.
SELECT key, line FROM (
    SELECT DISTINCT 'chunk ' || c.id, c.text_hash::text FROM chunk c JOIN document d ON d.id = c.document WHERE d.visible
    UNION ALL
    SELECT 'entity ' || a.id, e.text_hash::text FROM entity e LEFT JOIN stable_id a ON a.entity = e.id
    WHERE {graph}
    UNION ALL
    SELECT 'relation ' || s.id || ' ' || t.id, r.text_hash::text FROM relation r
    LEFT JOIN stable_id s ON s.entity = r.source LEFT JOIN stable_id t ON t.entity = r.target
    WHERE {graph}
) AS lines (key, line) ORDER BY key COLLATE "C"
