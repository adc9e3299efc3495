-- name: lock
-- One at a time adds a source to a workspace.
SELECT pg_advisory_xact_lock(1415005016, current_setting('trueweave.workspace')::int)

-- name: find
-- The source of a name, or without one, those that follow.
SELECT name, address, secrets, every_seconds, restricted, author, made, due, is_alive(owner), stopping,
    began, ended, outcome, documents, new, removed, unreadable, problem, readers, confirmed
FROM connector_source WHERE (%(name)s::text IS NULL OR name = %(name)s) AND name > %(after)s
ORDER BY name LIMIT %(limit)s

-- name: count
SELECT count(*) FROM connector_source

-- name: of_address
SELECT name FROM connector_source WHERE md5(address)::uuid = md5(%(address)s)::uuid

-- name: add
-- A new source with a schedule is due now; a changed one is due an interval after its last run.
INSERT INTO connector_source AS s (name, address, secrets, every_seconds, restricted, author, readers, due)
VALUES (%(name)s, %(address)s, %(secrets)s, %(every)s::int, %(restricted)s, %(author)s, %(readers)s::text[],
    CASE WHEN %(every)s::int IS NOT NULL THEN now() END)
ON CONFLICT (workspace, name) DO UPDATE SET secrets = excluded.secrets, every_seconds = excluded.every_seconds,
    restricted = excluded.restricted, author = excluded.author, readers = excluded.readers,
    due = coalesce(greatest(s.ended, s.claimed) + make_interval(secs => excluded.every_seconds), excluded.due)
WHERE s.address = excluded.address AND NOT s.stopping

-- name: request
UPDATE connector_source SET due = clock_timestamp(), confirmed = confirmed OR %(confirmed)s
WHERE name = %(name)s AND NOT stopping

-- name: claim
UPDATE connector_source SET owner = %(owner)s, claim = %(claim)s, claimed = now()
WHERE name = %(name)s AND stopping = %(stopping)s AND (owner IS NULL OR NOT is_alive(owner)) AND is_alive(%(owner)s)

-- name: claim_due
SELECT workspace, name FROM claim_sources(%(owner)s, %(claim)s, %(most)s)

-- name: release_unknown
SELECT release_sources(%(claim)s)

-- name: is_current
SELECT EXISTS (SELECT FROM connector_source WHERE name = %(name)s AND claim = %(claim)s AND NOT stopping)

-- name: release
-- If it was due, it is due again after a while.
UPDATE connector_source SET owner = NULL, claim = NULL,
    due = CASE WHEN due <= claimed THEN now() + make_interval(secs => %(after)s) ELSE due END
WHERE name = %(name)s AND claim = %(claim)s

-- name: finish
-- What was requested or changed during the run stays due.
UPDATE connector_source SET owner = NULL, claim = NULL, began = claimed, ended = now(), outcome = %(outcome)s,
    documents = %(documents)s, new = %(new)s, removed = %(removed)s, unreadable = %(unreadable)s, problem = %(problem)s,
    confirmed = confirmed AND due > claimed,
    due = CASE WHEN due > claimed THEN due ELSE now() + make_interval(secs => every_seconds) END
WHERE name = %(name)s AND claim = %(claim)s

-- name: stop
UPDATE connector_source SET stopping = true WHERE name = %(name)s

-- name: remove
DELETE FROM connector_source WHERE name = %(name)s AND claim = %(claim)s

-- name: remove_all
DELETE FROM connector_source
