-- breaking
-- Vectors of entities and relations on demand. Breaking, because a process of the version before would search vectors
-- that are not there, and find nothing. See docs/adr/0058-vectors-on-demand.md.

ALTER TABLE workspace ADD COLUMN graph_vectors text NOT NULL DEFAULT 'kept'
    CHECK (graph_vectors IN ('kept', 'none', 'making'));
COMMENT ON COLUMN workspace.graph_vectors IS 'Whether there are vectors of entities and relations. kept: each has one. none: they are not embedded; vectors that are left are being deleted. making: new ones are embedded, and those that are missing are being made.';
GRANT SELECT (graph_vectors) ON workspace TO trueweave_caller;

-- Takes the current workspace's own tables for vectors of entities and relations out of use. They are kept for those who
-- still read them. The caller must hold the view lock.
CREATE FUNCTION leave_graph_tables() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, public, pg_temp AS $$
DECLARE here constant int := current_setting('trueweave.workspace')::int;
BEGIN
    UPDATE own_table SET state = 'left', left_at = clock_timestamp()
    WHERE workspace = here AND kind IN ('entity', 'relation') AND state <> 'left';
    DELETE FROM removed_vector WHERE workspace = here AND kind IN ('entity', 'relation');
END $$;
REVOKE EXECUTE ON FUNCTION leave_graph_tables FROM PUBLIC;
GRANT EXECUTE ON FUNCTION leave_graph_tables TO trueweave_app;
