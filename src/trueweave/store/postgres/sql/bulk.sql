-- Rows of a workspace that nobody reads yet. A part that is loaded twice, as its first try was lost, is loaded once.

-- name: stage
CREATE TEMP TABLE IF NOT EXISTS {stage} ON COMMIT DELETE ROWS AS SELECT {columns} FROM {table} WITH NO DATA

-- name: insert
INSERT INTO {table} ({columns}) SELECT {columns} FROM {stage} ON CONFLICT DO NOTHING

-- name: insert_documents
WITH stored AS (
    INSERT INTO document (id, uri, title, content_hash, metadata, places, source, notes, size, recipe, current, visible)
    SELECT id, uri, title, content_hash, metadata::jsonb, places::jsonb, source, notes, size, recipe, true, true
    FROM stage_document ON CONFLICT DO NOTHING RETURNING id, metadata)
INSERT INTO facet (document, facet)
SELECT id, f FROM stored CROSS JOIN LATERAL facets(metadata) AS f WHERE metadata <> '{{}}'

-- name: insert_vectors
INSERT INTO {table} (id, text_hash, v) SELECT DISTINCT ON (id) id, text_hash, v FROM stage_vector WHERE kind = %(kind)s
ORDER BY id ON CONFLICT DO NOTHING

-- name: insert_phrases
-- The phrases of all names: each is written in one way, whatever its names have besides. In order, as names of two parts may
-- have the same phrases, and those who insert them in another order each would deadlock.
INSERT INTO phrase (id, key, first, words, chunks)
SELECT *, 0 FROM unnest(%(ids)s::bigint[], %(keys)s::text[], %(firsts)s::bigint[], %(words)s::bigint[]) AS p (id)
ORDER BY p.id ON CONFLICT DO NOTHING

-- name: insert_occurrences
INSERT INTO occurrence (chunk, phrase, count, inside, defines)
SELECT * FROM unnest(%(chunk)s::uuid[], %(phrase)s::bigint[], %(count)s::bigint[], %(inside)s::bigint[], %(defines)s::boolean[])
ON CONFLICT DO NOTHING

-- name: count_occurrences
UPDATE phrase p SET chunks = o.chunks FROM (SELECT phrase, count(*) AS chunks FROM occurrence GROUP BY phrase) AS o
WHERE p.id = o.phrase

-- name: live_names
-- The names of a workspace with their entities, and how much each is mentioned, a page at a time.
SELECT id, entity, count FROM name WHERE entity IS NOT NULL AND id > %(after)s ORDER BY id LIMIT %(limit)s

-- name: document_pages
-- The last document of each page, in the order of ids.
SELECT id FROM (SELECT id, row_number() OVER (ORDER BY id) AS n, count(*) OVER () AS total FROM document WHERE visible AND current) AS numbered
WHERE n %% %(page)s = 0 OR n = total ORDER BY id

-- name: documents_between
SELECT id, uri, title, content_hash, metadata::text, places::text, source, notes, size, recipe
FROM document WHERE visible AND current AND id > %(after)s AND id <= %(upto)s ORDER BY id

-- name: document_ids
SELECT id, uri FROM document WHERE visible AND current AND id > %(after)s ORDER BY id LIMIT %(limit)s

-- name: documents
SELECT id, uri, title, content_hash, metadata::text, places::text, source, notes, size, recipe
FROM document WHERE id = ANY(%(ids)s) ORDER BY id

-- name: chunks
SELECT document, id, n, start, tokens, text, text_hash FROM chunk WHERE document = ANY(%(documents)s) ORDER BY document, n

-- name: mentions
SELECT document, chunk, n, name, written, type, description, description_hash, emphasis, spans
FROM mention WHERE document = ANY(%(documents)s) ORDER BY document, chunk, n

-- name: links
SELECT document, chunk, n, source, target, description, description_hash, keywords, strength, emphasis, spans
FROM link WHERE document = ANY(%(documents)s) ORDER BY document, chunk, n

-- name: recipes
SELECT id, recipe, fingerprint FROM recipe WHERE id = ANY(%(ids)s)

-- name: hold_writers
SELECT await_writers()

-- name: replace
SELECT replace_workspace(%(made)s)

-- name: stage_phrase_counts
-- A "char" cannot be copied by the driver.
CREATE TEMP TABLE IF NOT EXISTS bulk_phrase_count (owner uuid, kind text, hash uuid, value text, count bigint, weight bigint) ON COMMIT DELETE ROWS

-- name: insert_phrase_counts
INSERT INTO phrase_count (owner, kind, hash, value, count, weight)
SELECT owner, kind::"char", hash, value, count, weight FROM bulk_phrase_count ON CONFLICT DO NOTHING

-- name: server
-- The name of the server that this is, where it is not the home of several.
SELECT name FROM catalogue WHERE name <> 'home'
