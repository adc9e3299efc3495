"""Detects communities of the graph, and writes reports on them with or without a model. The algorithms that need no
database are in `graph`.


"""
