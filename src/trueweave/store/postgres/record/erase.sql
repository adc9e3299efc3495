-- What removed documents leave behind. See erasing.py.

-- name: note
-- Record which names, entities, relations and communities these documents mention, with the current text hashes. What is
-- kept as history is treated as switched off.
INSERT INTO erasure (uri, names, entities, entity_hashes, relations, relation_hashes, relation_sources, relation_targets,
    communities, off)
SELECT u.uri, n.names, e.ids, e.hashes, r.ids, r.hashes, r.sources, r.targets, c.ids,
    %(off)s OR EXISTS (SELECT FROM shown s WHERE s.document = ANY(d.ids))
FROM unnest(%(uris)s::text[]) AS u (uri)
CROSS JOIN LATERAL (SELECT ARRAY(SELECT id FROM document WHERE uri = u.uri) AS ids) AS d
CROSS JOIN LATERAL (SELECT coalesce(array_agg(DISTINCT m.name), '{}') AS names FROM unnest(d.ids) AS v (id)
    CROSS JOIN LATERAL (SELECT name FROM mention WHERE document = v.id OFFSET 0) m) AS n
CROSS JOIN LATERAL (SELECT coalesce(array_agg(e.id), '{}') AS ids, coalesce(array_agg(e.text_hash), '{}') AS hashes
    FROM (SELECT DISTINCT x.entity FROM unnest(n.names) AS v (id)
          CROSS JOIN LATERAL (SELECT entity FROM name WHERE id = v.id OFFSET 0) x) AS own
    CROSS JOIN LATERAL (SELECT id, text_hash FROM entity WHERE id = own.entity OFFSET 0) e) AS e
CROSS JOIN LATERAL (SELECT coalesce(array_agg(r.id), '{}') AS ids, coalesce(array_agg(r.text_hash), '{}') AS hashes,
        coalesce(array_agg(r.source), '{}') AS sources, coalesce(array_agg(r.target), '{}') AS targets
    FROM (SELECT DISTINCT t.relation FROM unnest(d.ids) AS v (id)
          CROSS JOIN LATERAL (SELECT DISTINCT source, target FROM link WHERE document = v.id OFFSET 0) l
          CROSS JOIN LATERAL (SELECT relation FROM name_pair WHERE source = l.source AND target = l.target OFFSET 0) t) AS own
    CROSS JOIN LATERAL (SELECT id, text_hash, source, target FROM relation WHERE id = own.relation OFFSET 0) r) AS r
CROSS JOIN LATERAL (
    WITH RECURSIVE up AS (
        SELECT k.n, k.parent, k.id FROM unnest(e.ids) AS v (id)
        CROSS JOIN LATERAL (SELECT leaf FROM member WHERE entity = v.id OFFSET 0) m
        CROSS JOIN LATERAL (SELECT n, parent, id FROM community WHERE n = m.leaf OFFSET 0) k
        UNION
        SELECT k.n, k.parent, k.id FROM up
        CROSS JOIN LATERAL (SELECT n, parent, id FROM community WHERE n = up.parent OFFSET 0) k)
    SELECT coalesce(array_agg(DISTINCT id), '{}') AS ids FROM up) AS c
WHERE d.ids <> '{}' OR u.uri = ANY(%(waiting)s)

-- name: any
SELECT EXISTS (SELECT FROM erasure)

-- name: due
-- Erasures whose documents are no longer in the view, whether the uri was added again, and whether the document was only
-- switched off. A removed document that a live worker still processes comes later: the worker stores replies about it.
SELECT e.id, e.uri, e.names, e.entities, e.entity_hashes, e.relations, e.relation_hashes, e.relation_sources,
       e.relation_targets, e.communities, EXISTS (SELECT FROM document d WHERE d.uri = e.uri) OR EXISTS (SELECT FROM source s WHERE s.uri = e.uri),
       e.off
FROM erasure e WHERE NOT EXISTS (SELECT FROM document d WHERE d.uri = e.uri AND d.visible AND NOT (d.current AND NOT d.off))
    AND (e.off OR NOT EXISTS (
        SELECT FROM job j CROSS JOIN LATERAL jsonb_array_elements(convert_from(nullif(j.payload, ''), 'UTF8')::jsonb) AS l (listed)
        WHERE j.kind = 'document' AND is_alive(j.owner) AND listed ->> 0 = e.uri
            AND NOT EXISTS (SELECT FROM source s WHERE s.uri = e.uri AND s.id = (listed ->> 1)::uuid)))
ORDER BY e.id LIMIT %(limit)s

-- name: reports
-- Delete reports whose content hash changed, that describe a changed entity or relation, or that quote a chunk that
-- is no longer visible (only reports written without a model quote chunks; a model sees only descriptions).
WITH moved AS (
    SELECT m.leaf FROM unnest(%(entities)s::uuid[], %(entity_hashes)s::uuid[]) AS u (id, hash)
    CROSS JOIN LATERAL (SELECT leaf FROM member WHERE entity = u.id OFFSET 0) m
    WHERE NOT EXISTS (SELECT FROM entity e WHERE e.id = u.id AND e.text_hash = u.hash OFFSET 0)),
between AS (
    SELECT s.leaf AS source, t.leaf AS target
    FROM unnest(%(relations)s::uuid[], %(relation_hashes)s::uuid[], %(sources)s::uuid[], %(targets)s::uuid[])
        AS u (id, hash, source, target)
    CROSS JOIN LATERAL (SELECT leaf FROM member WHERE entity = u.source OFFSET 0) s
    CROSS JOIN LATERAL (SELECT leaf FROM member WHERE entity = u.target OFFSET 0) t
    WHERE NOT EXISTS (SELECT FROM relation r WHERE r.id = u.id AND r.text_hash = u.hash OFFSET 0))
DELETE FROM report r USING community c
WHERE r.community = ANY(%(communities)s::uuid[]) AND c.id = r.community
    AND (r.hash <> c.hash
        OR (r.author = '' AND EXISTS (
            SELECT FROM jsonb_array_elements(r.findings) AS f
            CROSS JOIN jsonb_array_elements_text(f -> 'chunks') AS quoted (chunk)
            WHERE NOT EXISTS (
                SELECT FROM (SELECT document FROM chunk WHERE id = quoted.chunk::uuid OFFSET 0) AS k
                CROSS JOIN LATERAL (SELECT FROM document WHERE id = k.document AND visible OFFSET 0) AS d)))
        OR EXISTS (SELECT FROM moved WHERE leaf BETWEEN c.n AND c.last)
        OR EXISTS (SELECT FROM between b WHERE b.source BETWEEN c.n AND c.last AND b.target BETWEEN c.n AND c.last))
RETURNING r.community, r.title, r.summary

-- name: retired
UPDATE retired_community SET title = '' WHERE title <> ''

-- name: replies_for
-- Replies about texts that another document also has are kept, without the uri.
DELETE FROM reply r WHERE r.document = ANY(%(uris)s::text[])
    AND EXISTS (SELECT FROM unnest(coalesce(r.chunk_hashes, ARRAY[r.text_hash])) AS t (hash)
                WHERE NOT EXISTS (SELECT FROM chunk c WHERE c.text_hash = t.hash OFFSET 0))

-- name: replies_of_nobody
UPDATE reply SET document = '' WHERE document = ANY(%(uris)s::text[])

-- name: replies_from_many
-- Replies made from several texts or to a question: they may quote the erased document.
DELETE FROM reply WHERE text_hash IS NULL AND payload IS NOT NULL

-- name: replies_to_texts
DELETE FROM reply WHERE text_hash = ANY(%(hashes)s::uuid[])

-- name: spending
UPDATE spend SET document = '' WHERE document = ANY(%(uris)s::text[])

-- name: bench_passages
UPDATE bench_passage SET uri = '', chunk = NULL, content = NULL WHERE uri = ANY(%(uris)s::text[])

-- name: alert_answers
-- Answers that were made from these documents.
UPDATE alert SET answer = '' WHERE answer <> ''
    AND id IN (SELECT alert FROM alert_passage WHERE uri = ANY(%(uris)s::text[]))

-- name: alert_passages
-- The watch learns from a passage that it does not find that one was removed.
UPDATE alert_passage SET uri = '', chunk = gen_random_uuid() WHERE uri = ANY(%(uris)s::text[])

-- name: connector_documents
-- If its item is still at the address, it is fetched again by the next run.
DELETE FROM connector_document WHERE uri = ANY(%(uris)s::text[])

-- name: kept_responses
-- Responses to requests that added the document.
DELETE FROM kept_response WHERE EXISTS (
    SELECT FROM jsonb_path_query(body, 'strict $.** ? (@.type() == "string")') AS t (said)
    WHERE t.said #>> '{}' = ANY(%(uris)s::text[]))

-- name: done
DELETE FROM erasure WHERE id = ANY(%(ids)s)

-- name: stale
SELECT hash FROM stale_text WHERE since <= now() - %(kept)s ORDER BY hash LIMIT %(limit)s FOR UPDATE SKIP LOCKED

-- name: forget_stale
-- Delete replies and summaries of texts that no chunk or description contains now.
WITH gone AS (
    DELETE FROM stale_text WHERE hash = ANY(%(hashes)s::uuid[]) RETURNING hash),
unused AS (
    SELECT hash FROM gone WHERE NOT EXISTS (SELECT FROM chunk c WHERE c.text_hash = gone.hash OFFSET 0)
        AND NOT EXISTS (SELECT FROM entity e WHERE e.text_hash = gone.hash AND length(e.description) > 2000 OFFSET 0)
        AND NOT EXISTS (SELECT FROM relation r WHERE r.text_hash = gone.hash AND length(r.description) > 2000 OFFSET 0)),
summaries AS (DELETE FROM summary s USING unused u WHERE s.hash = u.hash),
of_several AS (
    DELETE FROM reply WHERE chunk_hashes IS NOT NULL AND chunk_hashes && ARRAY(SELECT hash FROM unused))
DELETE FROM reply r USING unused u WHERE r.text_hash = u.hash

-- name: old_replies
-- One page of replies kept for a limited time: those to questions or about several texts, vectors, and extractions for
-- documents that were never stored. Extractions from chunks are kept as long as all these chunks, and descriptions of pictures as
-- long as the document that they were first made for.
WITH page AS (
    SELECT key, document, stage, text_hash, chunk_hashes, made FROM reply WHERE key > %(after)s ORDER BY key LIMIT %(limit)s),
old AS (
    SELECT key FROM page p WHERE p.made < now() - %(kept)s
        AND (p.text_hash IS NULL OR p.stage = 'embed' OR NOT (
            NOT EXISTS (SELECT FROM unnest(coalesce(p.chunk_hashes, ARRAY[p.text_hash])) AS t (hash)
                        WHERE NOT EXISTS (SELECT FROM chunk c WHERE c.text_hash = t.hash OFFSET 0))
            OR (p.stage = 'describe' AND EXISTS (SELECT FROM document d WHERE d.uri = p.document AND d.current OFFSET 0))
            OR EXISTS (SELECT FROM source s WHERE s.uri = p.document OFFSET 0)))),
gone AS (DELETE FROM reply r USING old WHERE r.key = old.key RETURNING r.key)
SELECT (SELECT count(*) FROM gone), (SELECT key FROM page ORDER BY key DESC LIMIT 1)

-- name: old_changes
-- Changes that every consumer has applied, if there are consumers; and old ones, even if some consumer has not.
WITH applied AS (SELECT min(position) AS position FROM consumer),
gone AS (
    DELETE FROM outbox WHERE position = ANY(ARRAY(
        SELECT o.position FROM outbox o, applied a WHERE o.made < now() - %(kept)s OR o.position <= a.position
        ORDER BY o.position LIMIT %(limit)s))
    RETURNING position),
noted AS (UPDATE workspace SET changes_gone = greatest(changes_gone, (SELECT max(position) FROM gone))
          WHERE EXISTS (SELECT FROM gone))
SELECT count(*) FROM gone

-- name: old_calls
-- All calls of a day, stage and model become one row with the same totals; unknown prices stay unknown. The row has
-- owner 0, which distinguishes it from a call: otherwise a row that stands for a single call would be summed up again
-- and again.
WITH old AS (
    DELETE FROM spend WHERE id = ANY(ARRAY(
        SELECT id FROM spend WHERE state <> 'open' AND owner <> 0 AND at < date_trunc('day', now() - %(kept)s)
        ORDER BY at LIMIT %(limit)s))
    RETURNING stage, model, state, tokens_in, tokens_out, price, at),
sums AS (
    INSERT INTO spend (id, stage, document, model, tokens_in, tokens_out, price, state, owner, at, calls)
    SELECT gen_random_uuid(), stage, '', model, sum(tokens_in), sum(tokens_out), sum(price), state, 0,
           date_trunc('day', at), count(*)
    FROM old GROUP BY stage, model, state, date_trunc('day', at), price IS NULL)
SELECT count(*) FROM old
