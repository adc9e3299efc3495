"""Parsers of binary formats. They run in a separate process: see trueweave.ingest.parsing."""
