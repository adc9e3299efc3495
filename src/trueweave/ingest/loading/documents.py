"""Binary formats: each file is parsed in a separate process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from trueweave.core.errors import InvalidDocument
from trueweave.core.events import Refused, Skipped
from trueweave.core.protocols import Loader
from trueweave.core.record import Source
from trueweave.ingest.loading.rows import table_row
from trueweave.ingest.loading.web import Web
from trueweave.ingest.parsers.ocr import COUNT, is_available
from trueweave.ingest.parsing import ParserLimits, parse
from trueweave.text.names import storable
from trueweave.text.uris import ROW


@dataclass(frozen=True, slots=True)
class Parsed:
    """Reads files through a parser, which is named as `package.module:function`. `ocr` is the setting, empty for a
    parser that does without; `picture_model` is the model that is to describe pictures, if any."""

    suffixes: frozenset[str]
    parser: str
    limits: ParserLimits = field(default_factory=ParserLimits)
    ocr: str = ""
    picture_model: str = ""

    def load(self, path: Path, uri: str) -> Iterator[Source | Refused | Skipped]:
        yield parse(path, uri, self.parser, self.limits, self.ocr, self.picture_model)


def with_ocr(loader: Loader, ocr: str) -> Loader:
    """The loader with this setting, if it reads scanned pages."""
    return replace(loader, ocr=ocr) if isinstance(loader, Parsed) and loader.ocr else loader


def with_pictures(loader: Loader, model: str) -> Loader:
    """The loader, which reads pictures for this model, if their format is one that may have some."""
    return replace(loader, picture_model=model) if isinstance(loader, Parsed | Web) else loader


def with_options(loader: Loader, ocr: str, picture_model: str) -> Loader:
    """The loader, which reads scanned pages and pictures as the settings say, where its format may have some."""
    return with_pictures(with_ocr(loader, ocr), picture_model)


def counting_scans(loader: Loader) -> Loader:
    """The loader, which counts pages that OCR would read, and does not read them."""
    would_read = isinstance(loader, Parsed) and is_available(loader.ocr)
    return with_ocr(loader, COUNT) if would_read else loader


def pdf() -> Parsed:
    return Parsed(frozenset({".pdf"}), "trueweave.ingest.parsers.pdf:read", ocr="auto")


def image() -> Parsed:
    suffixes = frozenset({".png", ".jpg", ".jpeg", ".tif", ".tiff"})
    return Parsed(suffixes, "trueweave.ingest.parsers.image:read", ocr="auto")


def word() -> Parsed:
    return Parsed(frozenset({".docx"}), "trueweave.ingest.parsers.word:read")


def slides() -> Parsed:
    return Parsed(frozenset({".pptx"}), "trueweave.ingest.parsers.slides:read")


@dataclass(frozen=True, slots=True)
class Sheets(Parsed):
    """Reads one document per row of each sheet whose first row names its columns, as from a CSV file; another sheet is
    one document, with a line for each row."""

    def load(self, path: Path, uri: str) -> Iterator[Source | Refused]:
        book = parse(path, uri, self.parser, self.limits)
        for sheet, names, rows in _sheets(book.text.splitlines()):
            place = f"{uri}{ROW}{storable(sheet)}"
            if names:
                yield from _documents(path, sheet, place, names, rows)
            else:
                yield Source(place, "\n".join(" | ".join(row.values()) for row in rows), storable(sheet))


def _sheets(lines: list[str]) -> Iterator[tuple[str, dict[str, str], Iterator[dict[str, str]]]]:
    """The title, the names of the columns and the rows of each sheet."""
    said = [json.loads(line) for line in lines]
    starts = [n for n, one in enumerate(said) if isinstance(one, list)]
    for start, end in pairwise([*starts, len(said)]):
        title, names = said[start]
        yield title, names, iter(said[start + 1 : end])


def _documents(
    path: Path, sheet: str, place: str, names: dict[str, str], rows: Iterator[dict[str, str]]
) -> Iterator[Source | Refused]:
    for number, row in enumerate(rows, 1):
        origin = f"{path}, sheet {sheet}, row {number}"
        cells = [(names.get(column, column), row.get(column, "")) for column in {**names, **row}]
        try:
            made = table_row(cells, place, number, origin, ())
        except InvalidDocument as error:
            yield Refused(origin, f"{origin}: {error}")
        else:
            yield made


def sheets() -> Sheets:
    return Sheets(frozenset({".xlsx"}), "trueweave.ingest.parsers.sheets:read")


def book() -> Parsed:
    return Parsed(frozenset({".epub"}), "trueweave.ingest.parsers.book:read")


def rtf() -> Parsed:
    return Parsed(frozenset({".rtf"}), "trueweave.ingest.parsers.rtf:read")


def open_document() -> Parsed:
    return Parsed(frozenset({".odt"}), "trueweave.ingest.parsers.open_document:read")


def notebook() -> Parsed:
    return Parsed(frozenset({".ipynb"}), "trueweave.ingest.parsers.notebook:read")
