"""Binary formats: each file is parsed in a separate process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from trueweave.core.protocols import Loader
from trueweave.core.record import Source
from trueweave.ingest.parsers.ocr import COUNT, is_available
from trueweave.ingest.parsing import ParserLimits, parse


@dataclass(frozen=True, slots=True)
class Parsed:
    """Reads files through a parser, which is named as `package.module:function`. `ocr` is the setting, empty for a
    parser that does without."""

    suffixes: frozenset[str]
    parser: str
    limits: ParserLimits = field(default_factory=ParserLimits)
    ocr: str = ""

    def load(self, path: Path, uri: str) -> Iterator[Source]:
        yield parse(path, uri, self.parser, self.limits, self.ocr)


def with_ocr(loader: Loader, ocr: str) -> Loader:
    """The loader with this setting, if it reads scanned pages."""
    return replace(loader, ocr=ocr) if isinstance(loader, Parsed) and loader.ocr else loader


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


def sheets() -> Parsed:
    return Parsed(frozenset({".xlsx"}), "trueweave.ingest.parsers.sheets:read")


def book() -> Parsed:
    return Parsed(frozenset({".epub"}), "trueweave.ingest.parsers.book:read")
