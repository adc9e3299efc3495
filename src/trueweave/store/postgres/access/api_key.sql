-- API keys of the server. See api_keys.py.

-- name: make
INSERT INTO api_key (prefix, secret_hash, name, scope, workspaces, groups, expires, max_tokens_per_day, max_spend_per_day)
VALUES (%(prefix)s, %(secret_hash)s, %(name)s, %(scope)s, %(workspaces)s, %(groups)s, %(expires)s, %(tokens)s, %(spend)s)
RETURNING created, expires, max_tokens_per_day, max_spend_per_day

-- name: derive
-- A key made by another caller: if the maker is a key, it must still be valid, and its expiry and limits bound the new
-- ones.
INSERT INTO api_key (prefix, secret_hash, name, scope, workspaces, groups, makers, expires, max_tokens_per_day, max_spend_per_day)
SELECT %(prefix)s, %(secret_hash)s, %(name)s, %(scope)s, %(workspaces)s, %(groups)s, %(makers)s, least(%(expires)s, m.expires),
    least(%(tokens)s::bigint, m.max_tokens_per_day), least(%(spend)s::numeric, m.max_spend_per_day)
FROM (VALUES (%(maker)s)) AS c (caller) LEFT JOIN api_key m ON m.prefix = c.caller
WHERE m.prefix IS NULL OR m.revoked IS NULL AND (m.expires IS NULL OR m.expires > now())
RETURNING created, expires, max_tokens_per_day, max_spend_per_day

-- name: find
-- Keys that are valid now, with the limits of their makers.
SELECT k.prefix, k.secret_hash, k.name, k.scope, k.workspaces, k.groups, k.last_used IS DISTINCT FROM current_date,
    k.max_tokens_per_day, k.max_spend_per_day, k.makers, m.tokens, m.spend
FROM api_key k CROSS JOIN LATERAL (
    SELECT array_agg(a.max_tokens_per_day ORDER BY c.n) AS tokens, array_agg(a.max_spend_per_day ORDER BY c.n) AS spend
    FROM unnest(k.makers) WITH ORDINALITY c (caller, n) LEFT JOIN api_key a ON a.prefix = c.caller) m
WHERE k.prefix = ANY (%(prefixes)s::text[]) AND k.revoked IS NULL AND (k.expires IS NULL OR k.expires > now())

-- name: used
-- Sorted by prefix, so that two concurrent updates wait for each other instead of deadlocking.
UPDATE api_key SET last_used = current_date
FROM (SELECT prefix FROM api_key WHERE prefix = ANY (%(prefixes)s::text[]) ORDER BY prefix FOR UPDATE) u
WHERE api_key.prefix = u.prefix AND last_used IS DISTINCT FROM current_date

-- name: listed
-- Keys in order of creation: all, or those restricted to these workspaces.
SELECT k.prefix, k.name, k.scope, k.workspaces IS NULL, w.names, k.groups, k.created, k.expires, k.revoked, k.last_used,
    k.max_tokens_per_day, k.max_spend_per_day, coalesce(u.tokens, 0), coalesce(u.price, 0), s.count, s.last_used
FROM api_key k
CROSS JOIN LATERAL (SELECT count(*), max(last_used) AS last_used FROM web_session
    WHERE key = k.prefix AND ends > now() AND last_used > now() - %(idle)s AND k.revoked IS NULL) s
LEFT JOIN caller_usage u ON u.caller = k.prefix AND u.day = (now() AT TIME ZONE 'UTC')::date
CROSS JOIN LATERAL (SELECT coalesce(array_agg(name ORDER BY name), '{}') AS names
    FROM list_workspaces(coalesce(k.workspaces, '{}'), '', 1000)) w
WHERE (%(within)s::int[] IS NULL OR k.workspaces <@ %(within)s::int[])
    AND (%(after)s::timestamptz IS NULL OR (k.created, k.prefix) > (%(after)s::timestamptz, %(prefix)s))
ORDER BY k.created, k.prefix LIMIT %(limit)s

-- name: revoke
-- A session opened with a key is valid only while the key is.
UPDATE api_key SET revoked = coalesce(revoked, now())
WHERE prefix = %(prefix)s AND (%(within)s::int[] IS NULL OR workspaces <@ %(within)s::int[]) RETURNING prefix

-- name: any
SELECT EXISTS (SELECT FROM api_key WHERE revoked IS NULL AND (expires IS NULL OR expires > now()))

-- name: workspaces
SELECT id, name, created FROM list_workspaces(%(only)s::int[], %(after)s, %(limit)s)

-- name: numbers
SELECT w.id FROM unnest(%(names)s::text[]) n (name) CROSS JOIN LATERAL open_workspace(n.name, false, 'exact') w
