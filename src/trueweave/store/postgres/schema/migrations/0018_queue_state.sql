-- additive
-- What waits in the queue over all workspaces, for metrics; and the trace in which a document was handed in. See docs/adr/0034-metrics-and-traces.md.

CREATE FUNCTION queue_state(OUT kind text, OUT waiting bigint, OUT delayed bigint, OUT running bigint, OUT oldest double precision)
    RETURNS SETOF record LANGUAGE sql STABLE SECURITY DEFINER SET search_path = trueweave, pg_temp AS $$
    SELECT j.kind, count(*) FILTER (WHERE j.owner IS NULL AND j.due <= now()), count(*) FILTER (WHERE j.owner IS NULL AND j.due > now()),
           count(*) FILTER (WHERE j.owner IS NOT NULL),
           coalesce(extract(epoch FROM now() - min(j.due) FILTER (WHERE j.owner IS NULL AND j.due <= now())), 0)::double precision
    FROM job j GROUP BY j.kind
$$;
REVOKE EXECUTE ON FUNCTION queue_state FROM PUBLIC;
GRANT EXECUTE ON FUNCTION queue_state TO trueweave_app;

ALTER TABLE source ADD COLUMN trace text;
COMMENT ON COLUMN source.trace IS 'The traceparent of the request that handed it in, where traces are made.';
