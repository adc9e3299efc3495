-- Lookups by name. See search.sql on OFFSET 0.

-- name: named
-- The entities with a name: spelled exactly so, or differing only in case, accents or articles.
SELECT n.entity, bool_or(n.written = %(name)s::text) FROM (
    SELECT entity, written, type FROM name WHERE written_hash = md5(%(name)s::text)::uuid
    UNION ALL
    SELECT entity, written, type FROM name WHERE phrase = %(phrase)s) AS n
WHERE n.entity IS NOT NULL AND (%(type)s = '' OR lower(n.type) = lower(%(type)s))
GROUP BY n.entity

-- name: entities_between
SELECT id FROM entity WHERE id BETWEEN %(first)s AND %(last)s ORDER BY id LIMIT 2

-- name: completions
SELECT e.id, e.name, e.type, e.count, e.degree FROM (
    SELECT entity, min(place) AS place, max(count) AS count, min(folded COLLATE "C") AS folded
    FROM completed_names(%(text)s, %(examined)s) GROUP BY entity ORDER BY 2, 3 DESC, 4, entity LIMIT %(limit)s) AS n
CROSS JOIN LATERAL (SELECT id, name, type, count, degree FROM entity WHERE id = n.entity OFFSET 0) AS e
ORDER BY n.place, n.count DESC, n.folded, e.id

-- name: entities_with_words
-- Reads all names of the workspace. A pattern matches the beginning of a word.
SELECT entity, hits FROM (
    SELECT DISTINCT ON (n.entity) n.entity, n.hits, n.length, n.count FROM (
        SELECT n.entity, n.count, length(n.written) AS length,
               (SELECT count(*) FROM unnest(%(patterns)s::text[]) AS p (pattern) WHERE n.words LIKE p.pattern) AS hits
        FROM (SELECT n.entity, n.count, n.written, n.type, ' ' || coalesce(
                  p.key, regexp_replace(lower(n.written), '[^[:alnum:]]+', ' ', 'g')) AS words
              FROM name n LEFT JOIN phrase p ON p.id = n.phrase
              WHERE n.entity IS NOT NULL) AS n
        WHERE n.words LIKE ANY(%(patterns)s) AND (%(type)s = '' OR EXISTS (
            SELECT FROM entity e WHERE e.id = n.entity AND lower(e.type) = lower(%(type)s)))) AS n
    ORDER BY n.entity, n.hits DESC, n.length) AS best
ORDER BY hits DESC, length, count DESC, entity LIMIT %(limit)s

-- name: relations_with_words
-- Reads all relations of the workspace: the names of both ends, the keywords and the description.
SELECT id, hits FROM (
    SELECT r.id, r.weight,
           (SELECT count(*) FROM unnest(%(patterns)s::text[]) AS p (pattern) WHERE r.words LIKE p.pattern) AS hits
    FROM (SELECT id, weight, ' ' || regexp_replace(lower(concat_ws(
              ' ', source_name, target_name, array_to_string(keywords, ' '), description)), '[^[:alnum:]]+', ' ', 'g') AS words
          FROM relation) AS r
    WHERE r.words LIKE ANY(%(patterns)s)) AS r
ORDER BY hits DESC, weight DESC, id LIMIT %(limit)s

-- name: heaviest_relations
SELECT id FROM relation ORDER BY weight DESC, source_name COLLATE "C", target_name COLLATE "C", id LIMIT %(limit)s

-- name: edges
-- The heaviest relations of each entity, in both directions.
SELECT r.id, r.source, r.target, r.weight FROM unnest(%(ids)s::uuid[]) AS g (id) CROSS JOIN LATERAL (
    (SELECT id, source, target, weight FROM relation WHERE source = g.id ORDER BY weight DESC, target LIMIT %(fan_out)s)
    UNION ALL
    (SELECT id, source, target, weight FROM relation WHERE target = g.id ORDER BY weight DESC, source LIMIT %(fan_out)s)) AS r

-- name: relations_among
-- The heaviest relations between these entities. For each entity only the heaviest outgoing relations are examined.
SELECT r.id FROM unnest(%(ids)s::uuid[]) AS g (id) CROSS JOIN LATERAL (
    SELECT id, target, weight FROM relation WHERE source = g.id ORDER BY weight DESC, target LIMIT %(fan_out)s) AS r
WHERE r.target = ANY(%(ids)s) AND r.target <> g.id ORDER BY r.weight DESC, r.id LIMIT %(limit)s

-- name: nodes
-- These entities, then those that these chunks mention, the best connected first, with their total number.
SELECT e.id, e.name, e.type, e.count, e.degree, count(*) OVER ()
FROM (SELECT id, min(n) AS n FROM (
          SELECT id, n FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY AS g (id, n)
          UNION ALL
          SELECT n.entity, 2147483647 FROM unnest(%(chunks)s::uuid[]) AS g (id)
          CROSS JOIN LATERAL (SELECT document FROM chunk WHERE id = g.id OFFSET 0) AS c
          CROSS JOIN LATERAL (SELECT FROM document WHERE id = c.document AND visible OFFSET 0) AS d
          CROSS JOIN LATERAL (SELECT name FROM mention WHERE document = c.document AND chunk = g.id OFFSET 0) AS m
          CROSS JOIN LATERAL (SELECT entity FROM name WHERE id = m.name AND entity IS NOT NULL OFFSET 0) AS n) AS g
      GROUP BY id) AS g
CROSS JOIN LATERAL (SELECT id, name, type, count, degree FROM entity WHERE id = g.id OFFSET 0) AS e
ORDER BY g.n, e.degree DESC, e.name COLLATE "C", e.id LIMIT %(limit)s

-- name: heaviest_neighbours
-- For each of some entities, its neighbours with the heaviest relations; and the number of all their neighbours. In each
-- direction only the heaviest relations of an entity are examined. With a document, only relations that it states count.
WITH stated AS MATERIALIZED (
    SELECT t.relation FROM (SELECT DISTINCT source, target FROM link WHERE document = %(document)s::uuid OFFSET 0) AS l
    CROSS JOIN LATERAL (SELECT relation FROM name_pair WHERE source = l.source AND target = l.target OFFSET 0) AS t
), near AS MATERIALIZED (
    SELECT g.id AS beside, r.other, max(r.weight) AS weight FROM unnest(%(ids)s::uuid[]) AS g (id)
    CROSS JOIN LATERAL (
        (SELECT id, target AS other, weight FROM relation WHERE source = g.id ORDER BY weight DESC, target LIMIT %(fan_out)s)
        UNION ALL
        (SELECT id, source, weight FROM relation WHERE target = g.id ORDER BY weight DESC, source LIMIT %(fan_out)s)) AS r
    CROSS JOIN LATERAL (SELECT type FROM entity WHERE id = r.other OFFSET 0) AS e
    WHERE r.weight >= %(least)s AND r.other <> ALL(%(exclude)s::uuid[])
        AND (cardinality(%(types)s::text[]) = 0 OR lower(e.type) = ANY(%(types)s::text[]))
        AND (%(document)s::uuid IS NULL OR r.id IN (SELECT relation FROM stated))
    GROUP BY g.id, r.other
)
SELECT other, (SELECT count(DISTINCT other) FROM near)
FROM (SELECT other, weight, row_number() OVER (PARTITION BY beside ORDER BY weight DESC, other) AS rank FROM near) AS ranked
WHERE rank <= %(each)s GROUP BY other ORDER BY max(weight) DESC, other LIMIT %(limit)s

-- name: entity_types
SELECT type, count(*) FROM entity GROUP BY type ORDER BY count(*) DESC, type COLLATE "C" LIMIT %(limit)s

-- name: relation_types
SELECT type, count(*) FROM relation GROUP BY type ORDER BY count(*) DESC, type COLLATE "C" LIMIT %(limit)s

-- name: edges_among
-- The heaviest relations between these entities, with their total number. For each entity only the heaviest outgoing
-- relations are examined. With a document, only relations that it states count.
WITH stated AS MATERIALIZED (
    SELECT t.relation FROM (SELECT DISTINCT source, target FROM link WHERE document = %(document)s::uuid OFFSET 0) AS l
    CROSS JOIN LATERAL (SELECT relation FROM name_pair WHERE source = l.source AND target = l.target OFFSET 0) AS t
)
SELECT r.id, g.id, r.target, r.type, r.weight, count(*) OVER () FROM unnest(%(ids)s::uuid[]) AS g (id) CROSS JOIN LATERAL (
    SELECT id, target, type, weight FROM relation WHERE source = g.id ORDER BY weight DESC, target LIMIT %(fan_out)s) AS r
WHERE r.target = ANY(%(ids)s) AND r.target <> g.id
    AND (%(document)s::uuid IS NULL OR r.id IN (SELECT relation FROM stated))
ORDER BY r.weight DESC, r.id LIMIT %(limit)s

-- name: chunks_of_entities
-- For each entity, the chunks that emphasise it most.
SELECT g.id, m.chunk FROM unnest(%(ids)s::uuid[]) AS g (id) CROSS JOIN LATERAL (
    SELECT m.chunk, max(m.emphasis) AS most
    FROM (SELECT id FROM (SELECT id FROM name WHERE entity = g.id OFFSET 0) AS n ORDER BY id LIMIT %(names)s) AS n
    CROSS JOIN LATERAL (
        SELECT chunk, emphasis FROM mention
        WHERE name = n.id AND EXISTS (SELECT FROM document d WHERE d.id = mention.document AND d.visible OFFSET 0)
        ORDER BY emphasis DESC, chunk LIMIT %(each)s) AS m
    GROUP BY m.chunk ORDER BY most DESC, m.chunk LIMIT %(each)s) AS m

-- name: chunks_of_relations
-- For each relation, the chunks that state it most strongly.
SELECT g.id, l.chunk FROM unnest(%(ids)s::uuid[]) AS g (id) CROSS JOIN LATERAL (
    SELECT l.chunk, max(l.strength) AS most
    FROM (SELECT source, target FROM (SELECT source, target FROM name_pair WHERE relation = g.id OFFSET 0) AS t
          ORDER BY source, target LIMIT %(names)s) AS t
    CROSS JOIN LATERAL (
        SELECT chunk, strength FROM link
        WHERE source = t.source AND target = t.target
            AND EXISTS (SELECT FROM document d WHERE d.id = link.document AND d.visible OFFSET 0)
        ORDER BY strength DESC, chunk LIMIT %(each)s) AS l
    GROUP BY l.chunk ORDER BY most DESC, l.chunk LIMIT %(each)s) AS l

-- name: is_off
SELECT EXISTS (SELECT FROM document WHERE uri = %(uri)s AND current AND off)

-- name: document
SELECT d.id, d.uri, d.title, d.metadata, d.added, d.notes, (SELECT count(*) FROM chunk c WHERE c.document = d.id), d.readers
FROM document d WHERE d.uri = %(uri)s AND d.visible

-- name: document_chunks
-- Chunks supplied by a caller without positions all start at 0: then only the count distinguishes them.
SELECT c.id, c.text, c.start, CASE WHEN d.places <> '[]' THEN places_of(d.places, c.start, c.start + length(c.text)) END
FROM (SELECT * FROM chunk
      WHERE document = %(id)s AND n >= %(first)s + CASE WHEN %(start)s::int > 0 THEN coalesce(
          (SELECT max(n) FROM chunk WHERE document = %(id)s AND start <= %(start)s), 0) ELSE 0 END
      ORDER BY n LIMIT %(limit)s) AS c
CROSS JOIN LATERAL (SELECT places FROM document WHERE id = c.document OFFSET 0) AS d
ORDER BY c.n

-- name: document_outline
-- The length of a document, the number of its pages and sections, and some of these. Chunks may overlap.
SELECT (SELECT coalesce(max(c.start + length(c.text)), 0) FROM chunk c WHERE c.document = d.id), 
       (SELECT count(*) FROM jsonb_array_elements(d.places) AS p WHERE p ->> 1 IN ('page', 'heading')),
       (SELECT coalesce(jsonb_agg(p ORDER BY n), '[]')
        FROM (SELECT p, n FROM jsonb_array_elements(d.places) WITH ORDINALITY AS e (p, n)
              WHERE p ->> 1 IN ('page', 'heading') ORDER BY n OFFSET %(first)s LIMIT %(limit)s) AS listed)
FROM document d WHERE d.id = %(id)s

-- name: document_mentions
-- The spans of a part of a document that mention entities, in order. They are stored as pairs of offsets in the chunk.
SELECT s.first, s.behind, c.id, n.entity, e.name, e.type
FROM (SELECT id, start FROM chunk
      WHERE document = %(id)s AND start < %(end)s AND start + length(text) > %(start)s OFFSET 0) AS c
CROSS JOIN LATERAL (SELECT name, spans FROM mention WHERE document = %(id)s AND chunk = c.id OFFSET 0) AS m
CROSS JOIN LATERAL (
    SELECT c.start + m.spans[i] AS first, c.start + m.spans[i + 1] AS behind
    FROM generate_series(1, cardinality(m.spans) - 1, 2) AS i) AS s
CROSS JOIN LATERAL (SELECT entity FROM name WHERE id = m.name AND entity IS NOT NULL OFFSET 0) AS n
CROSS JOIN LATERAL (SELECT name, type FROM entity WHERE id = n.entity OFFSET 0) AS e
WHERE s.first < %(end)s AND s.behind > %(start)s
    AND (%(entity)s::uuid IS NULL OR (s.first, s.behind, c.id, n.entity) > (%(first)s::int, %(behind)s::int, %(chunk)s::uuid, %(entity)s::uuid))
GROUP BY s.first, s.behind, c.id, n.entity, e.name, e.type
ORDER BY s.first, s.behind, c.id, n.entity LIMIT %(limit)s

-- name: passages
-- Chunks by id, in the order of the ids.
SELECT c.id, d.uri, d.title, c.text, c.start, CASE WHEN d.places <> '[]' THEN places_of(d.places, c.start, c.start + length(c.text)) END,
       d.date
FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY AS g (id, n)
CROSS JOIN LATERAL (SELECT id, document, text, start FROM chunk WHERE id = g.id OFFSET 0) AS c
CROSS JOIN LATERAL (SELECT uri, title, places, metadata ->> 'date' AS date FROM document WHERE id = c.document AND visible OFFSET 0) AS d
ORDER BY g.n

-- name: document_entities
SELECT n.entity, sum(m.mentions) AS mentions FROM (
    SELECT name, count(*) AS mentions FROM mention WHERE document = %(id)s GROUP BY name) AS m
CROSS JOIN LATERAL (SELECT entity, written FROM name WHERE id = m.name AND entity IS NOT NULL OFFSET 0) AS n
GROUP BY n.entity ORDER BY mentions DESC, min(n.written COLLATE "C"), n.entity LIMIT %(limit)s

-- name: uris_after
SELECT uri FROM document WHERE visible AND uri > %(after)s ORDER BY uri LIMIT %(limit)s
