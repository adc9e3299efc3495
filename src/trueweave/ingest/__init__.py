"""Ingestion: from files to the record and the index."""
