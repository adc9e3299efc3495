"""Communities of the graph: finding them, and writing about them with and without a model.

What is worked out without a database is in `graph`.
"""
