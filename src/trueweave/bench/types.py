"""What is measured with: passages, questions with the passages that support their answers, and sets of both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class DatasetPassage:
    """A passage of a set. It is found when a document of this id is."""

    id: str
    text: str
    title: str = ""

    @property
    def whole(self) -> str:
        """The text with its title on a line of its own, which is what is indexed."""
        return f"{self.title}\n{self.text}" if self.title else self.text


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and which passages support its answer: by their ids, each with how relevant it is.

    Where no passages are known, `evidence` may be: what has to be found, in any words. `kind` groups questions: "2
    hops", "comparison".
    """

    id: str
    text: str
    supporting: Mapping[str, int]
    answers: tuple[str, ...] = ()
    kind: str = ""
    split: str = ""
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Dataset:
    """Questions over passages.

    The passages may be iterated more than once, and are read again each time. None means that the questions are about
    documents which are in a workspace already. `said` is a file with what is said in each passage, if there is one;
    `notes` tell what was left out, and why. Of a set that is `partial`, questions about documents that are not there
    are left out too.
    """

    name: str
    questions: tuple[Question, ...]
    passages: Iterable[DatasetPassage] | None = None
    said: Path | None = None
    notes: tuple[str, ...] = ()
    partial: bool = False
