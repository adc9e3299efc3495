"""Where the index lives: PostgreSQL is the record."""
