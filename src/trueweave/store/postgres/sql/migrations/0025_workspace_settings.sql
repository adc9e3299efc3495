-- breaking
-- Settings that a workspace has of its own, over those of the process that works in it. Never a key: only the name of the
-- environment variable that holds it.
ALTER TABLE workspace ADD COLUMN settings jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(settings) = 'object');
COMMENT ON COLUMN workspace.settings IS 'Settings of this workspace, by name; they outweigh those of the process.';

-- All that is needed to work in a workspace, in one statement. The same by an id that is known is a plain SELECT.
CREATE FUNCTION open_workspace(wanted text, make boolean, resolution text,
                               OUT id int, OUT has_space boolean, OUT settings jsonb)
    RETURNS SETOF record LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
BEGIN
    IF make THEN
        INSERT INTO workspace (name, mode) VALUES (wanted, resolution) ON CONFLICT (name) DO NOTHING;
    END IF;
    RETURN QUERY SELECT w.id, w.space IS NOT NULL, w.settings FROM workspace w WHERE w.name = wanted;
END $$;
REVOKE EXECUTE ON FUNCTION open_workspace FROM PUBLIC;
GRANT EXECUTE ON FUNCTION open_workspace TO trueweave_app;
