"""The view: what readers see, written by batches and read page by page."""
