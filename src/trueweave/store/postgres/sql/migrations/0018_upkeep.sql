-- breaking
-- Upkeep: workspaces for a while, a change of embedding model that can be taken up again, what documents were made by, and
-- what has to be known of texts to erase them or to keep them no longer than need be.

ALTER TABLE workspace
    ADD expires      timestamptz,
    ADD next_space   int,
    ADD paused_until timestamptz,
    ADD changes_gone bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN workspace.expires IS 'Until when whoever made a workspace for a while is known to be there; none for lasting ones.';
COMMENT ON COLUMN workspace.next_space IS 'The embedding space that is being filled beside the one that answers.';
COMMENT ON COLUMN workspace.paused_until IS 'Nothing new is settled before this, so that a change of embedding space can come to its end.';
COMMENT ON COLUMN workspace.changes_gone IS 'The last position of the outbox that is kept no longer.';

CREATE FUNCTION make_passing_workspace(named text, lasts interval) RETURNS int
LANGUAGE sql SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
    INSERT INTO workspace (name, expires) VALUES (named, now() + lasts) RETURNING id
$$;

CREATE FUNCTION expired_workspaces() RETURNS SETOF int
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
    SELECT id FROM workspace WHERE expires < now()
$$;

REVOKE ALL ON FUNCTION make_passing_workspace(text, interval), expired_workspaces() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION make_passing_workspace(text, interval), expired_workspaces() TO trueweave_app;

CREATE TABLE recipe (
    workspace   int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    id          uuid NOT NULL,
    recipe      jsonb NOT NULL,
    fingerprint text NOT NULL,
    PRIMARY KEY (workspace, id)
);
COMMENT ON TABLE recipe IS 'How documents were worked: by which settings, and by which version of the extractor and its prompts.';
ALTER TABLE document ADD recipe uuid;
COMMENT ON COLUMN document.recipe IS 'How it was worked; none where its entities were given.';

ALTER TABLE reply ADD stage text NOT NULL DEFAULT '', ADD document text NOT NULL DEFAULT '', ADD text_hash uuid;
COMMENT ON COLUMN reply.text_hash IS 'The one text that it was made from. Without it, it was made from several, or from a question.';
COMMENT ON COLUMN reply.document IS 'The uri of the document that it was first asked for, if it was for one.';
CREATE INDEX reply_text ON reply (text_hash, workspace) WHERE text_hash IS NOT NULL;
CREATE INDEX reply_document ON reply (document, workspace) WHERE document <> '';
CREATE INDEX chunk_text ON chunk (text_hash, workspace);
CREATE INDEX entity_long ON entity (text_hash, workspace) WHERE length(description) > 2000;
CREATE INDEX relation_long ON relation (text_hash, workspace) WHERE length(description) > 2000;

CREATE TABLE stale_text (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    hash      uuid NOT NULL,
    since     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace, hash)
);
COMMENT ON TABLE stale_text IS 'Texts that something had and has no longer. What models made of them is kept for a while, in case they come back.';

CREATE TABLE erasure (
    workspace       int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    id              bigint GENERATED ALWAYS AS IDENTITY,
    uri             text NOT NULL,
    names           uuid[] NOT NULL,
    entities        uuid[] NOT NULL,
    entity_hashes   uuid[] NOT NULL,
    relations       uuid[] NOT NULL,
    relation_hashes uuid[] NOT NULL,
    PRIMARY KEY (workspace, id)
);
COMMENT ON TABLE erasure IS 'Removed documents of which something is left elsewhere, with what they spoke of and how that was described.';

SELECT guard(t::regclass) FROM unnest(ARRAY['recipe', 'stale_text', 'erasure']) t;

ALTER TABLE outbox ADD made timestamptz NOT NULL DEFAULT now();

ALTER TABLE spend ADD calls bigint NOT NULL DEFAULT 1;
COMMENT ON COLUMN spend.calls IS 'How many calls the row stands for: after some time, all of a day, stage and model together.';
CREATE INDEX spend_at ON spend (workspace, at);
