"""The record: documents and their contents, submitted documents, names and the rules about them, and erasure."""
