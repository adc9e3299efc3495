"""From the record to the view: planning and indexing batches, linking texts to names, communities, verification.

The algorithms that need no database are in `graph`.
"""
