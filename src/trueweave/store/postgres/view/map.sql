-- name: whole
-- When the communities were found, whether the graph has changed since, and how many entities were on the map; nothing if there is
-- no map.
SELECT found, graph <> (SELECT coalesce(max(version), 0) FROM view_version), entities - alone FROM hierarchy
WHERE NOT EXISTS (SELECT FROM (SELECT radius FROM community LIMIT 1) AS one WHERE one.radius IS NULL)

-- name: plan
-- The whole workspace is read, but without statistics the planner expects few rows (see `guard` in 0001_workspaces.sql).
SELECT set_config('enable_nestloop', %(nested)s, true)

-- name: removed
-- How many members of innermost communities have been removed or merged since the communities were found.
SELECT m.leaf, count(*)::int FROM member m WHERE NOT EXISTS (SELECT FROM entity e WHERE e.id = m.entity)
GROUP BY m.leaf ORDER BY m.leaf

-- name: circles
-- The communities in a window that are smaller than `closed`, in one that is not, the largest first; with their number and that of
-- their members. `removed` has the innermost communities from which members were removed, and `removed_sums` how many members were
-- removed from this one and from those before it.
SELECT c.n, c.last, c.id, coalesce(r.title, e.name, ''), c.size, c.x, c.y, c.radius, c.circles, c.entities
FROM (SELECT c.*, count(*) OVER () AS circles, sum(c.size) OVER ()::bigint AS entities
      FROM (SELECT n, last, id, best, x, y, radius,
                size - coalesce((%(removed_sums)s::bigint[])[width_bucket(last, %(removed)s::int[])], 0)
                     + coalesce((%(removed_sums)s::bigint[])[width_bucket(n - 1, %(removed)s::int[])], 0) AS size
            FROM community
            WHERE radius < %(closed)s AND around >= %(closed)s
                AND x BETWEEN %(x0)s - radius AND %(x1)s + radius AND y BETWEEN %(y0)s - radius AND %(y1)s + radius) c
      WHERE c.size > 0 ORDER BY c.size DESC, c.n LIMIT %(limit)s) c
LEFT JOIN LATERAL (SELECT title FROM report WHERE community = c.id OFFSET 0) r ON true
LEFT JOIN LATERAL (SELECT name FROM entity WHERE id = c.best OFFSET 0) e ON true
ORDER BY c.size DESC, c.n

-- name: links
-- What relates the innermost communities within each circle to others, as in community.linked.
SELECT (g.number - 1)::int, string_agg(c.linked, ''::bytea)
FROM unnest(%(n)s::int[], %(last)s::int[]) WITH ORDINALITY AS g (n, last, number)
CROSS JOIN LATERAL (SELECT linked FROM community WHERE n BETWEEN g.n AND g.last AND linked IS NOT NULL OFFSET 0) c
GROUP BY g.number

-- name: entities
-- The entities in a window whose innermost community is not drawn as a circle, those with the most relations first; with their
-- number. Entities that were removed or merged since the communities were found are left out.
SELECT e.id, e.name, e.type, e.degree, m.x, m.y, count(*) OVER ()
FROM (SELECT n FROM community
      WHERE radius >= %(closed)s
          AND x BETWEEN %(x0)s - radius AND %(x1)s + radius AND y BETWEEN %(y0)s - radius AND %(y1)s + radius OFFSET 0) c
CROSS JOIN LATERAL (
    SELECT entity, x, y FROM member
    WHERE leaf = c.n AND x BETWEEN %(x0)s AND %(x1)s AND y BETWEEN %(y0)s AND %(y1)s OFFSET 0) m
CROSS JOIN LATERAL (SELECT id, name, type, degree FROM entity WHERE id = m.entity OFFSET 0) e
ORDER BY e.degree DESC, e.id LIMIT %(limit)s

-- name: relations
-- The heaviest relations between these entities, as their numbers; with the number of all.
SELECT (s.number - 1)::int, (t.number - 1)::int, r.weight, count(*) OVER ()
FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY AS s (id, number)
CROSS JOIN LATERAL (SELECT target, weight FROM relation WHERE source = s.id OFFSET 0) r
JOIN unnest(%(ids)s::uuid[]) WITH ORDINALITY AS t (id, number) ON t.id = r.target
WHERE t.number <> s.number ORDER BY r.weight DESC, s.number, t.number LIMIT %(limit)s
