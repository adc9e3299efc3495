-- name: stored
-- A document that failed for good is fetched again, as a file is read again.
SELECT c.item, min(c.version), min(c.validator), bool_and(c.recipe = i.recipe AND (
    EXISTS (SELECT FROM document d WHERE d.uri = c.uri AND d.current)
    OR EXISTS (SELECT FROM source s WHERE s.uri = c.uri AND NOT s.failed)))
FROM unnest(%(items)s::text[], %(recipes)s::uuid[]) AS i (item, recipe)
JOIN connector_document c ON c.origin = %(origin)s AND c.item = i.item
GROUP BY c.item

-- name: record
-- Documents that are no longer in their item keep their rows until they are removed.
INSERT INTO connector_document (origin, uri, item, version, validator, recipe)
SELECT %(origin)s, uri, item, version, validator, recipe
FROM unnest(%(uris)s::text[], %(items)s::text[], %(versions)s::text[], %(validators)s::text[], %(recipes)s::uuid[])
    AS r (uri, item, version, validator, recipe)
ORDER BY uri
ON CONFLICT (workspace, origin, uri) DO UPDATE SET
    item = excluded.item, version = excluded.version, validator = excluded.validator, recipe = excluded.recipe

-- name: unchanged
UPDATE connector_document c SET version = r.version
FROM unnest(%(items)s::text[], %(versions)s::text[]) AS r (item, version)
WHERE c.origin = %(origin)s AND c.item = r.item AND c.version <> r.version

-- name: page
SELECT c.uri, c.item, EXISTS (SELECT FROM connector_document o WHERE o.uri = c.uri AND o.origin <> c.origin)
FROM connector_document c WHERE c.origin = %(origin)s AND c.uri > %(after)s ORDER BY c.uri LIMIT %(limit)s

-- name: forget
DELETE FROM connector_document WHERE origin = %(origin)s AND uri = ANY(%(uris)s::text[])
