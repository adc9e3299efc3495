-- name: now
SELECT clock_timestamp()

-- name: since
-- Versions that are settled are counted where they came in since then; without a time, none is.
SELECT (SELECT count(*) FROM document WHERE shown AND added >= %(since)s::timestamptz),
       (SELECT count(*) FROM source WHERE NOT failed),
       (SELECT count(*) FROM document WHERE wanted AND NOT shown),
       (SELECT count(*) FROM summary WHERE text IS NULL),
       (SELECT count(*) FROM source WHERE failed)

-- name: notes
SELECT note, count(*), (array_agg(uri ORDER BY uri))[1:%(named)s] FROM document CROSS JOIN LATERAL unnest(notes) note
WHERE wanted AND added >= %(since)s::timestamptz GROUP BY note
