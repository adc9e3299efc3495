"""The record and its view in PostgreSQL. The SQL is in files next to the code: named queries and numbered
migrations."""
