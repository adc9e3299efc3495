"""AsyncTrueweave: one workspace of an index, with everything that can be done in it. The class is in `trueweave`."""
