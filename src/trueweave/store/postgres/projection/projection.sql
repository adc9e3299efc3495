-- name: enable
INSERT INTO projection (store) VALUES (%(store)s) ON CONFLICT DO NOTHING

-- name: listed
SELECT p.store, p.live, p.building, p.replaced, p.switched, p.problem,
    CASE WHEN p.until > clock_timestamp() THEN p.owner END, c.position, c.seen, coalesce(lag.entries, 0), lag.oldest
FROM projection p
LEFT JOIN consumer c ON c.name = p.store || ':' || p.live
LEFT JOIN LATERAL (
    SELECT count(*) AS entries, min(o.made) AS oldest FROM outbox o
    WHERE o.position > c.position AND o.tx < pg_snapshot_xmin(pg_current_snapshot())) AS lag ON true
WHERE p.store = %(store)s OR %(store)s IS NULL ORDER BY p.store

-- name: begin_building
UPDATE projection SET building = %(copy)s, problem = '' WHERE store = %(store)s AND building IS NULL

-- name: switch
UPDATE projection SET live = %(copy)s, building = NULL, switched = now(), problem = '',
    replaced = replaced || array_remove(ARRAY[live], NULL)
WHERE store = %(store)s AND building = %(copy)s

-- name: forget_replaced
UPDATE projection SET replaced = array_remove(replaced, %(copy)s) WHERE store = %(store)s

-- name: set_problem
UPDATE projection SET problem = %(problem)s WHERE store = %(store)s AND problem <> %(problem)s

-- name: claim
SELECT claim_projection(%(store)s, %(owner)s, %(seconds)s, %(after)s)

-- name: renew
UPDATE projection SET until = clock_timestamp() + %(seconds)s * interval '1 second'
WHERE store = %(store)s AND owner = %(owner)s AND until > clock_timestamp()

-- name: release
UPDATE projection SET owner = NULL, until = '-infinity' WHERE store = %(store)s AND owner = %(owner)s

-- name: remove_all
-- Row-level security restricts this to the rows of this workspace.
DELETE FROM projection

-- name: remove
DELETE FROM projection WHERE store = %(store)s

-- name: remove_consumers
DELETE FROM consumer WHERE name LIKE %(store)s || ':%%' AND name <> %(keep)s

-- name: live
-- The newest position of all committed transactions, not only of those up to which the outbox can be read: it includes
-- whatever the caller has written before.
SELECT p.live, greatest((SELECT changes_gone FROM workspace), coalesce((SELECT max(position) FROM outbox), 0))
FROM projection p WHERE p.store = %(store)s

-- name: copies_of_dropped
SELECT DISTINCT split_part(c.name, ':', 2) FROM dropped_workspace d CROSS JOIN unnest(d.copies) AS c (name)
WHERE split_part(c.name, ':', 1) = %(store)s

-- name: forget_dropped
UPDATE dropped_workspace SET copies = array_remove(copies, %(name)s) WHERE %(name)s = ANY(copies)
