"""Extraction of mentions and links from chunks."""
