-- name: give
UPDATE document d SET given_readers = ARRAY(SELECT jsonb_array_elements_text(g.readers::jsonb))
FROM unnest(%(ids)s::uuid[], %(readers)s::text[]) AS g (id, readers)
WHERE d.id = g.id AND d.given_readers IS DISTINCT FROM ARRAY(SELECT jsonb_array_elements_text(g.readers::jsonb))

-- name: keep
SELECT keep_readers(%(ids)s::uuid[])

-- name: mode
SELECT mode FROM workspace

-- name: any
SELECT EXISTS (SELECT FROM document WHERE readers <> '{}' OR given_readers <> '{}')
    OR EXISTS (SELECT FROM source WHERE given_readers <> '{}') OR EXISTS (SELECT FROM access_rule WHERE readers <> '{}')
