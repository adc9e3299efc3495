"""Retrievers for other frameworks, one module for each framework, which it imports: see docs/how-to/frameworks.md."""
