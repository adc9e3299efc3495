-- name: communities
SELECT jsonb_build_object('id', c.id, 'level', c.level, 'parent', p.id, 'size', c.size, 'relations', c.relations,
    'title', r.title, 'summary', r.summary, 'rating', r.rating, 'reason', r.reason, 'findings', r.findings,
    'author', r.author, 'stale', r.hash <> c.hash)
FROM community c LEFT JOIN community p ON p.n = c.parent LEFT JOIN report r ON r.community = c.id ORDER BY c.n

-- name: entities
SELECT jsonb_build_object('id', e.id, 'name', e.name, 'type', e.type, 'description', e.description,
    'aliases', e.aliases, 'mentions', e.count, 'degree', e.degree, 'community', c.id)
FROM entity e LEFT JOIN member m ON m.entity = e.id LEFT JOIN community c ON c.n = m.leaf ORDER BY e.id

-- name: relations
SELECT jsonb_build_object('id', r.id, 'source', r.source, 'target', r.target, 'source_name', r.source_name,
    'target_name', r.target_name, 'description', r.description, 'type', r.type, 'keywords', r.keywords,
    'weight', r.weight::float8 / 1000,
    'links', r.count)
FROM relation r ORDER BY r.id
