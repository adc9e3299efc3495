-- additive
-- Where communities and entities lie on the map of the graph. All columns are NULL if a version without a map found the communities.

ALTER TABLE community
    ADD COLUMN x float8, ADD COLUMN y float8, ADD COLUMN radius float8, ADD COLUMN around float8, ADD COLUMN best uuid,
    ADD COLUMN linked bytea;
ALTER TABLE member ADD COLUMN x float8, ADD COLUMN y float8;
COMMENT ON COLUMN community.radius IS 'Everything in it lies within this circle. The whole map has the radius 1.';
COMMENT ON COLUMN community.around IS 'The radius of the community around it, or infinity.';
COMMENT ON COLUMN community.best IS 'Its member with the most relations.';
COMMENT ON COLUMN community.linked IS 'Innermost communities only: for each innermost community with a larger n whose members are related to its members, that n (int4), the number of these relations (int4) and their weight in thousandths (int8), in network byte order. A window adds up tens of thousands of them, which takes four times as long with arrays.';
