"""AsyncTrueweave: one workspace of an index and everything you can do with it. The class is in `trueweave`."""
