-- Former versions of documents, and when they were in the index. See docs/adr/0061-history.md.

-- name: settings
SELECT h.since, h.changed, h.days, greatest(h.since, now() - make_interval(days => h.days)) FROM history h

-- name: clock
SELECT greatest(clock_timestamp(), changed) FROM history

-- name: size
-- The former versions, and the bytes of their texts.
SELECT count(DISTINCT d.id), coalesce(sum(octet_length(c.text)), 0)::bigint FROM document d
LEFT JOIN LATERAL (SELECT text FROM chunk WHERE document = d.id OFFSET 0) AS c ON true
WHERE NOT d.current AND NOT d.visible

-- name: set_days
UPDATE history SET days = %(days)s

-- name: begin
-- What is in the index now has been there since now, as far as is known.
WITH clock AS (
    INSERT INTO history (since, changed, days) SELECT now, now, %(days)s FROM clock_timestamp() AS now RETURNING since)
INSERT INTO shown (document, since) SELECT d.id, clock.since FROM clock CROSS JOIN document d WHERE d.visible

-- name: end
DELETE FROM history

-- name: forget_all
DELETE FROM shown

-- name: former
-- The documents that have former versions.
SELECT DISTINCT uri FROM document WHERE NOT current AND NOT visible ORDER BY uri

-- name: forget
DELETE FROM shown WHERE document = ANY(ARRAY(
    SELECT d.id FROM unnest(%(uris)s::text[]) AS u (uri)
    CROSS JOIN LATERAL (SELECT id FROM document WHERE uri = u.uri OFFSET 0) d))

-- name: expired
-- Some documents with intervals that ended before the oldest time that is kept.
SELECT DISTINCT d.uri FROM (
    SELECT s.document FROM history h
    CROSS JOIN LATERAL (
        SELECT document FROM shown WHERE until < now() - make_interval(days => h.days) LIMIT %(limit)s) AS s) AS s
CROSS JOIN LATERAL (SELECT uri FROM document WHERE id = s.document OFFSET 0) AS d ORDER BY d.uri

-- name: forget_expired
DELETE FROM shown WHERE until < now() - make_interval(days => (SELECT days FROM history)) AND document = ANY(ARRAY(
    SELECT d.id FROM unnest(%(uris)s::text[]) AS u (uri)
    CROSS JOIN LATERAL (SELECT id FROM document WHERE uri = u.uri OFFSET 0) d))

-- name: current
SELECT d.id FROM unnest(%(uris)s::text[]) AS u (uri)
CROSS JOIN LATERAL (SELECT id FROM document WHERE uri = u.uri AND current OFFSET 0) d

-- name: moment
-- The last change at a time or before it, and what else a past index depends on: rules, vectors, who may read what, and
-- whether former versions were erased.
SELECT coalesce(greatest(
        (SELECT max(since) FROM shown WHERE since <= %(at)s), (SELECT max(until) FROM shown WHERE until <= %(at)s)), %(at)s),
    concat_ws(' ', w.rules_hash, w.mode, w.threshold, w.same, w.space, w.graph_vectors,
        (SELECT bit_xor(hashtextextended(id::text || readers::text, 0)) FROM document WHERE readers <> '{}'),
        (SELECT erased FROM history))
FROM workspace w

-- name: versions_at
-- The versions that were in the index at a time.
SELECT document FROM shown WHERE since <= %(at)s AND (until IS NULL OR until > %(at)s) AND document > %(after)s
ORDER BY document LIMIT %(limit)s

-- name: set_added
UPDATE document d SET added = u.added FROM unnest(%(ids)s::uuid[], %(times)s::timestamptz[]) AS u (id, added)
WHERE d.id = u.id

-- name: readers
-- Who may read versions of documents now, as the current version, if there is one; and when they were added.
SELECT d.id, coalesce(n.readers, d.readers), d.added FROM unnest(%(ids)s::uuid[]) AS u (id)
CROSS JOIN LATERAL (SELECT id, uri, readers, added FROM document WHERE id = u.id OFFSET 0) AS d
LEFT JOIN LATERAL (SELECT readers FROM document WHERE uri = d.uri AND current OFFSET 0) AS n ON true

-- name: versions
-- The intervals in which versions of a document were in the index, the latest first.
SELECT d.id, d.title, s.since, s.until FROM document d
CROSS JOIN LATERAL (SELECT since, until FROM shown WHERE document = d.id OFFSET 0) AS s
WHERE d.uri = %(uri)s ORDER BY s.since DESC, d.id LIMIT %(limit)s

-- name: drop_past
-- Temporary workspaces with a past state of this one. Whoever works in them learns that they were dropped.
WITH noted AS (UPDATE history SET erased = erased + 1)
SELECT drop_past()
