-- Questions with known passages, and the results of benchmarks. See bench_questions.py and bench_runs.py.

-- name: passages
-- Passages as they are now. A chunk that is still in the document has moved with its text; without it, the span is valid
-- while the document has the text that it had.
SELECT p.owner, p.n, CASE WHEN d.id IS NULL THEN '' ELSE p.uri END, p.chunk,
    CASE WHEN here.start IS NULL THEN p.first ELSE here.start END,
    CASE WHEN here.start IS NULL THEN p.behind ELSE here.start + length(here.text) END,
    coalesce(d.title, ''),
    CASE WHEN p.first IS NULL OR d.id IS NULL THEN '' ELSE coalesce(left(here.text, %(longest)s::int), excerpt.text, '') END,
    CASE WHEN d.id IS NULL THEN 'removed'
         WHEN p.first IS NULL OR here.start IS NOT NULL OR d.content_hash = p.content THEN 'there' ELSE 'changed' END
FROM (SELECT * FROM bench_passage WHERE owner = ANY(%(owners)s::uuid[])
      AND (%(numbers)s::int[] IS NULL OR n = ANY(%(numbers)s::int[]))) AS p
LEFT JOIN LATERAL (SELECT id, title, content_hash FROM document WHERE uri = p.uri AND visible OFFSET 0) d ON true
LEFT JOIN LATERAL (SELECT start, text FROM chunk WHERE document = d.id AND id = p.chunk OFFSET 0) here ON true
LEFT JOIN LATERAL (
    SELECT substr(text, p.first - start + 1, least(p.behind - p.first, %(longest)s::int)) AS text FROM chunk
    WHERE document = d.id AND here.start IS NULL AND d.content_hash = p.content AND start <= p.first
    ORDER BY start DESC LIMIT 1) excerpt ON true
ORDER BY p.owner, p.n

-- name: add_passages
-- Spans of chunks that are given without them are looked up; of a document that was removed, no uri is stored. Passages that the owner has already are not added twice.
INSERT INTO bench_passage (owner, n, uri, chunk, first, behind, content)
SELECT %(owner)s, (SELECT coalesce(max(n) + 1, 0) FROM bench_passage WHERE owner = %(owner)s) + row_number() OVER (ORDER BY g.at) - 1,
    CASE WHEN d.id IS NULL THEN '' ELSE g.uri END, CASE WHEN d.id IS NOT NULL THEN g.chunk END, coalesce(g.first, c.start), coalesce(g.behind, c.start + c.length), d.content_hash
FROM (SELECT DISTINCT ON (uri, chunk, first, behind) * FROM unnest(%(uris)s::text[], %(chunks)s::uuid[], %(firsts)s::int[], %(behinds)s::int[])
      WITH ORDINALITY AS u (uri, chunk, first, behind, at) ORDER BY uri, chunk, first, behind, at) AS g
LEFT JOIN LATERAL (SELECT id, content_hash FROM document WHERE uri = g.uri AND visible OFFSET 0) d ON true
LEFT JOIN LATERAL (SELECT start, length(text) AS length FROM chunk WHERE document = d.id AND id = g.chunk OFFSET 0) c ON true
WHERE NOT EXISTS (SELECT FROM bench_passage p WHERE p.owner = %(owner)s AND p.uri = g.uri
    AND p.chunk IS NOT DISTINCT FROM g.chunk
    AND (g.chunk IS NOT NULL OR (p.first IS NOT DISTINCT FROM g.first AND p.behind IS NOT DISTINCT FROM g.behind)))

-- name: missing
-- Those of these passages whose document, or chunk, is not in the workspace.
SELECT g.uri, d.id IS NOT NULL
FROM unnest(%(uris)s::text[], %(chunks)s::uuid[]) AS g (uri, chunk)
LEFT JOIN LATERAL (SELECT id FROM document WHERE uri = g.uri AND visible OFFSET 0) d ON true
WHERE d.id IS NULL OR (g.chunk IS NOT NULL AND NOT EXISTS (SELECT FROM chunk WHERE document = d.id AND id = g.chunk OFFSET 0))

-- name: remove_passages
DELETE FROM bench_passage WHERE owner = %(owner)s

-- name: add_question
-- Returns the id of the question, which is locked. One that is there already is kept.
INSERT INTO bench_question (id, question, answers, kind, author) VALUES (%(id)s, %(question)s, %(answers)s, %(kind)s, %(author)s)
ON CONFLICT (question_hash, workspace) DO UPDATE SET
    answers = CASE WHEN bench_question.answers = '{}' THEN excluded.answers ELSE bench_question.answers END,
    kind = CASE WHEN bench_question.kind = '' THEN excluded.kind ELSE bench_question.kind END
RETURNING id

-- name: change_question
UPDATE bench_question SET question = %(question)s, answers = %(answers)s, kind = %(kind)s WHERE id = %(id)s

-- name: is_asked_by_other
SELECT EXISTS (SELECT FROM bench_question WHERE question_hash = md5(%(question)s::text)::uuid AND id <> %(id)s)

-- name: remove_question
DELETE FROM bench_question WHERE id = %(id)s

-- name: questions
-- The latest first.
SELECT id, question, answers, kind, made, author FROM bench_question
WHERE %(made)s::timestamptz IS NULL OR (made, id) < (%(made)s::timestamptz, %(after)s::uuid)
ORDER BY made DESC, id DESC LIMIT %(limit)s

-- name: question
SELECT id, question, answers, kind, made, author FROM bench_question WHERE id = %(id)s

-- name: add_run
INSERT INTO bench_run (id, author, name, own, questions, documents, version, measures, main_measure, under, methods, left_out, notes, verdict)
VALUES (%(id)s, %(author)s, %(name)s, %(own)s, %(questions)s, %(documents)s, %(version)s, %(measures)s, %(main_measure)s, %(under)s,
    %(methods)s, %(left_out)s, %(notes)s, %(verdict)s)

-- name: add_outcomes
INSERT INTO bench_outcome (run, n, question, asked, kind, supporting, findings)
SELECT %(run)s, o.n, o.question, o.asked, o.kind, ARRAY(SELECT jsonb_array_elements_text(o.supporting)::int), o.findings
FROM jsonb_to_recordset(%(outcomes)s) AS o (n int, question text, asked uuid, kind text, supporting jsonb, findings jsonb)

-- name: runs
-- The latest first.
SELECT id, made, author, name, own, questions, documents, version, measures, main_measure, under, methods, left_out, notes, verdict
FROM bench_run WHERE %(made)s::timestamptz IS NULL OR (made, id) < (%(made)s::timestamptz, %(after)s::uuid)
ORDER BY made DESC, id DESC LIMIT %(limit)s

-- name: run
SELECT id, made, author, name, own, questions, documents, version, measures, main_measure, under, methods, left_out, notes, verdict
FROM bench_run WHERE id = %(id)s

-- name: remove_run
WITH gone AS (DELETE FROM bench_run WHERE id = %(id)s RETURNING id),
outcomes AS (DELETE FROM bench_outcome WHERE run IN (SELECT id FROM gone)),
passages AS (DELETE FROM bench_passage WHERE owner IN (SELECT id FROM gone))
SELECT count(*) FROM gone

-- name: outcome
SELECT n, question, kind, supporting, findings FROM bench_outcome WHERE run = %(run)s AND n = %(n)s

-- name: scores
-- The score of each question of a run with one method, by one measure.
SELECT asked, n, question, kind, (findings -> %(method)s::int -> 'scores' ->> %(measure)s::int)::float8
FROM bench_outcome WHERE run = %(run)s ORDER BY n
