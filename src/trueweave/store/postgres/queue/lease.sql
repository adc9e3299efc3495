-- name: take
INSERT INTO work_lease (kind, subject, owner, until)
SELECT %(kind)s, subject, %(owner)s, clock_timestamp() + %(seconds)s * interval '1 second'
FROM unnest(%(subjects)s::text[]) AS u (subject) ORDER BY subject
ON CONFLICT (workspace, kind, subject) DO UPDATE SET owner = excluded.owner, until = excluded.until
WHERE work_lease.until < clock_timestamp()
RETURNING subject

-- name: renew
UPDATE work_lease SET until = clock_timestamp() + %(seconds)s * interval '1 second' WHERE owner = %(owner)s

-- name: release
DELETE FROM work_lease WHERE owner = %(owner)s

-- name: turn_of_another
SELECT EXISTS (
    SELECT FROM work_lease WHERE kind = 'turn' AND subject = '' AND owner <> %(owner)s AND until > clock_timestamp())
