"""Loading: from files to documents. A loader for each format, found by entry point in the group `trueweave.loaders`."""

from trueweave.text.loading.files import Loaded, loaders, sources, uri_of
from trueweave.text.loading.plain import from_stream

__all__ = ["Loaded", "from_stream", "loaders", "sources", "uri_of"]
