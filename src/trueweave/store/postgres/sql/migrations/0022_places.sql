-- breaking
-- Where the words of a passage are: all that a quote in the middle of a chunk needs to be given its own page and heading.

CREATE FUNCTION places_of(places jsonb, first int, behind int) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    WITH place AS (
        SELECT p, (p ->> 0)::int AS start, p ->> 1 AS kind, (p ->> 3)::int AS level, n
        FROM jsonb_array_elements(places) WITH ORDINALITY AS e (p, n) WHERE (p ->> 0)::int < behind),
    over AS (
        SELECT *, min(level) OVER (ORDER BY start DESC, n DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS nearer
        FROM place WHERE kind = 'heading' AND start <= first)
    SELECT coalesce(jsonb_agg(p ORDER BY start, n), '[]') FROM (
        SELECT p, start, n FROM place WHERE start > first
        UNION ALL
        SELECT p, start, n FROM over WHERE nearer IS NULL OR level < nearer
        UNION ALL
        (SELECT p, start, n FROM place WHERE kind = 'page' AND start <= first ORDER BY start DESC, n DESC LIMIT 1)) AS known
$$;
COMMENT ON FUNCTION places_of IS 'The page and the headings that a stretch of a document begins under, and all that begin within it, in order.';
REVOKE EXECUTE ON FUNCTION places_of FROM PUBLIC;
GRANT EXECUTE ON FUNCTION places_of TO trueweave_app;

DROP FUNCTION place_at;
