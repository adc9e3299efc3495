"""The statements of searches, and the filter on documents."""
