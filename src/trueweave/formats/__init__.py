"""File formats: graphs that are imported and exported, and pictures of a graph."""
