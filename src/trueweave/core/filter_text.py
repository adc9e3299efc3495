"""Filters as text: `kind=letter and not (year<1900 or uri=drafts/**)`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from trueweave.core.conditions import read_where
from trueweave.core.errors import ConfigError

if TYPE_CHECKING:
    from trueweave.core.evidence import Filter

_TOKEN = re.compile(
    r"""(?P<bracket>[()])|(?P<operator>!=|>=|<=|[=><])|(?P<quoted>"(?:[^"\\]|\\.)*")|(?P<word>[^\s()=<>"!]+|!)|(?P<other>\S)"""
)
_EXAMPLE = "kind=letter and not (year<1900 or uri=drafts/**)"
_DEEPEST = 50


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


def read_filter_text(written: str) -> Filter:
    """The filter that a text describes: conditions, `and`, `or`, `not` and brackets; `not` binds most, then `and`.

    `uri=` takes the uri of a document, or the beginning of uris with `**` behind it. Any other key is one of metadata.
    A value ends at `and`, `or` or a bracket, unless it is in double quotes.
    """
    reader = _Reader(written)
    found = reader.alternatives()
    if reader.next:
        reader.refuse(f"{reader.next.text!r} is unexpected")
    return found


def uri_filter(uri: str) -> Filter:
    """The filter for a document, or for all whose uris begin alike if `**` is behind the beginning."""
    from trueweave.core.evidence import Filter

    return Filter(prefix=uri.removesuffix("**")) if uri.endswith("**") else Filter((uri,))


class _Reader:
    """Reads a filter, token by token."""

    def __init__(self, written: str) -> None:
        self._written = written
        self._tokens = [_Token(one.lastgroup or "", one[0], *one.span()) for one in _TOKEN.finditer(written)]
        self._depth = 0

    @property
    def next(self) -> _Token | None:
        """The token to be read next."""
        return self._tokens[0] if self._tokens else None

    def refuse(self, problem: str) -> NoReturn:
        """Raise an error that says where the text cannot be read, and how to write it."""
        where = f" at character {self.next.start + 1}" if self.next else " at the end"
        raise ConfigError(
            f"{self._written!r} is not a filter: {problem}{where}. Write it like {_EXAMPLE}, and values that contain "
            'and, or, brackets or quotes in double quotes, like title="War and Peace".'
        )

    def alternatives(self) -> Filter:
        """Filters with `or` between them."""
        found = self._all()
        while self._took("or"):
            found = found | self._all()
        return found

    def _all(self) -> Filter:
        found = self._one()
        while self._took("and"):
            found = found & self._one()
        return found

    def _one(self) -> Filter:
        self._depth += 1
        if self._depth > _DEEPEST:
            self.refuse(f"more than {_DEEPEST} brackets and negations are inside each other")
        if self._took("not"):
            found = ~self._one()
        elif self._took("("):
            found = self.alternatives()
            if not self._took(")"):
                self.refuse("a closing bracket is missing")
        else:
            found = self._condition()
        self._depth -= 1
        return found

    def _took(self, what: str) -> bool:
        """Whether this word or bracket is next; then it is read."""
        if self.next and self.next.kind in ("word", "bracket") and self.next.text.lower() == what:
            del self._tokens[0]
            return True
        return False

    def _condition(self) -> Filter:
        key = self._text()
        if not key:
            self.refuse("a condition is missing")
        if self.next is None or self.next.kind != "operator":
            if ".." not in key:
                self.refuse(f"{key!r} is not followed by =, !=, <, <=, > or >=")
            return read_where([key])
        operator = self._tokens.pop(0).text
        value = self._text(whole=True)
        if key.lower() == "uri":
            if operator not in ("=", "!=") or not value:
                self.refuse("uri takes = or != and a uri")
            return ~uri_filter(value) if operator == "!=" else uri_filter(value)
        return read_where([f"{key}{operator}{value}"])

    def _text(self, *, whole: bool = False) -> str:
        """The text up to the next keyword, bracket or, unless `whole`, operator; without the quotes around it."""
        taken: list[_Token] = []
        while self.next and (token := self.next).kind != "bracket":
            is_keyword = token.kind == "word" and token.text.lower() in ("and", "or")
            if is_keyword or (token.kind == "operator" and not whole):
                break
            taken.append(self._tokens.pop(0))
        if any(token.kind == "other" for token in taken):
            self.refuse("a closing quote is missing")
        if len(taken) == 1 and taken[0].kind == "quoted":
            return re.sub(r"\\(.)", r"\1", taken[0].text[1:-1])
        return self._written[taken[0].start : taken[-1].end] if taken else ""
