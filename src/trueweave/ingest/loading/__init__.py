"""Loading: from files to documents. A loader for each format, found by entry point in the group `trueweave.loaders`."""

from trueweave.ingest.loading.files import Files, Loaded, check_present
from trueweave.ingest.loading.installed import broken_loaders, loaders
from trueweave.ingest.loading.plain import from_stream
from trueweave.ingest.loading.walking import Pattern, is_folder

__all__ = ["Files", "Loaded", "Pattern", "broken_loaders", "check_present", "from_stream", "is_folder", "loaders"]
