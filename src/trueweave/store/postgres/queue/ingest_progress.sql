-- name: now
SELECT clock_timestamp()

-- name: since
-- Versions that are settled are counted where they came in since then; without a time, none is.
SELECT (SELECT count(*) FROM document WHERE visible AND added >= %(since)s::timestamptz),
       (SELECT count(*) FROM source WHERE NOT failed),
       (SELECT count(*) FROM document WHERE current AND NOT visible),
       (SELECT count(*) FROM summary WHERE text IS NULL),
       (SELECT count(*) FROM source WHERE failed)

-- name: duplicates
-- Documents that came in since then with the very text of one that was there before.
SELECT d.uri, o.uri FROM document d CROSS JOIN LATERAL (
    SELECT uri FROM document o WHERE o.content_hash = d.content_hash AND o.current AND (o.added, o.uri) < (d.added, d.uri)
    ORDER BY o.added, o.uri LIMIT 1) o
WHERE d.current AND d.added >= %(since)s::timestamptz AND EXISTS (SELECT FROM chunk c WHERE c.document = d.id)
ORDER BY d.uri

-- name: notes
SELECT note, count(*), (array_agg(uri ORDER BY uri))[1:%(named)s] FROM document CROSS JOIN LATERAL unnest(notes) note
WHERE current AND added >= %(since)s::timestamptz GROUP BY note
