-- breaking
-- A budget for one run beside that of the workspace. Workers of the version before would not keep it. It counts while the
-- process of the run is alive, so that one that was killed leaves no cap behind. See docs/adr/0009-paid-once.md.

ALTER TABLE budget ADD COLUMN run_owner int, ADD COLUMN run_price_cap numeric, ADD COLUMN run_token_cap bigint;
COMMENT ON COLUMN budget.run_owner IS 'The process of the run that has a budget of its own; its caps count while it is alive.';
