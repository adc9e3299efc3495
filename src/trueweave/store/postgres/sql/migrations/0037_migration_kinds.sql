-- additive
-- Every process looks at which migrations there are when it opens the database. See docs/adr/0020-explicit-migrations.md.

COMMENT ON COLUMN migration.additive IS 'Whether processes of the version before may go on beside it.';
GRANT SELECT ON migration TO trueweave_app;
