"""Neo4j as a graph store: a copy of the graph, and a `GraphReader` over it."""
