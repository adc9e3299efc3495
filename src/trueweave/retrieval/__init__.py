"""Retrieval: what a method sees of the index, and the methods."""
