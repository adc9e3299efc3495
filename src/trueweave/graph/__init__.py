"""The algorithms of the index, with no I/O: resolving names, adding up, walking."""
