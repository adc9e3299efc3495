"""Retrievers for other frameworks, a module for each, which imports its framework: see docs/frameworks.md."""
