"""The record and its view in PostgreSQL. SQL is in sql/, as named queries and numbered migrations."""
