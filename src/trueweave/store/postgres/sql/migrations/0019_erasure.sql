-- breaking
-- Removed documents: which communities may have reports that quote them, and what was spent on them.

ALTER TABLE erasure
    ADD communities      uuid[] NOT NULL DEFAULT '{}',
    ADD relation_sources uuid[] NOT NULL DEFAULT '{}',
    ADD relation_targets uuid[] NOT NULL DEFAULT '{}';
CREATE INDEX spend_document ON spend (document, workspace) WHERE document <> '';

-- In PL/pgSQL, as schema.sql makes functions before the tables that they read.
CREATE OR REPLACE FUNCTION make_passing_workspace(named text, lasts interval) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
DECLARE made int;
BEGIN
    INSERT INTO workspace (name, expires) VALUES (named, now() + lasts) RETURNING id INTO made;
    RETURN made;
END $$;

CREATE OR REPLACE FUNCTION expired_workspaces() RETURNS SETOF int
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
BEGIN
    RETURN QUERY SELECT id FROM workspace WHERE expires < now();
END $$;
