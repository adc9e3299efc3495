"""Loading: from files to documents. A loader for each format, found by entry point in the group `trueweave.loaders`."""

from trueweave.text.loading.files import Files, Loaded, check_present
from trueweave.text.loading.installed import broken_loaders, loaders
from trueweave.text.loading.plain import from_stream
from trueweave.text.loading.walking import Pattern, is_folder

__all__ = ["Files", "Loaded", "Pattern", "broken_loaders", "check_present", "from_stream", "is_folder", "loaders"]
