"""Building the text of a document piece by piece, with the places in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from trueweave.core.errors import UnreadableFile
from trueweave.core.record import Box, Json, Picture, Place, PlaceKind, Source
from trueweave.text.names import storable
from trueweave.text.titles import given_title

MOST_TEXT = 64 * 2**20  # characters
TABLE_PART = 1500  # characters; a longer table repeats its header after each part of this length

_GAPS = ("", " ", " | ", "\n", "\n\n")
SPACE, CELL, LINE, PARAGRAPH = _GAPS[1:]


class PictureFile(NamedTuple):
    """A picture as JPEG or PNG."""

    data: bytes
    media_type: str
    width: int
    height: int


class DraftPicture(NamedTuple):
    """A picture, and where its caption is in the text."""

    start: int
    end: int
    file: PictureFile
    caption: str
    box: Box | None


class TextBuilder:
    """Text that grows. Two pieces are separated by the widest of the gaps requested between them. With a
    `picture_model`, pictures are collected for it."""

    def __init__(self, most: int = MOST_TEXT, picture_model: str = "") -> None:
        self._most = most
        self._picture_model = picture_model
        self.picture_sizes: dict[bytes, int] = {}  # in bytes, by a hash, of those that are described
        self.pictures: list[DraftPicture] = []
        self.skipped_pictures: Counter[str] = Counter()  # by the reason why they are not described
        self._parts: list[str] = []
        self._length = 0
        self._gap = ""
        self._waiting: list[tuple[PlaceKind, str, int, int | None]] = []
        self.places: list[Place] = []
        self.notes: list[str] = []
        self.metadata: dict[str, Json] = {}

    @property
    def text(self) -> str:
        return "".join(self._parts)

    def gap(self, gap: str) -> None:
        """Request a gap before the next piece."""
        self._gap = max(self._gap, gap, key=_GAPS.index)

    def add(self, text: str) -> None:
        """Add a piece of text."""
        text = storable(text)
        if not text:
            return
        if self._parts:
            text = self._gap + text
        start = self._length + (len(self._gap) if self._parts else 0)
        self.places += (Place(start, *rest) for rest in self._waiting)
        self._waiting.clear()
        self._gap = ""
        self._parts.append(text)
        self._length += len(text)
        if self._length > self._most:
            raise UnreadableFile(f"it holds more than {self._most:,} characters of text; split it")

    def block(self, text: str, gap: str = PARAGRAPH) -> None:
        """Add a piece of text with a gap before and after it, unless it is blank."""
        self.gap(gap)
        self.add(text.strip())
        self.gap(gap)

    def table(self, rows: Iterable[Sequence[str]]) -> None:
        """Add a table: a line for each row, with bars between the cells. The first row names the columns. In a long
        table it is repeated, so that every chunk of the table has it."""
        header, length = "", 0
        self.gap(PARAGRAPH)
        for cells in rows:
            line = " | ".join(" ".join(cell.split()) for cell in cells).rstrip(" |")
            if not line:
                continue
            if length > TABLE_PART:
                self.gap(PARAGRAPH)
                self.add(header)
                length = 0
            header = header or line
            self.gap(LINE)
            self.add(line)
            length += len(line)
        self.gap(PARAGRAPH)

    def block_at(self, text: str, box: Box) -> None:
        """Add a block of text that is there on the page."""
        before = self._length
        self.block(text)
        if self._length > before:
            self.places.append(
                Place(self._length - len(storable(text.strip())), "block", "", 0, None, box, self._length)
            )

    @property
    def takes_pictures(self) -> bool:
        """Whether pictures are described."""
        return bool(self._picture_model)

    def picture(self, caption: str, file: PictureFile | None, box: Box | None = None) -> None:
        """Add a picture: its caption, or a word in its place if it is to be described. Without both, nothing."""
        caption = " ".join(storable(caption).split())
        if not caption and file is None:
            return
        self.block(caption or "Picture")
        end = self._length
        start = end - len(caption or "Picture")
        self.places.append(Place(start, "picture", caption, 0, None, box, end))
        if file:
            self.pictures.append(DraftPicture(start, end, file, caption, box))

    def page(self, label: str) -> None:
        """Begin a page with the next piece."""
        self._waiting.append(("page", label, 0, None))

    def heading(self, label: str, level: int, offset: int | None = None) -> None:
        """Add a heading on its own line. `offset` is its position in the file."""
        if label := " ".join(storable(label).split()):
            self._waiting.append(("heading", label, level, offset))
            self.block(label)

    def source(self, uri: str, title: str, notes: tuple[str, ...] = ()) -> Source:
        """The document, with this title unless a program made it up."""
        title = given_title(storable(title))
        skipped = [
            f"{count} {'picture was' if count == 1 else 'pictures were'} not described: {reason}"
            for reason, count in self.skipped_pictures.items()
        ]
        pictures = tuple(
            Picture(one.start, one.end, *one.file, self._picture_model, one.caption, one.box) for one in self.pictures
        )
        notes = (*notes, *self.notes, *skipped)
        return Source(uri, self.text, title, self.metadata, tuple(self.places), notes, pictures=pictures)
