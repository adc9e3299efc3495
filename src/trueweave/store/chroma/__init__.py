"""Chroma as a vector store: a copy of the vectors, and a `VectorSearch` over it."""
