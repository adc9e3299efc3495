"""Whether a passage bears out what an answer says."""
