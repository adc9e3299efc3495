-- Rows are locked in the order of their uris, so that two transactions wait for each other instead of deadlocking.

-- name: in_record
-- Which of these are in the record, made from exactly this source, with nothing newer submitted; and made with this
-- recipe, if one is given.
SELECT h.uri FROM unnest(%(uris)s::text[], %(ids)s::uuid[]) AS h (uri, id)
CROSS JOIN LATERAL (SELECT FROM document WHERE uri = h.uri AND current AND source = h.id
    AND (%(made)s::uuid IS NULL OR recipe = %(made)s) OFFSET 0) d
WHERE NOT EXISTS (SELECT FROM source s WHERE s.uri = h.uri)

-- name: in_queue
-- Which of these are submitted already, word for word.
SELECT h.uri FROM unnest(%(uris)s::text[], %(ids)s::uuid[]) AS h (uri, id)
CROSS JOIN LATERAL (SELECT FROM source WHERE uri = h.uri AND id = h.id AND NOT failed OFFSET 0) s

-- name: submit
-- The notes of a source are the lines of one text, because arrays of arrays must be rectangular.
INSERT INTO source (uri, id, title, text, metadata, places, notes, recipe, trace, pictures, given_readers)
SELECT uri, id, title, text, metadata::jsonb, places::jsonb, string_to_array(notes, E'\n'), %(recipe)s::jsonb, %(trace)s, pictures,
    CASE WHEN readers IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(readers::jsonb)) END
FROM unnest(%(uris)s::text[], %(ids)s::uuid[], %(titles)s::text[], %(texts)s::text[], %(metadata)s::text[],
            %(places)s::text[], %(notes)s::text[], %(pictures)s::bytea[], %(readers)s::text[])
    AS h (uri, id, title, text, metadata, places, notes, pictures, readers)
ORDER BY uri
ON CONFLICT (workspace, uri) DO UPDATE SET
    id = excluded.id, title = excluded.title, text = excluded.text, metadata = excluded.metadata,
    places = excluded.places, notes = excluded.notes, recipe = excluded.recipe, starts = 0, failures = 0, error = NULL, failed = false,
    added = now(), trace = excluded.trace, pictures = excluded.pictures,
    given_readers = coalesce(excluded.given_readers, source.given_readers)
WHERE source.id <> excluded.id OR source.failed
RETURNING uri, id

-- name: give_readers
UPDATE source s SET given_readers = ARRAY(SELECT jsonb_array_elements_text(g.readers::jsonb))
FROM unnest(%(uris)s::text[], %(ids)s::uuid[], %(readers)s::text[]) AS g (uri, id, readers)
WHERE s.uri = g.uri AND s.id = g.id

-- name: switch
-- Documents that wait to be processed.
UPDATE source SET off = %(off)s
WHERE uri = ANY(ARRAY(SELECT uri FROM source WHERE uri = ANY(%(uris)s) AND off <> %(off)s ORDER BY uri FOR UPDATE))
RETURNING uri

-- name: switched_off
SELECT uri FROM source WHERE uri = ANY(%(uris)s) AND off

-- name: current_versions
-- The versions in the record that were made from these sources.
SELECT d.id, d.uri FROM unnest(%(uris)s::text[], %(ids)s::uuid[]) AS g (uri, id)
CROSS JOIN LATERAL (SELECT id, uri FROM document WHERE uri = g.uri AND current AND source = g.id OFFSET 0) d

-- name: reader_changes
SELECT count(*) FROM unnest(%(uris)s::text[], %(ids)s::uuid[], %(readers)s::text[]) AS g (uri, id, readers)
CROSS JOIN LATERAL (SELECT given_readers FROM document WHERE uri = g.uri AND current AND source = g.id OFFSET 0) d
WHERE d.given_readers IS DISTINCT FROM ARRAY(SELECT jsonb_array_elements_text(g.readers::jsonb))

-- name: take_back
DELETE FROM source
WHERE uri = ANY(ARRAY(
    SELECT uri FROM source WHERE uri = ANY(%(uris)s) AND id = ANY(%(ids)s) AND starts = 0 AND NOT failed
    ORDER BY uri FOR UPDATE))

-- name: known
-- With `former`, also documents of which only former versions are kept.
SELECT uri FROM document WHERE uri = ANY(%(uris)s) AND (current OR %(former)s AND NOT visible)
UNION SELECT uri FROM source WHERE uri = ANY(%(uris)s)

-- name: uris
SELECT uri FROM (
    (SELECT uri FROM document WHERE uri > %(after)s AND current ORDER BY uri LIMIT %(limit)s)
    UNION
    (SELECT DISTINCT uri FROM document WHERE uri > %(after)s AND NOT current AND NOT visible AND %(former)s ORDER BY uri LIMIT %(limit)s)
    UNION
    (SELECT uri FROM source WHERE uri > %(after)s ORDER BY uri LIMIT %(limit)s)) u
ORDER BY uri LIMIT %(limit)s

-- name: begin
UPDATE source SET starts = starts + 1
WHERE uri = ANY(ARRAY(
    SELECT uri FROM source WHERE uri = ANY(%(uris)s) AND id = ANY(%(ids)s) AND NOT failed ORDER BY uri FOR UPDATE))
RETURNING uri, id, title, text, metadata, places, notes, recipe, starts, trace, pictures IS NOT NULL

-- name: pictures
SELECT pictures FROM source WHERE uri = %(uri)s AND id = %(id)s

-- name: finish
DELETE FROM source
WHERE uri = ANY(ARRAY(
    SELECT uri FROM source WHERE uri = ANY(%(uris)s) AND id = ANY(%(ids)s) ORDER BY uri FOR UPDATE))
RETURNING uri, id, given_readers

-- name: withdraw
DELETE FROM source WHERE uri = ANY(%(uris)s) RETURNING uri

-- name: release
-- The process that started them is alive, so this start does not count as a crash.
UPDATE source SET starts = greatest(starts - 1, 0)
WHERE uri = ANY(ARRAY(
    SELECT uri FROM source WHERE uri = ANY(%(uris)s) AND id = ANY(%(ids)s) ORDER BY uri FOR UPDATE))

-- name: fail
-- Keep the error; after `tries` failures the document is marked as failed. This start does not count as a crash.
UPDATE source SET failures = failures + 1, error = %(error)s, failed = failures + 1 >= %(tries)s,
    starts = greatest(starts - 1, 0)
WHERE uri = %(uri)s AND id = %(id)s AND NOT failed RETURNING failed

-- name: retry
-- As if they had just been submitted.
UPDATE source SET failed = false, failures = 0, starts = 0, error = NULL
WHERE failed AND (%(uris)s::text[] IS NULL OR uri = ANY(%(uris)s)) RETURNING uri, id, length(text)

-- name: failed
SELECT uri, error, failures FROM source WHERE failed ORDER BY uri LIMIT %(limit)s

-- name: any_left
SELECT EXISTS (SELECT FROM source WHERE NOT failed)
    OR EXISTS (SELECT FROM document d WHERE (current AND NOT off) <> visible
               AND NOT EXISTS (SELECT FROM failed_work WHERE kind = 'settle' AND subject IN ('', d.uri)))
    OR ((EXISTS (SELECT FROM dirty_name) OR EXISTS (SELECT FROM dirty_pair))
        AND NOT EXISTS (SELECT FROM failed_work WHERE kind = 'names' OR (kind = 'settle' AND subject = '')))
    OR (EXISTS (SELECT FROM pending_link) AND NOT EXISTS (SELECT FROM failed_work WHERE kind = 'link'))

-- name: forget_jobs
-- Remove these documents from jobs that no live process works on, and delete jobs left empty. A payload is a list of (uri, id): see `packed`.
WITH concerned AS (
    SELECT j.id, (SELECT jsonb_agg(d ORDER BY n) FROM jsonb_array_elements(listed) WITH ORDINALITY AS o (d, n)
                  WHERE d ->> 0 <> ALL(%(uris)s::text[])) AS kept
    FROM job j CROSS JOIN LATERAL (SELECT convert_from(nullif(j.payload, ''), 'UTF8')::jsonb) AS p (listed)
    WHERE j.kind = 'document' AND (j.owner IS NULL OR NOT is_alive(j.owner))
    AND EXISTS (SELECT FROM jsonb_array_elements(listed) AS d WHERE d ->> 0 = ANY(%(uris)s::text[]))
    ORDER BY j.id FOR UPDATE OF j),
shortened AS (
    UPDATE job j SET payload = convert_to(c.kept::text, 'UTF8') FROM concerned c WHERE j.id = c.id AND c.kept IS NOT NULL)
DELETE FROM job j USING concerned c WHERE j.id = c.id AND c.kept IS NULL
