-- name: any
SELECT EXISTS (SELECT FROM pending_link) AND NOT EXISTS (SELECT FROM failed_work WHERE kind = 'link')

-- name: due_phrases
SELECT position, phrase FROM pending_link WHERE phrase IS NOT NULL ORDER BY position LIMIT %(limit)s

-- name: due_chunks
SELECT position, chunk FROM pending_link WHERE chunk IS NOT NULL ORDER BY position LIMIT %(limit)s

-- name: done
DELETE FROM pending_link WHERE position = ANY(%(positions)s)

-- name: phrases
-- Phrases by id: the spelling of a live name for each, if there is one, and whether the phrase is already known as
-- live. num_nulls keeps the planner from using the index on entity: with statistics from before names were settled it
-- looks empty.
SELECT u.id, n.written, EXISTS (SELECT FROM phrase p WHERE p.id = u.id)
FROM unnest(%(phrases)s::bigint[]) AS u (id)
LEFT JOIN LATERAL (SELECT written FROM name WHERE phrase = u.id AND num_nulls(entity) = 0 LIMIT 1) AS n ON true

-- name: phrases_come
-- A phrase may return before its chunks were linked again, so existing occurrences are counted.
INSERT INTO phrase (id, key, first, words, chunks)
SELECT u.id, u.key, u.first, u.words, (SELECT count(*) FROM occurrence o WHERE o.phrase = u.id)
FROM unnest(%(ids)s::bigint[], %(keys)s::text[], %(firsts)s::bigint[], %(words)s::bigint[]) AS u (id, key, first, words)

-- name: queue_chunks_with
INSERT INTO pending_link (chunk) SELECT DISTINCT chunks_with(%(sizes)s::bigint[], %(words)s::bigint[])

-- name: phrases_go
WITH gone AS (DELETE FROM phrase WHERE id = ANY(%(ids)s) RETURNING id)
INSERT INTO pending_link (chunk)
SELECT DISTINCT o.chunk FROM gone g CROSS JOIN LATERAL (SELECT chunk FROM occurrence WHERE phrase = g.id OFFSET 0) AS o

-- name: texts
SELECT u.id, c.text, c.start, c.n, d.title, d.places
FROM unnest(%(chunks)s::uuid[]) AS u (id)
CROSS JOIN LATERAL (SELECT document, text, start, n FROM chunk WHERE id = u.id OFFSET 0) AS c
CROSS JOIN LATERAL (SELECT title, places FROM document WHERE id = c.document AND visible OFFSET 0) AS d

-- name: longest
SELECT u.first, p.words FROM unnest(%(firsts)s::bigint[]) AS u (first)
CROSS JOIN LATERAL (SELECT words FROM phrase WHERE first = u.first ORDER BY words DESC LIMIT 1) AS p

-- name: known
SELECT p.id FROM unnest(%(phrases)s::bigint[]) AS u (id)
CROSS JOIN LATERAL (SELECT id FROM phrase WHERE id = u.id OFFSET 0) AS p

-- name: write
-- Replaces the occurrences of these chunks by their current ones, and updates how many chunks contain each phrase.
WITH gone AS (DELETE FROM occurrence WHERE chunk = ANY(%(chunks)s) RETURNING chunk, phrase),
come AS (
    SELECT * FROM unnest(%(chunk)s::uuid[], %(phrase)s::bigint[], %(count)s::bigint[], %(inside)s::bigint[], %(defines)s::boolean[])
        AS u (chunk, phrase, count, inside, defines)),
sums AS (
    SELECT phrase, sum(sign) AS more FROM (
        SELECT phrase, 1 AS sign FROM come UNION ALL SELECT phrase, -1 FROM gone) AS change
    GROUP BY phrase HAVING sum(sign) <> 0)
UPDATE phrase p SET chunks = p.chunks + s.more FROM sums s WHERE p.id = s.phrase

-- name: insert
INSERT INTO occurrence (chunk, phrase, count, inside, defines)
SELECT * FROM unnest(%(chunk)s::uuid[], %(phrase)s::bigint[], %(count)s::bigint[], %(inside)s::bigint[], %(defines)s::boolean[])

-- name: store_chunk_words
SELECT store_chunk_words(%(chunks)s::uuid[], %(sizes)s::bigint[], %(words)s::bigint[])

-- name: clear
SELECT clear_chunk_words()

-- name: changed
-- All chunks of added documents, because the title may be new where the text is not, and removed chunks.
INSERT INTO pending_link (chunk)
SELECT c.id FROM unnest(%(documents)s::uuid[]) AS d (id)
CROSS JOIN LATERAL (SELECT id FROM chunk WHERE document = d.id OFFSET 0) AS c
UNION
SELECT unnest(%(gone)s::uuid[])
