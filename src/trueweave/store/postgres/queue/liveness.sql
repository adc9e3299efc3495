-- name: register
INSERT INTO process (since, expires) VALUES (clock_timestamp(), clock_timestamp() + %(lease)s) RETURNING id

-- name: register_as
-- Under the number that the process has in the home database.
INSERT INTO process (id, since, expires) OVERRIDING SYSTEM VALUE
VALUES (%(owner)s, clock_timestamp(), clock_timestamp() + %(lease)s)
ON CONFLICT (id) DO UPDATE SET expires = excluded.expires

-- name: renew
-- An expired lease that nobody deleted is renewed, but `since` starts again.
UPDATE process SET since = CASE WHEN expires < clock_timestamp() THEN clock_timestamp() ELSE since END,
                   expires = clock_timestamp() + %(lease)s
WHERE id = %(owner)s

-- name: end_others
-- Expired leases are deleted by a process whose own is current and has been renewed for a while. If its own has expired
-- as well, all have, as after an outage of the database. A lease that is just being renewed is skipped.
DELETE FROM process WHERE id IN (
    SELECT p.id FROM process p JOIN process mine
        ON mine.id = %(owner)s AND mine.since < clock_timestamp() - %(grace)s AND mine.expires > clock_timestamp()
    WHERE p.expires < clock_timestamp() FOR UPDATE OF p SKIP LOCKED)

-- name: leave
DELETE FROM process WHERE id = %(owner)s

-- name: take_slots
-- Free slots, slots of dead processes, and slots that this process has claimed but does not hold. In random order, so
-- that concurrent callers rarely collide. Without synchronous commit: what a crash loses is soon claimed again.
WITH quick AS (SELECT set_config('synchronous_commit', 'off', true)),
free AS (
    SELECT n FROM quick, generate_series(0, %(most)s - 1) AS n
    WHERE NOT EXISTS (SELECT FROM slot s WHERE s.model = %(model)s AND s.n = n.n AND is_alive(s.owner)
        AND (s.owner <> %(owner)s OR s.n = ANY(%(held)s::int[])))
    ORDER BY random() LIMIT %(wanted)s)
INSERT INTO slot AS s (model, n, owner) SELECT %(model)s, n, %(owner)s FROM free WHERE is_alive(%(owner)s) ORDER BY n
ON CONFLICT (model, n) DO UPDATE SET owner = excluded.owner WHERE NOT is_alive(s.owner) OR s.owner = excluded.owner
RETURNING n

-- name: give_back_slots
WITH quick AS (SELECT set_config('synchronous_commit', 'off', true))
DELETE FROM slot s USING quick, unnest(%(models)s::text[], %(slots)s::int[], %(owners)s::int[]) AS g (model, n, owner)
WHERE s.model = g.model AND s.n = g.n AND s.owner = g.owner
