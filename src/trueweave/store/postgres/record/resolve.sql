-- name: settings
SELECT mode, threshold, same FROM workspace

-- name: lock_shared
SELECT pg_advisory_xact_lock_shared(%(lock)s)

-- name: lock_alone
SELECT pg_advisory_xact_lock(%(lock)s)

-- name: lock_pending_matches
SELECT n.id, n.written, n.type FROM (
    SELECT name FROM pending_match WHERE name = ANY(%(names)s) ORDER BY name FOR UPDATE) u
CROSS JOIN LATERAL (SELECT id, written, type FROM name WHERE id = u.name OFFSET 0) n

-- name: candidates
-- One index probe per key, however many names there are (see settle.sql). `who` is the number of the searching name.
SELECT c.who, n.id, n.written
FROM (SELECT DISTINCT p.who, k.name
      FROM unnest(%(keys)s::bigint[], %(who)s::bigint[], %(masks)s::bigint[], %(most)s::bigint[]) AS p (key, who, mask, most)
      CROSS JOIN LATERAL (SELECT name, mask FROM name_key WHERE key = p.key OFFSET 0) k
      WHERE bit_count((k.mask # p.mask)::bit(64)) <= p.most) c
CROSS JOIN LATERAL (SELECT id, written FROM name WHERE id = c.name OFFSET 0) n

-- name: insert_alike
INSERT INTO alike (a, b)
SELECT a, b FROM (
    SELECT a, b FROM unnest(%(a)s::uuid[], %(b)s::uuid[]) AS p (a, b)
    UNION SELECT b, a FROM unnest(%(a)s::uuid[], %(b)s::uuid[]) AS p (a, b)) pairs
ORDER BY a, b ON CONFLICT DO NOTHING

-- name: matched
DELETE FROM pending_match WHERE name = ANY(%(names)s)

-- name: change_settings
UPDATE workspace SET mode = %(mode)s, threshold = %(threshold)s, same = %(same)s

-- name: forget_alike
DELETE FROM alike

-- name: forget_keys
DELETE FROM name_key

-- name: match_all_again
INSERT INTO pending_match (name) SELECT id FROM name ON CONFLICT DO NOTHING

-- name: mark_all_dirty
INSERT INTO dirty_name (name) SELECT id FROM name WHERE entity IS NOT NULL ON CONFLICT DO NOTHING

-- name: names_after
SELECT id, written, type FROM name WHERE id > %(after)s ORDER BY id LIMIT %(limit)s

-- name: rule_insert
INSERT INTO rule (id, kind, label, author, made)
SELECT id, kind, label, author, coalesce(made, now())
FROM unnest(%(ids)s::uuid[], %(kinds)s::text[], %(labels)s::text[], %(authors)s::text[], %(made)s::timestamptz[])
    WITH ORDINALITY AS u (id, kind, label, author, made, n)
ORDER BY n ON CONFLICT DO NOTHING

-- name: rule_insert_names
INSERT INTO rule_name (rule, name, written, type, side)
SELECT * FROM unnest(%(rules)s::uuid[], %(names)s::uuid[], %(written)s::text[], %(types)s::text[], %(sides)s::bigint[])
ON CONFLICT DO NOTHING

-- name: forget_dirty_names
DELETE FROM dirty_name

-- name: forget_dirty_pairs
DELETE FROM dirty_pair

-- name: dirty_names
SELECT name FROM dirty_name ORDER BY name

-- name: dirty_pairs
SELECT source, target FROM dirty_pair ORDER BY source, target

-- name: rule_delete
DELETE FROM rule WHERE id = ANY(%(rules)s)

-- name: rule_delete_names
DELETE FROM rule_name WHERE rule = ANY(%(rules)s)

-- name: rule_list
-- All, or those of one kind.
SELECT r.id, r.kind, r.label, r.author, r.made, n.side, n.written, n.type FROM rule r JOIN rule_name n ON n.rule = r.id
WHERE %(kind)s::text IS NULL OR r.kind = %(kind)s::text
ORDER BY r.ordinal, n.written COLLATE "C", n.type COLLATE "C"

-- name: rule_page
SELECT r.ordinal, r.id, r.kind, r.label, r.author, r.made, n.side, n.written, n.type
FROM (SELECT id, kind, label, author, made, ordinal FROM rule WHERE ordinal > %(after)s ORDER BY ordinal LIMIT %(limit)s) AS r
JOIN rule_name n ON n.rule = r.id
ORDER BY r.ordinal, n.written COLLATE "C", n.type COLLATE "C"

-- name: mark_dirty_pairs
-- The pairs of names affected by rules about facts: all pairs of a suppressed entity, or the pairs of a relation.
WITH spoken AS MATERIALIZED (
    SELECT r.rule, r.side, n.entity
    FROM (SELECT rule, name, written_hash, side FROM rule_name WHERE rule = ANY(%(rules)s) AND side > 0 OFFSET 0) AS r
    CROSS JOIN LATERAL (
        SELECT entity FROM name WHERE id = r.name UNION SELECT entity FROM name WHERE written_hash = r.written_hash) AS n
    WHERE n.entity IS NOT NULL),
own AS MATERIALIZED (
    SELECT s.rule, s.side, n.id FROM spoken s
    CROSS JOIN LATERAL (SELECT id FROM name WHERE entity = s.entity OFFSET 0) AS n)
INSERT INTO dirty_pair (source, target)
SELECT p.source, p.target FROM own CROSS JOIN LATERAL (
    SELECT source, target FROM name_pair WHERE source = own.id
    UNION ALL SELECT source, target FROM name_pair WHERE target = own.id) AS p
WHERE own.side = 3
UNION
SELECT p.source, p.target FROM own
CROSS JOIN LATERAL (SELECT source, target FROM name_pair WHERE source = own.id OFFSET 0) AS p
WHERE own.side = 1 AND EXISTS (SELECT FROM own AS other WHERE other.rule = own.rule AND other.side = 2 AND other.id = p.target)
ORDER BY 1, 2 ON CONFLICT DO NOTHING

-- name: added_facts
-- The facts that people added, which are documents: the first ones, or those after this time and uri.
SELECT d.uri, d.metadata->>'added_by', d.added, c.text,
    ARRAY(SELECT m.written FROM mention m WHERE m.document = d.id ORDER BY m.n),
    ARRAY(SELECT m.type FROM mention m WHERE m.document = d.id ORDER BY m.n)
FROM document d CROSS JOIN LATERAL (SELECT text FROM chunk WHERE document = d.id ORDER BY n LIMIT 1) AS c
WHERE d.uri >= %(first)s AND d.uri < %(last)s AND d.current
    AND (%(made)s::timestamptz IS NULL OR (d.added, d.uri) > (%(made)s::timestamptz, %(after)s::text))
ORDER BY d.added, d.uri LIMIT %(limit)s

-- name: mark_dirty
-- The names mentioned in these rules.
INSERT INTO dirty_name (name)
SELECT n.id FROM (
    SELECT n.id, n.entity FROM (SELECT name FROM rule_name WHERE rule = ANY(%(rules)s) OFFSET 0) AS r
    CROSS JOIN LATERAL (SELECT id, entity FROM name WHERE id = r.name OFFSET 0) AS n
    UNION
    SELECT n.id, n.entity FROM (SELECT written_hash FROM rule_name WHERE rule = ANY(%(rules)s) OFFSET 0) AS r
    CROSS JOIN LATERAL (SELECT id, entity FROM name WHERE written_hash = r.written_hash OFFSET 0) AS n) AS n
WHERE n.entity IS NOT NULL ORDER BY n.id ON CONFLICT DO NOTHING

-- name: matching
-- The mentioned names that match those asked for, which `who` numbers. Without a type, names of any type match.
SELECT p.who, n.written, n.type, n.count
FROM unnest(%(names)s::text[], %(types)s::text[]) WITH ORDINALITY AS p (written, type, who)
CROSS JOIN LATERAL (
    SELECT written, type, count, entity FROM name WHERE written_hash = md5(p.written)::uuid OFFSET 0) AS n
WHERE n.written = p.written AND (p.type = '' OR n.type = p.type) AND n.entity IS NOT NULL
ORDER BY p.who, n.count DESC, n.type COLLATE "C"

-- name: sweep_dead
DELETE FROM name n WHERE entity IS NULL AND NOT EXISTS (SELECT FROM mention m WHERE m.name = n.id)
RETURNING id, written, type

-- name: sweep_dead_among
DELETE FROM name n WHERE n.id = ANY(%(names)s) AND entity IS NULL
    AND NOT EXISTS (SELECT FROM mention m WHERE m.name = n.id OFFSET 0)
RETURNING id, written, type

-- name: sweep_alike
WITH gone AS (DELETE FROM alike WHERE a = ANY(%(names)s) RETURNING a, b)
DELETE FROM alike back USING gone WHERE back.a = gone.b AND back.b = gone.a

-- name: sweep_pending_matches
DELETE FROM pending_match WHERE name = ANY(%(names)s)

-- name: sweep_keys
DELETE FROM name_key k USING unnest(%(keys)s::bigint[], %(names)s::uuid[]) AS d (key, name)
WHERE k.key = d.key AND k.name = d.name
