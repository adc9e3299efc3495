"""Bulk loading: building the index of a large corpus on a Ray cluster, alongside the workspace that it is for.

Documents go through the stages of `ingest`. What they say together is aggregated by key over the cluster, instead of by
settling one batch after the other in PostgreSQL. See docs/adr/0038-bulk-loading.md.
"""
