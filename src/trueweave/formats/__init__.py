"""File formats: importing and exporting graphs, and pictures of a graph."""
