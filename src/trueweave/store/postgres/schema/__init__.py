"""The schema: its migrations, applying them, and whether a database fits this version."""
