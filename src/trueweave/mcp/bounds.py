"""Maximum sizes of the arguments and results of tools."""

from __future__ import annotations

MOST_CHARACTERS = 20_000  # of documents in one result: about 5,000 tokens of English
LONGEST_PASSAGE = 4_000
LONGEST_REPORT = 4_000  # if a result has several
LONGEST_DESCRIPTION = 1_000
LONGEST_NAME = 300
MOST_ALIASES = 10
MOST_SPANS = 50

LONGEST_TEXT = 4_000  # of a search or a question
LONGEST_MEMORY = 20_000
LONGEST_URI = 2_000
MOST_URIS = 50
MOST_PASSAGES = 20
MOST_RELATIONS = 50
MOST_ENTITIES = 50
MOST_REPORTS = 10
MOST_DOCUMENTS = 100
LONGEST_CURSOR = 4 * LONGEST_URI  # its bytes, up to four for a character, in base 64
LARGEST_OFFSET = 2**31 - 1


class Room:
    """The room left for characters of documents in one result. `is_cut` says whether a text was cut or left out."""

    def __init__(self, characters: int = MOST_CHARACTERS) -> None:
        self._left = characters
        self.is_cut = False

    def is_full(self) -> bool:
        """Whether there is no room left. If so, something is left out."""
        self.is_cut = self.is_cut or self._left <= 0
        return self._left <= 0

    def fits(self, *texts: str) -> bool:
        """Whether there is room for all of these. If so, it is taken; if not, something is cut."""
        size = sum(map(len, texts))
        if size > self._left:
            self._left, self.is_cut = 0, True
            return False
        self._left -= size
        return True

    def text(self, given: str, longest: int) -> str:
        """The start of a text, unchanged, as long as there is room."""
        taken = given[: min(longest, self._left)]
        self._left -= len(taken)
        self.is_cut = self.is_cut or len(taken) < len(given)
        return taken

    def line(self, given: str, longest: int = LONGEST_NAME) -> str:
        """A text on one line. It ends with … if it is cut, which does not set `is_cut`."""
        whole = " ".join(given.split())
        taken = whole[: min(longest, self._left)]
        self._left -= len(taken)
        return taken if len(taken) == len(whole) else f"{taken}…"
