"""What the model server's own log tells: which calls were made, which were repeated, and which were in flight when.

A call is in flight at a kill

- of the model server: when it was begun and not ended;
- of a worker: when that worker began it, and it had not ended, or had ended so shortly before that the reply was on its
  way through the worker into the database: less than KEEPING seconds, or while the database was away.

A kill of PostgreSQL has no calls in flight: whoever made them is still there, and keeps the replies when it is back.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Literal

KEEPING = 2.0  # seconds; most take a few hundredths, but a worker that is settling can keep a reply waiting
READING = 10.0  # seconds after which the server has read what somebody sent who was killed meanwhile
COMING_BACK = 5.0  # seconds in which workers find a database that is back, and give it what they hold

Kind = Literal["worker", "model server", "postmaster", "backend"]


@dataclass(frozen=True)
class Kill:
    """A process that was killed between two moments; of a worker, also the ports that it called from."""

    kind: Kind
    after: float
    before: float
    ports: frozenset[int] = frozenset()

    @property
    def of_database(self) -> bool:
        return self.kind in ("postmaster", "backend")


@dataclass(eq=False)
class Call:
    """A call that the server received. `what` it asked: the prompt's hash, or those of all the texts to embed."""

    what: tuple[str, ...]
    kind: str
    port: int
    begun: float
    fault: str | None
    ended: float = field(default=float("inf"))


def read(log: Path) -> list[Call]:
    """All calls in the order in which they were begun."""
    calls: dict[str, Call] = {}
    written = log.read_text() if log.exists() else ""
    for line in map(json.loads, written[: written.rfind("\n") + 1].splitlines()):
        if line["event"] == "start":
            what = tuple(line["inputs"]) or (line["key"],)
            calls[line["id"]] = Call(what, line["kind"], line["client"], line["at"], line["fault"])
        else:
            calls[line["id"]].ended = line["at"]
    return list(calls.values())


def hash_of(text: str) -> str:
    """What the log calls a text that is to be embedded."""
    return blake2b(text.encode(), digest_size=16).hexdigest()


def in_flight(calls: Iterable[Call], kill: Kill, kills: Sequence[Kill]) -> list[Call]:
    """Those of the calls that were in flight at one of the kills."""
    if kill.of_database:
        return []
    if kill.kind == "model server":
        return [call for call in calls if call.begun < kill.before and call.ended > kill.after]
    lost_from = kill.after - KEEPING
    away = [k.after for k in kills if k.of_database and kill.after - COMING_BACK < k.before and k.after < kill.before]
    lost_from = min([lost_from, *(at - KEEPING for at in away)])
    until = kill.before + READING
    return [call for call in calls if call.port in kill.ports and call.begun < until and call.ended > lost_from]


def repeated(calls: Iterable[Call]) -> list[tuple[str, Call]]:
    """What was asked again, each with the call that was in vain: all but the last of those that asked the same."""
    asked: defaultdict[tuple[str, str], list[Call]] = defaultdict(list)
    for call in calls:
        for what in call.what:
            asked[call.kind, what].append(call)
    return [(what, call) for (_, what), same in asked.items() for call in same[:-1]]
