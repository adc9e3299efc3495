"""The four acts of the demo. Each does something in the workspace and returns what it measured."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from trueweave.cli.demo.script import END, LETTER, START, DemoQuestion, words
from trueweave.core.answers import Answer
from trueweave.core.bench import BenchPassage
from trueweave.core.errors import UnknownDocument
from trueweave.core.evidence import Evidence
from trueweave.engine.trueweave import AsyncTrueweave

T = TypeVar("T")

DEPTH = 5  # passages of each method that count
METHODS = ("naive", "weave")


@dataclass(frozen=True)
class BuildAct:
    """What is in the workspace. `added` documents are new in this run, and `skipped` files could not be read."""

    documents: int
    entities: int
    relations: int
    questions: int
    added: int
    skipped: int

    @property
    def holds(self) -> bool:
        return self.documents > 0 and self.relations > 0


@dataclass(frozen=True)
class SearchAct:
    """The question, how many of its right passages each method finds among the first five, and a path in the graph."""

    question: str
    passages: int
    found: dict[str, int]
    path: tuple[str, ...]

    @property
    def holds(self) -> bool:
        vectors, weave = (self.found[name] for name in METHODS)
        return vectors < weave == self.passages and bool(self.path)


@dataclass(frozen=True)
class CheckedSentence:
    """A sentence of the answer, whether the check confirms it, why not, and what the source says instead."""

    text: str
    confirmed: bool
    finding: str
    source: str


@dataclass(frozen=True)
class CheckAct:
    """The answer of the scripted model, sentence by sentence."""

    sentences: tuple[CheckedSentence, ...]

    @property
    def holds(self) -> bool:
        return [one.confirmed for one in self.sentences] == [True, True, False]


@dataclass(frozen=True)
class RemoveAct:
    """The answer and the path without the letter, whether the index is exact then, and whether it is the same as before
    once the letter is back."""

    letter: str
    answer: str
    known: bool
    path: tuple[str, ...]
    exact: bool
    restored: bool

    @property
    def holds(self) -> bool:
        return not self.known and not self.path and self.exact and self.restored


async def build(trueweave: AsyncTrueweave, documents: Path, asked: list[DemoQuestion]) -> BuildAct:
    """Add the documents, and the questions for the Bench view."""
    added = await trueweave.add(documents)
    known = {one.question for one in await trueweave.bench.questions(1000)}
    for question in asked:
        passages = [await _passage(trueweave, uri, quote) for uri, quote in question.passages]
        right = [one for one in passages if one]
        if question.question not in known and len(right) == len(passages):
            await trueweave.bench.add_question(
                question.question, right, answers=question.answers, kind=question.kind, by="demo"
            )
            known.add(question.question)
    status = await trueweave.status()
    skipped = added.unreadable + added.refused + added.skipped
    return BuildAct(status.documents, status.entities, status.relations, len(known), added.new, skipped)


async def search(trueweave: AsyncTrueweave, question: DemoQuestion) -> SearchAct:
    """Ask each method the question, and look up the path in the graph."""
    found = {name: _right(await trueweave.retrieve(question.question, name), question) for name in METHODS}
    return SearchAct(question.question, len(question.uris), found, await _path(trueweave))


async def check(trueweave: AsyncTrueweave, question: DemoQuestion) -> CheckAct:
    """Have the scripted model answer, and every sentence checked."""
    answer = await _answer(trueweave, question)
    return CheckAct(
        tuple(
            CheckedSentence(" ".join(one.text.split()), one.confirmed, one.finding, " ".join(one.basis.split()))
            for one in answer.sentences
            if one.claims
        )
    )


async def remove(trueweave: AsyncTrueweave, folder: Path, question: DemoQuestion) -> RemoveAct:
    """Remove the letter, ask again, compare the index with one that is built without the letter, and add it again."""
    before = await trueweave.maintenance.digest()
    try:
        await trueweave.remove([LETTER])
        answer, path = await _answer(trueweave, question), await _path(trueweave)
        verdict = await trueweave.maintenance.verify()
    finally:
        await trueweave.add(folder / LETTER)  # also after Ctrl-C
    after = await trueweave.maintenance.digest()
    exact = verdict.exact and verdict.digest != before
    return RemoveAct(LETTER, " ".join(answer.text.split()), answer.known, path, exact, after == before)


async def timed(act: Callable[[], Awaitable[T]]) -> tuple[T, float]:
    """What an act returns, and the seconds it took."""
    begun = time.perf_counter()
    return await act(), time.perf_counter() - begun


async def _answer(trueweave: AsyncTrueweave, question: DemoQuestion) -> Answer:
    return await trueweave.ask(question.question, "weave", verifiers=["rules"])


def _right(evidence: Evidence, question: DemoQuestion) -> int:
    return len(question.uris & {passage.uri for passage in evidence.passages[:DEPTH]})


async def _path(trueweave: AsyncTrueweave) -> tuple[str, ...]:
    """The names on the path, as long as it needs no more steps than the question has passages."""
    found = await trueweave.graph.path(START, END, longest=3)
    return tuple(one.name for one in found.entities) if found else ()


async def _passage(trueweave: AsyncTrueweave, uri: str, quote: str) -> BenchPassage | None:
    """The chunk with these words; None if its file could not be read here."""
    try:
        chunks = (await trueweave.document(uri)).passages
    except UnknownDocument:
        return None
    return next((BenchPassage(uri, one.id) for one in chunks if words(quote).search(one.text)), None)
