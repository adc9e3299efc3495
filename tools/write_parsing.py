"""Writes the figures of parsing in docs/how-to/scans-and-tables.md from the results of benchmarks/parsing.py.

`make docs` fails while they are out of date.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from written import table, write_or_check

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "parsing.json"
PAGE = ROOT / "docs" / "how-to" / "scans-and-tables.md"
BEGIN, END = "<!-- parsing -->", "<!-- end of parsing -->"
KINDS = {"text": "text", "scan": "scans", "columns": "two columns", "table": "ruled tables"}
READERS = {"trueweave": "Trueweave", "pypdfium2": "pypdfium2", "tesseract": "Tesseract"}
_HEAD = ("pages", "read by", "characters right", "cells right", "seconds a page", "memory")

Figures = Mapping[str, Any]


def rows(results: Figures) -> Iterator[tuple[str, ...]]:
    """A row for each kind of page and reader."""
    for kind, named in KINDS.items():
        for reader, shown in READERS.items():
            one = results[kind][reader]
            cells = f"{one['cells']:g} %" if "cells" in one else ""
            pages = f"{results[kind]['pages']} of {named}"
            seconds = f"{one['seconds_a_page']:.2f}"
            yield pages, shown, f"{one['characters']:g} %", cells, seconds, f"{one['peak_mb']} MB"


def main() -> None:
    head, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    _, _, tail = rest.partition(END)
    written = table(_HEAD, list(rows(json.loads(RESULTS.read_text("utf-8")))))
    write_or_check({PAGE: f"{head}{BEGIN}\n{written}{END}{tail}"}, "parsing-figures")


if __name__ == "__main__":
    main()
