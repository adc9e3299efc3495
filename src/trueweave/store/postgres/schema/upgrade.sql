-- What migrations work out anew from the documents that are there: see upgrades.py.

-- name: weigh_descriptions_of_names
UPDATE phrase_count p SET weight = said.weight
FROM (SELECT m.name, m.description_hash, sum(m.emphasis) AS weight
      FROM mention m JOIN document d ON d.id = m.document AND d.visible
      WHERE m.description <> '' GROUP BY 1, 2) AS said
WHERE p.owner = said.name AND p.kind = 'd' AND p.hash = said.description_hash

-- name: pairs
SELECT source, target FROM name_pair WHERE (source, target) > (%(source)s, %(target)s)
ORDER BY source, target LIMIT %(limit)s

-- name: weigh_descriptions_of_pairs
UPDATE phrase_count p SET weight = said.weight
FROM (SELECT u.owner, l.description_hash, sum(l.emphasis) AS weight
      FROM unnest(%(sources)s::uuid[], %(targets)s::uuid[], %(owners)s::uuid[]) AS u (source, target, owner)
      CROSS JOIN LATERAL (SELECT * FROM link WHERE source = u.source AND target = u.target OFFSET 0) AS l
      JOIN document d ON d.id = l.document AND d.visible
      WHERE l.description <> '' GROUP BY 1, 2) AS said
WHERE p.owner = said.owner AND p.kind = 'd' AND p.hash = said.description_hash

-- name: weigh_keywords_of_pairs
UPDATE phrase_count p SET weight = said.weight
FROM (SELECT u.owner, k.word, sum(l.emphasis) AS weight
      FROM unnest(%(sources)s::uuid[], %(targets)s::uuid[], %(owners)s::uuid[]) AS u (source, target, owner)
      CROSS JOIN LATERAL (SELECT * FROM link WHERE source = u.source AND target = u.target OFFSET 0) AS l
      JOIN document d ON d.id = l.document AND d.visible
      CROSS JOIN unnest(l.keywords) AS k (word) GROUP BY 1, 2) AS said
WHERE p.owner = said.owner AND p.kind = 'k' AND p.value = said.word

-- name: first_keywords
SELECT l.source, l.target, l.keywords[1], count(*)
FROM unnest(%(sources)s::uuid[], %(targets)s::uuid[]) AS u (source, target)
CROSS JOIN LATERAL (SELECT * FROM link WHERE source = u.source AND target = u.target OFFSET 0) AS l
JOIN document d ON d.id = l.document AND d.visible
WHERE l.keywords <> '{}' GROUP BY 1, 2, 3

-- name: mark_pairs_dirty
INSERT INTO dirty_pair (source, target) SELECT source, target FROM name_pair WHERE relation IS NOT NULL

-- name: has_types_in_capitals
SELECT EXISTS (SELECT FROM name WHERE type <> lower(type))
