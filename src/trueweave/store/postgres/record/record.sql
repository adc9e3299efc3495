-- name: stage
CREATE TEMP TABLE IF NOT EXISTS stage_document (id uuid, uri text, title text, content_hash uuid, metadata text, places text, source uuid, notes text[], size int, recipe uuid, given_readers text[]) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE IF NOT EXISTS stage_chunk (document uuid, id uuid, n int, start int, tokens int, text text, text_hash uuid) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE IF NOT EXISTS stage_mention (document uuid, chunk uuid, n int, name uuid, written text, type text, description text, description_hash uuid, emphasis smallint, spans int[]) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE IF NOT EXISTS stage_link (document uuid, chunk uuid, n int, source uuid, target uuid, description text, description_hash uuid, keywords text[], strength bigint, emphasis smallint, spans int[]) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE IF NOT EXISTS stage_name (id uuid, written text, type text, phrase bigint) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE IF NOT EXISTS stage_key (key bigint, name uuid, mask bigint) ON COMMIT DELETE ROWS

-- name: clear_stage
-- For transactions that store more than once.
DELETE FROM stage_document; DELETE FROM stage_chunk; DELETE FROM stage_mention; DELETE FROM stage_link;
DELETE FROM stage_name; DELETE FROM stage_key

-- name: known_versions
SELECT id FROM document WHERE id = ANY(%(ids)s) AND current

-- name: lock_versions
-- Sorted by uri, so that two writers of the same documents wait for each other instead of deadlocking.
SELECT uri, given_readers, current, off FROM document WHERE id = ANY(ARRAY(
    SELECT d.id FROM unnest(%(uris)s::text[]) AS u (uri)
    CROSS JOIN LATERAL (SELECT id FROM document WHERE uri = u.uri OFFSET 0) d))
ORDER BY uri, id FOR UPDATE

-- name: switch
-- Returns the documents that were in the other state.
UPDATE document SET off = %(off)s WHERE id = ANY(ARRAY(
    SELECT d.id FROM unnest(%(uris)s::text[]) AS u (uri)
    CROSS JOIN LATERAL (SELECT id FROM document WHERE uri = u.uri AND current OFFSET 0) d))
AND off <> %(off)s RETURNING uri

-- name: forget_invisible
-- A version that is not visible was never visible, or is switched off, or is former. Unless it is kept as history, it is
-- deleted at once. Replies of models may have been made from its texts.
WITH gone AS (
    DELETE FROM document WHERE id = ANY(ARRAY(
        SELECT d.id FROM unnest(%(uris)s::text[]) AS u (uri)
        CROSS JOIN LATERAL (SELECT id FROM document WHERE uri = u.uri OFFSET 0) d))
    AND NOT visible AND id <> ALL(%(keep)s) AND NOT EXISTS (SELECT FROM shown s WHERE s.document = document.id OFFSET 0)
    RETURNING id, uri),
facets AS (DELETE FROM facet f USING gone WHERE f.document = gone.id),
chunks AS (DELETE FROM chunk c USING gone WHERE c.document = gone.id RETURNING c.text_hash),
stale AS (
    INSERT INTO stale_text (hash) SELECT DISTINCT c.text_hash FROM chunks c
    WHERE EXISTS (SELECT FROM reply r WHERE r.text_hash = c.text_hash OFFSET 0)
        OR EXISTS (SELECT FROM reply WHERE chunk_hashes IS NOT NULL)
    ORDER BY 1 ON CONFLICT DO NOTHING),
mentions AS (DELETE FROM mention m USING gone WHERE m.document = gone.id),
links AS (DELETE FROM link l USING gone WHERE l.document = gone.id)
SELECT uri FROM gone

-- name: unset_current
-- All versions are locked. Only the inner query asks for `current`, so that the outer one reads no index of current documents.
UPDATE document SET current = false WHERE id = ANY(ARRAY(
    SELECT d.id FROM unnest(%(uris)s::text[]) AS u (uri)
    CROSS JOIN LATERAL (SELECT id FROM document WHERE uri = u.uri AND current OFFSET 0) d))
AND id <> ALL(%(keep)s)
RETURNING uri

-- name: set_current
UPDATE document SET current = true, off = uri = ANY(%(off)s::text[]) WHERE id = ANY(%(ids)s) AND NOT current RETURNING id

-- name: made_from
-- A known version may have been made again from another source.
UPDATE document d SET source = s.source, notes = string_to_array(s.notes, E'\n'), recipe = s.recipe
FROM unnest(%(ids)s::uuid[], %(sources)s::uuid[], %(notes)s::text[], %(recipes)s::uuid[]) AS s (id, source, notes, recipe)
WHERE d.id = s.id AND (d.source, d.recipe) IS DISTINCT FROM (s.source, s.recipe)

-- name: insert_recipes
INSERT INTO recipe (id, recipe, fingerprint)
SELECT id, recipe::jsonb, fingerprint FROM unnest(%(ids)s::uuid[], %(recipes)s::text[], %(fingerprints)s::text[])
    AS r (id, recipe, fingerprint)
ON CONFLICT DO NOTHING

-- name: made_by
-- The recipes that documents were processed with, and how many documents used each.
SELECT r.recipe, r.fingerprint, d.documents
FROM (SELECT recipe, count(*) AS documents FROM document WHERE current AND recipe IS NOT NULL GROUP BY recipe) d
JOIN recipe r ON r.id = d.recipe ORDER BY d.documents DESC, r.id

-- name: insert_documents
WITH stored AS (
    INSERT INTO document (id, uri, title, content_hash, metadata, places, source, notes, size, recipe, current, visible,
        given_readers, readers, off)
    SELECT id, uri, title, content_hash, metadata::jsonb, places::jsonb, source, notes, size, recipe, true, false,
        given_readers, coalesce(given_readers, rule_readers(uri)), uri = ANY(%(off)s::text[])
    FROM stage_document ORDER BY uri RETURNING id, metadata, readers)
INSERT INTO facet (document, facet)
SELECT id, f FROM stored CROSS JOIN LATERAL facets(metadata) AS f WHERE metadata <> '{}'
UNION SELECT id, f FROM stored CROSS JOIN LATERAL reader_facets(readers) AS f WHERE readers <> '{}'

-- name: insert_names
-- Sorted by id, so that two writers of the same new names wait for each other instead of deadlocking.
INSERT INTO name (id, written, type, phrase) SELECT id, written, type, phrase FROM stage_name ORDER BY id
ON CONFLICT DO NOTHING RETURNING id

-- name: insert_keys
INSERT INTO name_key (key, name, mask) SELECT key, name, mask FROM stage_key

-- name: insert_pending_matches
INSERT INTO pending_match (name) SELECT unnest(%(names)s::uuid[])

-- name: insert_chunks
INSERT INTO chunk (document, id, n, start, tokens, text, text_hash) SELECT * FROM stage_chunk

-- name: insert_mentions
INSERT INTO mention (document, chunk, n, name, written, type, description, description_hash, emphasis, spans)
SELECT * FROM stage_mention

-- name: insert_links
INSERT INTO link (document, chunk, n, source, target, description, description_hash, keywords, strength, emphasis, spans)
SELECT * FROM stage_link

-- name: read_documents
-- With the readers that they have, so that a copy needs no access rules; NULL if nobody has restricted them.
SELECT id, uri, title, metadata, places, CASE WHEN given_readers IS NOT NULL OR readers <> '{}' THEN readers END
FROM document WHERE current AND NOT off AND id > %(after)s ORDER BY id LIMIT %(limit)s

-- name: read_visible
SELECT id, uri, title, metadata, places, CASE WHEN given_readers IS NOT NULL OR readers <> '{}' THEN readers END
FROM document WHERE visible AND id > %(after)s ORDER BY id LIMIT %(limit)s

-- name: read_sizes
-- Roughly the bytes that documents take in memory. PostgreSQL knows the length of a text without reading it.
SELECT d.id, (SELECT coalesce(sum(octet_length(text)), 0) FROM chunk WHERE document = d.id)
    + 500 * ((SELECT count(*) FROM mention WHERE document = d.id) + (SELECT count(*) FROM link WHERE document = d.id))
FROM unnest(%(documents)s::uuid[]) AS d (id)

-- name: read_chunks
SELECT document, id, start, tokens, text FROM chunk WHERE document = ANY(%(documents)s) ORDER BY document, n

-- name: read_mentions
SELECT document, chunk, name, written, type, description, emphasis, spans FROM mention
WHERE document = ANY(%(documents)s) ORDER BY document, chunk, n

-- name: read_links
SELECT document, chunk, source, target, description, keywords, strength, emphasis, spans FROM link
WHERE document = ANY(%(documents)s) ORDER BY document, chunk, n
