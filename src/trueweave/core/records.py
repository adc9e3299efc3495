"""What has become of a recorded answer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

CitationState = Literal["same", "not retrieved", "changed", "gone"]


@dataclass(frozen=True, slots=True)
class ReplayedCitation:
    """A citation of a recorded answer, and its state now.

    - *same*: the passage is in its document as it was, and the question finds it;
    - *not retrieved*: the passage is as it was, and the question does not find it any more;
    - *changed*: the document no longer has this passage. `quote_there` says whether it still has the quoted words;
    - *gone*: the document is not in the index.
    """

    number: int
    uri: str
    quote: str
    state: CitationState
    quote_there: bool


@dataclass(frozen=True, slots=True)
class Replay:
    """A recorded answer compared with what its question finds now. `public_key` is the key that the record is signed
    with, in base64; `workspace` and `recorded` say where and when it was made. `index_changed`: the index has changed
    since. `passages_before` passages were found then, `passages_now` now, and `in_both` both times. `reproduced` is how
    many of the recorded ones the index of that time finds; None if the workspace keeps no history since then."""

    question: str
    answer: str
    workspace: str
    recorded: datetime
    public_key: str
    index_changed: bool
    citations: tuple[ReplayedCitation, ...]
    passages_before: int
    passages_now: int
    in_both: int
    reproduced: int | None

    @property
    def same(self) -> bool:
        """Whether all citations are the same."""
        return all(one.state == "same" for one in self.citations)
