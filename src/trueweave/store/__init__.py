"""Storage backends. PostgreSQL holds the record; other stores hold copies."""
