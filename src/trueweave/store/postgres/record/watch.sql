-- Standing questions and their alerts. See watches.py.

-- name: state
-- A key over all that a question depends on. Changes of readers count only if a watch does not read all documents.
SELECT concat_ws(' ',
        (SELECT version FROM view_version),
        greatest(w.changes_gone, (SELECT max(position) FROM outbox WHERE tx < pg_snapshot_xmin(pg_current_snapshot()))),
        (SELECT string_agg(name || position, ',' ORDER BY name) FROM consumer),
        (SELECT string_agg(store || live, ',' ORDER BY store) FROM projection),
        EXISTS (SELECT FROM pending_link), w.space, w.graph_vectors, md5(w.settings::text),
        CASE WHEN EXISTS (SELECT FROM watch WHERE NOT groups @> '{*}') THEN
            (SELECT bit_xor(hashtextextended(id::text || readers::text, 0)) FROM document WHERE visible AND readers <> '{}') END)
FROM workspace w

-- name: workspaces
SELECT watched_workspaces(%(after)s, %(limit)s)

-- name: lock
-- One at a time adds a watch or an alert to a workspace, so that whoever sees an alert has seen those before it.
SELECT pg_advisory_xact_lock(1415005018, current_setting('trueweave.workspace')::int)

-- name: count
SELECT count(*) FROM watch

-- name: add
INSERT INTO watch (name, question, method, filter, groups, passages, answers, tokens_per_day, webhook, key, author, state)
VALUES (%(name)s, %(question)s, %(method)s, %(filter)s, %(groups)s, %(passages)s, %(answers)s, %(tokens_per_day)s,
    %(webhook)s, %(key)s, %(author)s, %(state)s)
ON CONFLICT DO NOTHING

-- name: find
-- The watch of a name, or without one, those that follow.
SELECT w.name, w.question, w.method, w.filter, w.groups, w.passages, w.answers, w.tokens_per_day, w.webhook, w.author,
    w.made, w.asked, (SELECT count(*) FROM alert a WHERE a.watch = w.name AND NOT a.is_first), w.problem, w.state, w.key
FROM watch w WHERE (%(name)s::text IS NULL OR w.name = %(name)s) AND w.name > %(after)s ORDER BY w.name LIMIT %(limit)s

-- name: remove
WITH gone AS (DELETE FROM watch WHERE name = %(name)s RETURNING name),
alerts AS (DELETE FROM alert a USING gone WHERE a.watch = gone.name RETURNING a.id),
passages AS (DELETE FROM alert_passage p USING alerts WHERE p.alert = alerts.id)
SELECT EXISTS (SELECT FROM gone)

-- name: remove_all
DELETE FROM watch

-- name: note_change
-- Watches wait for the index to be complete, from now on.
UPDATE watch SET changed = now() WHERE changed IS NULL AND state <> %(state)s

-- name: claim
-- Watches to be asked again, because the index has changed and is complete, or has not been complete for some minutes;
-- and those with an alert to be sent. After a failure there is a pause.
UPDATE watch w SET owner = %(owner)s, claim = %(claim)s FROM (
    SELECT name, asks FROM watch CROSS JOIN LATERAL (
        SELECT state <> %(state)s AND (%(complete)s OR coalesce(changed <= now() - %(patience)s, false)) AS asks) AS a
    WHERE (owner IS NULL OR NOT is_alive(owner)) AND is_alive(%(owner)s) AND (asks OR next_try <= now())
        AND (NOT not_asked OR asked < now() - %(pause)s)
    ORDER BY asked, name LIMIT %(most)s FOR UPDATE OF watch SKIP LOCKED) AS due
WHERE w.name = due.name RETURNING w.name, due.asks

-- name: release_all
UPDATE watch SET owner = NULL, claim = NULL WHERE claim = %(claim)s

-- name: release
UPDATE watch w SET owner = NULL, claim = NULL, problem = %(problem)s, not_asked = %(not_asked)s,
    asked = CASE WHEN %(not_asked)s THEN now() ELSE asked END,
    next_try = CASE WHEN EXISTS (SELECT FROM alert a WHERE a.watch = w.name AND a.delivery = 'waiting') THEN next_try END
WHERE name = %(name)s AND claim = %(claim)s

-- name: asked
-- Record the state of the index at which a watch was asked. Nothing happens if the claim was lost.
UPDATE watch SET state = %(state)s, asked = now(), changed = NULL,
    next_try = CASE WHEN %(alerts)s AND webhook <> '' THEN coalesce(next_try, now()) ELSE next_try END
WHERE name = %(name)s AND claim = %(claim)s

-- name: evidence
-- What a watch found last.
SELECT chunk, uri FROM alert_passage
WHERE alert = (SELECT max(id) FROM alert WHERE watch = %(name)s) AND change <> 'removed' ORDER BY n

-- name: keep_documents
-- Those of these uris that have a document; none of these is deleted until the transaction ends.
SELECT uri FROM document WHERE uri = ANY(%(uris)s::text[]) ORDER BY id FOR KEY SHARE

-- name: add_alert
INSERT INTO alert (id, watch, is_first, added, removed, answer, tokens, problem, delivery)
SELECT greatest((extract(epoch FROM clock_timestamp()) * 1000000)::bigint, (SELECT max(id) + 1 FROM alert)), w.name,
    %(is_first)s, %(added)s, %(removed)s, %(answer)s, %(tokens)s, %(problem)s,
    CASE WHEN %(is_first)s OR w.webhook = '' THEN 'none' ELSE 'waiting' END
FROM watch w WHERE w.name = %(name)s RETURNING id

-- name: add_passages
INSERT INTO alert_passage (alert, n, change, chunk, uri)
SELECT %(alert)s, n, change, chunk, uri
FROM unnest(%(changes)s::text[], %(chunks)s::uuid[], %(uris)s::text[]) WITH ORDINALITY AS u (change, chunk, uri, n)

-- name: tokens_today
SELECT coalesce(sum(tokens), 0)::bigint FROM alert
WHERE watch = %(name)s AND at >= date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'

-- name: latest
-- The latest alerts, the latest last.
SELECT * FROM (
    SELECT a.id, a.watch, w.question, a.at, a.is_first, a.added, a.removed, a.answer, a.problem, a.delivery
    FROM alert a JOIN watch w ON w.name = a.watch WHERE %(watch)s::text IS NULL OR a.watch = %(watch)s
    ORDER BY a.id DESC LIMIT %(limit)s) AS found ORDER BY id

-- name: following
SELECT a.id, a.watch, w.question, a.at, a.is_first, a.added, a.removed, a.answer, a.problem, a.delivery
FROM alert a JOIN watch w ON w.name = a.watch WHERE (%(watch)s::text IS NULL OR a.watch = %(watch)s) AND a.id > %(after)s
ORDER BY a.id LIMIT %(limit)s

-- name: waiting
-- The oldest alert of a watch that is to be sent, and how often that has failed.
SELECT a.id, a.watch, w.question, a.at, a.is_first, a.added, a.removed, a.answer, a.problem, a.delivery,
    w.attempts
FROM alert a JOIN watch w ON w.name = a.watch
WHERE a.watch = %(name)s AND a.delivery = 'waiting' AND w.claim = %(claim)s AND w.next_try <= now() ORDER BY a.id LIMIT 1

-- name: passages
SELECT p.alert, w.groups, p.change, p.chunk, p.uri FROM alert_passage p
JOIN alert a ON a.id = p.alert JOIN watch w ON w.name = a.watch
WHERE p.alert = ANY(%(alerts)s::bigint[]) ORDER BY p.alert, p.n

-- name: texts
-- Passages by their ids, as far as they are stored and the caller may read them; those of the index first.
SELECT u.id, c.* FROM unnest(%(chunks)s::uuid[]) AS u (id)
CROSS JOIN LATERAL (
    SELECT d.title, coalesce(d.metadata ->> 'date', ''), c.start, left(c.text, %(longest)s), d.visible
    FROM chunk c JOIN document d ON d.id = c.document WHERE c.id = u.id ORDER BY d.visible DESC, d.added DESC LIMIT 1) AS c

-- name: sent
-- An alert was sent, or is given up; the next one is due.
WITH one AS (UPDATE alert SET delivery = %(delivery)s WHERE id = %(alert)s)
UPDATE watch SET attempts = 0, next_try = CASE WHEN EXISTS (
        SELECT FROM alert WHERE watch = %(name)s AND delivery = 'waiting' AND id <> %(alert)s) THEN now() END
WHERE name = %(name)s AND claim = %(claim)s

-- name: not_sent
UPDATE watch SET attempts = attempts + 1, next_try = now() + %(pause)s WHERE name = %(name)s AND claim = %(claim)s

-- name: forget_old
-- Old alerts, except the latest of each watch, which has its evidence, and those that are still to be sent.
WITH old AS (
    SELECT id FROM alert a WHERE at < now() - %(kept)s AND delivery <> 'waiting'
        AND EXISTS (SELECT FROM alert b WHERE b.watch = a.watch AND b.id > a.id) ORDER BY id LIMIT %(limit)s),
passages AS (DELETE FROM alert_passage p USING old WHERE p.alert = old.id),
gone AS (DELETE FROM alert a USING old WHERE a.id = old.id RETURNING a.id)
SELECT count(*) FROM gone
