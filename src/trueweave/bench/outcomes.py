"""The outcome of each question with each method, stored as JSON lines while an experiment runs."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self
from uuid import UUID

from trueweave.bench.types import Span
from trueweave.core.errors import ConfigError
from trueweave.core.evidence import Usage


@dataclass(frozen=True, slots=True)
class Judged:
    """What a model thinks of an answer: how correct, complete and supported it is, from 0 to 1, and why."""

    correct: float
    complete: float
    supported: float
    reason: str


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer: its text, whether it was known, how many sentences it has, and how many of them the check confirms;
    and the verdict of a model, if one was asked."""

    text: str
    known: bool
    sentences: int
    confirmed: int
    seconds: float
    judged: Judged | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one method found for one question: documents with their scores, best first, and what that cost.

    `run` is a key of everything that it depends on besides the question, `nodes` is the number of items that its
    searches returned, and `evidence` how much of the question's evidence it found, if that is known. `places` has the
    best passage of each item of `found`.
    """

    run: str
    question: str
    method: str
    found: tuple[tuple[str, float], ...]
    seconds: float
    statements: int
    usage: Usage
    answered: Answered | None = None
    nodes: int = 0
    evidence: float | None = None
    places: tuple[Span, ...] = ()

    @property
    def ranked(self) -> list[str]:
        """The documents or passages, best first."""
        return [uri for uri, _ in self.found]


class OutcomeFile:
    """Stores the outcomes of one experiment in a file until it is finished; the next experiment starts from scratch.

    While it runs, the name of the file ends in `.part`. Outcomes in such a file come from an interrupted run. Without a
    path, they are only kept in memory.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._part = path and path.with_name(f"{path.name}.part")
        self._file: IO[str] | None = None
        self.outcomes: list[Outcome] = []

    def __enter__(self) -> Self:
        if self._part is None:
            return self
        try:
            self._part.parent.mkdir(parents=True, exist_ok=True)
            left = self._part.read_bytes() if self._part.exists() else b""
            whole = left[: left.rfind(b"\n") + 1]  # without a last line that was cut off
            self.outcomes = [_outcome(json.loads(line)) for line in whole.splitlines()]
            if whole != left:
                os.truncate(self._part, len(whole))
            self._file = self._part.open("a", encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"cannot write {self._part}: {error.strerror}. Give --out another folder.") from error
        except (ValueError, KeyError, TypeError) as error:
            raise ConfigError(f"{self._part} was not written by a run. Remove it, and run again.") from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file:
            self._file.close()

    def add(self, outcome: Outcome) -> None:
        """Store an outcome immediately."""
        self.outcomes.append(outcome)
        if self._file:
            self._file.write(json.dumps(asdict(outcome), default=str, ensure_ascii=False) + "\n")
            self._file.flush()

    def finish(self) -> None:
        """Finish the experiment, and give the file its final name."""
        if self._file and self._part and self._path:
            self._file.close()
            self._part.replace(self._path)


def read_outcomes(path: Path) -> list[Outcome]:
    """The outcomes of a finished experiment."""
    return [_outcome(json.loads(line)) for line in path.read_text("utf-8").splitlines()]


def _answered(row: dict[str, Any]) -> Answered:
    judged = row.get("judged")
    return Answered(**{**row, "judged": Judged(**judged) if judged else None})


def _outcome(row: dict[str, Any]) -> Outcome:
    found = tuple((uri, score) for uri, score in row["found"])
    price = row["usage"]["price"]
    usage = Usage(**{**row["usage"], "price": None if price is None else Decimal(price)})
    answered = _answered(row["answered"]) if row["answered"] else None
    places = tuple(
        Span(uri, start, end, UUID(chunk) if chunk else None) for uri, start, end, chunk in row.get("places", ())
    )
    return Outcome(**{**row, "found": found, "usage": usage, "answered": answered, "places": places})
