"""Several PostgreSQL servers, moving workspaces between them, standbys, and temporary workspaces."""
