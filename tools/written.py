"""What is written from something else, and must not fall behind it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path


def write_or_check(files: Mapping[Path, str], command: str) -> None:
    """Write these files; or with --check on the command line, fail where one is not as it would be written."""
    for file, text in files.items():
        if "--check" not in sys.argv:
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, "utf-8")
        elif not file.is_file() or file.read_text("utf-8") != text:
            sys.exit(f"{file.name} is out of date: run `make {command}`")


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def filled_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown, without a last column that has no text."""
    width = len(head) - (not any(row[-1] for row in rows))
    return table(head[:width], [row[:width] for row in rows])


def cell(text: str) -> str:
    """A text as a cell of a table."""
    return text.replace("|", "\\|")
