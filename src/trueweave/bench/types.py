"""The data of benchmarks: passages, questions with the passages that support their answers, and sets of both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from uuid import UUID


@dataclass(frozen=True, slots=True)
class DatasetPassage:
    """A passage of a set. It counts as found if a document with this id is found."""

    id: str
    text: str
    title: str = ""

    @property
    def whole(self) -> str:
        """The text to index, after its title on a separate line, if it has one."""
        return f"{self.title}\n{self.text}" if self.title else self.text


class Span(NamedTuple):
    """A part of a document, and the chunk that it is, if that is known."""

    uri: str
    start: int
    end: int
    chunk: UUID | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the ids of the passages that support its answer, each with its relevance.

    If no passages are known, `evidence` may say what has to be found, in any words. `kind` groups questions, such as "2
    hops" or "comparison". An id is the uri of a document, unless `spans` says which part of a document it stands for;
    with spans, passages are ranked, and not documents. `quotes` has the words of such parts, each after its document,
    until it is known where they stand.
    """

    id: str
    text: str
    supporting: Mapping[str, int]
    answers: tuple[str, ...] = ()
    kind: str = ""
    split: str = ""
    evidence: str = ""
    spans: Mapping[str, Span] = field(default_factory=dict)
    quotes: tuple[tuple[str, str], ...] = ()

    def ids(self, found: Span) -> tuple[str, ...]:
        """The ids under which a passage that was found is ranked: those of the supporting passages that it overlaps,
        or else its own."""
        overlapped = tuple(
            id_
            for id_, one in self.spans.items()
            if one.uri == found.uri and one.start < found.end and found.start < one.end
        )
        if overlapped or not self.spans or found.uri in self.supporting:
            return overlapped or (found.uri,)
        return (f"{found.uri}#{found.start}-{found.end}",)


@dataclass(frozen=True, slots=True)
class Dataset:
    """Questions over passages.

    The passages may be iterated more than once, and are read again each time. None means that the questions are about
    documents that are already in a workspace. `said` is a file with the entities and relations of each passage, if
    there is one; `notes` say what was left out, and why. In a `partial` set, questions about missing documents are left
    out, too.
    """

    name: str
    questions: tuple[Question, ...]
    passages: Iterable[DatasetPassage] | None = None
    said: Path | None = None
    notes: tuple[str, ...] = ()
    partial: bool = False
