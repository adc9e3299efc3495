-- Different values of relations of which an entity has only one. A link states a type of relations if its first keyword
-- or its description is that type. See lookup.sql on OFFSET 0.

-- name: subjects
-- The entities of which visible documents state several values, by name. Reads all links of the workspace, so it may
-- join whole tables: looking up each pair by one of its names reads all pairs of a name that has thousands.
WITH wanted AS (
    SELECT * FROM unnest(%(types)s::text[], %(of_source)s::boolean[]) AS u (type, of_source)),
stated AS MATERIALIZED (
    SELECT w.type, w.of_source, l.source, l.target, l.document
    FROM link l JOIN wanted w ON lower(w.type) IN (lower(l.keywords[1]), lower(l.description))),
seen AS (
    SELECT DISTINCT type, of_source, source, target FROM stated s
    WHERE EXISTS (SELECT FROM document d WHERE d.id = s.document AND d.visible OFFSET 0)),
value AS (
    SELECT s.type, CASE WHEN s.of_source THEN r.source ELSE r.target END AS subject,
           CASE WHEN s.of_source THEN r.target ELSE r.source END AS value
    FROM seen s JOIN name_pair t ON t.source = s.source AND t.target = s.target JOIN relation r ON r.id = t.relation)
SELECT v.type, v.subject, e.name, e.type
FROM (SELECT type, subject FROM value GROUP BY type, subject HAVING count(DISTINCT value) > 1) AS v
CROSS JOIN LATERAL (SELECT name, type FROM entity WHERE id = v.subject OFFSET 0) AS e
WHERE %(name)s::text IS NULL OR (e.name COLLATE "C", v.subject, v.type COLLATE "C") > (%(name)s, %(subject)s::uuid, %(type)s)
ORDER BY e.name COLLATE "C", v.subject, v.type COLLATE "C" LIMIT %(limit)s

-- name: subjects_in_chunks
-- The entities of which these chunks state a value.
SELECT DISTINCT w.type, v.subject, e.name, e.type
FROM unnest(%(chunks)s::uuid[]) AS g (id)
CROSS JOIN LATERAL (SELECT document FROM chunk WHERE id = g.id OFFSET 0) AS c
CROSS JOIN LATERAL (
    SELECT source, target, keywords, description FROM link
    WHERE document = c.document AND chunk = g.id AND EXISTS (SELECT FROM document d WHERE d.id = c.document AND d.visible OFFSET 0)
    OFFSET 0) AS l
JOIN unnest(%(types)s::text[], %(of_source)s::boolean[]) AS w (type, of_source)
    ON lower(w.type) IN (lower(l.keywords[1]), lower(l.description))
CROSS JOIN LATERAL (SELECT relation FROM name_pair WHERE source = l.source AND target = l.target OFFSET 0) AS t
CROSS JOIN LATERAL (
    SELECT CASE WHEN w.of_source THEN source ELSE target END AS subject FROM relation WHERE id = t.relation OFFSET 0) AS v
CROSS JOIN LATERAL (SELECT name, type FROM entity WHERE id = v.subject OFFSET 0) AS e

-- name: values
-- The values that visible documents state of these subjects, each with the pairs of names by which they do.
SELECT g.n, e.id, e.name, e.type, p.source, p.target
FROM unnest(%(subjects)s::uuid[], %(types)s::text[], %(of_source)s::boolean[]) WITH ORDINALITY AS g (subject, type, of_source, n)
CROSS JOIN LATERAL (SELECT id FROM name WHERE entity = g.subject OFFSET 0) AS m
CROSS JOIN LATERAL (
    SELECT source, target, relation, target AS other FROM name_pair WHERE g.of_source AND source = m.id
    UNION ALL
    SELECT source, target, relation, source FROM name_pair WHERE NOT g.of_source AND target = m.id OFFSET 0) AS p
CROSS JOIN LATERAL (SELECT FROM relation WHERE id = p.relation OFFSET 0) AS r
CROSS JOIN LATERAL (SELECT entity FROM name WHERE id = p.other OFFSET 0) AS o
CROSS JOIN LATERAL (SELECT id, name, type FROM entity WHERE id = o.entity OFFSET 0) AS e
WHERE EXISTS (
    SELECT FROM link l WHERE l.source = p.source AND l.target = p.target
        AND lower(g.type) IN (lower(l.keywords[1]), lower(l.description))
        AND EXISTS (SELECT FROM document d WHERE d.id = l.document AND d.visible OFFSET 0) OFFSET 0)

-- name: seen_pairs
-- As far as a transaction with a sight sees: the pairs of names between which links state these types, with the stored
-- entities of both names. Reads all links that it sees; with chunks, those of these chunks.
SELECT DISTINCT w.n, l.source, l.target, a.entity, b.entity
FROM (
    SELECT source, target, keywords, description FROM link WHERE %(chunks)s::uuid[] IS NULL
    UNION ALL
    SELECT l.source, l.target, l.keywords, l.description FROM unnest(%(chunks)s::uuid[]) AS g (id)
    CROSS JOIN LATERAL (SELECT document FROM chunk WHERE id = g.id OFFSET 0) AS c
    CROSS JOIN LATERAL (
        SELECT source, target, keywords, description FROM link WHERE document = c.document AND chunk = g.id OFFSET 0) AS l) AS l
JOIN unnest(%(types)s::text[]) WITH ORDINALITY AS w (type, n) ON lower(w.type) IN (lower(l.keywords[1]), lower(l.description))
CROSS JOIN LATERAL (SELECT entity FROM name WHERE id = l.source AND entity IS NOT NULL OFFSET 0) AS a
CROSS JOIN LATERAL (SELECT entity FROM name WHERE id = l.target AND entity IS NOT NULL OFFSET 0) AS b
LIMIT %(most)s

-- name: stating
-- Those of these pairs of names, given with a type, between which a link that the transaction sees states it.
SELECT g.n FROM unnest(%(types)s::text[], %(sources)s::uuid[], %(targets)s::uuid[]) WITH ORDINALITY AS g (type, source, target, n)
WHERE EXISTS (
    SELECT FROM link l WHERE l.source = g.source AND l.target = g.target
        AND lower(g.type) IN (lower(l.keywords[1]), lower(l.description)) OFFSET 0)

-- name: statements
-- For each side of a conflict, given by its pairs of names: the number of visible documents that state it, and of the
-- latest of them the strongest statement each.
WITH stated AS MATERIALIZED (
    SELECT g.side, l.document, l.chunk, l.n, l.source, l.target, l.strength, d.uri, d.title, d.date, moment(d.date) AS moment
    FROM unnest(%(sides)s::int[], %(types)s::text[], %(sources)s::uuid[], %(targets)s::uuid[]) AS g (side, type, source, target)
    CROSS JOIN LATERAL (
        SELECT document, chunk, n, source, target, strength FROM link
        WHERE source = g.source AND target = g.target AND lower(g.type) IN (lower(keywords[1]), lower(description)) OFFSET 0) AS l
    CROSS JOIN LATERAL (
        SELECT uri, title, metadata ->> 'date' AS date FROM document WHERE id = l.document AND visible OFFSET 0) AS d),
of_document AS (
    SELECT DISTINCT ON (side, document) * FROM stated ORDER BY side, document, strength DESC, chunk, n),
ranked AS (
    SELECT *, row_number() OVER (PARTITION BY side ORDER BY moment DESC NULLS LAST, uri) AS rank,
           count(*) OVER (PARTITION BY side) AS documents
    FROM of_document)
SELECT r.side, r.documents, r.uri, r.title, r.date, r.chunk, c.n, l.n, c.start, coalesce(l.spans[1], 0), coalesce(l.spans[2], 0),
       a.written, b.written, l.description, l.keywords, l.strength, w.skipped,
       substr(c.text, w.skipped + 1, CASE WHEN cardinality(l.spans) > 1 THEN least(l.spans[2] - w.skipped + %(around)s, %(whole)s) ELSE %(whole)s END)
FROM (SELECT * FROM ranked WHERE rank <= %(each)s) AS r
CROSS JOIN LATERAL (
    SELECT n, description, keywords, strength, spans FROM link
    WHERE document = r.document AND chunk = r.chunk AND n = r.n OFFSET 0) AS l
CROSS JOIN LATERAL (SELECT greatest(coalesce(l.spans[1], 0) - %(around)s, 0) AS skipped) AS w
CROSS JOIN LATERAL (SELECT n, start, text FROM chunk WHERE document = r.document AND id = r.chunk OFFSET 0) AS c
CROSS JOIN LATERAL (SELECT written FROM name WHERE id = r.source OFFSET 0) AS a
CROSS JOIN LATERAL (SELECT written FROM name WHERE id = r.target OFFSET 0) AS b
ORDER BY r.side, r.rank
