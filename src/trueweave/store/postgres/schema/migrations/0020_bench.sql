-- breaking
-- Questions with known passages, and the results of benchmarks. See docs/adr/0043-stored-benchmarks.md. Breaking, because
-- workers of the version before would not erase the uris of removed documents here.

CREATE TABLE bench_question (
    workspace     int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    id            uuid NOT NULL,
    question      text NOT NULL,
    question_hash uuid GENERATED ALWAYS AS (md5(question)::uuid) STORED,
    answers       text[] NOT NULL,
    kind          text NOT NULL,
    made          timestamptz NOT NULL DEFAULT now(),
    author        text NOT NULL DEFAULT '',
    PRIMARY KEY (workspace, id)
);
COMMENT ON TABLE bench_question IS 'People''s own questions to measure methods with. Their right passages are in bench_passage.';
CREATE UNIQUE INDEX bench_question_hash ON bench_question (question_hash, workspace);

CREATE TABLE bench_run (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    id        uuid NOT NULL,
    made      timestamptz NOT NULL DEFAULT now(),
    author    text NOT NULL DEFAULT '',
    name      text NOT NULL,
    own       boolean NOT NULL,
    questions int NOT NULL,
    documents int NOT NULL,
    version   text NOT NULL,
    measures  text[] NOT NULL,
    main_measure text NOT NULL,
    under     jsonb NOT NULL,
    methods   jsonb NOT NULL,
    left_out  jsonb NOT NULL,
    notes     text[] NOT NULL,
    verdict   text NOT NULL,
    PRIMARY KEY (workspace, id)
);
COMMENT ON TABLE bench_run IS 'Finished benchmarks. methods has the parameters and mean scores of each method, in the order of bench_outcome.findings.';
CREATE INDEX bench_run_made ON bench_run (workspace, made, id);

CREATE TABLE bench_outcome (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    run       uuid NOT NULL,
    n         int NOT NULL,
    question  text NOT NULL,
    asked     uuid NOT NULL,
    kind      text NOT NULL,
    supporting int[] NOT NULL,
    findings  jsonb NOT NULL,
    PRIMARY KEY (workspace, run, n)
);
COMMENT ON TABLE bench_outcome IS 'One question of a run. supporting has the numbers of its right passages in bench_passage; findings has, for each method, the numbers of the passages found, its scores in the order of bench_run.measures, and its seconds.';
COMMENT ON COLUMN bench_outcome.asked IS 'A hash of the question and of its right passages: questions of two runs with the same one are compared.';

CREATE TABLE bench_passage (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    owner     uuid NOT NULL,
    n         int NOT NULL,
    uri       text NOT NULL,
    chunk     uuid,
    first     int,
    behind    int,
    content   uuid,
    PRIMARY KEY (workspace, owner, n),
    CHECK ((first IS NULL) = (behind IS NULL))
);
COMMENT ON TABLE bench_passage IS 'The passages that a question or a run refers to, without their texts. Both spans are NULL for a whole document. The uri becomes empty when the document is removed.';
COMMENT ON COLUMN bench_passage.content IS 'document.content_hash at that time: while it is the same, first and behind are valid, even if the chunk is no longer there.';
CREATE INDEX bench_passage_uri ON bench_passage (uri, workspace);

SELECT guard(t::regclass) FROM unnest(ARRAY['bench_question', 'bench_run', 'bench_outcome', 'bench_passage']) t;
