-- All rows are looked up by key: a workspace may have grown a thousandfold since statistics were collected.
-- `CROSS JOIN LATERAL (… OFFSET 0)` forces one index probe per key.

-- name: due
-- Documents to be settled that are not leased, either small or large ones.
SELECT DISTINCT uri FROM (
    SELECT uri FROM document d WHERE (current AND NOT off) <> visible AND (size > %(small)s) = %(large)s
        AND NOT EXISTS (SELECT FROM failed_work f WHERE f.kind = 'settle' AND f.subject IN ('', d.uri))
        AND NOT EXISTS (
            SELECT FROM work_lease s WHERE s.kind = 'document' AND s.subject = d.uri AND s.until > clock_timestamp())
        AND NOT EXISTS (SELECT FROM workspace WHERE paused_until > now())
    ORDER BY uri LIMIT %(limit)s) AS due

-- name: any_large_due
SELECT EXISTS (SELECT FROM document d WHERE (current AND NOT off) <> visible AND size > %(small)s
               AND NOT EXISTS (SELECT FROM failed_work WHERE kind = 'settle' AND subject IN ('', d.uri)))

-- name: any_due
SELECT EXISTS (SELECT FROM document d WHERE (current AND NOT off) <> visible
               AND NOT EXISTS (SELECT FROM failed_work WHERE kind = 'settle' AND subject IN ('', d.uri)))
    OR ((EXISTS (SELECT FROM dirty_name) OR EXISTS (SELECT FROM dirty_pair)) AND NOT EXISTS (SELECT FROM failed_work WHERE kind = 'names' OR (kind = 'settle' AND subject = '')))
    OR (EXISTS (SELECT FROM pending_link) AND NOT EXISTS (SELECT FROM failed_work WHERE kind = 'link'))

-- name: due_versions
SELECT d.id, u.uri, d.current AND NOT d.off, d.size FROM unnest(%(uris)s::text[]) AS u (uri)
CROSS JOIN LATERAL (SELECT id, current, off, size FROM document WHERE uri = u.uri AND (current AND NOT off) <> visible OFFSET 0) d
ORDER BY u.uri, d.id

-- name: due_names
SELECT name FROM dirty_name
WHERE NOT EXISTS (SELECT FROM failed_work WHERE kind = 'names' OR (kind = 'settle' AND subject = ''))
    AND NOT EXISTS (SELECT FROM workspace WHERE paused_until > now())
ORDER BY name LIMIT %(limit)s

-- name: due_pairs
SELECT source, target FROM dirty_pair
WHERE NOT EXISTS (SELECT FROM failed_work WHERE kind = 'names' OR (kind = 'settle' AND subject = ''))
    AND NOT EXISTS (SELECT FROM workspace WHERE paused_until > now())
ORDER BY source, target LIMIT %(limit)s

-- name: pending_matches
SELECT DISTINCT u.name
FROM (SELECT m.name FROM unnest(%(documents)s::uuid[]) AS d (id)
      CROSS JOIN LATERAL (SELECT name FROM mention WHERE document = d.id OFFSET 0) m
      UNION ALL SELECT unnest(%(dirty_names)s::uuid[])) AS spoken_of (name)
CROSS JOIN LATERAL (SELECT name FROM pending_match WHERE name = spoken_of.name OFFSET 0) u

-- name: version
SELECT coalesce(max(version), 0) FROM view_version

-- name: count_change
INSERT INTO view_version (version) VALUES (1)
ON CONFLICT (workspace) DO UPDATE SET version = view_version.version + 1

-- name: name_deltas
SELECT m.name, m.emphasis, sum(d.sign)::bigint
FROM unnest(%(documents)s::uuid[], %(signs)s::bigint[]) AS d (id, sign)
CROSS JOIN LATERAL (SELECT name, emphasis FROM mention WHERE document = d.id OFFSET 0) m
GROUP BY m.name, m.emphasis

-- name: name_pair_deltas
SELECT l.source, l.target, l.emphasis, sum(d.sign)::bigint, sum(d.sign * l.strength)::bigint
FROM unnest(%(documents)s::uuid[], %(signs)s::bigint[]) AS d (id, sign)
CROSS JOIN LATERAL (SELECT source, target, emphasis, strength FROM link WHERE document = d.id OFFSET 0) l
GROUP BY l.source, l.target, l.emphasis

-- name: name_description_deltas
SELECT m.name, m.description_hash, m.description, sum(d.sign)::bigint, sum(d.sign * m.emphasis)::bigint
FROM unnest(%(documents)s::uuid[], %(signs)s::bigint[]) AS d (id, sign)
CROSS JOIN LATERAL (SELECT name, description_hash, description, emphasis FROM mention WHERE document = d.id OFFSET 0) m
WHERE m.description <> ''
GROUP BY 1, 2, 3 HAVING sum(d.sign) <> 0 OR sum(d.sign * m.emphasis) <> 0

-- name: name_pair_description_deltas
SELECT l.source, l.target, l.description_hash, l.description, sum(d.sign)::bigint, sum(d.sign * l.emphasis)::bigint
FROM unnest(%(documents)s::uuid[], %(signs)s::bigint[]) AS d (id, sign)
CROSS JOIN LATERAL (
    SELECT source, target, description_hash, description, emphasis FROM link WHERE document = d.id OFFSET 0) l
WHERE l.description <> ''
GROUP BY 1, 2, 3, 4 HAVING sum(d.sign) <> 0 OR sum(d.sign * l.emphasis) <> 0

-- name: name_pair_keyword_deltas
SELECT l.source, l.target, k.keyword, sum(d.sign)::bigint, sum(d.sign * l.emphasis)::bigint,
    coalesce(sum(d.sign) FILTER (WHERE k.n = 1), 0)::bigint
FROM unnest(%(documents)s::uuid[], %(signs)s::bigint[]) AS d (id, sign)
CROSS JOIN LATERAL (SELECT source, target, keywords, emphasis FROM link WHERE document = d.id OFFSET 0) l
CROSS JOIN unnest(l.keywords) WITH ORDINALITY AS k (keyword, n)
GROUP BY 1, 2, 3
HAVING sum(d.sign) <> 0 OR sum(d.sign * l.emphasis) <> 0 OR sum(d.sign) FILTER (WHERE k.n = 1) <> 0

-- name: names
SELECT n.* FROM unnest(%(names)s::uuid[]) AS u (id)
CROSS JOIN LATERAL (SELECT id, written, type, count, histogram, entity FROM name WHERE id = u.id OFFSET 0) n

-- name: neighbours
-- The names that are similar to these, or share a rule with them, live or not.
SELECT n.*
FROM (SELECT p.b FROM unnest(%(names)s::uuid[]) AS u (id)
      CROSS JOIN LATERAL (SELECT b FROM alike WHERE a = u.id OFFSET 0) p
      UNION
      SELECT o.name FROM unnest(%(names)s::uuid[]) AS u (id)
      CROSS JOIN LATERAL (
          SELECT rule FROM rule_name WHERE name = u.id
          UNION ALL
          SELECT m.rule FROM (SELECT written_hash FROM name WHERE id = u.id OFFSET 0) AS w
          CROSS JOIN LATERAL (SELECT rule FROM rule_name WHERE written_hash = w.written_hash OFFSET 0) AS m) AS r
      CROSS JOIN LATERAL (
          SELECT name FROM rule_name WHERE rule = r.rule AND written_hash IS NULL
          UNION ALL
          SELECT n.id FROM (SELECT written_hash FROM rule_name WHERE rule = r.rule OFFSET 0) AS w
          CROSS JOIN LATERAL (SELECT id FROM name WHERE written_hash = w.written_hash OFFSET 0) AS n) AS o) AS near (name)
CROSS JOIN LATERAL (SELECT id, written, type, count, histogram, entity FROM name WHERE id = near.name OFFSET 0) n

-- name: members
SELECT n.* FROM unnest(%(entities)s::uuid[]) AS u (id)
CROSS JOIN LATERAL (SELECT id, written, type, count, histogram, entity FROM name WHERE entity = u.id OFFSET 0) n

-- name: alike
SELECT p.a, p.b FROM unnest(%(names)s::uuid[]) AS u (id)
CROSS JOIN LATERAL (SELECT a, b FROM alike WHERE a = u.id AND a < b OFFSET 0) p

-- name: rules
-- A rule that gives a name without a type (it has a hash) applies to names of all types with that spelling.
SELECT r.ordinal, r.kind, r.label, array_agg(n.name)
FROM (SELECT m.rule FROM unnest(%(names)s::uuid[]) AS u (id)
      CROSS JOIN LATERAL (SELECT rule FROM rule_name WHERE name = u.id AND side = 0 OFFSET 0) AS m
      UNION
      SELECT m.rule FROM unnest(%(names)s::uuid[]) AS u (id)
      CROSS JOIN LATERAL (SELECT written_hash FROM name WHERE id = u.id OFFSET 0) AS w
      CROSS JOIN LATERAL (
          SELECT rule FROM rule_name WHERE written_hash = w.written_hash AND side = 0 OFFSET 0) AS m) AS own
CROSS JOIN LATERAL (SELECT ordinal, kind, label FROM rule WHERE id = own.rule OFFSET 0) AS r
CROSS JOIN LATERAL (
    SELECT name FROM rule_name WHERE rule = own.rule AND written_hash IS NULL
    UNION ALL
    SELECT n.id FROM (SELECT written_hash FROM rule_name WHERE rule = own.rule OFFSET 0) AS w
    CROSS JOIN LATERAL (SELECT id FROM name WHERE written_hash = w.written_hash OFFSET 0) AS n) AS n
GROUP BY r.ordinal, r.kind, r.label

-- name: fact_rules
-- The rules about relations, and those that suppress entities, with the names they mention and their entities.
SELECT r.ordinal, r.kind, r.label, m.side, n.id, n.entity
FROM (SELECT rule, name, written_hash, side FROM rule_name WHERE side > 0) AS m
CROSS JOIN LATERAL (SELECT ordinal, kind, label FROM rule WHERE id = m.rule OFFSET 0) AS r
CROSS JOIN LATERAL (
    SELECT id, entity FROM name WHERE id = m.name
    UNION
    SELECT id, entity FROM name WHERE written_hash = m.written_hash) AS n

-- name: degrees
SELECT u.id, (SELECT count(*) FROM relation WHERE source = u.id) + (SELECT count(*) FROM relation WHERE target = u.id)
FROM unnest(%(entities)s::uuid[]) AS u (id)

-- name: entities
SELECT e.* FROM unnest(%(entities)s::uuid[]) AS u (id)
CROSS JOIN LATERAL (
    SELECT id, name, type, description, aliases, count, histogram, degree, text_hash
    FROM entity WHERE id = u.id OFFSET 0) e

-- name: name_pairs
SELECT t.* FROM unnest(%(sources)s::uuid[], %(targets)s::uuid[]) AS p (source, target)
CROSS JOIN LATERAL (
    SELECT source, target, count, weight, histogram, relation FROM name_pair WHERE source = p.source AND target = p.target OFFSET 0) t

-- name: name_pairs_of_names
SELECT t.* FROM unnest(%(names)s::uuid[]) AS u (id)
CROSS JOIN LATERAL (SELECT source, target, count, weight, histogram, relation FROM name_pair WHERE source = u.id OFFSET 0) t
UNION
SELECT t.* FROM unnest(%(names)s::uuid[]) AS u (id)
CROSS JOIN LATERAL (SELECT source, target, count, weight, histogram, relation FROM name_pair WHERE target = u.id OFFSET 0) t

-- name: name_pairs_of_relations
SELECT t.* FROM unnest(%(relations)s::uuid[]) AS u (id)
CROSS JOIN LATERAL (SELECT source, target, count, weight, histogram, relation FROM name_pair WHERE relation = u.id OFFSET 0) t

-- name: relations
SELECT r.* FROM unnest(%(relations)s::uuid[]) AS u (id)
CROSS JOIN LATERAL (
    SELECT id, source, target, source_name, target_name, type, description, keywords, weight, count, histogram, text_hash
    FROM relation WHERE id = u.id OFFSET 0) r

-- name: said
-- The descriptions or keywords of each owner with the greatest weight, and those that are about to change.
SELECT o.owner, t.hash, t.value, t.count, t.weight
FROM unnest(%(owners)s::uuid[], %(limits)s::bigint[]) AS o (owner, most)
CROSS JOIN LATERAL (
    SELECT hash, value, count, weight FROM phrase_count
    WHERE owner = o.owner AND kind = %(kind)s::"char" ORDER BY weight DESC, hash LIMIT o.most) t
UNION
SELECT c.owner, t.hash, t.value, t.count, t.weight
FROM unnest(%(changing)s::uuid[], %(hashes)s::uuid[]) AS c (owner, hash)
CROSS JOIN LATERAL (
    SELECT hash, value, count, weight FROM phrase_count
    WHERE owner = c.owner AND kind = %(kind)s::"char" AND hash = c.hash OFFSET 0) t

-- name: write_names
-- All rows exist; an upsert finds each by its primary key, where an UPDATE with a join might scan.
WITH now AS (
    SELECT * FROM unnest(%(id)s::uuid[], %(count)s::bigint[], %(histogram)s::text[], %(entity)s::uuid[])
        AS u (id, count, histogram, entity)),
woken AS (  -- names that became live or dead: texts must be searched for them, or lose them
    INSERT INTO pending_link (phrase)
    SELECT DISTINCT n.phrase FROM now
    CROSS JOIN LATERAL (SELECT phrase, entity FROM name WHERE id = now.id OFFSET 0) AS n
    WHERE n.phrase IS NOT NULL AND (n.entity IS NULL) <> (now.entity IS NULL))
INSERT INTO name (id, written, type, count, histogram, entity)
SELECT id, '', '', count, histogram::bigint[], entity FROM now
ON CONFLICT (workspace, id) DO UPDATE
SET count = excluded.count, histogram = excluded.histogram, entity = excluded.entity

-- name: write_name_pairs
INSERT INTO name_pair (source, target, count, weight, histogram, relation)
SELECT source, target, count, weight, histogram::bigint[], relation
FROM unnest(%(source)s::uuid[], %(target)s::uuid[], %(count)s::bigint[], %(weight)s::bigint[], %(histogram)s::text[],
    %(relation)s::uuid[]) AS u (source, target, count, weight, histogram, relation)
ON CONFLICT (workspace, source, target) DO UPDATE
SET count = excluded.count, weight = excluded.weight, histogram = excluded.histogram, relation = excluded.relation

-- name: remove_name_pairs
DELETE FROM name_pair t USING unnest(%(source)s::uuid[], %(target)s::uuid[]) AS u (source, target)
WHERE t.source = u.source AND t.target = u.target

-- name: write_phrase_counts
INSERT INTO phrase_count (owner, kind, hash, value, count, weight)
SELECT owner, kind::"char", hash, value, count, weight
FROM unnest(%(owner)s::uuid[], %(kind)s::text[], %(hash)s::uuid[], %(value)s::text[], %(count)s::bigint[],
    %(weight)s::bigint[]) AS u (owner, kind, hash, value, count, weight)
ON CONFLICT (workspace, owner, kind, hash) DO UPDATE
SET count = phrase_count.count + excluded.count, weight = phrase_count.weight + excluded.weight

-- name: remove_phrase_counts
DELETE FROM phrase_count t USING unnest(%(owner)s::uuid[], %(kind)s::text[], %(hash)s::uuid[]) AS u (owner, kind, hash)
WHERE t.owner = u.owner AND t.kind = u.kind::"char" AND t.hash = u.hash AND t.count = 0

-- name: write_entities
INSERT INTO entity (id, name, type, description, aliases, count, histogram, degree, text_hash)
SELECT id, name, type, description, aliases::text[], count, histogram::bigint[], degree, text_hash
FROM unnest(%(id)s::uuid[], %(name)s::text[], %(type)s::text[], %(description)s::text[], %(aliases)s::text[],
    %(count)s::bigint[], %(histogram)s::text[], %(degree)s::bigint[], %(text_hash)s::uuid[])
    AS u (id, name, type, description, aliases, count, histogram, degree, text_hash)
ON CONFLICT (workspace, id) DO UPDATE
SET name = excluded.name, type = excluded.type, description = excluded.description, aliases = excluded.aliases,
    count = excluded.count, histogram = excluded.histogram, degree = excluded.degree, text_hash = excluded.text_hash

-- name: remove_entities
DELETE FROM entity WHERE id = ANY(%(ids)s)

-- name: write_relations
INSERT INTO relation
    (id, source, target, source_name, target_name, type, description, keywords, weight, count, histogram, text_hash)
SELECT id, source, target, source_name, target_name, type, description, keywords::text[], weight, count,
    histogram::bigint[], text_hash
FROM unnest(%(id)s::uuid[], %(source)s::uuid[], %(target)s::uuid[], %(source_name)s::text[], %(target_name)s::text[],
    %(type)s::text[], %(description)s::text[], %(keywords)s::text[], %(weight)s::bigint[], %(count)s::bigint[], %(histogram)s::text[],
    %(text_hash)s::uuid[])
    AS u (id, source, target, source_name, target_name, type, description, keywords, weight, count, histogram, text_hash)
ON CONFLICT (workspace, id) DO UPDATE
SET source_name = excluded.source_name, target_name = excluded.target_name, type = excluded.type,
    description = excluded.description, keywords = excluded.keywords, weight = excluded.weight, count = excluded.count, histogram = excluded.histogram,
    text_hash = excluded.text_hash

-- name: remove_relations
DELETE FROM relation WHERE id = ANY(%(ids)s)

-- name: chunk_changes
-- Added and removed chunks; those in both versions are left out.
SELECT c.id, min(c.text_hash::text)::uuid, sum(d.sign)::int, CASE WHEN sum(d.sign) > 0 THEN min(c.text) END
FROM unnest(%(documents)s::uuid[], %(signs)s::bigint[]) AS d (id, sign)
CROSS JOIN LATERAL (SELECT id, text_hash, text FROM chunk WHERE document = d.id OFFSET 0) c
GROUP BY c.id HAVING sum(d.sign) <> 0

-- name: show_and_hide
-- Returns the versions that are hidden and keep their rows: those that are only switched off, and those that are kept as
-- history. Times of history increase from one batch to the next, whatever the clock does.
WITH clock AS (
    UPDATE history SET changed = greatest(clock_timestamp(), changed + '1 microsecond') RETURNING changed),
ended AS (
    UPDATE shown SET until = clock.changed FROM clock WHERE document = ANY(%(going)s) AND until IS NULL),
begun AS (
    INSERT INTO shown (document, since) SELECT id, clock.changed FROM clock CROSS JOIN unnest(%(coming)s::uuid[]) AS u (id)),
coming AS (
    UPDATE document SET visible = true WHERE id = ANY(%(coming)s))
UPDATE document SET visible = false WHERE id = ANY(%(going)s)
    AND (current OR EXISTS (SELECT FROM shown s WHERE s.document = document.id OFFSET 0))
RETURNING id

-- name: remove_links
DELETE FROM link WHERE document = ANY(%(ids)s)

-- name: remove_mentions
DELETE FROM mention WHERE document = ANY(%(ids)s)

-- name: remove_chunks
DELETE FROM chunk WHERE document = ANY(%(ids)s)

-- name: remove_facets
DELETE FROM facet WHERE document = ANY(%(ids)s)

-- name: remove_documents
DELETE FROM document WHERE id = ANY(%(ids)s)

-- name: clear_dirty_names
DELETE FROM dirty_name WHERE name = ANY(%(names)s)

-- name: clear_dirty_pairs
DELETE FROM dirty_pair d USING unnest(%(source)s::uuid[], %(target)s::uuid[]) AS u (source, target)
WHERE d.source = u.source AND d.target = u.target

-- name: note_stale
-- Texts that are about to change or be removed, if replies or summaries were made from them. Whether a chunk was read
-- together with others is not looked up for each: if any were in this workspace, all chunks are noted.
INSERT INTO stale_text (hash)
SELECT DISTINCT hash FROM (
    SELECT e.text_hash, false FROM unnest(%(entities)s::uuid[], %(entity_hashes)s::uuid[]) AS u (id, hash)
    CROSS JOIN LATERAL (SELECT text_hash FROM entity WHERE id = u.id OFFSET 0) e WHERE e.text_hash <> u.hash
    UNION ALL
    SELECT e.text_hash, false FROM unnest(%(gone_entities)s::uuid[]) AS u (id)
    CROSS JOIN LATERAL (SELECT text_hash FROM entity WHERE id = u.id OFFSET 0) e
    UNION ALL
    SELECT r.text_hash, false FROM unnest(%(relations)s::uuid[], %(relation_hashes)s::uuid[]) AS u (id, hash)
    CROSS JOIN LATERAL (SELECT text_hash FROM relation WHERE id = u.id OFFSET 0) r WHERE r.text_hash <> u.hash
    UNION ALL
    SELECT r.text_hash, false FROM unnest(%(gone_relations)s::uuid[]) AS u (id)
    CROSS JOIN LATERAL (SELECT text_hash FROM relation WHERE id = u.id OFFSET 0) r
    UNION ALL
    SELECT c.text_hash, true FROM unnest(%(gone_chunks)s::uuid[]) AS u (id)
    CROSS JOIN LATERAL (SELECT text_hash FROM chunk WHERE id = u.id LIMIT 1) c) AS gone (hash, is_chunk)
WHERE EXISTS (SELECT FROM reply r WHERE r.text_hash = gone.hash OFFSET 0)
    OR EXISTS (SELECT FROM summary s WHERE s.hash = gone.hash OFFSET 0)
    OR (is_chunk AND EXISTS (SELECT FROM reply WHERE chunk_hashes IS NOT NULL))
ORDER BY hash ON CONFLICT DO NOTHING
