-- name: status
SELECT (SELECT count(*) FROM document WHERE visible),
       (SELECT count(*) FROM chunk c JOIN document d ON d.id = c.document WHERE d.visible),
       (SELECT count(*) FROM entity),
       (SELECT count(*) FROM relation),
       (SELECT count(DISTINCT uri) FROM document WHERE (current AND NOT off) <> visible),
       (SELECT count(*) FROM dirty_name) + (SELECT count(*) FROM dirty_pair),
       (SELECT s.model FROM workspace w JOIN space s ON s.id = w.space),
       (SELECT graph_vectors FROM workspace),
       (SELECT count(*) FROM document WHERE current AND off)

-- name: sees_all
-- Whether this transaction is not one of a caller who may not read all documents: see docs/adr/0056-access-rights.md.
SELECT current_user = 'trueweave_app'

-- name: waiting
-- What is stored but not yet in the view: documents, names after a change of rules, and texts to be searched for names;
-- and when communities were detected.
SELECT (SELECT count(DISTINCT uri) FROM document WHERE (current AND NOT off) <> visible),
       (SELECT count(*) FROM dirty_name) + (SELECT count(*) FROM dirty_pair),
       (SELECT count(*) FROM pending_link),
       (SELECT found::text FROM hierarchy)

-- name: has_lost_rules
-- Whether the rules differ from those that were added and not undone.
SELECT rules_hash <> coalesce((SELECT bit_xor(hashtextextended(id::text, 0)) FROM rule), 0) FROM workspace

-- name: documents
-- A page of documents: those in the record, and those that are only in the queue.
SELECT x.uri, x.title, (SELECT count(*) FROM chunk c WHERE c.document = x.id), x.added, x.notes, x.state, x.error, x.readers
FROM (({stored} ORDER BY {order} LIMIT %(limit)s) UNION ALL ({queued} ORDER BY {order} LIMIT %(limit)s)) AS x
ORDER BY {order} LIMIT %(limit)s

-- name: count_documents
SELECT count(*) FROM ({stored} UNION ALL {queued}) AS x

-- name: stored_documents
-- The documents in the record. A version in the queue decides the state.
SELECT d.id, d.uri, d.title, d.added, d.notes, d.readers, coalesce(s.error, '') AS error,
       CASE WHEN s.failed THEN 'failed' WHEN NOT s.failed THEN 'waiting' WHEN d.off THEN 'off' WHEN d.visible THEN 'indexed' ELSE 'indexing' END AS state
FROM document d LEFT JOIN LATERAL (SELECT failed, error FROM source WHERE uri = d.uri OFFSET 0) AS s ON true
WHERE d.current AND %(state)s::text IN ('', 'any', 'indexing', 'indexed', 'off')
    AND CASE %(state)s::text WHEN 'any' THEN true WHEN 'off' THEN d.off WHEN 'indexing' THEN s.failed IS NULL AND NOT d.visible AND NOT d.off
                             WHEN 'indexed' THEN s.failed IS NULL AND d.visible AND NOT d.off ELSE d.visible AND NOT d.off END
    AND {passes} AND {selected} AND {after}

-- name: seen_documents
-- The documents in the record that a caller sees. What waits in the queue is not shown to callers with a sight.
SELECT d.id, d.uri, d.title, d.added, d.notes, d.readers, '' AS error, 'indexed' AS state FROM document d
WHERE d.visible AND %(state)s::text IN ('', 'any', 'indexed') AND {passes} AND {selected} AND {after}

-- name: seen_queued_documents
SELECT d.id, d.uri, d.title, d.added, d.notes, d.readers, '' AS error, '' AS state FROM document d WHERE false

-- name: queued_documents
-- The documents in the queue. Among all documents, only those without an earlier version in the record.
SELECT d.id, s.uri, s.title, s.added, s.notes, coalesce(s.given_readers, d.readers, rule_readers(s.uri)) AS readers, coalesce(s.error, '') AS error,
       CASE WHEN s.failed THEN 'failed' ELSE 'waiting' END AS state
FROM source s LEFT JOIN LATERAL (SELECT id, readers FROM document WHERE uri = s.uri AND current OFFSET 0) AS d ON true
WHERE %(state)s::text IN ('any', 'waiting', 'failed')
    AND CASE %(state)s::text WHEN 'any' THEN d.id IS NULL WHEN 'waiting' THEN NOT s.failed ELSE s.failed END
    AND {passes} AND {selected} AND {after}

-- name: selected_documents
starts_with(uri, %(prefix)s) AND (notes <> '{{}}' OR NOT %(noted)s)
    AND (%(since)s::timestamptz IS NULL OR added >= %(since)s::timestamptz)

-- name: after_uri
uri > %(after)s

-- name: after_added
(%(at)s::timestamptz IS NULL OR (added, uri) < (%(at)s::timestamptz, %(after)s))

-- name: state
-- A key over the documents, the version of the view, the embedding space, and whether its vectors are complete.
SELECT concat_ws(' ', count(*), bit_xor(hashtextextended(id::text, 0)), (SELECT version FROM view_version),
    (SELECT concat_ws(' ', space, nullif(graph_vectors, 'kept')) FROM workspace))
FROM document WHERE visible

-- name: relations_of
SELECT r.id, r.source, r.target, r.source_name, r.target_name, r.description, r.keywords, r.weight, r.count, r.histogram,
       coalesce(s.text, ''), r.type
FROM (SELECT * FROM relation WHERE source = ANY(%(ids)s)
      UNION
      SELECT * FROM relation WHERE target = ANY(%(ids)s)
      ORDER BY weight DESC, source_name, target_name, id LIMIT %(limit)s) r
LEFT JOIN LATERAL (SELECT text FROM summary WHERE hash = r.text_hash OFFSET 0) s ON true
ORDER BY r.weight DESC, r.source_name, r.target_name, r.id

-- name: tables
SELECT c.relname FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace
WHERE s.nspname = 'trueweave' AND c.relkind = 'r' AND c.relrowsecurity AND c.relforcerowsecurity
    AND c.relname <> 'own_table' AND c.relname NOT LIKE 'vector\_%%' ORDER BY 1

-- name: begin_drop
SELECT begin_drop()

-- name: await_writers
SELECT await_writers()

-- name: count_visible
SELECT count(*) FROM document WHERE visible

-- name: name
SELECT name FROM workspace WHERE id = current_setting('trueweave.workspace')::int

-- name: settings
SELECT settings FROM workspace WHERE id = current_setting('trueweave.workspace')::int

-- name: change_settings
UPDATE workspace SET settings = (settings || %(changes)s::jsonb) - %(unset)s::text[]
WHERE id = current_setting('trueweave.workspace')::int RETURNING settings

-- name: fate
-- Why a workspace cannot be entered: whether it was dropped, and which workspace has replaced it, if that is still
-- kept.
SELECT dropped, CASE WHEN expires > now() THEN replaced_by END FROM workspace
