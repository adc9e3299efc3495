"""Table rows as models are shown them: one line each, with bars between the cells."""

from __future__ import annotations

import re

from trueweave.text.names import tidy

LONGEST_CELL = 600  # characters; a description that no model has shortened may be of any length

# Bars separate cells, and only passages have numbers in brackets.
_AMBIGUOUS = str.maketrans("|[]【】", "/()()")
_PLAIN = re.compile(r"(?:[!-Z\\^-{}~]++(?: [!-Z\\^-{}~]++)*+)?")  # needs no tidying, like most text


def row(*cells: str) -> str:
    """A row of these cells."""
    return " | ".join(line(cell, LONGEST_CELL) for cell in cells)


def line(text: str, most: int) -> str:
    """The text on one line, with nothing in it that could be mistaken for the surrounding layout."""
    if len(text) <= most and _PLAIN.fullmatch(text):
        return text
    tidied = tidy(text[: 4 * most]).translate(_AMBIGUOUS)
    return tidied if len(tidied) <= most else f"{tidied[: most - 1]}…"
