"""HTML: the readable text of a page, with its headings.

Tags are not parsed with html.parser: a hundred kilobytes of `<a <a <a …` keep it busy for minutes, while this parser
takes linear time for any page. Nothing nests, so nothing can nest too deeply.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import NamedTuple

from trueweave.core.record import Source
from trueweave.ingest.loading.reading import DecodedText, decode, read_bytes
from trueweave.ingest.parsing import ParserLimits, parse
from trueweave.text.names import storable
from trueweave.text.text_builder import CELL, LINE, PARAGRAPH, SPACE, PictureFile, TextBuilder

_NAME = re.compile(r"</?([a-zA-Z][^\s/>]*+)")
# The text between a tag's name and its end. A quote counts only after an equals sign, as in browsers.
_REST = re.compile(r"(?:[^>=]++|=\s*+(?:\"[^\"]*+\"|'[^']*+')?)*+>")
_CHARSET = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?([a-zA-Z0-9_:.-]+)""")
_HUGE_REFERENCE = re.compile(r"&#\d{8,}+;?")
_SPACES = re.compile(r"\s+")
_CDATA = "<![CDATA["
_LONGEST_FORMULA = 10_000  # characters of MathML
_TEX = "(formula)"  # instead of the name of a tag
_WITH_ATTRIBUTES = frozenset({"img", "script", "span", "td", "th"})
_OF_TABLES = frozenset({"table", "tr", "td", "th"})
_MOST_SPANNED = 100  # columns or rows that a cell covers
_COMMENT_END = re.compile(r"-->|(?<!<!)--!>")

_RAW = frozenset({"script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes"})
_SKIPPED = frozenset({"nav", "footer", "aside", "noscript", "template", "svg", "object", "select", "button"})
_DRAWN_FORMULA = "katex-html"  # the class of the span in which KaTeX draws a formula that the page also has as MathML
_CAN_BE_SKIPPED = _SKIPPED | {"span"}
_SKIPPED_TAG = re.compile(rf"<(/?)({'|'.join(sorted(_CAN_BE_SKIPPED))})\b", re.IGNORECASE)
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_GAPS = (
    dict.fromkeys(("br", "div", "li", "tr", "dt", "dd", "figcaption", "caption", "address", "hr"), LINE)
    | dict.fromkeys(("p", "ul", "ol", "dl", "table", "blockquote", "pre", "section", "article", "main"), PARAGRAPH)
    | dict.fromkeys(("header", "figure", "details", "summary", "form", "fieldset", "body", *_HEADINGS), PARAGRAPH)
    | dict.fromkeys(("td", "th"), CELL)
)


@dataclass(frozen=True, slots=True)
class Web:
    """Reads HTML: no scripts, no navigation. The title is the page's, or its first heading of level 1. If a model is to
    describe pictures, pages that contain some are read in the parser process, which decodes images."""

    suffixes: frozenset[str] = frozenset({".html", ".htm", ".xhtml"})
    picture_model: str = ""

    def load(self, path: Path, uri: str) -> Iterator[Source]:
        draft = TextBuilder()
        data = read_bytes(path)
        if self.picture_model and b"data:image/" in data:
            parser = "trueweave.ingest.parsers.html_pictures:read"
            yield parse(path, uri, parser, ParserLimits(), picture_model=self.picture_model)
            return
        page, notes = text_of(data, str(path))
        title = write(page, draft)
        first = next((place.label for place in draft.places if place.level == 1), "")
        yield draft.source(uri, title or first, notes)


def text_of(data: bytes, name: str) -> DecodedText:
    """The page's characters, in its declared encoding; like any text, if it declares none."""
    said = _CHARSET.search(data[:1024])
    if said and not data.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            return DecodedText(storable(data.decode(said[1].decode())))
        except (LookupError, ValueError):  # the declaration is wrong; perhaps it is UTF-8
            return decode(data, name)
    return decode(data, name)


OpenPicture = Callable[[str], PictureFile | None]


def write(page: str, draft: TextBuilder, *, offsets: bool = True, open_picture: OpenPicture | None = None) -> str:
    """Add the readable text of a page to the draft, and return the page's title.

    With `offsets`, headings have their position in the page. `open_picture` gets the address of each picture.
    """
    writer = _Writer(draft, _closed(page), offsets, open_picture)
    for token in _tokens(page):
        writer.take(token)
    writer.end_heading()
    draft.gap(PARAGRAPH)
    return writer.title


def _closed(page: str) -> frozenset[str]:
    """The elements to skip that have an end tag: without one, the rest of the page would be lost."""
    depths = dict.fromkeys(_CAN_BE_SKIPPED, 0)
    for tag in _SKIPPED_TAG.finditer(page):
        name = tag[2].lower()
        depths[name] = max(depths[name] + (-1 if tag[1] else 1), 0)
    return frozenset(name for name, depth in depths.items() if not depth)


class _Token(NamedTuple):
    """A tag by its name, with or without a slash before it, or text. Some tags have their attributes as text."""

    tag: str
    text: str
    offset: int

    def attribute(self, name: str) -> str:
        """The value of an attribute; empty if there is none."""
        found = re.search(rf"\s{name}\s*=\s*(?:\"([^\"]*+)\"|'([^']*+)'|([^\s>]++))", self.text, re.IGNORECASE)
        return unescape(next(filter(None, found.groups()), "")) if found else ""


def _tokens(page: str) -> Iterator[_Token]:
    """The tags and texts of a page, in order. A self-closing tag yields two."""
    at, begin, torn = 0, 0, False
    while (at := page.find("<", at)) >= 0:
        name = _NAME.match(page, at)
        if not name and page[at + 1 : at + 2] not in ("!", "?", "/"):
            at += 1  # a character like any other
            continue
        if begin < at:
            yield _Token("", page[begin:at], begin)
        if not name:
            end = _after_remark(page, at)
            if page.startswith(_CDATA, at):
                yield _Token("", page[at + len(_CDATA) : end].removesuffix("]]>"), at)
            begin = at = end
            continue
        rest = None if torn else _REST.match(page, name.end())
        torn = torn or not rest  # unterminated quotes: from here on they are treated as letters
        end = rest.end() if rest else page.find(">", name.end()) + 1
        if not end:
            return  # the file ends within a tag
        tag = name[1].lower()
        if tag == "math" and page[at + 1] != "/" and (formula := _tex_of(page, at)):
            yield _Token(_TEX, formula[0], at)
            begin = at = formula[1]
            continue
        has_attributes = tag in _WITH_ATTRIBUTES and page[at + 1] != "/"
        begun = _Token(tag if page[at + 1] != "/" else f"/{tag}", page[name.end() : end] if has_attributes else "", at)
        yield begun
        if page[end - 2] == "/" and page[at + 1] != "/":
            yield _Token(f"/{tag}", "", at)
        elif tag in _RAW and page[at + 1] != "/":
            close = re.compile(rf"</{tag}", re.IGNORECASE).search(page, end)
            inside = page[end : close.start() if close else len(page)]
            is_formula = tag == "script" and begun.attribute("type").lower().startswith("math/tex")
            yield _Token(_TEX if is_formula else "", inside, end)
            end = close.start() if close else len(page)
        begin = at = end
    if begin < len(page):
        yield _Token("", page[begin:], begin)


def _tex_of(page: str, at: int) -> tuple[str, int] | None:
    """The TeX that the MathML which begins there is annotated with, and where the MathML ends."""
    end = page.find("</math", at, at + _LONGEST_FORMULA)
    said = page.find("application/x-tex", at, end) if end >= 0 else -1
    start = page.find(">", said, end) + 1 if said >= 0 else 0
    if not start:
        return None
    stop = page.find("<", start, end)
    return page[start : stop if stop >= 0 else end], page.find(">", end) + 1 or len(page)


def _after_remark(page: str, at: int) -> int:
    """Where a comment, a declaration or the like ends."""
    if page.startswith("<!--", at):
        comment = _COMMENT_END.search(page, at + 2)
        return comment.end() if comment else len(page)
    closing = "]]>" if page.startswith(_CDATA, at) else ">"
    end = page.find(closing, at + 2)
    return end + len(closing) if end >= 0 else len(page)


class _Row:
    """A row of a table: its empty cells, so that the next text is in its own column. A cell that covers several columns
    or rows is followed by empty ones. Cells with paragraphs in them are no rows of a table."""

    def __init__(self) -> None:
        self.is_plain = False
        self._next = 0  # the column of the next cell
        self._here = 0  # that of this cell
        self._last: int | None = None  # that of the last text
        self._covered: dict[int, int] = {}  # by cells above: the number of rows, by column

    def take(self, token: _Token) -> None:
        """Begin a table, a row or a cell."""
        if token.tag in ("table", "/table", "tr"):
            left = {column: rows - 1 for column, rows in self._covered.items() if rows > 1}
            self._covered = left if token.tag == "tr" else {}
            self._next, self._here, self._last, self.is_plain = 0, 0, None, token.tag == "tr"
        elif token.tag in ("td", "th"):
            while self._next in self._covered:
                self._next += 1
            across, down = (self._span(token, name) for name in ("colspan", "rowspan"))
            self._here, self._next = self._next, self._next + across
            self._covered |= dict.fromkeys(range(self._here, self._next), down) if down > 1 else {}

    @staticmethod
    def _span(token: _Token, name: str) -> int:
        said = token.attribute(name)
        return min(max(int(said), 1), _MOST_SPANNED) if said.isdecimal() and len(said) < 5 else 1

    def before(self, text: str) -> str:
        """The bars between the last text of the row and this one, apart from the gap between two cells."""
        if not text or not self.is_plain:
            return ""
        # Between two cells with text, the first bar is the gap.
        bars = self._here if self._last is None else max(self._here - self._last - 1, 0)
        self._last = self._here
        return CELL * bars


class _Writer:
    """Consumes tokens, and collects the readable text."""

    def __init__(
        self, draft: TextBuilder, skipped: frozenset[str], offsets: bool, open_picture: OpenPicture | None = None
    ) -> None:
        self._open_picture = open_picture
        self._row = _Row()
        self.title = ""
        self._offsets = offsets
        self._draft = draft
        self._skipped = skipped
        self._skipping = ""
        self._depth = 0
        self._has_tex = False  # a formula was just read as TeX
        self._raw = ""
        self._verbatim = False
        self._heading: _Token | None = None
        self._label: list[str] = []

    def take(self, token: _Token) -> None:
        if not token.tag:
            self._text(token.text)
        elif self._skipping:
            self._depth += (token.tag == self._skipping) - (token.tag == f"/{self._skipping}")
            self._skipping = self._skipping if self._depth else ""
        elif token.tag == _TEX:
            self._formula(unescape(token.text))
        elif token.tag in self._skipped and (token.tag != "span" or self._is_repeated(token)):
            self._skipping, self._depth = token.tag, 1
        elif token.tag == "img":
            self._picture(token)
        else:
            self._tag(token)

    def _tag(self, token: _Token) -> None:
        name = token.tag.removeprefix("/")
        if name in _RAW:
            self._raw = name if name == token.tag else ""
        if name == "pre":
            self._verbatim = name == token.tag
        if name in _OF_TABLES:
            self._row.take(token)
        elif name in _GAPS:
            self._row.is_plain = False
        if gap := _GAPS.get(name):
            if self._heading and gap != LINE:
                self.end_heading()
            if self._heading:
                self._label.append(" ")
            self._draft.gap(gap)
        if token.tag in _HEADINGS:
            self._heading, self._label = token, []

    def end_heading(self) -> None:
        if self._heading:
            offset = self._heading.offset if self._offsets else None
            self._draft.heading("".join(self._label), int(self._heading.tag[1:]), offset)
        self._heading = None

    def _is_repeated(self, span: _Token) -> bool:
        """Whether a span shows the formula again that was just read."""
        return self._has_tex and _DRAWN_FORMULA in span.attribute("class").split()

    def _formula(self, tex: str) -> None:
        self._has_tex = True
        formula = f"${' '.join(tex.split())}$"
        if self._heading:
            self._label.append(formula)
        elif formula != "$$":
            self._add(formula)

    def _picture(self, token: _Token) -> None:
        caption = " ".join(token.attribute("alt").split())
        if self._heading:
            self._label.append(caption)
            return
        file = self._open_picture(token.attribute("src")) if self._open_picture else None
        self._draft.picture(caption, file)

    def _text(self, text: str) -> None:
        if self._skipping or (self._raw and self._raw != "title"):
            return
        self._has_tex = self._has_tex and not text.strip()
        text = unescape(_HUGE_REFERENCE.sub("\ufffd", text))
        if self._raw == "title":
            self.title = self.title or " ".join(text.split())
        elif self._heading:
            self._label.append(text)
        elif self._verbatim:
            self._add(text)
        else:
            self._inline(_SPACES.sub(" ", text))

    def _inline(self, text: str) -> None:
        if text.startswith(" "):
            self._draft.gap(SPACE)
        self._add(text.strip(" "))
        if text.endswith(" "):
            self._draft.gap(SPACE)

    def _add(self, text: str) -> None:
        self._draft.add(self._row.before(text) + text)
