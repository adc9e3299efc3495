"""Binary formats: each file is parsed in a separate process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from trueweave.core.record import Source
from trueweave.ingest.parsing import ParserLimits, parse


@dataclass(frozen=True, slots=True)
class Parsed:
    """Reads files through a parser, which is named as `package.module:function`."""

    suffixes: frozenset[str]
    parser: str
    limits: ParserLimits = field(default_factory=ParserLimits)

    def load(self, path: Path, uri: str) -> Iterator[Source]:
        yield parse(path, uri, self.parser, self.limits)


def pdf() -> Parsed:
    return Parsed(frozenset({".pdf"}), "trueweave.ingest.parsers.pdf:read")


def word() -> Parsed:
    return Parsed(frozenset({".docx"}), "trueweave.ingest.parsers.word:read")


def slides() -> Parsed:
    return Parsed(frozenset({".pptx"}), "trueweave.ingest.parsers.slides:read")


def sheets() -> Parsed:
    return Parsed(frozenset({".xlsx"}), "trueweave.ingest.parsers.sheets:read")


def book() -> Parsed:
    return Parsed(frozenset({".epub"}), "trueweave.ingest.parsers.book:read")
