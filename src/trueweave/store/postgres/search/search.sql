-- Queries of retrieval methods. All rows are found by key or by a vector index, and fan-out is limited: for a name that
-- is mentioned everywhere, only the mentions with the highest emphasis are used. The caller fills in {tables}, limits
-- and conditions: {m_visible} says whether the document of a mention m is visible and passes the filter, and so on;
-- {mention_shown}, which is checked before a limit, whether the document of a row of `mention` is visible, so that a
-- document that is switched off takes no other's place.
--
-- OFFSET 0 prevents subqueries from being flattened, so that each is an index lookup. Without statistics the planner
-- expects one row per workspace in small tables (see `guard` in 0001_workspaces.sql) and would prefer to scan them.

-- name: layout
-- With the number of vectors in each graph, as it was when the graph was built.
SELECT s.id, s.model, s.dimensions, s.metric, coalesce(own.names, '{}'), coalesce(own.rows, '{}'), w.graph_vectors
FROM workspace w JOIN space s ON s.id = w.space
LEFT JOIN LATERAL (
    SELECT array_agg(h.name ORDER BY h.name) AS names, array_agg((
        SELECT coalesce(max(c.reltuples), 0)::int8 FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = to_regclass(quote_ident(h.name))) ORDER BY h.name) AS rows
    FROM own_table h WHERE h.space = s.id AND h.state = 'current') AS own ON true

-- name: some_document
SELECT FROM document WHERE visible LIMIT 1

-- name: scope_by_uri
SELECT d.id, 0, {passes} FROM unnest(%(uris_0)s::text[]) AS u (uri)
CROSS JOIN LATERAL (SELECT id FROM document WHERE uri = u.uri AND visible OFFSET 0) d

-- name: scope_by_condition
-- The number of rows found by the first condition shows whether these are all. If not, none of them is examined
-- further.
WITH found AS MATERIALIZED (SELECT f.document FROM ({found}) AS f LIMIT {few} + 1),
number AS MATERIALIZED (SELECT count(*) AS n FROM found)
SELECT d.id, number.n, {visible} AND {passes} FROM number CROSS JOIN LATERAL (
    SELECT DISTINCT document AS id FROM found LIMIT CASE WHEN number.n > {few} THEN 1 END) AS d

-- name: scope_by_reading
-- For conditions that no index has, such as a negation: the first documents are read. If there are more, the number says
-- that many pass, whatever was found.
WITH first AS MATERIALIZED (SELECT id FROM document WHERE visible ORDER BY id LIMIT {read} + 1),
found AS MATERIALIZED (SELECT d.id FROM first AS d WHERE {passes} LIMIT {few} + 1),
number AS MATERIALIZED (SELECT CASE WHEN (SELECT count(*) FROM first) > {read} THEN {few} + 1 ELSE count(*) END AS n FROM found)
SELECT d.id, number.n, d.id IS NOT NULL FROM number LEFT JOIN LATERAL (
    SELECT id FROM found LIMIT CASE WHEN number.n > {few} THEN 1 END) AS d ON true

-- name: documents_with_uri
SELECT d.id AS document FROM unnest(%(uris_{of})s::text[]) AS u (uri)
CROSS JOIN LATERAL (SELECT id FROM document WHERE uri = u.uri AND visible OFFSET 0) AS d

-- name: some_seen_document
SELECT WHERE few_seen() IS DISTINCT FROM '{}'

-- name: documents_with_facet
SELECT f.document FROM (SELECT DISTINCT facets(%({facet})s::jsonb) AS facet) AS g
CROSS JOIN LATERAL (SELECT document FROM facet WHERE facet = g.facet ORDER BY document LIMIT {most}) f

-- name: documents_in_range
(SELECT f.document FROM ordered_facet f
WHERE f.key = %(key_{of})s AND f.place BETWEEN place_of(%(low_{of})s) AND place_of(%(high_{of})s)
    AND f.value BETWEEN %(low_{of})s AND %(high_{of})s AND f.value <> ALL(%(excluded_{of})s::numeric[])
ORDER BY f.place, f.document LIMIT {most})

-- name: has_facet
-- An array, so that the facets are computed once and not for each document.
EXISTS (SELECT FROM facet f
    WHERE f.document = {document} AND f.facet = ANY(ARRAY(SELECT facets(%({facet})s::jsonb))) OFFSET 0)

-- name: has_in_range
EXISTS (SELECT FROM ordered_facet f WHERE f.document = {document} AND f.key = %(key_{of})s
    AND f.value BETWEEN %(low_{of})s AND %(high_{of})s AND f.value <> ALL(%(excluded_{of})s::numeric[]))

-- name: has_uri
EXISTS (SELECT FROM document x WHERE x.id = {document} AND x.uri = ANY(%(uris_{of})s::text[]) OFFSET 0)

-- name: has_prefix
EXISTS (SELECT FROM document x WHERE x.id = {document} AND starts_with(x.uri, %(prefix_{of})s) OFFSET 0)

-- name: is_visible
EXISTS (SELECT FROM document x WHERE x.id = {document} AND x.visible OFFSET 0)

-- name: located
-- Returns the layout as well, so that the caller sees whether the tables have changed. The subquery hides the length of
-- the array of vectors, here and below, so that the generic plan is reused: with a known length a custom plan looks
-- cheaper, and planning costs as much as a small search. hnsw.ef_search depends on the limit and is set before the
-- search.
SELECT w.space, w.own, w.graph_vectors, found.*
FROM (SELECT w.space, w.graph_vectors, ARRAY(
                 SELECT h.name FROM own_table h WHERE h.space = w.space AND h.state = 'current' ORDER BY h.name) AS own,
             set_config('hnsw.ef_search', '{effort}', true)
      FROM workspace w OFFSET 0) AS w
LEFT JOIN LATERAL ({rows}) AS found ON true {order}

-- name: near
SELECT q.n, hit.id AS hit, hit.distance, {columns}
FROM unnest((SELECT %(vectors)s::halfvec[])) WITH ORDINALITY AS q (v, n)
CROSS JOIN LATERAL (SELECT id, distance FROM ({tables}) AS part ORDER BY distance + 0, id LIMIT {limit}) AS hit
{details}

-- name: near_all
(SELECT v.id, v.v {operator} q.v AS distance FROM {table} v ORDER BY v.v {operator} q.v LIMIT {limit})

-- name: near_visible
-- All distances first: the condition costs more, and is only evaluated until enough rows are found. No index has the
-- order of a sum.
(SELECT v.id, v.distance FROM (
    SELECT id, v {operator} q.v AS distance FROM {table} ORDER BY (v {operator} q.v) + 0 OFFSET 0) AS v
WHERE {v_visible} LIMIT {limit})

-- name: near_visible_by_index
-- An iterative scan of the vector index, until more visible rows are found than are wanted, because their order is not
-- exact. Where they are fewer than one in {sparse} near the vector, whatever their share of all, the index would miss
-- most of them, and comparing all vectors is no slower.
(WITH by_index AS MATERIALIZED (
    SELECT v.id, v.distance FROM (
        SELECT id, v {operator} q.v AS distance FROM {table} ORDER BY v {operator} q.v LIMIT {sparse} * {enough}) AS v
    WHERE {v_visible} LIMIT {enough})
SELECT id, distance FROM by_index WHERE (SELECT count(*) FROM by_index) = {enough}
UNION ALL
SELECT id, distance FROM {exact} AS every WHERE (SELECT count(*) FROM by_index) < {enough})

-- name: near_seen
(SELECT id, distance FROM near_seen(q.v, {limit}, {enough}, {sparse}, {scope}))

-- name: near_in_scope
-- The exact distances of everything in a few documents.
(SELECT v.id, v.v {operator} q.v AS distance FROM ({candidates}) AS c
CROSS JOIN LATERAL (SELECT id, v FROM {table} WHERE id = c.id OFFSET 0) v ORDER BY distance LIMIT {limit})

-- name: ranked
-- The exact distances of objects by id.
SELECT u.id, v.v {operator} q.v AS distance
FROM (SELECT %(vector)s::halfvec AS v OFFSET 0) AS q
CROSS JOIN unnest((SELECT %(ids)s::uuid[])) AS u (id)
CROSS JOIN LATERAL ({vectors}) AS v
WHERE {u_visible}

-- name: candidates_chunk
SELECT DISTINCT c.id FROM unnest(%(scope)s::uuid[]) AS s (id)
CROSS JOIN LATERAL (SELECT id FROM chunk WHERE document = s.id OFFSET 0) c

-- name: candidates_entity
SELECT DISTINCT n.entity AS id FROM (
    SELECT DISTINCT m.name FROM unnest(%(scope)s::uuid[]) AS s (id)
    CROSS JOIN LATERAL (SELECT name FROM mention WHERE document = s.id OFFSET 0) m) AS m
CROSS JOIN LATERAL (SELECT entity FROM name WHERE id = m.name OFFSET 0) n

-- name: candidates_relation
SELECT DISTINCT t.relation AS id FROM (
    SELECT DISTINCT l.source, l.target FROM unnest(%(scope)s::uuid[]) AS s (id)
    CROSS JOIN LATERAL (SELECT source, target FROM link WHERE document = s.id OFFSET 0) l) AS l
CROSS JOIN LATERAL (SELECT relation FROM name_pair WHERE source = l.source AND target = l.target OFFSET 0) t

-- name: visible_chunk
-- Ordered, here and below, by a column that is not in the primary key: without statistics the planner expects few
-- chunks in a workspace, and would read the workspace's whole part of that index, which also has the document, instead
-- of looking up the id.
EXISTS (SELECT FROM (SELECT document FROM chunk WHERE id = {id} OFFSET 0) AS c WHERE {c_visible})

-- name: visible_entity
EXISTS (SELECT FROM name n CROSS JOIN LATERAL (
    SELECT document FROM mention WHERE name = n.id AND {mention_shown}
    ORDER BY emphasis DESC, chunk LIMIT {reach}) AS m
WHERE n.entity = {id} AND {m_visible})

-- name: visible_relation
EXISTS (SELECT FROM name_pair t CROSS JOIN LATERAL (
    SELECT document FROM link WHERE source = t.source AND target = t.target AND {link_shown}
    ORDER BY strength DESC, chunk LIMIT {reach}) AS l
WHERE t.relation = {id} AND {l_visible})

-- name: chunk_columns
-- Of chunks with equal texts every search returns the one with the smallest id, with the places of the others.
c.id, c.uri, c.title, c.text, c.start,
CASE WHEN c.places <> '[]' THEN places_of(c.places, c.start, c.start + length(c.text)) END, copies.number, copies.first,
c.date

-- name: chunk_details
CROSS JOIN LATERAL (SELECT text_hash FROM chunk WHERE id = hit.id LIMIT 1) AS h
CROSS JOIN LATERAL (
    SELECT c.id, c.text, c.start, c.text_hash, d.uri, d.title, d.places, d.date
    FROM (SELECT * FROM chunk WHERE text_hash = h.text_hash ORDER BY id OFFSET 0) AS c
    CROSS JOIN LATERAL (SELECT uri, title, places, metadata ->> 'date' AS date FROM document WHERE id = c.document AND visible OFFSET 0) AS d
    WHERE {c_visible} LIMIT 1) AS c
CROSS JOIN LATERAL (
    SELECT count(*)::int AS number, coalesce(jsonb_agg(o.place) FILTER (WHERE o.n <= {copies}), '[]') AS first FROM (
        SELECT row_number() OVER (ORDER BY c.id) AS n, jsonb_build_array(d.uri, d.title, c.start,
            CASE WHEN d.places <> '[]' THEN places_of(d.places, c.start, c.start + length(c.text)) END) AS place
        FROM (SELECT o.* FROM chunk o WHERE o.text_hash = h.text_hash AND o.id > c.id LIMIT {most_copies} OFFSET 0) AS c
        CROSS JOIN LATERAL (SELECT uri, title, places FROM document WHERE id = c.document AND visible OFFSET 0) AS d
        WHERE {c_visible}) AS o) AS copies

-- name: entity_columns
{e}.id, {name}, {type}, {description}, {aliases}, {e}.count, {e}.histogram, {e}.degree, {summary}

-- name: entity_row
SELECT * FROM entity WHERE id = {id} OFFSET 0

-- name: entity_row_of_filter
-- With numbers according to visible documents.
SELECT e.id, e.name, e.type, e.description, e.aliases, e.text_hash, said.count, said.histogram, beside.degree
FROM (SELECT * FROM entity WHERE id = {id} OFFSET 0) AS e
CROSS JOIN LATERAL (
    SELECT count(*) AS count, {histogram} AS histogram FROM (SELECT id FROM name WHERE entity = e.id OFFSET 0) AS n
    CROSS JOIN LATERAL (SELECT document, emphasis FROM mention WHERE name = n.id OFFSET 0) AS m
    WHERE {m_visible}) AS said
CROSS JOIN LATERAL (
    SELECT count(*) AS degree FROM (
        SELECT id FROM relation WHERE source = e.id UNION ALL SELECT id FROM relation WHERE target = e.id) AS r
    WHERE EXISTS (
        SELECT FROM (SELECT source, target FROM name_pair WHERE relation = r.id OFFSET 0) AS t
        CROSS JOIN LATERAL (SELECT document FROM link WHERE source = t.source AND target = t.target OFFSET 0) AS l
        WHERE {l_visible})) AS beside

-- name: relation_row
SELECT * FROM relation WHERE id = {id} OFFSET 0

-- name: relation_row_of_filter
-- With numbers according to visible documents.
SELECT r.id, r.source, r.target, r.source_name, r.target_name, r.type, r.description, r.keywords, r.text_hash, said.*
FROM (SELECT * FROM relation WHERE id = {id} OFFSET 0) AS r
CROSS JOIN LATERAL (
    SELECT sum(l.strength)::bigint AS weight, count(*) AS count, {histogram} AS histogram
    FROM (SELECT source, target FROM name_pair WHERE relation = r.id OFFSET 0) AS t
    CROSS JOIN LATERAL (
        SELECT document, strength, emphasis FROM link WHERE source = t.source AND target = t.target OFFSET 0) AS l
    WHERE {l_visible}) AS said

-- name: entity_details
CROSS JOIN LATERAL ({e_row}) AS e

-- name: relation_columns
{r}.id, {r}.source, {r}.target, {source_name}, {target_name}, {description}, {keywords}, {r}.weight, {r}.count,
{r}.histogram, {summary}, {type}

-- name: entity_called
-- The most frequent name or type of an entity in visible documents.
(SELECT m.{what} FROM name n CROSS JOIN LATERAL (
    SELECT document, written, type FROM mention WHERE name = n.id AND {mention_shown}
    ORDER BY emphasis DESC, chunk LIMIT {reach}) AS m
WHERE n.entity = {id} AND {m_visible} GROUP BY m.{what} ORDER BY count(*) DESC, m.{what} COLLATE "C" LIMIT 1)

-- name: relation_details
CROSS JOIN LATERAL ({r_row}) AS r
CROSS JOIN LATERAL ({s_row}) AS s
CROSS JOIN LATERAL ({t_row}) AS t

-- name: summary
coalesce((SELECT y.text FROM summary y WHERE y.hash = {of}.text_hash), '')

-- name: entity_said
-- What visible documents say about an entity, by the rule of the view: the descriptions with the greatest emphasis.
(SELECT coalesce(string_agg(said.description, E'\n' ORDER BY said.hash), '') FROM (
    SELECT each.hash, min(each.description) AS description FROM (
        SELECT m.hash, min(m.description) AS description, sum(m.emphasis) AS emphasis FROM name n CROSS JOIN LATERAL (
            SELECT document, description_hash AS hash, description, emphasis FROM mention
            WHERE name = n.id AND {mention_shown} ORDER BY emphasis DESC, chunk LIMIT {reach}) AS m
        WHERE n.entity = {e}.id AND m.description <> '' AND {m_visible} GROUP BY n.id, m.hash) AS each
    GROUP BY each.hash ORDER BY max(each.emphasis) DESC, each.hash LIMIT {kept}) AS said)

-- name: relation_said
(SELECT coalesce(string_agg(said.description, E'\n' ORDER BY said.hash), '') FROM (
    SELECT each.hash, min(each.description) AS description FROM (
        SELECT l.hash, min(l.description) AS description, sum(l.emphasis) AS emphasis
        FROM name_pair t CROSS JOIN LATERAL (
            SELECT document, description_hash AS hash, description, emphasis FROM link
            WHERE source = t.source AND target = t.target AND {link_shown} ORDER BY strength DESC, chunk LIMIT {reach}) AS l
        WHERE t.relation = {r}.id AND l.description <> '' AND {l_visible} GROUP BY t.source, t.target, l.hash) AS each
    GROUP BY each.hash ORDER BY max(each.emphasis) DESC, each.hash LIMIT {kept}) AS said)

-- name: relation_keywords
ARRAY(SELECT k.word FROM name_pair t CROSS JOIN LATERAL (
        SELECT document, keywords, emphasis FROM link
        WHERE source = t.source AND target = t.target AND {link_shown} ORDER BY strength DESC, chunk LIMIT {reach}) AS l
    CROSS JOIN unnest(l.keywords) AS k (word)
    WHERE t.relation = {r}.id AND {l_visible}
    GROUP BY k.word ORDER BY sum(l.emphasis) DESC, k.word COLLATE "C" LIMIT {keywords_kept})

-- name: relation_type
-- The first keyword of most links in visible documents.
coalesce((SELECT lower(l.keywords[1]) FROM name_pair t CROSS JOIN LATERAL (
        SELECT document, keywords FROM link
        WHERE source = t.source AND target = t.target AND {link_shown} ORDER BY strength DESC, chunk LIMIT {reach}) AS l
    WHERE t.relation = {r}.id AND l.keywords <> '{{}}' AND {l_visible}
    GROUP BY 1 ORDER BY count(*) DESC, lower(l.keywords[1]) COLLATE "C" LIMIT 1), '')

-- name: matching
SELECT hit.id, hit.score, {columns}
FROM {search}(%(text)s, {limit}, %(k1)s, %(b)s, {scope}) AS hit (id, score)
{details}
ORDER BY hit.score DESC, hit.id

-- name: documents
SELECT d.id FROM document d WHERE {d_visible} ORDER BY d.id

-- name: passages
SELECT hit.id, hit.score, {columns}
FROM unnest((SELECT %(ids)s::uuid[]), (SELECT %(scores)s::float8[])) WITH ORDINALITY AS hit (id, score, n)
{details}
ORDER BY hit.n

-- name: same_texts
-- For each of these chunks, the chunk that represents its text.
SELECT hit.id, c.id FROM unnest(%(ids)s::uuid[]) AS hit (id)
CROSS JOIN LATERAL (SELECT text_hash FROM chunk WHERE id = hit.id LIMIT 1) AS h
CROSS JOIN LATERAL (
    SELECT c.id FROM (SELECT * FROM chunk WHERE text_hash = h.text_hash ORDER BY id OFFSET 0) AS c
    WHERE EXISTS (SELECT FROM document WHERE id = c.document AND visible) AND {c_visible} LIMIT 1) AS c

-- name: mentioned
-- The entities that these chunks mention.
SELECT DISTINCT hit.id, n.entity FROM unnest(%(ids)s::uuid[]) AS hit (id)
CROSS JOIN LATERAL (SELECT document FROM chunk WHERE id = hit.id LIMIT 1) AS c
CROSS JOIN LATERAL (SELECT name FROM mention WHERE document = c.document AND chunk = hit.id OFFSET 0) AS m
CROSS JOIN LATERAL (SELECT entity FROM name WHERE id = m.name OFFSET 0) AS n
WHERE n.entity IS NOT NULL

-- name: entities
SELECT {columns} FROM unnest((SELECT %(ids)s::uuid[])) WITH ORDINALITY AS hit (id, n)
{details}
WHERE {e_visible} ORDER BY hit.n

-- name: relations
SELECT {columns} FROM unnest((SELECT %(ids)s::uuid[])) WITH ORDINALITY AS hit (id, n)
CROSS JOIN LATERAL ({r_row}) AS r
WHERE {r_visible} ORDER BY hit.n

-- name: edges
-- The heaviest relations of each entity, in both directions, with the entity at the other end.
SELECT r.id, r.weight, g.id AS entity, r.other{also}
FROM {given} AS g CROSS JOIN LATERAL (
    (SELECT id, weight, target AS other FROM relation WHERE source = g.id ORDER BY weight DESC, target LIMIT {fan_out})
    UNION ALL
    (SELECT id, weight, source FROM relation WHERE target = g.id ORDER BY weight DESC, source LIMIT {fan_out})) AS r
WHERE {r_visible}

-- name: around
-- Sets are passed as arrays from here on: the planner cannot estimate the size of a CTE and would choose nested loops.
WITH given AS (
    SELECT g.id, e.degree FROM unnest(%(entities)s::uuid[]) AS g (id)
    CROSS JOIN LATERAL (SELECT degree FROM entity WHERE id = g.id OFFSET 0) AS e),
edge AS MATERIALIZED ({edges}),
beside AS MATERIALIZED (SELECT entity, array_agg(other) AS others FROM edge WHERE other <> entity GROUP BY entity),
spoken AS MATERIALIZED (
    SELECT m.document, m.chunk, array_agg(DISTINCT g.id) AS entities FROM unnest(%(followed)s::uuid[]) AS g (id)
    CROSS JOIN LATERAL (
        SELECT id FROM (SELECT id FROM name WHERE entity = g.id OFFSET 0) AS n ORDER BY id LIMIT {names}) AS n
    CROSS JOIN LATERAL (
        SELECT document, chunk FROM mention WHERE name = n.id AND {mention_shown}
        ORDER BY emphasis DESC, chunk LIMIT {fan_out}) AS m
    WHERE {m_visible} GROUP BY m.document, m.chunk),
counted AS (
    SELECT g.id AS entity, s.chunk,
        (SELECT count(*) FROM unnest(m.mentioned) AS x (id) WHERE x.id = ANY(b.others))::int AS neighbours
    FROM spoken s
    CROSS JOIN LATERAL (
        SELECT array_agg(DISTINCT n.entity) AS mentioned FROM mention m
        CROSS JOIN LATERAL (SELECT entity FROM name WHERE id = m.name OFFSET 0) AS n
        WHERE m.document = s.document AND m.chunk = s.chunk) AS m
    CROSS JOIN LATERAL unnest(s.entities) AS g (id)
    LEFT JOIN beside b ON b.entity = g.id),
told AS (
    SELECT array_agg(entity) AS entities, array_agg(chunk) AS chunks, array_agg(neighbours) AS neighbours FROM (
        SELECT *, row_number() OVER (PARTITION BY entity ORDER BY neighbours DESC, chunk) AS n FROM counted) AS c
    WHERE n <= %(each)s),
best AS (
    SELECT e.id, e.weight, e.degree + o.degree AS degree
    FROM (SELECT DISTINCT ON (id) * FROM edge ORDER BY id) AS e
    CROSS JOIN LATERAL (SELECT degree FROM entity WHERE id = e.other OFFSET 0) AS o
    ORDER BY 3 DESC, e.weight DESC, e.id LIMIT {most_around}),
listed AS (
    SELECT row_number() OVER (ORDER BY best.degree DESC, r.weight DESC, r.id) AS n, r.*
    FROM best CROSS JOIN LATERAL ({r_row}) AS r)
-- The mentions are in the first row, with or without a relation.
SELECT CASE WHEN coalesce(r.n, 1) = 1 THEN told.entities END, CASE WHEN coalesce(r.n, 1) = 1 THEN told.chunks END,
    CASE WHEN coalesce(r.n, 1) = 1 THEN told.neighbours END, {columns}
FROM told LEFT JOIN listed r ON true ORDER BY r.n

-- name: neighbourhood
WITH {hops}
SELECT {columns} FROM (
    SELECT id, min(hop) AS hop, weight FROM ({all}) AS every GROUP BY id, weight ORDER BY hop, weight DESC, id LIMIT {most}) AS e
CROSS JOIN LATERAL ({r_row}) AS r
ORDER BY e.hop, r.weight DESC, r.source_name COLLATE "C", r.target_name COLLATE "C", r.id

-- name: hop
hop_{n} AS MATERIALIZED (SELECT edge.*, {n} AS hop FROM ({edges}) AS edge),
reached_{n} AS MATERIALIZED (
    SELECT id FROM reached_{before} UNION (SELECT other FROM hop_{n} ORDER BY weight DESC, other LIMIT {wide}))

-- name: chunks_of_entities
SELECT DISTINCT g.id, m.chunk FROM unnest(%(entities)s::uuid[]) AS g (id)
CROSS JOIN LATERAL (
    SELECT id FROM (SELECT id FROM name WHERE entity = g.id OFFSET 0) AS n ORDER BY id LIMIT {names}) AS n
CROSS JOIN LATERAL (
    SELECT document, chunk FROM mention WHERE name = n.id AND {mention_shown}
    ORDER BY emphasis DESC, chunk LIMIT {fan_out}) AS m
WHERE {m_visible}

-- name: chunks_of_relations
SELECT DISTINCT g.id, l.chunk FROM unnest(%(relations)s::uuid[]) AS g (id)
CROSS JOIN LATERAL (
    SELECT * FROM (SELECT source, target FROM name_pair WHERE relation = g.id OFFSET 0) AS t
    ORDER BY source, target LIMIT {names}) AS t
CROSS JOIN LATERAL (
    SELECT document, chunk FROM link WHERE source = t.source AND target = t.target AND {link_shown}
    ORDER BY strength DESC, chunk LIMIT {fan_out}) AS l
WHERE {l_visible}

-- name: both_lists
-- The chunks nearest to a vector, and those that match a text.
SELECT true AS by_vector, hit.id, hit.distance AS value
FROM (SELECT %(vector)s::halfvec AS v OFFSET 0) AS q
CROSS JOIN LATERAL (SELECT id, distance FROM ({tables}) AS part ORDER BY distance + 0, id LIMIT {limit}) AS hit
UNION ALL
SELECT false, s.chunk, s.score FROM {search}(%(text)s, {limit}, 1.2, 0.75, {scope}) AS s
WHERE {c_visible}

-- name: subjects
-- Ids are hashes, so the first 300 chunks are a random sample.
SELECT coalesce(avg(CASE WHEN EXISTS (
    SELECT FROM occurrence o CROSS JOIN LATERAL (SELECT FROM phrase WHERE id = o.phrase AND chunks <= 10 OFFSET 0) AS p
    WHERE o.chunk = c.id AND o.defines) THEN 1 ELSE 0 END), 0)::float8
FROM (SELECT id FROM chunk ORDER BY document, id LIMIT 300) AS c

-- name: seen_subjects
-- Of all chunks that the caller sees, or of those in the few documents that it sees.
WITH few AS MATERIALIZED (SELECT few_seen() AS ids),
sample AS MATERIALIZED (
    (SELECT c.id FROM few CROSS JOIN unnest(few.ids) AS d (id)
     CROSS JOIN LATERAL (SELECT id FROM chunk WHERE document = d.id OFFSET 0) AS c ORDER BY c.id LIMIT 300)
    UNION ALL
    SELECT c.id FROM (SELECT id FROM chunk ORDER BY document, id LIMIT 300) AS c WHERE (SELECT ids FROM few) IS NULL)
SELECT coalesce(avg(CASE WHEN o.chunk IS NULL THEN 0 ELSE 1 END), 0)::float8 FROM sample AS c LEFT JOIN (
    SELECT DISTINCT chunk FROM seen_occurrences(ARRAY(SELECT id FROM sample)) WHERE defines AND chunks <= 10) AS o
    ON o.chunk = c.id

-- name: names_known
SELECT p.id, p.chunks FROM unnest(%(ids)s::bigint[]) AS u (id)
CROSS JOIN LATERAL (SELECT id, chunks FROM phrase WHERE id = u.id OFFSET 0) AS p

-- name: names_of_chunks
-- The rarest names in each of these chunks, weighted by rarity among those; the heaviest overall.
SELECT phrase, chunks, sum(share) AS mass FROM (
    SELECT o.phrase, o.chunks, f.mass * o.weight / sum(o.weight) OVER (PARTITION BY f.chunk) AS share
    FROM unnest(%(chunks)s::uuid[], %(masses)s::float8[]) AS f (chunk, mass)
    CROSS JOIN LATERAL (
        SELECT o.phrase, p.chunks, 1 / (p.chunks + %(df_offset)s::float8) AS weight
        FROM (SELECT phrase FROM occurrence WHERE chunk = f.chunk AND inside > 0 OFFSET 0) AS o
        CROSS JOIN LATERAL (SELECT chunks FROM phrase WHERE id = o.phrase OFFSET 0) AS p
        ORDER BY p.chunks, o.phrase LIMIT %(names_per_passage)s) AS o) AS shares
GROUP BY phrase, chunks ORDER BY mass DESC, phrase LIMIT %(max_names)s

-- name: names_given
SELECT * FROM unnest(%(names)s::bigint[], %(df)s::bigint[], %(masses)s::float8[]) AS g (phrase, chunks, mass)

-- name: chunks_of_names
-- For each name, the chunks that it leads to, ranked with a vector: the chunk that is about it ranks far above the
-- others, and chunks nearer to the question rank above those that are not (by cosine, whatever the metric of the
-- index). A name in too many chunks leads only to the chunks that are about it and to the pool. For names that the
-- caller has `followed` before with this vector and this pool, only their mass.
WITH start AS MATERIALIZED ({start}),
fresh AS MATERIALIZED (SELECT * FROM start WHERE phrase <> ALL(%(followed)s::bigint[])),
known AS MATERIALIZED (
    -- All common names at once per chunk of the pool: looking them up one by one would cost more as their number grows.
    SELECT o.phrase, array_agg(o.chunk) AS chunks, array_agg(o.count) AS counts FROM unnest(%(pool)s::uuid[]) AS p (id)
    CROSS JOIN LATERAL (SELECT phrase, chunk, count FROM occurrence
        WHERE chunk = p.id AND phrase = ANY((SELECT array_agg(phrase) FROM fresh WHERE chunks > %(df_cap)s)::bigint[])
            AND NOT defines OFFSET 0) AS o
    GROUP BY o.phrase)
SELECT n.phrase, n.mass, c.chunk, c.weight FROM (SELECT %(vector)s::halfvec AS v OFFSET 0) AS q CROSS JOIN fresh AS n
CROSS JOIN LATERAL (
    SELECT o.chunk, exp((1 - (v.v <=> q.v)) / %(similarity_scale)s)
        * CASE WHEN o.defines THEN 1 ELSE %(mention_weight)s * least(o.count, %(max_tf)s) END AS weight
    FROM (
        SELECT chunk, count, defines FROM occurrence WHERE phrase = n.phrase AND n.chunks <= %(df_cap)s
        UNION ALL
        (SELECT chunk, count, defines FROM occurrence
         WHERE phrase = n.phrase AND defines AND n.chunks > %(df_cap)s ORDER BY count DESC, chunk LIMIT %(df_cap)s)
        UNION ALL
        SELECT u.chunk, u.count, false FROM known k CROSS JOIN unnest(k.chunks, k.counts) AS u (chunk, count)
        WHERE k.phrase = n.phrase) AS o
    CROSS JOIN LATERAL ({vectors}) AS v
    WHERE {o_visible}
    ORDER BY weight DESC, o.chunk LIMIT %(passages_per_name)s) AS c
UNION ALL
SELECT phrase, mass, NULL, NULL FROM start WHERE phrase = ANY(%(followed)s::bigint[])

-- name: names_of_seen_chunks
-- As above, for a caller.
SELECT phrase, chunks, sum(share) AS mass FROM (
    SELECT o.phrase, o.chunks, f.mass * o.weight / sum(o.weight) OVER (PARTITION BY f.chunk) AS share
    FROM unnest(%(chunks)s::uuid[], %(masses)s::float8[]) AS f (chunk, mass)
    JOIN (
        SELECT chunk, phrase, chunks, 1 / (chunks + %(df_offset)s::float8) AS weight,
            row_number() OVER (PARTITION BY chunk ORDER BY chunks, phrase) AS n
        FROM seen_occurrences(%(chunks)s::uuid[]) WHERE inside > 0) AS o
    ON o.chunk = f.chunk AND o.n <= %(names_per_passage)s) AS shares
GROUP BY phrase, chunks ORDER BY mass DESC, phrase LIMIT %(max_names)s

-- name: seen_chunks_of_names
-- As above, for a caller.
WITH start AS MATERIALIZED ({start}),
fresh AS MATERIALIZED (SELECT * FROM start WHERE phrase <> ALL(%(followed)s::bigint[])),
lead AS MATERIALIZED (
    SELECT l.phrase, l.chunk, exp(l.similarity / %(similarity_scale)s)
        * CASE WHEN l.defines THEN 1 ELSE %(mention_weight)s * least(l.count, %(max_tf)s) END AS weight
    FROM (SELECT array_agg(phrase) AS names, array_agg(chunks) AS chunks FROM fresh) AS f
    CROSS JOIN LATERAL seen_leads(f.names, f.chunks::bigint[], %(df_cap)s, %(pool)s::uuid[], %(vector)s::halfvec) AS l)
SELECT n.phrase, n.mass, c.chunk, c.weight FROM fresh AS n
JOIN (SELECT *, row_number() OVER (PARTITION BY phrase ORDER BY weight DESC, chunk) AS n FROM lead) AS c
    ON c.phrase = n.phrase AND c.n <= %(passages_per_name)s
UNION ALL
SELECT phrase, mass, NULL, NULL FROM start WHERE phrase = ANY(%(followed)s::bigint[])

-- name: weighed
-- Features of chunks: similarity to a vector, number of words, which words of a text they contain, the names in them
-- (outside the title, except for the name that the chunk is about), and the name that the chunk is about.
SELECT u.id, 1 - (v.v <=> q.v), coalesce(k.words, 0), coalesce(k.shares, '{{}}'),
    ARRAY(SELECT phrase FROM occurrence WHERE chunk = u.id AND (inside > 0 OR defines)),
    (SELECT phrase FROM occurrence WHERE chunk = u.id AND defines)
FROM (SELECT %(vector)s::halfvec AS v OFFSET 0) AS q
CROSS JOIN unnest(%(chunks)s::uuid[]) WITH ORDINALITY AS u (id, n)
CROSS JOIN LATERAL ({vectors}) AS v
LEFT JOIN term_coverage(%(text)s, %(chunks)s::uuid[]) AS k ON k.chunk = u.id
ORDER BY u.n

-- name: weighed_seen
-- As above, for a caller.
SELECT u.id, v.similarity, coalesce(k.words, 0), coalesce(k.shares, '{{}}'), coalesce(o.names, '{{}}'), o.subject
FROM unnest(%(chunks)s::uuid[]) WITH ORDINALITY AS u (id, n)
JOIN seen_similarity(%(vector)s::halfvec, %(chunks)s::uuid[]) AS v ON v.id = u.id
LEFT JOIN seen_coverage(%(text)s, %(chunks)s::uuid[]) AS k ON k.chunk = u.id
LEFT JOIN (
    SELECT chunk, array_agg(phrase) AS names, min(phrase) FILTER (WHERE defines) AS subject
    FROM seen_occurrences(%(chunks)s::uuid[]) WHERE inside > 0 OR defines GROUP BY chunk) AS o ON o.chunk = u.id
ORDER BY u.n

-- name: report_levels
SELECT count(*), count(*) FILTER (WHERE c.last = c.n) FROM community c
WHERE EXISTS (SELECT FROM report r WHERE r.community = c.id OFFSET 0) GROUP BY c.level ORDER BY c.level

-- name: reports
-- Reports of a level, and of outer levels if their communities are not divided further.
SELECT c.id, c.level, c.size, r.title, r.summary, r.rating, r.findings, r.hash <> c.hash, {distance}::float8
FROM (SELECT * FROM community WHERE level = %(level)s OR (level < %(level)s AND last = n) OFFSET 0) AS c
CROSS JOIN LATERAL (SELECT * FROM report WHERE community = c.id OFFSET 0) AS r {near}
ORDER BY {distance}, c.size DESC, c.n LIMIT %(limit)s

-- name: reports_on
-- Reports of a level, and of outer levels if their communities are not divided further, on the communities that these
-- entities are in: those with most of them, then those rated higher.
WITH RECURSIVE around AS (
    SELECT c.* FROM unnest(%(ids)s::uuid[]) AS g (id)
    CROSS JOIN LATERAL (SELECT leaf FROM member WHERE entity = g.id OFFSET 0) AS m
    CROSS JOIN LATERAL (SELECT n, parent, level, last FROM community WHERE n = m.leaf OFFSET 0) AS c
    UNION ALL
    SELECT c.* FROM around AS a
    CROSS JOIN LATERAL (SELECT n, parent, level, last FROM community WHERE n = a.parent OFFSET 0) AS c)
SELECT c.id, c.level, c.size, r.title, r.summary, r.rating, r.findings, r.hash <> c.hash, w.entities::float8
FROM (
    SELECT n, count(*) AS entities FROM around WHERE level = %(level)s OR (level < %(level)s AND last = n) GROUP BY n) AS w
CROSS JOIN LATERAL (SELECT * FROM community WHERE n = w.n OFFSET 0) AS c
CROSS JOIN LATERAL (SELECT * FROM report WHERE community = c.id OFFSET 0) AS r
ORDER BY w.entities DESC, r.rating DESC, c.n LIMIT %(limit)s

-- name: report_near
CROSS JOIN LATERAL (SELECT near.v {operator} q.v AS distance FROM (SELECT %(vector)s::halfvec AS v OFFSET 0) AS q, ({vectors}) AS near) AS v
