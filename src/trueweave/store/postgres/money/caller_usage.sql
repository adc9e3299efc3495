-- Daily usage of callers with a limit. See caller_usage.py.

-- name: today
SELECT c.caller, coalesce(u.tokens, 0), coalesce(u.price, 0),
    ceil(extract(epoch FROM t.day + 1 - (now() AT TIME ZONE 'UTC')))::int
FROM (SELECT (now() AT TIME ZONE 'UTC')::date AS day) t CROSS JOIN unnest(%(callers)s::text[]) c (caller)
LEFT JOIN caller_usage u ON u.caller = c.caller AND u.day = t.day

-- name: add
INSERT INTO caller_usage AS u (caller, day, tokens, price)
SELECT c.caller, (now() AT TIME ZONE 'UTC')::date, %(tokens)s, %(price)s
FROM unnest(%(callers)s::text[]) c (caller) ORDER BY 1  -- requests with a common caller must not deadlock
ON CONFLICT (caller, day) DO UPDATE SET tokens = u.tokens + excluded.tokens, price = u.price + excluded.price

-- name: prune
DELETE FROM caller_usage WHERE day < (now() AT TIME ZONE 'UTC' - %(kept)s::interval)::date
