-- The graph as far as a transaction with a sight sees it: row-level security shows only mentions and links of visible
-- documents, and the names in them. See 0025_rights.sql, and lookup.sql on OFFSET 0.

-- name: may_differ
SELECT may_differ()

-- name: rules
-- One row for each visible name in a rule. A rule that gives a name without a type (it has a hash) applies to names of
-- all types with that spelling.
SELECT r.ordinal, r.kind, r.label, m.side, n.id, n.entity FROM rule_name AS m
CROSS JOIN LATERAL (SELECT ordinal, kind, label FROM rule WHERE id = m.rule OFFSET 0) AS r
CROSS JOIN LATERAL (
    SELECT id, entity FROM name WHERE id = m.name AND m.written_hash IS NULL
    UNION ALL SELECT id, entity FROM name WHERE written_hash = m.written_hash) AS n
WHERE n.entity IS NOT NULL

-- name: names
SELECT * FROM seen_names(%(entities)s::uuid[], %(most)s)

-- name: pairs
SELECT * FROM seen_pairs(%(names)s::uuid[], %(relations)s::uuid[], %(most)s)

-- name: spellings
SELECT n.id, n.written FROM unnest(%(ids)s::uuid[]) AS g (id)
CROSS JOIN LATERAL (SELECT id, written FROM name WHERE id = g.id OFFSET 0) AS n

-- name: entities_of_names
SELECT DISTINCT n.entity FROM unnest(%(ids)s::uuid[]) AS g (id)
CROSS JOIN LATERAL (SELECT entity FROM name WHERE id = g.id AND entity IS NOT NULL OFFSET 0) AS n

-- name: entities_between
SELECT DISTINCT entity FROM (
    SELECT entity FROM name WHERE entity BETWEEN %(first)s AND %(last)s
    UNION ALL
    SELECT entity FROM name WHERE id BETWEEN %(first)s AND %(last)s) AS n
WHERE entity IS NOT NULL LIMIT %(most)s

-- name: said_of_names
-- The descriptions of each name with the greatest weight.
SELECT g.id, s.hash, s.description, s.weight FROM unnest(%(ids)s::uuid[]) AS g (id)
CROSS JOIN LATERAL (
    SELECT description_hash AS hash, min(description) AS description, sum(emphasis)::bigint AS weight
    FROM mention WHERE name = g.id AND description <> ''
    GROUP BY description_hash ORDER BY weight DESC, hash LIMIT %(kept)s) AS s

-- name: said_of_pairs
-- The descriptions of each pair of names with the greatest weight.
SELECT g.source, g.target, s.hash, s.description, s.weight
FROM unnest(%(sources)s::uuid[], %(targets)s::uuid[]) AS g (source, target)
CROSS JOIN LATERAL (
    SELECT description_hash AS hash, min(description) AS description, sum(emphasis)::bigint AS weight
    FROM link WHERE source = g.source AND target = g.target AND description <> ''
    GROUP BY description_hash ORDER BY weight DESC, hash LIMIT %(kept)s) AS s

-- name: keywords_of_pairs
-- Each keyword of a pair of names with its weight, and how many links have it in first place.
SELECT g.source, g.target, k.keyword, sum(l.emphasis)::bigint, count(*) FILTER (WHERE k.n = 1)
FROM unnest(%(sources)s::uuid[], %(targets)s::uuid[]) AS g (source, target)
CROSS JOIN LATERAL (
    SELECT keywords, emphasis FROM link WHERE source = g.source AND target = g.target OFFSET 0) AS l
CROSS JOIN unnest(l.keywords) WITH ORDINALITY AS k (keyword, n)
GROUP BY 1, 2, 3

-- name: pairs_of_document
-- With the stored entities at both ends.
SELECT l.source, l.target, a.entity, b.entity
FROM (SELECT DISTINCT source, target FROM link WHERE document = %(document)s OFFSET 0) AS l
CROSS JOIN LATERAL (SELECT entity FROM name WHERE id = l.source AND entity IS NOT NULL OFFSET 0) AS a
CROSS JOIN LATERAL (SELECT entity FROM name WHERE id = l.target AND entity IS NOT NULL OFFSET 0) AS b

-- name: summaries
SELECT hash, text FROM summaries_of(%(ids)s::uuid[])

-- name: named
SELECT n.id, n.entity, n.written = %(name)s::text FROM (
    SELECT id, entity, written, type FROM name WHERE written_hash = md5(%(name)s::text)::uuid
    UNION ALL
    SELECT id, entity, written, type FROM name WHERE phrase = %(phrase)s) AS n
WHERE n.entity IS NOT NULL AND (%(type)s = '' OR lower(n.type) = lower(%(type)s))

-- name: completions
-- As `completed_names`: names by how they begin, and by how their last word does.
SELECT n.id, n.entity, n.place, (SELECT count(*) FROM mention WHERE name = n.id), n.folded FROM (
    (SELECT id, entity, (folded <> folded_name(%(text)s))::int AS place, folded FROM name
     WHERE folded >= folded_name(%(text)s) AND folded < folded_name(%(text)s) || chr(1114111) AND entity IS NOT NULL
     ORDER BY folded LIMIT %(examined)s)
    UNION ALL
    (SELECT id, entity, 2, folded FROM name
     WHERE last_word >= folded_name(%(text)s) AND last_word < folded_name(%(text)s) || chr(1114111) AND entity IS NOT NULL
     ORDER BY last_word LIMIT %(examined)s)) AS n

-- name: live_names
SELECT n.id, n.written, n.type, n.entity, (SELECT count(*) FROM mention WHERE name = n.id)
FROM (SELECT id, written, type, entity FROM name WHERE id > %(after)s AND entity IS NOT NULL AND id <> ALL(%(hidden)s::uuid[]) ORDER BY id LIMIT %(limit)s) AS n
ORDER BY n.id

-- name: names_with_words
-- As `entities_with_words` in lookup.sql, but each name.
SELECT n.id, n.entity, n.hits, n.length, (SELECT count(*) FROM mention WHERE name = n.id) FROM (
    SELECT n.id, n.entity, length(n.written) AS length,
           (SELECT count(*) FROM unnest(%(patterns)s::text[]) AS p (pattern) WHERE n.words LIKE p.pattern) AS hits
    FROM (SELECT n.id, n.entity, n.written, ' ' || coalesce(
              p.key, regexp_replace(lower(n.written), '[^[:alnum:]]+', ' ', 'g')) AS words
          FROM name n LEFT JOIN phrase p ON p.id = n.phrase
          WHERE n.entity IS NOT NULL) AS n
    WHERE n.words LIKE ANY(%(patterns)s) LIMIT %(most)s) AS n

-- name: words_in
-- How many patterns match each of these texts.
SELECT u.n, (SELECT count(*) FROM unnest(%(patterns)s::text[]) AS p (pattern) WHERE u.words LIKE p.pattern)
FROM (SELECT n, ' ' || regexp_replace(lower(text), '[^[:alnum:]]+', ' ', 'g') AS words
      FROM unnest(%(texts)s::text[]) WITH ORDINALITY AS u (text, n)) AS u
WHERE u.words LIKE ANY(%(patterns)s)

-- name: names_in_chunks
SELECT DISTINCT n.id, n.entity FROM unnest(%(ids)s::uuid[]) AS g (id)
CROSS JOIN LATERAL (SELECT document FROM chunk WHERE id = g.id OFFSET 0) AS c
CROSS JOIN LATERAL (SELECT name FROM mention WHERE document = c.document AND chunk = g.id OFFSET 0) AS m
CROSS JOIN LATERAL (SELECT id, entity FROM name WHERE id = m.name AND entity IS NOT NULL OFFSET 0) AS n

-- name: chunks_of_entities
-- For each entity, the chunks that emphasise it most. Each of its names is given.
SELECT m.entity, m.chunk FROM (
    SELECT g.entity, m.chunk, row_number() OVER (PARTITION BY g.entity ORDER BY max(m.emphasis) DESC, m.chunk) AS n
    FROM unnest(%(entities)s::uuid[], %(names)s::uuid[]) AS g (entity, name)
    CROSS JOIN LATERAL (
        SELECT chunk, emphasis FROM mention WHERE name = g.name ORDER BY emphasis DESC, chunk LIMIT %(each)s) AS m
    GROUP BY g.entity, m.chunk) AS m
WHERE m.n <= %(each)s ORDER BY m.entity, m.n

-- name: chunks_of_relations
-- For each relation, the chunks that state it most strongly. Each of its pairs of names is given.
SELECT l.relation, l.chunk FROM (
    SELECT g.relation, l.chunk, row_number() OVER (PARTITION BY g.relation ORDER BY max(l.strength) DESC, l.chunk) AS n
    FROM unnest(%(relations)s::uuid[], %(sources)s::uuid[], %(targets)s::uuid[]) AS g (relation, source, target)
    CROSS JOIN LATERAL (
        SELECT chunk, strength FROM link WHERE source = g.source AND target = g.target
        ORDER BY strength DESC, chunk LIMIT %(each)s) AS l
    GROUP BY g.relation, l.chunk) AS l
WHERE l.n <= %(each)s ORDER BY l.relation, l.n

-- name: document_mentions
-- The spans of a part of a document that mention names.
SELECT DISTINCT s.first, s.behind, c.id, n.id, n.entity
FROM (SELECT id, start FROM chunk
      WHERE document = %(id)s AND start < %(end)s AND start + length(text) > %(start)s OFFSET 0) AS c
CROSS JOIN LATERAL (SELECT name, spans FROM mention WHERE document = %(id)s AND chunk = c.id OFFSET 0) AS m
CROSS JOIN LATERAL (
    SELECT c.start + m.spans[i] AS first, c.start + m.spans[i + 1] AS behind
    FROM generate_series(1, cardinality(m.spans) - 1, 2) AS i) AS s
CROSS JOIN LATERAL (SELECT id, entity FROM name WHERE id = m.name AND entity IS NOT NULL OFFSET 0) AS n
WHERE s.first < %(end)s AND s.behind > %(start)s

-- name: document_names
SELECT n.id, n.entity, m.mentions, n.written FROM (
    SELECT name, count(*) AS mentions FROM mention WHERE document = %(id)s GROUP BY name) AS m
CROSS JOIN LATERAL (SELECT id, entity, written FROM name WHERE id = m.name AND entity IS NOT NULL OFFSET 0) AS n

-- name: status
-- What is visible and what of it is pending; and whether the visible entities are the stored ones.
SELECT (SELECT count(*) FROM document WHERE visible),
       (SELECT count(*) FROM chunk),
       (SELECT count(DISTINCT uri) FROM document WHERE (current AND NOT off) <> visible),
       (SELECT count(*) FROM dirty_name) + (SELECT count(*) FROM dirty_pair),
       (SELECT s.model FROM workspace w JOIN space s ON s.id = w.space),
       (SELECT graph_vectors FROM workspace),
       NOT may_differ()

-- name: sizes
-- The number of stored entities and of relations between them.
SELECT (SELECT count(DISTINCT n.entity) FROM (SELECT DISTINCT name FROM mention) AS m
        CROSS JOIN LATERAL (SELECT entity FROM name WHERE id = m.name OFFSET 0) AS n),
       (SELECT count(DISTINCT p.relation) FROM (SELECT DISTINCT source, target FROM link) AS l
        CROSS JOIN LATERAL (SELECT relation FROM name_pair WHERE source = l.source AND target = l.target OFFSET 0) AS p)
