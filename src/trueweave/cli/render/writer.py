"""Writing an answer as it arrives, word by word, on lines that fit."""

from __future__ import annotations

import re

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from trueweave.cli.render.printable import printable

_WORD = re.compile(r"\s+|\S+")
_MARK = re.compile(r"\[\d{1,3}\]")


class Writer:
    """Writes pieces of a text to a console. On a terminal, a word is held back until it is complete, so that lines are
    broken between words; elsewhere everything is written as it is."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._held = ""
        self._gap = ""
        self._column = 0
        self.has_written = False

    def write(self, piece: str) -> None:
        """Take in a piece, and write what is complete."""
        self.has_written = self.has_written or bool(piece)
        if not self._console.is_terminal:
            self._print(printable(piece))
            return
        *whole, last = [*_WORD.findall(self._held + printable(piece)), ""][:-1] or [""]
        for word in whole:
            self._place(word)
        self._held = last

    def end(self) -> None:
        """Write the rest, and end the line."""
        self._place(self._held)
        self._held = ""
        if self.has_written:
            self._print("\n")

    def _place(self, word: str) -> None:
        """Write a word with the space before it. Space at a line break is not written: if it did not fit, the terminal
        would break the line again."""
        if "\n" in word:
            text = word[word.index("\n") :]
            self._gap, self._column = "", cell_len(text.rpartition("\n")[2])
        elif word.isspace():
            self._gap += word
            return
        elif self._column and self._column + cell_len(self._gap + word) > self._console.width:
            text = f"\n{word}"
            self._gap, self._column = "", cell_len(word)
        else:
            text = self._gap + word
            self._gap, self._column = "", self._column + cell_len(text)
        self._print(text)

    def _print(self, text: str) -> None:
        shown = Text(text)
        shown.highlight_regex(_MARK, "cyan")
        self._console.print(shown, end="", soft_wrap=True)  # this also flushes
