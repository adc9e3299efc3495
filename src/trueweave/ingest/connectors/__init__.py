"""Connectors: documents of other systems, by address. Each is found by entry point in the group `trueweave.connectors`,
under the scheme of its addresses."""

from trueweave.ingest.connectors.installed import broken_connectors, check_address, open_connector, scheme_of
from trueweave.ingest.connectors.reading import AddressRun

__all__ = ["AddressRun", "broken_connectors", "check_address", "open_connector", "scheme_of"]
