"""Retrieval: the methods, and the context through which they see the index."""
