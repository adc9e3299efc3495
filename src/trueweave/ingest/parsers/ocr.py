"""Text recognition: the lines in the image of a page, by RapidOCR or Tesseract.

A process parses one file, so the choice of the engine is one for the process, and the engine is loaded once.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from statistics import fmean
from typing import Any, NamedTuple, Protocol

from trueweave.core.errors import UnreadableFile
from trueweave.core.record import Box
from trueweave.ingest.parsers.layout import PageBox, reading_order
from trueweave.text.text_builder import TextBuilder

LETTERS = 20  # a page with fewer letters than this, and an image, is read by OCR
DPI = 200
COUNT = "count"  # instead of an engine: pages are counted, and not read
SCANNED_PAGES = "ocr_pages"  # the metadata with their number
LARGEST_SIDE = 3400  # pixels to which an image is scaled down; A4 at 300 dpi
MOST_PIXELS = 100_000_000  # of an image; A3 at 600 dpi has 70 million
INSTALL = 'install text recognition with: pip install "trueweave[ocr]"'

_DETECTION_SIDE = 1280  # pixels; lines are found at this size, and read at full size
_THREADS = 4
_UNSURE = 0.5  # lines with less confidence are left out


class NoTextFound(UnreadableFile):
    """An image has no text, or nothing is there to read it. `reason` says which, for an image among other files."""

    def __init__(self, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text in an image. The box is in pixels, from the top left; the confidence is between 0 and 1."""

    text: str
    box: PageBox
    confidence: float


class TextBlock(NamedTuple):
    """A block of lines, in reading order, and its box, as parts of the page."""

    text: str
    box: Box


class Engine(Protocol):
    """Reads images: arrays of height x width x 3 bytes (red, green, blue)."""

    name: str

    def lines(self, image: Any) -> list[Line]: ...


@dataclass
class Recogniser:
    """Reads the pages of one file, and keeps an account of them."""

    engine: Callable[[], Engine | None] = lambda: None
    begin_page: Callable[[], None] = lambda: None  # called before each page that is read
    most_pages: int = 1000
    remedy: str = INSTALL  # if there is no engine
    only_count: bool = False
    read: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    too_large: list[str] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    _loaded: Engine | None = None

    def page(self, label: str, render: Callable[[], Any]) -> list[TextBlock]:
        """The text of a page, in reading order; empty if it has none or cannot be read."""
        if self.only_count or len(self.read) >= self.most_pages:
            self.unread.append(label)
            return []
        self._loaded = self._loaded or self.engine()
        if self._loaded is None:
            self.unread.append(label)
            return []
        self.begin_page()
        image = render()
        lines = [line for line in self._loaded.lines(image) if line.confidence >= _UNSURE and line.text.strip()]
        self.read.append(label)
        self.scores += (line.confidence for line in lines)
        height, width = image.shape[:2]
        return text_blocks(lines, width, height)

    def report(self, draft: TextBuilder) -> None:
        """Write the account into the notes and the metadata of the document."""
        if self.only_count:
            draft.metadata[SCANNED_PAGES] = len(self.unread)
            return
        if self.read and self._loaded:
            draft.metadata["ocr"] = True
            score = f"mean confidence {fmean(self.scores):.2f}" if self.scores else "no text found"
            draft.notes.append(f"{_pages(self.read, 'was', 'were')} read by OCR ({self._loaded.name}, {score})")
        if self.unread:
            cause = (
                f"at most {self.most_pages:,} pages of a file are read by OCR; split the file"
                if self._loaded
                else self.remedy
            )
            draft.notes.append(f"{_pages(self.unread, 'has', 'have')} no text, only images: {cause}")
        if self.too_large:
            most = MOST_PIXELS // 10**6
            draft.notes.append(
                f"{_pages(self.too_large, 'was', 'were')} not read: an image has more than {most} million pixels"
            )


def is_available(choice: str) -> bool:
    """Whether there is an engine for this setting."""
    chosen = choice.partition(":")[0]
    has_rapidocr = chosen in ("auto", "rapidocr") and find_spec("rapidocr") is not None
    return has_rapidocr or (chosen in ("auto", "tesseract") and shutil.which("tesseract") is not None)


def text_blocks(lines: Sequence[Line], width: int, height: int) -> list[TextBlock]:
    """The lines of an image of that size as blocks, in reading order."""
    return [
        TextBlock(
            "\n".join(lines[i].text.strip() for i in block),
            PageBox.around(lines[i].box for i in block).parts(width, height),
        )
        for block in reading_order([line.box for line in lines])
    ]


def recogniser(
    choice: str, command: str, begin_page: Callable[[], None], most_pages: int, page_seconds: int
) -> Recogniser:
    """The recogniser that a setting selects; `command` is the path of Tesseract, if it is installed."""
    chosen, _, languages = choice.partition(":")

    def engine() -> Engine | None:
        if chosen in ("auto", "rapidocr"):
            try:
                return RapidOcr()
            except ModuleNotFoundError as error:
                if chosen == "rapidocr":
                    raise UnreadableFile(
                        f"it has scanned pages, and {error.name} is not installed; {INSTALL}"
                    ) from error
        if chosen == "tesseract" and not command:
            raise UnreadableFile("it has scanned pages, and the command tesseract is not there; install Tesseract")
        has_command = bool(command) and chosen in ("auto", "tesseract")
        return Tesseract(command, languages or "eng", page_seconds) if has_command else None

    remedy = "text recognition is off; set ocr to auto" if chosen == "off" else INSTALL
    return Recogniser(engine, begin_page, most_pages, remedy, only_count=chosen == COUNT)


class RapidOcr:
    """RapidOCR with the models of its wheel. They read Latin and Chinese script, and no direction needs to be set."""

    def __init__(self) -> None:
        from rapidocr import RapidOCR

        threads = "EngineConfig.onnxruntime.intra_op_num_threads"
        self.name = "RapidOCR"
        self._engine = RapidOCR(
            params={
                "Global.log_level": "critical",
                "Global.max_side_len": LARGEST_SIDE,
                "Det.limit_type": "max",
                "Det.limit_side_len": _DETECTION_SIDE,
                threads: min(os.cpu_count() or 1, _THREADS),
            }
        )

    def lines(self, image: Any) -> list[Line]:
        found: Any = self._engine(image[:, :, ::-1])  # it expects blue, green, red
        if found.boxes is None or found.txts is None or found.scores is None:
            return []
        return [
            Line(text, _around(points.tolist()), float(score))
            for points, text, score in zip(found.boxes, found.txts, found.scores, strict=True)
        ]


class Tesseract:
    """The command of Tesseract 4 or later."""

    def __init__(self, command: str, languages: str, seconds: int) -> None:
        self._seconds = seconds
        self.name = f"Tesseract, {languages}"
        self._command = [command, "stdin", "stdout", "-l", languages, "--dpi", str(DPI), "tsv"]

    def lines(self, image: Any) -> list[Line]:
        height, width = image.shape[:2]
        picture = f"P6 {width} {height} 255\n".encode() + image.tobytes()
        try:
            done = subprocess.run(self._command, input=picture, capture_output=True, check=False, timeout=self._seconds)
        except subprocess.TimeoutExpired as error:
            raise UnreadableFile(f"Tesseract took more than {self._seconds} s for a page") from error
        if done.returncode:
            said = " ".join(done.stderr.decode(errors="replace").split())[:200]
            raise UnreadableFile(f"Tesseract failed ({said}); check its languages, or set ocr to another engine")
        words: dict[tuple[str, ...], list[tuple[str, PageBox, float]]] = {}
        for row in done.stdout.decode(errors="replace").splitlines()[1:]:
            level, _, block, paragraph, line, _, left, top, wide, high, confidence, text = row.split("\t", 11)
            if level == "5" and text.strip():
                box = PageBox(float(left), float(top), float(left) + float(wide), float(top) + float(high))
                words.setdefault((block, paragraph, line), []).append((text, box, float(confidence) / 100))
        return [
            Line(
                " ".join(word[0] for word in line), PageBox.around(word[1] for word in line), fmean(w[2] for w in line)
            )
            for line in words.values()
        ]


def _around(points: Sequence[Sequence[float]]) -> PageBox:
    across, down = zip(*points, strict=True)
    return PageBox(min(across), min(down), max(across), max(down))


def _pages(labels: Sequence[str], one: str, several: str) -> str:
    """`page 3 was`, or `pages 3 to 7 and 9 were`."""
    if len(labels) == 1:
        return f"page {labels[0]} {one}"
    shown = [first if first == last else f"{first} to {last}" for first, last in _runs(labels)]
    most = 20
    if len(shown) > most:
        return f"{len(labels):,} pages, from {labels[0]} to {labels[-1]}, {several}"
    listed = f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]
    return f"pages {listed} {several}"


def _runs(labels: Sequence[str]) -> list[tuple[str, str]]:
    """Labels of pages that follow one another, as first and last."""
    runs: list[tuple[str, str]] = []
    for label in labels:
        follows = runs and label.isdecimal() and runs[-1][1].isdecimal() and int(label) == int(runs[-1][1]) + 1
        runs[-1:] = [(runs[-1][0], label)] if follows else [*runs[-1:], (label, label)]
    return runs
