-- name: stage
CREATE TEMP TABLE suggest_key (key bigint, name uuid, mask bigint) ON COMMIT DROP

-- name: index
CREATE INDEX ON suggest_key (key) INCLUDE (name, mask)

-- name: live_names
-- Without names of suppressed entities, which have no row.
SELECT n.id, n.written, n.type, n.entity, n.count
FROM name n CROSS JOIN LATERAL (SELECT FROM entity WHERE id = n.entity OFFSET 0) AS e
WHERE n.id > %(after)s AND n.entity IS NOT NULL ORDER BY n.id LIMIT %(limit)s

-- name: candidates
-- As in resolve.sql, but among the staged keys, and only live names of other entities. Each pair is found once.
SELECT c.who, n.id, n.written, n.type, n.entity, n.count
FROM (SELECT DISTINCT p.who, k.name
      FROM unnest(%(keys)s::bigint[], %(who)s::bigint[], %(masks)s::bigint[], %(most)s::bigint[]) AS p (key, who, mask, most)
      CROSS JOIN LATERAL (SELECT name, mask FROM suggest_key WHERE key = p.key OFFSET 0) k
      WHERE k.name > (%(ids)s::uuid[])[p.who + 1] AND bit_count((k.mask # p.mask)::bit(64)) <= p.most) c
CROSS JOIN LATERAL (SELECT id, written, type, entity, count FROM name WHERE id = c.name OFFSET 0) n
WHERE n.entity <> (%(entities)s::uuid[])[c.who + 1]

-- name: rejected
SELECT a, b FROM rejection

-- name: reject
INSERT INTO rejection (a, b) SELECT * FROM unnest(%(a)s::uuid[], %(b)s::uuid[]) AS u (a, b) ORDER BY a, b ON CONFLICT DO NOTHING

-- name: allow
DELETE FROM rejection r USING unnest(%(a)s::uuid[], %(b)s::uuid[]) AS u (a, b) WHERE r.a = u.a AND r.b = u.b

-- name: keep
-- Sorted by number, so that two concurrent listings wait for each other instead of deadlocking.
INSERT INTO suggestion (n, id, a, b, score)
SELECT %(before)s + n, id, a, b, score FROM unnest(%(ids)s::uuid[], %(a)s::uuid[], %(b)s::uuid[], %(scores)s::float8[])
    WITH ORDINALITY AS u (id, a, b, score, n)
ORDER BY n
ON CONFLICT (workspace, n) DO UPDATE SET id = excluded.id, a = excluded.a, b = excluded.b, score = excluded.score

-- name: forget_after
DELETE FROM suggestion WHERE n > %(n)s

-- name: kept
-- The suggestions selected by number or by a prefix of the id; names that no document mentions any more are NULL.
SELECT w.what, s.id, a.written, a.type, b.written, b.type
FROM unnest(%(whats)s::text[]) AS w (what)
LEFT JOIN suggestion s ON CASE WHEN w.what ~ '^\d{1,4}$' THEN s.n = w.what::int ELSE w.what <> '' AND starts_with(s.id::text, w.what) END
LEFT JOIN name a ON a.id = s.a AND a.entity IS NOT NULL
LEFT JOIN name b ON b.id = s.b AND b.entity IS NOT NULL

-- name: pair
-- The entities of two names, NULL if no document mentions the name; who merged them, if a rule did so that is still to be
-- carried out; and whether they were rejected.
SELECT (SELECT n.entity FROM name n JOIN entity e ON e.id = n.entity WHERE n.id = %(a)s),
       (SELECT n.entity FROM name n JOIN entity e ON e.id = n.entity WHERE n.id = %(b)s),
       (SELECT r.author FROM rule_name a JOIN rule_name b ON b.rule = a.rule JOIN rule r ON r.id = a.rule
        WHERE a.name = %(a)s AND b.name = %(b)s AND r.kind = 'merge' ORDER BY r.ordinal DESC LIMIT 1),
       EXISTS (SELECT FROM rejection WHERE a = %(form_a)s AND b = %(form_b)s)

-- name: passages
SELECT u.name, m.uri, m.title, c.text, m.spans
FROM unnest(%(names)s::uuid[]) AS u (name)
CROSS JOIN LATERAL (
    SELECT m.document, m.chunk, m.spans, d.uri, d.title
    FROM mention m CROSS JOIN LATERAL (SELECT uri, title FROM document WHERE id = m.document AND visible OFFSET 0) AS d
    WHERE m.name = u.name ORDER BY m.emphasis DESC, m.chunk LIMIT %(each)s) AS m
CROSS JOIN LATERAL (SELECT text FROM chunk WHERE document = m.document AND id = m.chunk OFFSET 0) AS c
