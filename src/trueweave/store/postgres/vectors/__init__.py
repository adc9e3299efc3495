"""Vectors, and the separate tables of large workspaces."""
