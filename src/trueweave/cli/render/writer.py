"""An answer while it is written: words as they come, on lines that fit."""

from __future__ import annotations

import re

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from trueweave.cli.render.printable import printable

_WORD = re.compile(r"\s+|\S+")
_MARK = re.compile(r"\[\d{1,3}\]")


class Writer:
    """Writes pieces of a text to a console. On a terminal a word is held back until it is whole, so that lines are
    broken between words; elsewhere everything is written as it is."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._held = ""
        self._gap = ""
        self._column = 0
        self.has_written = False

    def write(self, piece: str) -> None:
        """Take a piece, and write what is whole."""
        self.has_written = self.has_written or bool(piece)
        if not self._console.is_terminal:
            self._print(printable(piece))
            return
        *whole, last = [*_WORD.findall(self._held + printable(piece)), ""][:-1] or [""]
        for word in whole:
            self._place(word)
        self._held = last

    def end(self) -> None:
        """Write what is left, and end the line."""
        self._place(self._held)
        self._held = ""
        if self.has_written:
            self._print("\n")

    def _place(self, word: str) -> None:
        """Write a word, or the space before the next one. Space where a line is broken is not written: it may not fit,
        and then the terminal breaks the line as well."""
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
        self._console.print(shown, end="", soft_wrap=True)  # which flushes
