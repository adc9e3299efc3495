-- breaking
-- What comes in: notes on how a source was read, and a workspace of its own for each project.

ALTER TABLE source ADD notes text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN source.notes IS 'What was odd about reading it. They become notes of the document.';

CREATE FUNCTION make_workspace(wanted text) RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
DECLARE
    made text := wanted;
    n int := 1;
BEGIN
    LOOP
        INSERT INTO workspace (name) VALUES (made) ON CONFLICT (name) DO NOTHING;
        EXIT WHEN FOUND;
        n := n + 1;
        made := format('%s-%s', wanted, n);
    END LOOP;
    RETURN made;
END $$;
COMMENT ON FUNCTION make_workspace IS 'Make a workspace that was not there, of this name or one that begins like it; its name.';
REVOKE EXECUTE ON FUNCTION make_workspace FROM PUBLIC;
GRANT EXECUTE ON FUNCTION make_workspace TO trueweave_app;
