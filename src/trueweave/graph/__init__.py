"""The algorithms of the index, without I/O: resolving names, aggregating, finding communities and paths."""
