-- Pages of the view by key: each starts after the last row of the previous page. See pages.py.

-- name: entities
SELECT e.id, e.name, e.type, e.description, e.aliases, e.count, e.histogram, e.degree, coalesce(s.text, '')
FROM (SELECT * FROM entity WHERE (%(type)s::text = '' OR lower(type) = lower(%(type)s))
          AND (%(id)s::uuid IS NULL OR count < %(count)s::bigint
               OR (count = %(count)s::bigint AND (name COLLATE "C", id) > (%(name)s::text, %(id)s::uuid)))
      ORDER BY count DESC, name COLLATE "C", id LIMIT %(limit)s) e
LEFT JOIN LATERAL (SELECT text FROM summary WHERE hash = e.text_hash OFFSET 0) s ON true
ORDER BY e.count DESC, e.name COLLATE "C", e.id

-- name: relations
-- Of all entities, or of the given ones.
SELECT r.id, r.source, r.target, r.source_name, r.target_name, r.description, r.keywords, r.weight, r.count, r.histogram,
       coalesce(s.text, ''), r.type
FROM (SELECT * FROM relation WHERE (%(entities)s::uuid[] IS NULL OR source = ANY(%(entities)s) OR target = ANY(%(entities)s))
          AND (%(id)s::uuid IS NULL OR weight < %(weight)s::bigint OR (weight = %(weight)s::bigint AND id > %(id)s::uuid))
      ORDER BY weight DESC, id LIMIT %(limit)s) r
LEFT JOIN LATERAL (SELECT text FROM summary WHERE hash = r.text_hash OFFSET 0) s ON true
ORDER BY r.weight DESC, r.id

-- name: communities
-- The ids of communities, largest first.
SELECT c.id, c.size FROM community c
WHERE (%(level)s::int IS NULL OR c.level = %(level)s)
    AND (%(within)s::uuid IS NULL OR c.parent = (SELECT n FROM community WHERE id = %(within)s))
    AND (%(since)s::timestamptz IS NULL OR c.changed >= %(since)s)
    AND (%(id)s::uuid IS NULL OR c.size < %(size)s::bigint OR (c.size = %(size)s::bigint AND c.id > %(id)s::uuid))
ORDER BY c.size DESC, c.id LIMIT %(limit)s

-- name: failed
SELECT uri, error, failures FROM source WHERE failed AND uri > %(after)s ORDER BY uri LIMIT %(limit)s
