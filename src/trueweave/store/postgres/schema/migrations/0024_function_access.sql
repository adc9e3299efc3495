-- additive
-- claim_projection runs with the rights of the owner across all workspaces. PUBLIC could call it, and so could a role
-- that may only read one workspace.
REVOKE EXECUTE ON FUNCTION claim_projection FROM PUBLIC;
GRANT EXECUTE ON FUNCTION claim_projection TO trueweave_app;
