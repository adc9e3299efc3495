-- name: now
SELECT clock_timestamp()

-- name: since
-- Settled versions are counted if they were added since then; without a time, none are.
SELECT (SELECT count(*) FROM document WHERE visible AND added >= %(since)s::timestamptz),
       (SELECT count(*) FROM source WHERE NOT failed),
       (SELECT count(*) FROM document WHERE current AND NOT visible),
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
