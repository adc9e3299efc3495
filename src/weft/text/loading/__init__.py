"""Loading: from files to documents. A loader for each format, found by entry point in the group `weft.loaders`."""

from weft.text.loading.files import Failed, Loaded, Skipped, loaders, sources, uri_of
from weft.text.loading.plain import from_stream

__all__ = ["Failed", "Loaded", "Skipped", "from_stream", "loaders", "sources", "uri_of"]
