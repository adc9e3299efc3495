-- additive
-- Pictures of submitted documents, which a model is to describe. See docs/adr/0046-pictures.md.

ALTER TABLE source ADD COLUMN pictures bytea;
COMMENT ON COLUMN source.pictures IS 'The pictures that a model is to describe, as JSON. NULL if there are none. They are deleted with the source.';

CREATE OR REPLACE FUNCTION places_of(places jsonb, first int, behind int) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    WITH place AS (
        SELECT p, (p ->> 0)::int AS start, p ->> 1 AS kind, (p ->> 3)::int AS level, (p ->> 6)::int AS ending, n
        FROM jsonb_array_elements(places) WITH ORDINALITY AS e (p, n) WHERE (p ->> 0)::int < behind),
    over AS (
        SELECT *, min(level) OVER (ORDER BY start DESC, n DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS nearer
        FROM place WHERE kind = 'heading' AND start <= first)
    SELECT coalesce(jsonb_agg(p ORDER BY start, n), '[]') FROM (
        SELECT p, start, n FROM place WHERE start > first OR ending > first
        UNION ALL
        SELECT p, start, n FROM over WHERE nearer IS NULL OR level < nearer
        UNION ALL
        (SELECT p, start, n FROM place WHERE kind = 'page' AND start <= first ORDER BY start DESC, n DESC LIMIT 1)) AS known
$$;
COMMENT ON FUNCTION places_of IS 'The page and headings in force where a span of a document begins, the picture or the block that it is in, and all that begin within it, in order.';
