-- name: make_budget
INSERT INTO budget DEFAULT VALUES ON CONFLICT DO NOTHING

-- name: lock_budget
-- With the lower of both caps if a run has its own budget.
SELECT CASE WHEN is_alive(run_owner) THEN least(price_cap, run_price_cap) ELSE price_cap END,
       CASE WHEN is_alive(run_owner) THEN least(token_cap, run_token_cap) ELSE token_cap END,
       price, tokens, held_price, held_tokens
FROM budget FOR UPDATE

-- name: read_budget
SELECT price_cap, token_cap, price, tokens, held_price, held_tokens FROM budget

-- name: cap
UPDATE budget SET price_cap = %(price)s, token_cap = %(tokens)s

-- name: has_other_run
SELECT EXISTS (SELECT FROM budget WHERE run_owner <> %(owner)s AND is_alive(run_owner))

-- name: cap_run
UPDATE budget SET run_owner = %(owner)s, run_price_cap = %(price)s, run_token_cap = %(tokens)s

-- name: keep_run
-- The process got another number after its lease expired.
UPDATE budget SET run_owner = %(owner)s WHERE run_owner = %(former)s

-- name: end_run
UPDATE budget SET run_owner = NULL, run_price_cap = NULL, run_token_cap = NULL WHERE run_owner = %(owner)s

-- name: open
WITH opened AS (
    INSERT INTO spend (id, stage, document, model, tokens_in, tokens_out, price, state, owner)
    SELECT id, stage, document, model, tokens_in, tokens_out, price, 'open', %(owner)s
    FROM unnest(%(ids)s::uuid[], %(stages)s::text[], %(documents)s::text[], %(models)s::text[], %(tokens_in)s::bigint[],
                %(tokens_out)s::bigint[], %(prices)s::numeric[])
         AS c (id, stage, document, model, tokens_in, tokens_out, price)
    RETURNING tokens_in + tokens_out AS tokens, price)
UPDATE budget SET held_price = held_price + (SELECT coalesce(sum(price), 0) FROM opened),
                 held_tokens = held_tokens + (SELECT sum(tokens) FROM opened)

-- name: close
-- Idempotent: only rows that are still open are booked.
WITH said AS (
    SELECT * FROM unnest(%(ids)s::uuid[], %(states)s::text[], %(tokens_in)s::bigint[], %(tokens_out)s::bigint[],
                         %(prices)s::numeric[]) AS c (id, state, tokens_in, tokens_out, price)),
held AS (
    SELECT o.* FROM said CROSS JOIN LATERAL (
        SELECT id, tokens_in, tokens_out, price FROM spend WHERE id = said.id AND state = 'open' FOR UPDATE) o),
done AS (
    UPDATE spend s SET state = said.state, tokens_in = said.tokens_in, tokens_out = said.tokens_out, price = said.price
    FROM said JOIN held USING (id) WHERE s.id = said.id AND said.state = 'done'
    RETURNING s.id, s.tokens_in, s.tokens_out, s.price),
lost AS (
    UPDATE spend s SET state = 'lost' FROM said JOIN held USING (id) WHERE s.id = said.id AND said.state = 'lost'
    RETURNING s.id, s.tokens_in, s.tokens_out, s.price),
gone AS (
    DELETE FROM spend s USING said JOIN held USING (id) WHERE s.id = said.id AND said.state = 'gone')
UPDATE budget SET
    held_price = held_price - (SELECT coalesce(sum(price), 0) FROM held),
    held_tokens = held_tokens - (SELECT coalesce(sum(tokens_in + tokens_out), 0) FROM held),
    price = budget.price + (SELECT coalesce(sum(b.price), 0) FROM (TABLE done UNION ALL TABLE lost) b),
    tokens = budget.tokens + (SELECT coalesce(sum(b.tokens_in + b.tokens_out), 0) FROM (TABLE done UNION ALL TABLE lost) b)

-- name: abandoned
-- Running calls of processes that are gone.
SELECT id FROM spend WHERE state = 'open' AND NOT is_alive(owner)

-- name: is_alive
SELECT is_alive(%(owner)s)

-- name: receipt
SELECT stage, model, sum(calls)::bigint, (coalesce(sum(calls) FILTER (WHERE state = 'lost'), 0))::bigint, sum(tokens_in)::bigint, sum(tokens_out)::bigint,
       CASE WHEN bool_and(price IS NOT NULL) THEN sum(price) END
FROM spend WHERE state <> 'open' AND at >= %(since)s GROUP BY stage, model ORDER BY stage, model

-- name: receipt_by_day
SELECT (at AT TIME ZONE 'UTC')::date AS day, CASE %(by)s WHEN 'stage' THEN stage ELSE model END AS name,
       sum(calls)::bigint, sum(tokens_in)::bigint, sum(tokens_out)::bigint,
       CASE WHEN bool_and(price IS NOT NULL) THEN sum(price) END
FROM spend WHERE state <> 'open' AND at >= greatest(%(since)s, now() - interval '1 year')
GROUP BY 1, 2 ORDER BY 1, 2

-- name: receipt_by_document
SELECT document, model, sum(calls)::bigint, sum(tokens_in)::bigint, sum(tokens_out)::bigint,
       CASE WHEN bool_and(price IS NOT NULL) THEN sum(price) END
FROM spend WHERE state <> 'open' AND at >= %(since)s AND document <> ''
GROUP BY document, model ORDER BY sum(tokens_in + tokens_out) DESC, document, model LIMIT %(limit)s
