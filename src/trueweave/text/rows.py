"""Rows of tables, as models are shown them: a line each, with bars between the cells."""

from __future__ import annotations

import re

from trueweave.text.names import tidy

LONGEST_CELL = 600  # characters; a description that no model made short may be of any length

# Rows are parted by bars, and only passages have numbers in brackets.
_AMBIGUOUS = str.maketrans("|[]【】", "/()()")
_PLAIN = re.compile(r"(?:[!-Z\\^-{}~]++(?: [!-Z\\^-{}~]++)*+)?")  # what needs no tidying: most of what there is


def row(*cells: str) -> str:
    """A row of these cells."""
    return " | ".join(line(cell, LONGEST_CELL) for cell in cells)


def line(text: str, most: int) -> str:
    """The text on one line, with nothing in it that could be taken for the layout round it."""
    if len(text) <= most and _PLAIN.fullmatch(text):
        return text
    tidied = tidy(text[: 4 * most]).translate(_AMBIGUOUS)
    return tidied if len(tidied) <= most else f"{tidied[: most - 1]}…"
