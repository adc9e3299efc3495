"""The record: what documents say, documents that wait, names and the rules about them, and erasing."""
