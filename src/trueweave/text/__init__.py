"""Text: files read, names tidied, documents cut into chunks. No model and no database is touched here."""
