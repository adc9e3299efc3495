"""Standing questions, and the alerts that say what changed in their evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import datetime
from typing import Literal

from trueweave.core.evidence import Filter

PassageChange = Literal["added", "removed", "kept"]
Delivery = Literal["none", "waiting", "delivered", "failed"]

TOKENS_PER_DAY = 20_000


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """A question to be asked again, and how: see `Watch`. The name is made from the question if it is empty, and
    `groups` default to those of whoever adds the watch. `by` says who that is."""

    question: str
    _: KW_ONLY
    name: str = ""
    method: str = ""
    filter: Filter | None = None
    groups: Sequence[str] | None = None
    passages: int = 5
    answers: bool = False
    tokens_per_day: int = TOKENS_PER_DAY
    webhook: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True)
class Watch:
    """A question that is asked again when the index has changed. What it found last are its first `passages` passages.

    `method` is empty for that of the settings. It reads what `groups` may read; `*` is everything. If it `answers`, a
    language model answers the question when the passages have changed, with up to `tokens_per_day` tokens.
    Alerts are sent to `webhook`, if there is one. `problem` says why it was not asked, or why an alert was not sent.
    """

    name: str
    question: str
    method: str
    filter: Filter
    groups: tuple[str, ...]
    passages: int
    answers: bool
    tokens_per_day: int
    webhook: str
    author: str
    made: datetime
    asked: datetime
    alerts: int
    problem: str


@dataclass(frozen=True, slots=True)
class AlertPassage:
    """A passage of an alert, in the order of the evidence; `removed` ones come last. The text is empty if the passage
    is no longer stored, or is no longer among what the watch may read; so is the uri, if the document was erased.
    `is_indexed`: it is in the index now, and not only in the history."""

    change: PassageChange
    uri: str
    title: str = ""
    date: str = ""
    start: int = 0
    text: str = ""
    is_indexed: bool = False


@dataclass(frozen=True, slots=True)
class Alert:
    """What changed in the evidence of a watch: passages that it had not found before, or no longer finds. The first of
    a watch has what it found when it was made (`is_first`). Ids of a workspace grow with time.

    `answer` is empty if the watch does not answer, if `problem` says why there is none, or if a document that it was
    made from was erased.
    """

    id: int
    watch: str
    question: str
    at: datetime
    is_first: bool
    added: int
    removed: int
    passages: tuple[AlertPassage, ...]
    answer: str
    problem: str
    delivery: Delivery
