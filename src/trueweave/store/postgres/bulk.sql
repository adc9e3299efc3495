-- Rows of a workspace that nobody reads yet. Loading a part again after a failed attempt adds nothing twice.

-- name: stage
CREATE TEMP TABLE IF NOT EXISTS {stage} ON COMMIT DELETE ROWS AS SELECT {columns} FROM {table} WITH NO DATA

-- name: insert
INSERT INTO {table} ({columns}) SELECT {columns} FROM {stage} ON CONFLICT DO NOTHING

-- name: insert_documents
WITH stored AS (
    INSERT INTO document (id, uri, title, content_hash, metadata, places, source, notes, size, recipe, current, visible,
        given_readers, readers)
    SELECT id, uri, title, content_hash, metadata::jsonb, places::jsonb, source, notes, size, recipe, true, true,
        given_readers, coalesce(given_readers, rule_readers(uri))
    FROM stage_document ON CONFLICT DO NOTHING RETURNING id, metadata, readers)
INSERT INTO facet (document, facet)
SELECT id, f FROM stored CROSS JOIN LATERAL facets(metadata) AS f WHERE metadata <> '{{}}'
UNION SELECT id, f FROM stored CROSS JOIN LATERAL reader_facets(readers) AS f WHERE readers <> '{{}}'

-- name: insert_vectors
INSERT INTO {table} (id, text_hash, v) SELECT DISTINCT ON (id) id, text_hash, v FROM stage_vector WHERE kind = %(kind)s
ORDER BY id ON CONFLICT DO NOTHING

-- name: insert_phrases
-- The phrases of all names, each in its normal form. Sorted by id, because names loaded in two parts may share phrases,
-- and two transactions inserting them in different orders would deadlock.
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
-- The names of a workspace with their entities and mention counts, one page at a time.
SELECT id, entity, count FROM name WHERE entity IS NOT NULL AND id > %(after)s ORDER BY id LIMIT %(limit)s

-- name: document_ids
-- The current document versions, settled or not; those that cannot be settled only if `failed` is set.
SELECT id, uri FROM document d WHERE current AND id > %(after)s
    AND (visible OR off OR %(failed)s OR NOT EXISTS (SELECT FROM failed_work f WHERE f.kind = 'settle' AND f.subject IN ('', d.uri)))
ORDER BY id LIMIT %(limit)s

-- name: off
SELECT uri FROM document WHERE current AND off

-- name: any_to_hide
-- Whether a document that is switched off is visible.
SELECT EXISTS (SELECT FROM document WHERE current AND off AND visible)

-- name: state
-- A key over everything that a load depends on: documents, rules, resolution, embedding space and community settings.
SELECT concat_ws(' ', w.space, w.next_space, w.mode, w.threshold, w.same, w.rules_hash,
    (SELECT concat_ws(',', library, seed, resolution, most) FROM hierarchy),
    (SELECT concat_ws(',', count(*), bit_xor(hashtextextended(id::text, off::int))) FROM document WHERE current))
FROM workspace w

-- name: any_unsettled
SELECT EXISTS (SELECT FROM document WHERE current AND NOT off AND NOT visible)

-- name: enter
SELECT set_config('trueweave.workspace', %(workspace)s::text, true)

-- name: lock
-- Held by the session: prevents other loads and moves of the workspace. Returns which of them is already running.
SELECT CASE WHEN NOT pg_try_advisory_lock(1415005015, %(workspace)s) THEN 'load'
            WHEN NOT pg_try_advisory_lock(1415005014, %(workspace)s) THEN 'move' END

-- name: try_without_load
-- No load can start until the transaction ends. False if one is running.
SELECT pg_try_advisory_xact_lock_shared(1415005015, current_setting('trueweave.workspace')::int)

-- name: place
SELECT coalesce(server, 'home'), place, dropped, next_space IS NOT NULL AND space IS NOT NULL, graph_vectors = 'making'
FROM workspace

-- name: copied_to
SELECT store FROM projection UNION SELECT name FROM consumer ORDER BY 1

-- name: documents
SELECT id, uri, title, content_hash, metadata::text, places::text, source, notes, size, recipe, given_readers
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
-- The driver cannot COPY into a "char" column.
CREATE TEMP TABLE IF NOT EXISTS bulk_phrase_count (owner uuid, kind text, hash uuid, value text, count bigint, weight bigint) ON COMMIT DELETE ROWS

-- name: insert_phrase_counts
INSERT INTO phrase_count (owner, kind, hash, value, count, weight)
SELECT owner, kind::"char", hash, value, count, weight FROM bulk_phrase_count ON CONFLICT DO NOTHING
