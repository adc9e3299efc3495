"""Vectors of texts, and the tables of large workspaces."""
