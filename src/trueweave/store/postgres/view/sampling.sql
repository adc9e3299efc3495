-- Samples of what documents say, for questions that are generated from it. Pages go by ids, which are hashes: the ids after a
-- random one are a random sample. See lookup.sql on OFFSET 0.

-- name: bridges
-- For a page of entities, by the first of their names, whose ids are the same in every database: a few of their documents,
-- each with a chunk that mentions the entity: the text around the name, and the names that the chunk mentions. Entities with
-- very many mentions are left out: they connect nothing in particular.
WITH chosen AS MATERIALIZED (
    SELECT n.id, n.entity FROM name n JOIN entity e ON e.id = n.entity
    WHERE n.id > %(after)s AND (%(until)s::uuid IS NULL OR n.id <= %(until)s::uuid) AND e.count BETWEEN 2 AND %(most)s
        AND NOT EXISTS (SELECT FROM name o WHERE o.entity = n.entity AND o.id < n.id)
    ORDER BY n.id LIMIT %(limit)s),
said AS (
    SELECT e.id AS first, m.*, row_number() OVER (PARTITION BY e.id ORDER BY m.document) AS at
    FROM chosen e CROSS JOIN LATERAL (
        SELECT DISTINCT ON (m.document) m.document, m.chunk, m.written
        FROM (SELECT id FROM name WHERE entity = e.entity OFFSET 0) AS n
        CROSS JOIN LATERAL (SELECT document, chunk, n, written FROM mention WHERE name = n.id OFFSET 0) AS m
        WHERE EXISTS (SELECT FROM document d WHERE d.id = m.document AND d.visible OFFSET 0)
        ORDER BY m.document, m.chunk, m.n) AS m),
few AS (SELECT * FROM said WHERE at <= %(documents)s)
SELECT e.id, few.written, d.uri, d.title, c.start + w.skipped, substr(c.text, w.skipped + 1, %(window)s),
       w.skipped > 0, w.skipped + %(window)s < length(c.text), coalesce(here.names, '{}'), c.text_hash
FROM chosen e
LEFT JOIN (few
    JOIN LATERAL (SELECT uri, title FROM document WHERE id = few.document AND visible OFFSET 0) AS d ON true
    JOIN LATERAL (SELECT start, text, text_hash FROM chunk WHERE document = few.document AND id = few.chunk OFFSET 0) AS c ON true
    JOIN LATERAL (SELECT greatest(strpos(c.text, few.written) - %(window)s / 2, 0) AS skipped) AS w ON true
    JOIN LATERAL (
        SELECT array_agg(DISTINCT written) AS names FROM mention
        WHERE document = few.document AND chunk = few.chunk OFFSET 0) AS here ON true) ON few.first = e.id
ORDER BY e.id, d.uri

-- name: chunks
-- For a page of documents, a few of their chunks, chosen by a hash: the beginning of each, and the names that it mentions.
WITH chosen AS MATERIALIZED (
    SELECT id, uri, title FROM document
    WHERE visible AND id > %(after)s AND (%(until)s::uuid IS NULL OR id <= %(until)s::uuid)
    ORDER BY id LIMIT %(limit)s)
SELECT d.id, d.uri, d.title, c.start, left(c.text, %(window)s), length(c.text) > %(window)s, coalesce(here.names, '{}'), c.text_hash
FROM chosen d
LEFT JOIN LATERAL (
    SELECT id FROM chunk WHERE document = d.id ORDER BY md5(id::text || %(seed)s::text) LIMIT %(chunks)s) AS picked ON true
LEFT JOIN LATERAL (SELECT start, text, text_hash FROM chunk WHERE document = d.id AND id = picked.id OFFSET 0) AS c ON true
LEFT JOIN LATERAL (
    SELECT array_agg(DISTINCT written) AS names FROM mention
    WHERE document = d.id AND chunk = picked.id OFFSET 0) AS here ON true
ORDER BY d.id, c.start

-- name: quotes
-- Where in its visible document each quote stands first; NULL if it does not, or if there is no such document.
SELECT q.at, (
    SELECT c.start + strpos(c.text, q.quote) - 1
    FROM (SELECT id FROM document WHERE uri = q.uri AND visible OFFSET 0) AS d
    CROSS JOIN LATERAL (SELECT start, text FROM chunk WHERE document = d.id OFFSET 0) AS c
    WHERE strpos(c.text, q.quote) > 0 ORDER BY c.start LIMIT 1)
FROM unnest(%(uris)s::text[], %(quotes)s::text[]) WITH ORDINALITY AS q (uri, quote, at)
ORDER BY q.at
