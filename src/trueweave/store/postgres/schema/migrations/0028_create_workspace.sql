-- additive
-- Makes a workspace unless there is one of this name; whether it did. Of two callers at the same time one is told false.
CREATE FUNCTION create_workspace(workspace_name text, resolution text, among text[]) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
DECLARE chosen text;
BEGIN
    IF EXISTS (SELECT FROM workspace w WHERE w.name = workspace_name) THEN
        RETURN false;
    END IF;
    chosen := choose_server(among);
    INSERT INTO workspace (name, mode, server, place)
    VALUES (workspace_name, resolution, chosen, CASE WHEN chosen IS NULL THEN 'here' ELSE 'away' END)
    ON CONFLICT (name) DO NOTHING;
    RETURN FOUND;
END $$;
REVOKE EXECUTE ON FUNCTION create_workspace FROM PUBLIC;
GRANT EXECUTE ON FUNCTION create_workspace TO trueweave_app;
