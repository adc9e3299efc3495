-- additive
-- Standing questions, and what changed in their evidence. See docs/adr/0064-watches.md.

CREATE TABLE watch (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    name      text NOT NULL,
    question  text NOT NULL,
    method    text NOT NULL,
    filter    jsonb NOT NULL,
    groups    text[] NOT NULL,
    passages  int NOT NULL CHECK (passages BETWEEN 1 AND 50),
    answers   boolean NOT NULL,
    tokens_per_day bigint NOT NULL CHECK (tokens_per_day >= 0),
    webhook   text NOT NULL,
    key       text,
    author    text NOT NULL,
    made      timestamptz NOT NULL DEFAULT now(),
    state     text NOT NULL,
    asked     timestamptz NOT NULL DEFAULT now(),
    changed   timestamptz,
    owner     int,
    claim     uuid,
    attempts  int NOT NULL DEFAULT 0,
    next_try  timestamptz,
    problem   text NOT NULL DEFAULT '',
    not_asked boolean NOT NULL DEFAULT false,
    PRIMARY KEY (workspace, name)
);
COMMENT ON TABLE watch IS 'A question that is asked again when the index has changed.';
COMMENT ON COLUMN watch.method IS 'A name; empty for the method of the settings.';
COMMENT ON COLUMN watch.groups IS 'The groups as which it reads; * reads all documents.';
COMMENT ON COLUMN watch.key IS 'The caller of a server who added it: the prefix of a key, or issuer and subject of a token. It is asked as long as the key is valid. NULL if it was added beside the database.';
COMMENT ON COLUMN watch.state IS 'The state of the index at which it was last asked.';
COMMENT ON COLUMN watch.changed IS 'When the index was first seen to have changed since, while something was still waiting to be indexed.';
COMMENT ON COLUMN watch.asked IS 'When it was last asked, or when that was last tried.';
COMMENT ON COLUMN watch.not_asked IS 'It could not be asked the last time; problem says why. Otherwise problem is about an alert that was not sent.';
COMMENT ON COLUMN watch.owner IS 'The process that asks it. A process whose lease has expired owns nothing.';
COMMENT ON COLUMN watch.attempts IS 'How often sending the oldest waiting alert has failed.';
COMMENT ON COLUMN watch.next_try IS 'When the oldest waiting alert is sent to the webhook.';

CREATE TABLE alert (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    id        bigint NOT NULL,
    watch     text NOT NULL,
    at        timestamptz NOT NULL DEFAULT now(),
    is_first  boolean NOT NULL,
    added     int NOT NULL,
    removed   int NOT NULL,
    answer    text NOT NULL DEFAULT '',
    tokens    bigint NOT NULL DEFAULT 0,
    problem   text NOT NULL DEFAULT '',
    delivery  text NOT NULL CHECK (delivery IN ('none', 'waiting', 'delivered', 'failed')),
    PRIMARY KEY (workspace, id)
);
COMMENT ON TABLE alert IS 'A change in the evidence of a watch; the first of a watch is what it found when it was made.';
COMMENT ON COLUMN alert.id IS 'Microseconds since 1970, or one more than the last: ids of a workspace grow with time, on whichever server it is.';
CREATE INDEX alert_watch ON alert (watch, id, workspace);

CREATE TABLE alert_passage (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    alert     bigint NOT NULL,
    n         int NOT NULL,
    change    text NOT NULL CHECK (change IN ('added', 'removed', 'kept')),
    chunk     uuid NOT NULL,
    uri       text NOT NULL,
    PRIMARY KEY (workspace, alert, n)
);
COMMENT ON TABLE alert_passage IS 'A passage of an alert. When its document is erased, chunk is replaced by a random id, and uri is emptied.';
CREATE INDEX alert_passage_uri ON alert_passage (uri, workspace);

SELECT guard(t::regclass) FROM unnest(ARRAY['watch', 'alert', 'alert_passage']) AS t;
-- The function below works across all workspaces with the rights of the owner, who would be bound by a forced policy.
ALTER TABLE watch NO FORCE ROW LEVEL SECURITY;

-- The next workspaces that have watches, in order of their ids.
CREATE FUNCTION watched_workspaces(after int, most int) RETURNS SETOF int
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
    SELECT w.id FROM workspace w WHERE w.id > after AND w.place = 'here' AND NOT w.dropped AND w.expires IS NULL
        AND EXISTS (SELECT FROM watch WHERE workspace = w.id)
    ORDER BY w.id LIMIT most
$$;
REVOKE EXECUTE ON FUNCTION watched_workspaces FROM PUBLIC;
GRANT EXECUTE ON FUNCTION watched_workspaces TO trueweave_app;
