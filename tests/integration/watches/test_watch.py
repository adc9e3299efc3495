"""The law of watches: their alerts are those of asking every question after every change.

Random histories of documents that are added, changed, removed, switched off and on, of rules, readers, communities and
settings. After each step all watches are asked as workers ask them, which leaves out those that the state of the index
says need not be asked. The alerts must be the differences that asking every question before and after the step finds;
none is missing, and none is too many.
"""

import random
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from uuid import UUID

import pytest

from tests.conftest import FULL
from trueweave import AsyncTrueweave, Chunk, Document, Link, Mention, NameKey, ResolutionSettings
from trueweave.core.evidence import Filter
from trueweave.core.watches import Alert, Watch
from trueweave.errors import RuleError
from trueweave.extend import Database
from trueweave.testing import HashEmbedder

HISTORIES = 100 if FULL else 6
STEPS = 12
NAMES = ("Ada Berg", "Bo Lind", "Acme", "Oslo", "Bergen", "Cy Dahl")
WORDS = ("leads", "left", "founded", "visited", "sold", "chief executive of", "rain in", "office of")
VERBS = ["add", "add", "add", "remove", "off", "on", "merge", "suppress", "undo", "resolve", "readers", "group", "set"]
GROUPS = ((), (), ("hr",), ("legal",))


@dataclass
class History:
    """A workspace to which random things happen."""

    index: AsyncTrueweave
    random: random.Random
    rules: list[UUID] = field(default_factory=list)

    def document(self) -> Document:
        names = self.random.sample(NAMES, 2)
        text = f"{names[0]} {self.random.choice(WORDS)} {names[1]}, {self.saying()}."
        chunk = Chunk(text, mentions=tuple(Mention(one) for one in names), links=(Link(names[0], names[1], text),))
        more = Chunk(f"{names[1]} {self.saying()}.")
        parts = (chunk, more) if self.random.random() < 0.5 else (chunk,)
        return Document(self.uri(), parts, readers=self.random.choice((None, None, None, (), ("hr",))))

    def saying(self) -> str:
        return f"{self.random.choice(WORDS)} {self.random.choice(NAMES)}"

    def uri(self) -> str:
        return f"{self.random.choice('abc')}/{self.random.randrange(4)}.md"

    async def step(self) -> str:
        """Do one thing; returns what it was."""
        verb = self.random.choice(
            (
                "add",
                "add",
                "add",
                "remove",
                "off",
                "on",
                "merge",
                "suppress",
                "undo",
                "resolve",
                "readers",
                "group",
                "set",
            )
        )
        with suppress(RuleError):  # names that nobody mentions
            await getattr(self, f"_{verb}")()
        await self.index.maintenance.settle()
        return verb

    async def _add(self) -> None:
        await self.index.add_documents([self.document() for _ in range(self.random.randint(1, 3))])

    async def _remove(self) -> None:
        await self.index.remove([self.uri(), self.uri()])

    async def _off(self) -> None:
        await self.index.switch_off([self.uri(), self.uri()])

    async def _on(self) -> None:
        await self.index.switch_on([f"{one}/{n}.md" for one in "abc" for n in range(4)])

    async def _merge(self) -> None:
        pair = [NameKey(one) for one in self.random.sample(NAMES, 2)]
        self.rules.append((await self.index.rules.merge(*pair)).id)

    async def _suppress(self) -> None:
        self.rules.append((await self.index.rules.suppress(NameKey(self.random.choice(NAMES)))).id)

    async def _undo(self) -> None:
        if self.rules:
            await self.index.rules.undo(self.rules.pop(self.random.randrange(len(self.rules))))

    async def _resolve(self) -> None:
        await self.index.rules.change_resolution(ResolutionSettings(self.random.choice(("exact", "off"))))

    async def _readers(self) -> None:
        await self.index.access.set(f"{self.random.choice('abc')}/", list(self.random.choice(GROUPS)))

    async def _group(self) -> None:
        await self.index.communities.find()

    async def _set(self) -> None:
        await self.index.maintenance.change_settings({"method": self.random.choice(("keyword", "naive", "fuse"))})


async def found(index: AsyncTrueweave, watch: Watch) -> dict[UUID, str]:
    """The passages that a watch finds when its question is asked now."""
    seen = index.acting_as(watch.groups)
    evidence = await seen.retrieve(watch.question, watch.method or None, filter=watch.filter)
    return {one.id: f"{one.uri} {one.text}" for one in evidence.passages[: watch.passages]}


async def differences(index: AsyncTrueweave, known: dict[str, dict[UUID, str]]) -> dict[str, tuple[list[str], int]]:
    """What asking every question finds that is new, and how many passages are no longer found."""
    told: dict[str, tuple[list[str], int]] = {}
    for watch in await index.watches.all():
        now = await found(index, watch)
        before, known[watch.name] = known[watch.name], now
        if now.keys() != before.keys():
            told[watch.name] = sorted(now[one] for one in now.keys() - before), len(before.keys() - now)
    return told


@pytest.mark.parametrize("seed", range(HISTORIES))
async def test_alerts_are_those_of_asking_everything_after_every_change(database: Database, seed: int) -> None:
    async with aclosing(await AsyncTrueweave.enter(database, f"watched-{seed}", HashEmbedder(16))) as index:
        history = History(index, random.Random(seed))
        await history._add()
        await index.watches.add("Who leads Acme?", name="all", method="keyword", passages=2)
        await index.watches.add("Who leads Acme?", name="graph", method="weave", passages=3)
        await index.watches.add("rain in Oslo", name="default", passages=2)
        await index.watches.add("Who founded Acme?", name="legal", method="fuse", groups=["legal"], passages=2)
        await index.watches.add("Ada Berg", name="some", filter=Filter(prefix="a/"), passages=2)
        known = {watch.name: await found(index, watch) for watch in await index.watches.all()}
        seen, did = [one.id for one in await index.watches.alerts()], list[str]()
        for _ in range(STEPS):
            did.append(await history.step())
            index = await reopened(index, database, seed)
            history.index = index
            expected = await differences(index, known)
            await index.watches.check()
            alerts = await index.watches.alerts(after=seen[-1])
            seen += [one.id for one in alerts]
            told = {one.watch: (added(one), one.removed) for one in alerts}
            assert told == expected, did
            assert len(alerts) == len(told), did
        assert all(first < second for first, second in pairwise(seen))


def added(alert: Alert) -> list[str]:
    return sorted(f"{one.uri} {one.text}" for one in alert.passages if one.change == "added")


async def reopened(index: AsyncTrueweave, database: Database, seed: int) -> AsyncTrueweave:
    """The same workspace with the settings that it has now."""
    await index.aclose()
    return await AsyncTrueweave.enter(database, f"watched-{seed}", HashEmbedder(16))
