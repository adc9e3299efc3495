"""Parsers of binary formats. They run in a process of their own: see trueweave.ingest.parsing."""
