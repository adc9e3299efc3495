-- name: now
SELECT clock_timestamp()

-- name: since
-- Settled versions are counted if they were added since then; without a time, none are.
SELECT (SELECT count(*) FROM document WHERE visible AND added >= %(since)s::timestamptz),
       (SELECT count(*) FROM source WHERE NOT failed),
       (SELECT count(*) FROM document WHERE current AND NOT off AND NOT visible),
       (SELECT count(*) FROM summary WHERE text IS NULL),
       (SELECT count(*) FROM source WHERE failed)

-- name: duplicates
-- Documents added since then whose text is identical to that of an earlier document.
SELECT d.uri, o.uri FROM document d CROSS JOIN LATERAL (
    SELECT uri FROM document o WHERE o.content_hash = d.content_hash AND o.current AND (o.added, o.uri) < (d.added, d.uri)
    ORDER BY o.added, o.uri LIMIT 1) o
WHERE d.current AND d.added >= %(since)s::timestamptz AND EXISTS (SELECT FROM chunk c WHERE c.document = d.id)
ORDER BY d.uri

-- name: notes
SELECT note, count(*), (array_agg(uri ORDER BY uri))[1:%(named)s] FROM document CROSS JOIN LATERAL unnest(notes) note
WHERE current AND added >= %(since)s::timestamptz GROUP BY note

-- name: activity
-- Documents and descriptions that wait, documents of the last minute, the budget and whether it is used up; and whether
-- jobs are running, due, or due later.
SELECT (SELECT count(*) FROM source WHERE NOT failed),
       (SELECT count(*) FROM document WHERE current AND NOT off AND NOT visible),
       (SELECT count(*) FROM source WHERE failed),
       (SELECT count(*) FROM summary WHERE text IS NULL),
       (SELECT count(*) FROM document WHERE current AND added >= now() - interval '1 minute'),
       coalesce(b.price, 0), coalesce(b.tokens, 0), b.price_cap, b.token_cap,
       coalesce(b.price + b.held_price >= b.price_cap, false) OR coalesce(b.tokens + b.held_tokens >= b.token_cap, false),
       EXISTS (SELECT FROM job WHERE owner IS NOT NULL AND is_alive(owner)),
       EXISTS (SELECT FROM job WHERE due <= now())
FROM (SELECT) AS here LEFT JOIN budget b ON true
