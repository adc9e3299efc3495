"""From what documents say to what readers see: planning and settling batches, linking texts to names, verifying it all.

What is worked out without a database is in `graph`.
"""
