"""The record and its view in PostgreSQL. SQL is in files beside the code, as named queries and numbered migrations."""
