"""From what documents say to a settled index."""
