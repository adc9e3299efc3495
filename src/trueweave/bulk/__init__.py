"""Bulk loading: building the index of a large corpus on a Ray cluster, beside the workspace that it is for.

The stages of a document are those of `ingest`. What documents say together is added up by key, over the cluster, and
not by settling one batch after the other in PostgreSQL. See docs/adr/0038-bulk-loading.md.
"""
