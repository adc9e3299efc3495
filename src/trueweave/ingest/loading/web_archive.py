"""Web archives: each page is a document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from trueweave.core.errors import InvalidDocument, UnreadableFile
from trueweave.core.events import Refused, Skipped
from trueweave.core.record import Source
from trueweave.ingest.parser_session import ParserSession
from trueweave.ingest.parsing import ParserLimits
from trueweave.ingest.seen import Seen
from trueweave.text.uris import ROW

_PARSER = "trueweave.ingest.parsers.web_archive:read"


@dataclass(frozen=True, slots=True)
class WebArchive:
    """Reads the pages of a WARC file, each under its address. Of several captures of a page, the first is read."""

    suffixes: frozenset[str] = frozenset({".warc", ".warc.gz"})
    limits: ParserLimits = field(default_factory=ParserLimits)

    def load(self, path: Path, uri: str) -> Iterator[Source | Refused | Skipped]:
        with ParserSession(self.limits) as session, Seen() as seen:
            try:
                for n, one in enumerate(session.documents(_PARSER, {"path": str(path)}), 1):
                    place = f"{uri}{ROW}{one.name}"
                    if one.skipped:
                        yield Skipped(place, one.skipped)
                        continue
                    try:
                        made = Source(place, one.text, one.title, one.metadata, one.places, one.notes, origin=place)
                    except InvalidDocument as error:
                        yield Refused(f"{path}, page {n}", f"{path}, page {n}: {error}")
                        continue
                    yield made if not seen.clash(place, str(n)) else Skipped(place, "another capture of a page")
            except UnreadableFile as error:
                raise UnreadableFile(f"{path} cannot be read: {error}.") from error
