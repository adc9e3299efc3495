-- What documents say about one entity or one relation, by the uri of the document. See lookup.sql on OFFSET 0.

-- name: of_entity
-- Each place where a document mentions the entity: a span of a chunk or, if no mention of the chunk has one, the chunk.
-- Of the text, only the surroundings of the span are read, or the beginning of the chunk.
WITH said AS MATERIALIZED (
    SELECT m.document, m.chunk, m.written, m.spans,
           bool_or(m.spans <> '{}') OVER (PARTITION BY m.document, m.chunk) AS spanned
    FROM (SELECT id FROM name WHERE entity = %(entity)s UNION ALL SELECT unnest(%(names)s::uuid[]) OFFSET 0) AS n
    CROSS JOIN LATERAL (SELECT document, chunk, written, spans FROM mention WHERE name = n.id OFFSET 0) AS m),
chosen AS (
    SELECT d.id, d.uri, d.title FROM (SELECT DISTINCT document FROM said) AS g
    CROSS JOIN LATERAL (SELECT id, uri, title FROM document WHERE id = g.document AND visible OFFSET 0) AS d
    WHERE (%(document)s = '' OR d.uri = %(document)s) AND (%(uri)s::text IS NULL OR d.uri >= %(uri)s::text)
    ORDER BY d.uri LIMIT %(limit)s),
place AS (
    SELECT d.uri, d.title, d.id AS document, m.chunk, c.n, c.start, s.first, s.behind, array_agg(DISTINCT m.written) AS names
    FROM chosen d JOIN said m ON m.document = d.id AND (m.spans <> '{}') = m.spanned
    CROSS JOIN LATERAL (SELECT n, start FROM chunk WHERE document = d.id AND id = m.chunk OFFSET 0) AS c
    CROSS JOIN LATERAL (
        SELECT m.spans[i] AS first, m.spans[i + 1] AS behind FROM generate_series(1, cardinality(m.spans) - 1, 2) AS i
        UNION ALL SELECT 0, 0 WHERE NOT m.spanned) AS s
    WHERE %(uri)s::text IS NULL
        OR (d.uri, c.n, s.first, s.behind) > (%(uri)s::text, %(n)s::int, %(first)s::int, %(behind)s::int)
    GROUP BY d.uri, d.title, d.id, m.chunk, c.n, c.start, s.first, s.behind
    ORDER BY d.uri, c.n, s.first, s.behind LIMIT %(limit)s)
SELECT p.uri, p.title, p.chunk, p.n, p.start, p.first, p.behind, p.names, w.skipped,
       substr(c.text, w.skipped + 1, CASE WHEN p.behind > 0 THEN least(p.behind - w.skipped + %(around)s, %(whole)s) ELSE %(whole)s END)
FROM place p CROSS JOIN LATERAL (SELECT greatest(p.first - %(around)s, 0) AS skipped) AS w
CROSS JOIN LATERAL (SELECT text FROM chunk WHERE document = p.document AND id = p.chunk OFFSET 0) AS c
ORDER BY p.uri, p.n, p.first, p.behind

-- name: counts
-- How many such places each document has, those with the most first, with the number of all places and of all documents.
SELECT d.uri, d.title, g.places, sum(g.places) OVER ()::bigint, count(*) OVER ()
FROM (SELECT m.document, count(DISTINCT (m.chunk, s.first, s.behind)) AS places
      FROM (SELECT m.document, m.chunk, m.spans,
                   bool_or(m.spans <> '{}') OVER (PARTITION BY m.document, m.chunk) AS spanned
            FROM (SELECT id FROM name WHERE entity = %(entity)s UNION ALL SELECT unnest(%(names)s::uuid[]) OFFSET 0) AS n
            CROSS JOIN LATERAL (SELECT document, chunk, spans FROM mention WHERE name = n.id OFFSET 0) AS m) AS m
      CROSS JOIN LATERAL (
          SELECT m.spans[i] AS first, m.spans[i + 1] AS behind FROM generate_series(1, cardinality(m.spans) - 1, 2) AS i
          UNION ALL SELECT 0, 0 WHERE NOT m.spanned) AS s
      GROUP BY m.document) AS g
CROSS JOIN LATERAL (SELECT uri, title FROM document WHERE id = g.document AND visible OFFSET 0) AS d
ORDER BY g.places DESC, d.uri LIMIT %(limit)s

-- name: relation
SELECT r.id, r.source, r.target, r.source_name, r.target_name, r.description, r.keywords, r.weight, r.count, r.histogram,
       coalesce(s.text, ''), r.type
FROM relation r LEFT JOIN LATERAL (SELECT text FROM summary WHERE hash = r.text_hash OFFSET 0) AS s ON true
WHERE r.id = %(id)s

-- name: of_relation
-- Each statement of the relation, with the names of both ends as its chunk writes them.
WITH said AS MATERIALIZED (
    SELECT l.document, l.chunk, l.n, l.source, l.target, l.description, l.keywords, l.strength,
           coalesce(l.spans[1], 0) AS first, coalesce(l.spans[2], 0) AS behind
    FROM (SELECT source, target FROM name_pair WHERE relation = %(relation)s
          UNION ALL SELECT * FROM unnest(%(sources)s::uuid[], %(targets)s::uuid[]) OFFSET 0) AS t
    CROSS JOIN LATERAL (
        SELECT document, chunk, n, source, target, description, keywords, strength, spans
        FROM link WHERE source = t.source AND target = t.target OFFSET 0) AS l),
chosen AS (
    SELECT d.id, d.uri, d.title, d.date FROM (SELECT DISTINCT document FROM said) AS g
    CROSS JOIN LATERAL (SELECT id, uri, title, metadata ->> 'date' AS date FROM document WHERE id = g.document AND visible OFFSET 0) AS d
    WHERE %(uri)s::text IS NULL OR d.uri >= %(uri)s::text
    ORDER BY d.uri LIMIT %(limit)s),
place AS (
    SELECT d.uri, d.title, d.date, c.n AS chunk_n, c.start, l.*
    FROM chosen d JOIN said l ON l.document = d.id
    CROSS JOIN LATERAL (SELECT n, start FROM chunk WHERE document = d.id AND id = l.chunk OFFSET 0) AS c
    WHERE %(uri)s::text IS NULL OR (d.uri, c.n, l.n) > (%(uri)s::text, %(chunk_n)s::int, %(n)s::int)
    ORDER BY d.uri, c.n, l.n LIMIT %(limit)s)
SELECT p.uri, p.title, p.chunk, p.chunk_n, p.n, p.start, p.first, p.behind, a.written, b.written, p.description, p.keywords,
       p.strength, w.skipped,
       substr(c.text, w.skipped + 1, CASE WHEN p.behind > 0 THEN least(p.behind - w.skipped + %(around)s, %(whole)s) ELSE %(whole)s END),
       p.date
FROM place p CROSS JOIN LATERAL (SELECT greatest(p.first - %(around)s, 0) AS skipped) AS w
CROSS JOIN LATERAL (SELECT text FROM chunk WHERE document = p.document AND id = p.chunk OFFSET 0) AS c
CROSS JOIN LATERAL (SELECT written FROM name WHERE id = p.source OFFSET 0) AS a
CROSS JOIN LATERAL (SELECT written FROM name WHERE id = p.target OFFSET 0) AS b
ORDER BY p.uri, p.chunk_n, p.n
