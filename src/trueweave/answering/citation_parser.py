"""Parses citations in a model's reply, `[2 "exact words"]`, while it arrives.

Text comes in, in pieces of any size, and comes out as it may be shown: without the quotes, as `[2]`. The result does
not depend on how the text was split into pieces.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass

LONGEST = 600  # characters of one citation with its quotes; anything longer is not a citation

_CLOSING = {"[": "]", "【": "】"}
_QUOTES = {
    '"': '"“”',
    "“": '”"“',
    "„": '“”"',
    "«": "»",
    "»": "«",
    "「": "」",
    "『": "』",
    "'": "'’",
    "‘": "’'",
}
_MOST_DIGITS = 3  # [2024] is a year
# A quote that contains the beginning of another citation was never closed.
_NESTED = re.compile(rf"[\[【]\s*+\d[\d\s:,;，、；]*+[{''.join(_QUOTES)}]")
_LONE_SMALL_LETTER = re.compile(r"(?:\A|[^\w])[a-z]\Z")


@dataclass(frozen=True, slots=True)
class Mark:
    """A citation in a reply: the number of a passage, the words quoted from it, and its position in the text as shown.

    Number 0 says that the answer is not known. It is not shown, so it has no length.
    """

    number: int
    quotes: tuple[str, ...]
    start: int
    end: int


class CitationParser:
    """Takes a text in pieces, returns it as it may be shown, and collects the citations.

    A citation is one or more numbers in brackets, each with any number of quotes. All other brackets stay as they are,
    including those in code and the index of a variable, as in a[3]. White space at both ends of the text is removed.
    """

    def __init__(self) -> None:
        self.marks: list[Mark] = []
        self._shown: list[str] = []
        self._length = 0
        self._tail = ""  # the last characters shown
        self._gap: list[str] = []  # white space, shown once something follows
        self._swallowing = False
        self._code = 0
        self._ticks = 0
        self._waiting: deque[str] = deque()
        self._held: _Held | None = None

    @property
    def text(self) -> str:
        """All text shown so far."""
        return "".join(self._shown)

    def feed(self, piece: str) -> str:
        """Take in a piece. Returns the text that can be shown now."""
        done = len(self._shown)
        self._waiting.extend(piece)
        self._work()
        return "".join(self._shown[done:])

    def close(self) -> str:
        """Finish the text. Returns what is still to be shown."""
        done = len(self._shown)
        while self._held:
            self._give_up(self._held)
            self._work()
        return "".join(self._shown[done:])

    def _work(self) -> None:
        while self._waiting:
            character = self._waiting.popleft()
            if self._held:
                self._hold(self._held, character)
            else:
                self._read(character)

    def _read(self, character: str) -> None:
        if character != "`" and self._ticks:
            self._code = self._ticks if not self._code else 0 if self._code == self._ticks else self._code
            self._ticks = 0
        if character in _CLOSING and not self._code:
            self._held = _Held(character)
            return
        if character == "`":
            self._ticks += 1
        elif character == "\n" and self._code < 3:  # only a code block continues on the next line
            self._code = 0
        self._show(character)

    def _hold(self, held: _Held, character: str) -> None:
        done = held.add(character)
        if done is None:
            return
        if not done or self._is_index(held):
            self._give_up(held)
            return
        self._held = None
        for number, quotes in held.items:
            self._mark(number, tuple(quotes))

    def _is_index(self, held: _Held) -> bool:
        """Whether this is the index of a variable: it follows a lone lower-case letter, or is a 0 that follows any
        word."""
        if self._gap or any(quotes for _, quotes in held.items):
            return False
        follows_word = self._tail[-1:].isascii() and (self._tail[-1:].isalnum() or self._tail[-1:] in ("_", ")"))
        zero = any(number == 0 for number, _ in held.items)
        return bool(_LONE_SMALL_LETTER.search(self._tail)) or (follows_word and zero)

    def _give_up(self, held: _Held) -> None:
        """This is not a citation: show its bracket, and read the rest again."""
        self._held = None
        self._waiting.extendleft(reversed(held.text[1:]))
        self._show(held.text[0])

    def _mark(self, number: int, quotes: tuple[str, ...]) -> None:
        if number == 0:
            start = self._length + (len(self._gap) if self._length else 0)
            self.marks.append(Mark(0, quotes, start, start))
            self._swallowing = True
            return
        self._emit(f"[{number}]")
        self.marks.append(Mark(number, quotes, self._length - len(f"[{number}]"), self._length))

    def _show(self, character: str) -> None:
        if not character.isspace():
            self._emit(character)
        elif not self._swallowing and self._length:
            self._gap.append(character)

    def _emit(self, text: str) -> None:
        self._swallowing = False
        shown = "".join((*self._gap, text))
        self._shown.append(shown)
        self._length += len(shown)
        self._tail = (self._tail + shown[-2:])[-2:]
        self._gap.clear()


def parse(text: str) -> CitationParser:
    """Parse a whole text."""
    parser = CitationParser()
    parser.feed(text)
    parser.close()
    return parser


class _Held:
    """A possible citation: read character by character until it is one or cannot become one."""

    def __init__(self, opening: str) -> None:
        self.text = opening
        self.items: list[tuple[int, list[str]]] = []
        self._closing = _CLOSING[opening]
        self._digits = ""
        self._state = self._number
        self._quote_starts = 0
        self._quote_closes = ""  # the characters that may close it; empty if no quote came last

    def add(self, character: str) -> bool | None:
        """True if this is a citation, False if it cannot become one, None if that is still undecided."""
        self.text += character
        if len(self.text) > LONGEST:
            return False
        return self._state(character)

    def _number(self, character: str) -> bool | None:
        """Expects a number, or another quote for the last number."""
        if character.isspace():
            return None
        if character in "0123456789":
            self._digits, self._quote_closes = character, ""
            self._state = self._more_digits
            return None
        if self.items and character in _QUOTES:
            self._open(character)
            return None
        return self._reopen(character)

    def _more_digits(self, character: str) -> bool | None:
        if character in "0123456789" and len(self._digits) < _MOST_DIGITS:
            self._digits += character
            return None
        self.items.append((int(self._digits), []))
        self._state = self._after
        return None if character == ":" else self._after(character)

    def _after(self, character: str) -> bool | None:
        """After a number or a quote."""
        if character == self._closing:
            return True
        if character.isspace():
            return None
        if character in ",;，、；":
            self._state = self._number
            return None
        if character in _QUOTES:
            self._open(character)
            return None
        return self._reopen(character)

    def _open(self, character: str) -> None:
        self._quote_starts, self._quote_closes = len(self.text), _QUOTES[character]
        self._state = self._quote

    def _reopen(self, character: str) -> bool | None:
        """The quote was not over: the character that closed it is a quotation mark within it."""
        if not self._quote_closes:
            return False
        self.items[-1][1].pop()
        self._state = self._quote
        return False if self._is_nested() else self._quote(character)

    def _quote(self, character: str) -> bool | None:
        if character == "\n" and self.text[:-1].rstrip(" \t").endswith("\n"):
            return False  # no quote continues after a blank line
        if character in self._quote_closes:
            self.items[-1][1].append(self.text[self._quote_starts : -1])
            self._state = self._after
        elif character in _QUOTES and self._is_nested():
            return False  # checked early: otherwise, many brackets in a row would each read to the end of the text
        return None

    def _is_nested(self) -> bool:
        return bool(_NESTED.search(self.text, self._quote_starts))
