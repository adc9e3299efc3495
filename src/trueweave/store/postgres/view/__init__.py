"""The view: what readers see, written in batches and read page by page."""
