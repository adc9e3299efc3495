"""Notebooks of Jupyter (.ipynb): text, code, and what the code printed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trueweave.core.errors import UnreadableFile
from trueweave.text.text_builder import LINE, TextBuilder

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_LONGEST_OUTPUT = 10_000  # characters


def read(path: Path, draft: TextBuilder) -> str:
    """Write the cells into the draft, and return the title: that of the properties, or the first heading of level 1."""
    notebook = json.loads(path.read_bytes())
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise UnreadableFile("it is not a notebook of version 4; open it in Jupyter and save it again")
    is_cut = False
    for cell in cells:
        text = _joined(cell.get("source"))
        if cell.get("cell_type") == "markdown":
            _write_markdown(text, draft)
            continue
        draft.block(text)
        for output in _outputs(cell):
            is_cut = is_cut or len(output) > _LONGEST_OUTPUT
            draft.block(output[:_LONGEST_OUTPUT])
    if is_cut:
        draft.notes.append(f"of each output, the first {_LONGEST_OUTPUT:,} characters were read")
    properties = notebook.get("metadata") or {}
    authors = [one["name"] for one in properties.get("authors") or [] if isinstance(one, dict) and one.get("name")]
    if authors:
        draft.metadata["author"] = ", ".join(map(str, authors))
    first = next((place.label for place in draft.places if place.level == 1), "")
    return str(properties.get("title") or "") or first


def _write_markdown(text: str, draft: TextBuilder) -> None:
    is_code = False
    for line in text.splitlines():
        is_code = is_code != bool(_FENCE.match(line))
        if not is_code and (heading := _HEADING.match(line)):
            draft.heading(heading[2], len(heading[1]))
        elif line.strip():
            draft.gap(LINE)
            draft.add(line)
        else:
            draft.block("")
    draft.block("")


def _outputs(cell: dict[str, Any]) -> Iterator[str]:
    """What the code of a cell printed or returned, as text. Pictures are left out."""
    for output in cell.get("outputs") or []:
        if output.get("output_type") == "stream":
            yield _joined(output.get("text"))
        elif output.get("output_type") == "error":
            yield f"{output.get('ename', '')}: {output.get('evalue', '')}"
        else:
            yield _joined((output.get("data") or {}).get("text/plain"))


def _joined(lines: Any) -> str:
    return "".join(map(str, lines)) if isinstance(lines, list) else str(lines or "")
