-- breaking
-- History: the former versions of documents, for workspaces that keep them. Breaking, because a process of the version
-- before would delete them. See docs/adr/0061-history.md.

CREATE TABLE history (
    workspace int PRIMARY KEY DEFAULT current_setting('trueweave.workspace')::int,
    since     timestamptz NOT NULL,
    changed   timestamptz NOT NULL,
    erased    bigint NOT NULL DEFAULT 0,
    days      int CHECK (days > 0)
);
COMMENT ON TABLE history IS 'A row if the workspace keeps history: since when, when documents last came into the index or left it, how often former versions were erased, and after how many days they are deleted (NULL: never).';

CREATE TABLE shown (
    workspace int NOT NULL DEFAULT current_setting('trueweave.workspace')::int,
    document  uuid NOT NULL,
    since     timestamptz NOT NULL,
    until     timestamptz,
    PRIMARY KEY (workspace, document, since)
);
COMMENT ON TABLE shown IS 'The intervals in which versions of documents were in the index, while the workspace keeps history. A version that has one is kept when it leaves the index.';
CREATE INDEX shown_ended ON shown (until, workspace) WHERE until IS NOT NULL;

CREATE INDEX document_former ON document (workspace, uri) WHERE NOT current AND NOT visible;

SELECT guard(t::regclass) FROM unnest(ARRAY['history', 'shown']) AS t;

COMMENT ON TABLE document IS 'One version of one document. A new version is current but not yet visible, and the old one visible but no longer current, until indexing switches both at once. One that is switched off is current and not visible, and a former one, which is kept as history, is neither. source is the hash of what the text was made from.';
CREATE POLICY not_former ON document AS RESTRICTIVE TO trueweave_reader USING (current OR visible);

-- Marks the temporary workspaces with a past state of the current workspace as dropped, and returns them; see
-- `past_name` in record/history.py.
CREATE FUNCTION drop_past() RETURNS SETOF int LANGUAGE sql SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
    UPDATE workspace SET dropped = true WHERE expires IS NOT NULL
        AND starts_with(name, format('past-%s-', current_setting('trueweave.workspace')::int)) RETURNING id
$$;
REVOKE EXECUTE ON FUNCTION drop_past FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drop_past TO trueweave_app;
