"""The schema: its migrations, applying them, and whether a database matches this version."""
