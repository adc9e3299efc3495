"""Writes the figures of large files in docs/how-to/adding-documents.md from the results of benchmarks/large_files.py.

`make docs` fails while they are out of date.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from written import table, write_or_check

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "large_files.json"
PAGE = ROOT / "docs" / "how-to" / "adding-documents.md"
BEGIN, END = "<!-- figures -->", "<!-- end of figures -->"
NAMES = {
    "json_lines": "{documents} rows of JSON lines",
    "pdf": "a PDF of 5,000 pages",
    "mails": "a mailbox of {documents} mails",
    "git": "a Git repository of {documents} files",
}
_HEAD = ("input", "MB", "processor time", "memory", "of its parser", "documents read again after an interruption")

Figures = Mapping[str, Any]


def figures(results: Figures) -> str:
    """A row for each kind of input that was measured, and what indexing a sample took."""
    rows = [_row(name, results[name]) for name in NAMES if name in results]
    samples = [_sample(name, results[name]["indexed"]) for name in NAMES if name in results]
    return f"{table(_HEAD, rows)}\nIndexing a sample, without vectors, took: {'; '.join(samples)}.\n"


def _row(name: str, one: Figures) -> tuple[str, ...]:
    tenth, stopped = one["tenth"], one["interrupted"]
    parser = f"{one['parser_mb']} MB ({tenth['parser_mb']} MB)" if one["parser_mb"] else ""
    return (
        NAMES[name].format(documents=f"{one['documents']:,}"),
        f"{one['megabytes']:,}",
        f"{one['cpu_seconds']:.0f} s",
        f"{one['client_mb']} MB ({tenth['client_mb']} MB)",
        parser,
        f"{stopped['read_again']:,} of {stopped['queued']:,} queued" if stopped["documents"] > 1 else "all of it",
    )


def _sample(name: str, one: Figures) -> str:
    what = {"json_lines": "rows", "pdf": "pages", "mails": "mails", "git": "files"}[name]
    return f"{one['sample']:,} {what}, {one['seconds']:.0f} s for {one['chunks']:,} chunks"


def main() -> None:
    head, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    _, _, tail = rest.partition(END)
    text = f"{head}{BEGIN}\n{figures(json.loads(RESULTS.read_text('utf-8')))}{END}{tail}"
    write_or_check({PAGE: text}, "large-files")


if __name__ == "__main__":
    main()
