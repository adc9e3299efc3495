-- name: take
INSERT INTO settling (kind, subject, owner, until)
SELECT %(kind)s, subject, %(owner)s, clock_timestamp() + %(seconds)s * interval '1 second'
FROM unnest(%(subjects)s::text[]) AS u (subject) ORDER BY subject
ON CONFLICT (workspace, kind, subject) DO UPDATE SET owner = excluded.owner, until = excluded.until
WHERE settling.until < clock_timestamp()
RETURNING subject

-- name: renew
UPDATE settling SET until = clock_timestamp() + %(seconds)s * interval '1 second' WHERE owner = %(owner)s

-- name: release
DELETE FROM settling WHERE owner = %(owner)s

-- name: turn_of_another
SELECT EXISTS (
    SELECT FROM settling WHERE kind = 'turn' AND subject = '' AND owner <> %(owner)s AND until > clock_timestamp())
