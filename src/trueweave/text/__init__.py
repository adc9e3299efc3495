"""Text: tidying names, splitting sentences and cutting documents into chunks. No model or database is used here."""
