-- name: ask
-- Known replies, and the keys claimed for this process by this statement (while its lease is valid). Keys that another
-- process has claimed are in neither.
WITH mine AS (
    INSERT INTO reply (key, model, owner) SELECT k, %(model)s, %(owner)s FROM unnest(%(keys)s::uuid[]) AS k
    WHERE is_alive(%(owner)s) ORDER BY k
    ON CONFLICT DO NOTHING RETURNING key)
SELECT key, true, NULL::bytea FROM mine
UNION ALL
SELECT r.key, false, r.payload FROM unnest(%(keys)s::uuid[]) AS k
CROSS JOIN LATERAL (SELECT key, payload FROM reply WHERE key = k OFFSET 0) r
WHERE r.payload IS NOT NULL

-- name: take_over
-- A live process takes over claims of dead processes, and its own.
UPDATE reply SET owner = %(owner)s
WHERE key = ANY(%(keys)s) AND payload IS NULL AND (owner = %(owner)s OR NOT is_alive(owner)) AND is_alive(%(owner)s)
RETURNING key

-- name: keep
-- The first reply wins, so that all callers get the same one.
INSERT INTO reply (key, model, payload, owner, stage, document, text_hash, chunk_hashes)
SELECT key, %(model)s, payload, %(owner)s, stage, document, text_hash, chunk_hashes::uuid[]
FROM unnest(%(keys)s::uuid[], %(payloads)s::bytea[], %(stages)s::text[], %(documents)s::text[], %(texts)s::uuid[],
    %(chunks)s::text[]) AS r (key, payload, stage, document, text_hash, chunk_hashes)
ORDER BY key
ON CONFLICT (workspace, key) DO UPDATE SET payload = coalesce(reply.payload, excluded.payload),
    stage = CASE WHEN reply.payload IS NULL THEN excluded.stage ELSE reply.stage END,
    document = CASE WHEN reply.payload IS NULL THEN excluded.document ELSE reply.document END,
    text_hash = CASE WHEN reply.payload IS NULL THEN excluded.text_hash ELSE reply.text_hash END,
    chunk_hashes = CASE WHEN reply.payload IS NULL THEN excluded.chunk_hashes ELSE reply.chunk_hashes END,
    made = CASE WHEN reply.payload IS NULL THEN now() ELSE reply.made END
RETURNING key, payload

-- name: forget
DELETE FROM reply WHERE key = ANY(%(keys)s) AND payload IS NULL AND owner = %(owner)s

-- name: drop
DELETE FROM reply WHERE key = ANY(%(keys)s) AND payload IS NOT NULL

-- name: answered
SELECT r.key FROM unnest(%(keys)s::uuid[]) AS k
CROSS JOIN LATERAL (SELECT key FROM reply WHERE key = k AND payload IS NOT NULL OFFSET 0) r
