-- Cited passages of recorded answers. See cited.py.

-- name: now
-- For each: whether its document is in the index, whether the passage is in it as it was, and whether the document has
-- the quoted words.
SELECT d.id IS NOT NULL,
    EXISTS (SELECT FROM chunk c WHERE c.document = d.id AND c.id = q.chunk
            AND encode(sha256(convert_to(c.text, 'UTF8')), 'hex') = q.hash OFFSET 0),
    EXISTS (SELECT FROM chunk c WHERE c.document = d.id AND strpos(c.text, q.quote) > 0 OFFSET 0)
FROM unnest(%(uris)s::text[], %(chunks)s::uuid[], %(hashes)s::text[], %(quotes)s::text[]) WITH ORDINALITY
    AS q (uri, chunk, hash, quote, n)
LEFT JOIN LATERAL (SELECT id FROM document WHERE uri = q.uri AND visible OFFSET 0) d ON true
ORDER BY q.n
