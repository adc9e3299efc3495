-- breaking
-- Liveness: which processes are alive, by leases that they renew. See docs/adr/0016-liveness.md.

CREATE TABLE process (
    id      int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    since   timestamptz NOT NULL,
    expires timestamptz NOT NULL
);
COMMENT ON TABLE process IS 'Processes that claim things: since when each has renewed its lease without a gap, and until when that lasts. What is claimed by one that has no row is free.';

-- How many calls to a model may be made at once is agreed with its provider, not with one tenant: this is for all.
CREATE TABLE slot (
    model text NOT NULL,
    n     int NOT NULL,
    owner int NOT NULL,
    PRIMARY KEY (model, n)
);
COMMENT ON TABLE slot IS 'Slots for calls to a model that are in use, and the process that uses each.';
GRANT SELECT, INSERT, UPDATE, DELETE ON process, slot TO trueweave_app;

-- Whether a process is alive, as far as all others are concerned.
DROP FUNCTION present;
CREATE FUNCTION present(owner int) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM process p WHERE p.id = owner)
$$;
REVOKE EXECUTE ON FUNCTION present FROM PUBLIC;
GRANT EXECUTE ON FUNCTION present TO trueweave_app;
