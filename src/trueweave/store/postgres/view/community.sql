-- name: plan
-- The whole workspace is read, but without statistics the planner expects few rows (see `guard` in 0001_workspaces.sql) and would
-- choose nested loops.
SELECT set_config('enable_nestloop', 'off', true), set_config('work_mem', '256MB', true)

-- name: graph
-- The version of the view: if it differs, the graph may differ.
SELECT coalesce(max(version), 0) FROM view_version

-- name: nodes
-- All entities in an order that depends only on what documents say, each with a hash of its contents, and the innermost
-- community that it has been in so far.
SELECT a.entity, a.id::uuid, md5(concat_ws(E'\x1f', a.id, e.type, e.text_hash))::uuid, coalesce(m.leaf, -1)
FROM stable_id a JOIN entity e ON e.id = a.entity LEFT JOIN member m ON m.entity = a.entity ORDER BY a.id COLLATE "C"

-- name: edges
SELECT source, target, weight::float8 / 1000, text_hash FROM relation

-- name: hierarchy
SELECT library, seed, resolution, most, entities, alone, modularity, found,
       graph <> (SELECT coalesce(max(version), 0) FROM view_version) FROM hierarchy

-- name: is_laid_out
SELECT NOT EXISTS (SELECT FROM (SELECT radius FROM community LIMIT 1) AS one WHERE one.radius IS NULL)

-- name: levels
SELECT c.level, count(*), sum(c.size)::bigint, max(c.size), count(r.community), count(*) FILTER (WHERE r.hash <> c.hash),
       count(*) FILTER (WHERE c.size < %(least)s)
FROM community c LEFT JOIN report r ON r.community = c.id GROUP BY c.level ORDER BY c.level

-- name: known
SELECT n, last, coalesce(parent, -1), level, id, size, hash, since, changed FROM community ORDER BY n

-- name: stage
CREATE TEMPORARY TABLE IF NOT EXISTS stage_community (n int, last int, parent int, level int, id uuid, stable_id uuid,
    size int, relations int, hash uuid, x float8, y float8, radius float8, around float8, best uuid) ON COMMIT DELETE ROWS;
CREATE TEMPORARY TABLE IF NOT EXISTS stage_member (entity uuid, leaf int, x float8, y float8) ON COMMIT DELETE ROWS;
CREATE TEMPORARY TABLE IF NOT EXISTS stage_community_link (a int, b int, relations int, weight float8) ON COMMIT DELETE ROWS

-- name: retire
INSERT INTO retired_community (id, level, size, title, gone)
SELECT c.id, c.level, c.size, coalesce(r.title, names.joined, ''), now()
FROM community c LEFT JOIN report r ON r.community = c.id
LEFT JOIN LATERAL (
    SELECT string_agg(e.name, ', ' ORDER BY e.degree DESC, e.name COLLATE "C") AS joined FROM (
        SELECT e.name, e.degree FROM (SELECT entity FROM member WHERE leaf BETWEEN c.n AND c.last OFFSET 0) m
        CROSS JOIN LATERAL (SELECT name, degree, id FROM entity WHERE id = m.entity OFFSET 0) e
        ORDER BY e.degree DESC, e.name COLLATE "C", e.id LIMIT 3) AS e) AS names ON true
WHERE NOT EXISTS (SELECT FROM stage_community s WHERE s.id = c.id)

-- name: forget_retired
DELETE FROM retired_community WHERE gone < now() - interval '1 year'

-- name: keep_dates
-- Unchanged communities keep both dates, changed ones keep `since`.
CREATE TEMPORARY TABLE stage_date ON COMMIT DROP AS
SELECT c.id, c.hash, c.since, c.changed, c.level, p.id AS parent
FROM community c LEFT JOIN LATERAL (SELECT id FROM community WHERE n = c.parent OFFSET 0) p ON true

-- name: clear
WITH gone AS (DELETE FROM member) DELETE FROM community

-- name: write
INSERT INTO community (n, last, parent, id, stable_id, level, size, relations, hash, since, changed, x, y, radius, around, best,
    linked)
SELECT s.n, s.last, nullif(s.parent, -1), s.id, s.stable_id, s.level, s.size, s.relations, s.hash,
       coalesce(d.since, now()), CASE WHEN d.hash = s.hash THEN d.changed ELSE now() END,
       s.x, s.y, s.radius, s.around, s.best, l.linked
FROM stage_community s LEFT JOIN stage_date d ON d.id = s.id
LEFT JOIN (SELECT a, string_agg(int4send(b) || int4send(relations) || int8send(weight::bigint), ''::bytea ORDER BY b) AS linked
           FROM stage_community_link GROUP BY a) l ON l.a = s.n
ORDER BY s.n

-- name: changes
-- The communities that are new or changed, and those that are gone.
SELECT c.id, false FROM community c
LEFT JOIN LATERAL (SELECT id FROM community WHERE n = c.parent OFFSET 0) p ON true
LEFT JOIN stage_date d ON d.id = c.id
WHERE d.id IS NULL OR d.hash <> c.hash OR d.level <> c.level OR d.parent IS DISTINCT FROM p.id
UNION ALL
SELECT d.id, true FROM stage_date d WHERE NOT EXISTS (SELECT FROM stage_community s WHERE s.id = d.id)

-- name: write_members
INSERT INTO member (entity, leaf, x, y) SELECT entity, leaf, x, y FROM stage_member ORDER BY leaf

-- name: orphans
-- Reports on communities that are gone, or too small for a report by now.
DELETE FROM report r WHERE NOT EXISTS (SELECT FROM community c WHERE c.id = r.community AND c.size >= %(least)s)
RETURNING r.community

-- name: write_hierarchy
INSERT INTO hierarchy (library, seed, resolution, most, graph, entities, alone, levels, modularity)
VALUES (%(library)s, %(seed)s, %(resolution)s, %(most)s, %(graph)s, %(entities)s, %(alone)s, %(levels)s, %(modularity)s)
ON CONFLICT (workspace) DO UPDATE SET library = excluded.library, seed = excluded.seed, resolution = excluded.resolution,
    most = excluded.most, graph = excluded.graph, entities = excluded.entities, alone = excluded.alone,
    levels = excluded.levels, modularity = excluded.modularity, found = now()

-- name: listed
SELECT c.id, c.level, p.id, ARRAY(
           SELECT e.name FROM (SELECT entity FROM member WHERE leaf BETWEEN c.n AND c.last OFFSET 0) m
           CROSS JOIN LATERAL (SELECT name, degree, id FROM entity WHERE id = m.entity OFFSET 0) e
           ORDER BY e.degree DESC, e.name COLLATE "C", e.id LIMIT 3),
       c.size, c.relations, (SELECT count(*) FROM community x WHERE x.parent = c.n)::int, coalesce(r.title, ''), r.rating,
       CASE WHEN r.hash = c.hash THEN 'written' WHEN r.hash IS NOT NULL THEN 'stale' WHEN c.size < %(least)s THEN 'small'
            ELSE 'unwritten' END,
       c.since, c.changed
FROM (SELECT * FROM community c
      WHERE (%(level)s::int IS NULL OR c.level = %(level)s)
          AND (%(within)s::uuid IS NULL OR c.parent = (SELECT n FROM community WHERE id = %(within)s))
          AND (%(ids)s::uuid[] IS NULL OR c.id = ANY(%(ids)s))
          AND (%(since)s::timestamptz IS NULL OR c.changed >= %(since)s)
      ORDER BY c.size DESC, c.n LIMIT %(limit)s) c
LEFT JOIN community p ON p.n = c.parent
LEFT JOIN LATERAL (SELECT * FROM report WHERE community = c.id OFFSET 0) r ON true
ORDER BY c.size DESC, c.n

-- name: tree
-- The largest communities within another, or of all, down to a level; and how many there are. A community is never larger than the
-- one around it, so that one comes first.
SELECT c.id, count(*) OVER () FROM community c
LEFT JOIN (SELECT n, last, level FROM community WHERE id = %(within)s) AS around ON true
WHERE (%(within)s::uuid IS NULL OR c.n BETWEEN around.n + 1 AND around.last)
    AND c.level < coalesce(around.level + 1, 0) + %(depth)s
ORDER BY c.size DESC, c.level, c.n LIMIT %(limit)s

-- name: path
-- A community, and those around it.
WITH RECURSIVE path AS (
    SELECT id, parent, level FROM community WHERE id = %(id)s
    UNION ALL
    SELECT c.id, c.parent, c.level FROM path JOIN community c ON c.n = path.parent)
SELECT id FROM path ORDER BY level

-- name: beginning
SELECT id FROM community WHERE starts_with(id::text, %(beginning)s) ORDER BY id LIMIT 2

-- name: retired
SELECT id, level, size, title, gone FROM retired_community WHERE gone >= %(since)s ORDER BY gone DESC, size DESC, id LIMIT %(limit)s

-- name: report
SELECT r.title, r.summary, r.rating, r.reason, r.findings, r.author, r.problem, r.hash <> c.hash, r.made
FROM report r JOIN community c ON c.id = r.community WHERE r.community = %(id)s

-- name: members
SELECT e.id, e.name, e.type, e.description, e.aliases, e.count, e.histogram, e.degree, coalesce(s.text, '')
FROM (SELECT e.* FROM community c
      CROSS JOIN LATERAL (SELECT entity FROM member WHERE leaf BETWEEN c.n AND c.last OFFSET 0) m
      CROSS JOIN LATERAL (SELECT * FROM entity WHERE id = m.entity OFFSET 0) e
      WHERE c.id = %(id)s AND (%(after)s::uuid IS NULL OR e.degree < %(degree)s::bigint
          OR (e.degree = %(degree)s::bigint AND (e.name COLLATE "C", e.id) > (%(name)s::text, %(after)s::uuid)))
      ORDER BY e.degree DESC, e.name COLLATE "C", e.id LIMIT %(limit)s) e
LEFT JOIN LATERAL (SELECT text FROM summary WHERE hash = e.text_hash OFFSET 0) s ON true
ORDER BY e.degree DESC, e.name COLLATE "C", e.id

-- name: any_report_due
SELECT EXISTS (
    SELECT FROM community c LEFT JOIN report r ON r.community = c.id
    WHERE c.size >= %(least)s
        AND (r.hash IS DISTINCT FROM c.hash OR (%(by_model)s AND r.author = '' AND r.problem = ''))
        AND EXISTS (SELECT FROM (SELECT entity FROM member WHERE leaf BETWEEN c.n AND c.last OFFSET 0) m
                    CROSS JOIN LATERAL (SELECT FROM entity WHERE id = m.entity OFFSET 0) e)
        AND NOT EXISTS (SELECT FROM failed_work f WHERE f.kind = 'report' AND f.subject IN ('', c.hash::text)))

-- name: count_queued
-- The reports that are missing or out of date, while a job to write them is in the queue.
SELECT count(*) FROM community c LEFT JOIN report r ON r.community = c.id
WHERE EXISTS (SELECT FROM job WHERE kind = 'report') AND c.size >= %(least)s
    AND (r.hash IS DISTINCT FROM c.hash OR (%(by_model)s AND r.author = '' AND r.problem = ''))
    AND NOT EXISTS (SELECT FROM failed_work f WHERE f.kind = 'report' AND f.subject IN ('', c.hash::text))

-- name: report_of
-- One community as due_reports has them, and whether its report is up to date and by this model (empty: by none).
SELECT c.n, c.last, c.level, c.id, c.hash, c.size, c.relations, coalesce(r.hash = c.hash AND r.author = %(model)s, false)
FROM community c LEFT JOIN report r ON r.community = c.id WHERE c.id = %(id)s

-- name: due_reports
-- Innermost communities first, because reports on outer ones may be written from theirs. Reports that the model failed
-- to write are retried here, but do not count in any_report_due. Communities whose members are all gone are left out.
SELECT c.n, c.last, c.level, c.id, c.hash, c.size, c.relations FROM community c LEFT JOIN report r ON r.community = c.id
WHERE c.size >= %(least)s AND (c.level < %(level)s OR (c.level = %(level)s AND c.n > %(after)s))
    AND (r.hash IS DISTINCT FROM c.hash OR (%(by_model)s AND r.author = ''))
    AND EXISTS (SELECT FROM (SELECT entity FROM member WHERE leaf BETWEEN c.n AND c.last OFFSET 0) m
                CROSS JOIN LATERAL (SELECT FROM entity WHERE id = m.entity OFFSET 0) e)
    AND NOT EXISTS (SELECT FROM failed_work f WHERE f.kind = 'report' AND f.subject IN ('', c.hash::text))
ORDER BY c.level DESC, c.n LIMIT %(limit)s

-- name: count_current
SELECT count(*) FROM community c JOIN report r ON r.community = c.id AND r.hash = c.hash
WHERE NOT (%(by_model)s AND r.author = '')

-- name: facts_entities
-- The members of communities, those with the most relations first, each with a chunk that mentions it.
SELECT u.n, e.id, e.name, e.type, coalesce(s.text, e.description), e.aliases, m.chunk
FROM unnest(%(ns)s::bigint[], %(lasts)s::bigint[]) AS u (n, last)
CROSS JOIN LATERAL (
    SELECT e.* FROM (SELECT entity FROM member WHERE leaf BETWEEN u.n AND u.last OFFSET 0) m
    CROSS JOIN LATERAL (SELECT * FROM entity WHERE id = m.entity OFFSET 0) e
    ORDER BY e.degree DESC, e.name COLLATE "C", e.id LIMIT %(most)s) e
LEFT JOIN LATERAL (SELECT text FROM summary WHERE hash = e.text_hash OFFSET 0) s ON true
LEFT JOIN LATERAL (
    SELECT m.chunk FROM (SELECT id FROM name WHERE entity = e.id ORDER BY count DESC, id LIMIT 1) AS n
    CROSS JOIN LATERAL (
        SELECT chunk FROM mention
        WHERE name = n.id AND EXISTS (SELECT FROM document d WHERE d.id = mention.document AND d.visible OFFSET 0)
        ORDER BY emphasis DESC, chunk LIMIT 1) m) m ON true
ORDER BY u.n, e.degree DESC, e.name COLLATE "C", e.id

-- name: facts_relations
-- The relations within communities, heaviest first, each with a chunk that states it. With `between`, only those whose
-- ends are in different parts.
SELECT u.n, r.id, r.source, r.target, r.source_name, r.target_name, coalesce(s.text, r.description), r.weight::float8 / 1000, l.chunk
FROM unnest(%(ns)s::bigint[], %(lasts)s::bigint[]) AS u (n, last)
CROSS JOIN LATERAL (
    SELECT r.* FROM (SELECT entity, leaf FROM member WHERE leaf BETWEEN u.n AND u.last OFFSET 0) m
    CROSS JOIN LATERAL (SELECT * FROM relation WHERE source = m.entity OFFSET 0) r
    CROSS JOIN LATERAL (SELECT leaf FROM member WHERE entity = r.target OFFSET 0) o
    WHERE o.leaf BETWEEN u.n AND u.last
        AND (NOT %(between)s OR NOT EXISTS (
            SELECT FROM community c WHERE c.parent = u.n AND m.leaf BETWEEN c.n AND c.last AND o.leaf BETWEEN c.n AND c.last))
    ORDER BY r.weight DESC, r.source_name COLLATE "C", r.target_name COLLATE "C", r.id LIMIT %(most)s) r
LEFT JOIN LATERAL (SELECT text FROM summary WHERE hash = r.text_hash OFFSET 0) s ON true
LEFT JOIN LATERAL (
    SELECT l.chunk FROM (SELECT source, target FROM name_pair WHERE relation = r.id ORDER BY weight DESC, source LIMIT 1) AS t
    CROSS JOIN LATERAL (
        SELECT chunk FROM link
        WHERE source = t.source AND target = t.target
            AND EXISTS (SELECT FROM document d WHERE d.id = link.document AND d.visible OFFSET 0)
        ORDER BY strength DESC, chunk LIMIT 1) l) l ON true
ORDER BY u.n, r.weight DESC, r.source_name COLLATE "C", r.target_name COLLATE "C", r.id

-- name: facts_parts
-- The reports on the parts of communities, largest first.
SELECT c.parent, r.title, r.summary, r.rating, r.reason, r.findings, r.author, r.problem, r.hash <> c.hash, r.made
FROM community c JOIN report r ON r.community = c.id WHERE c.parent = ANY(%(ns)s::bigint[]) ORDER BY c.parent, c.size DESC, c.n

-- name: texts
SELECT DISTINCT ON (c.id) c.id, c.text FROM unnest(%(chunks)s::uuid[]) AS u (id)
CROSS JOIN LATERAL (SELECT id, document, text FROM chunk WHERE id = u.id OFFSET 0) AS c
WHERE EXISTS (SELECT FROM document d WHERE d.id = c.document AND d.visible OFFSET 0) ORDER BY c.id

-- name: keep
INSERT INTO report (community, hash, title, summary, rating, reason, findings, author, problem, text_hash)
SELECT u.* FROM unnest(%(communities)s::uuid[], %(hashes)s::uuid[], %(titles)s::text[], %(summaries)s::text[],
    %(ratings)s::float8[], %(reasons)s::text[], %(findings)s::text[]::jsonb[], %(authors)s::text[], %(problems)s::text[],
    %(text_hashes)s::uuid[]) AS u (community, hash, title, summary, rating, reason, findings, author, problem, text_hash)
WHERE EXISTS (SELECT FROM community c WHERE c.id = u.community)
ON CONFLICT (workspace, community) DO UPDATE SET hash = excluded.hash, title = excluded.title, summary = excluded.summary,
    rating = excluded.rating, reason = excluded.reason, findings = excluded.findings, author = excluded.author,
    problem = excluded.problem, text_hash = excluded.text_hash, made = now()
RETURNING community
