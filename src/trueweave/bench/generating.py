"""Questions generated from the documents of a workspace, to measure methods with."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING

from trueweave.bench import drafting
from trueweave.bench.drafts import Draft, problem
from trueweave.bench.writing import QuestionWriter
from trueweave.core.errors import ConfigError
from trueweave.store.postgres.view import sampling
from trueweave.store.postgres.view.sampling import SampledText
from trueweave.text.names import key

if TYPE_CHECKING:
    from trueweave.engine.trueweave import AsyncTrueweave

Progress = Callable[[int], None]
Drafts = AsyncIterator[Sequence[Draft]]
Passages = AsyncIterator[Sequence[SampledText]]

_AT_ONCE = 8  # calls of a model


@dataclass
class Generated:
    """The questions generated so far, and how many of those that a model wrote were dropped, by the reason."""

    number: int
    per_document: int
    drafts: list[Draft] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    _used: Counter[str] = field(default_factory=Counter)
    _asked: set[str] = field(default_factory=set)

    def of(self, kind: str) -> int:
        """The number of questions of this kind."""
        return sum(one.kind == kind for one in self.drafts)

    @property
    def documents(self) -> int:
        """The number of documents that the questions are about."""
        return len(self._used)

    def take(self, drafts: Sequence[Draft]) -> bool:
        """Keep the first usable one of these drafts; returns whether there is one. At most `per_document` questions
        rest on the same document, and no question and no sentence with an answer occurs twice."""
        for draft in drafts:
            if (
                not problem(draft)
                and self._asked.isdisjoint((draft.question, draft.quotes[-1].text))
                and self._has_room(draft)
            ):
                self._used.update({quote.uri for quote in draft.quotes})
                self._asked |= {draft.question, draft.quotes[-1].text}
                self.drafts.append(draft)
                return True
        return False

    def _has_room(self, draft: Draft) -> bool:
        return all(self._used[quote.uri] < self.per_document for quote in draft.quotes)


async def generate(
    trueweave: AsyncTrueweave, number: int, *, seed: int = 0, per_document: int = 3, progress: Progress = lambda _: None
) -> Generated:
    """Questions by rules, half of them needing two documents as far as there are such. The same seed gives the same
    questions as long as the documents stay the same."""
    made = Generated(number, per_document)
    await _fill(made, number // 2, _from_two(trueweave, seed), progress)
    await _fill(made, number, _from_one(trueweave, seed), progress)
    if len(made.drafts) < number:
        await _fill(made, number, _from_two(trueweave, seed), progress)
    return made


async def written(
    trueweave: AsyncTrueweave,
    writer: QuestionWriter,
    number: int,
    *,
    seed: int = 0,
    per_document: int = 3,
    progress: Progress = lambda _: None,
) -> Generated:
    """Questions by a model, likewise. The passages are those that the seed determines, so after an interruption the
    same call resumes with the replies that are cached."""
    made = Generated(number, per_document)
    half = number // 2
    await _ask(made, writer, half, _pairs(trueweave, seed), most_calls(half), progress)
    await _ask(made, writer, number, _singles(trueweave, seed), most_calls(number - half), progress)
    return made


def most_calls(number: int) -> int:
    """How often a model is asked for this many questions of a kind: some of them are dropped."""
    return 2 * number


async def _ask(
    made: Generated, writer: QuestionWriter, until: int, passages: Passages, calls: int, progress: Progress
) -> None:
    async with aclosing(passages) as found:  # type: ignore[type-var]
        async for some in _batches(found, calls):
            replies = await asyncio.gather(*(writer.write(one) for one in some))
            for reply in replies:
                if len(made.drafts) >= until:
                    return
                if why := reply if isinstance(reply, str) else problem(reply):
                    made.dropped[why] += 1
                elif not isinstance(reply, str) and made.take([reply]):
                    progress(1)


async def _batches(passages: Passages, calls: int) -> AsyncIterator[list[Sequence[SampledText]]]:
    """Passages to ask about at the same time, until there were as many calls as allowed."""
    some: list[Sequence[SampledText]] = []
    async for one in passages:
        if not calls:
            break
        some.append(one)
        calls -= 1
        if len(some) == _AT_ONCE:
            yield some
            some = []
    if some:
        yield some


async def _pairs(trueweave: AsyncTrueweave, seed: int) -> Passages:
    """For each name that connects documents, what two of them say around it."""
    async for texts in sampling.bridges(trueweave.workspace, seed):
        if len(texts) > 1:
            first, second = sorted(texts, key=lambda one: key("pair", str(seed), one.uri).bytes)[:2]
            yield first, second


async def _singles(trueweave: AsyncTrueweave, seed: int) -> Passages:
    async for texts in sampling.chunks(trueweave.workspace, seed):
        for text in texts:
            yield (text,)


async def _fill(made: Generated, until: int, drafts: Drafts, progress: Progress) -> None:
    """Take one question of each of these lists of drafts, until there are enough."""
    async with aclosing(drafts) as found:  # type: ignore[type-var]
        async for some in found:
            if len(made.drafts) >= until:
                return
            if await asyncio.to_thread(made.take, some):
                progress(1)


async def _from_two(trueweave: AsyncTrueweave, seed: int) -> Drafts:
    async for texts in sampling.bridges(trueweave.workspace, seed):
        yield await asyncio.to_thread(_of_pairs, texts, seed)


def _of_pairs(texts: Sequence[SampledText], seed: int) -> list[Draft]:
    pairs = [(a, b) for a, b in permutations(texts, 2) if a.uri != b.uri]
    return _shuffled((draft for a, b in pairs for draft in drafting.from_two(a, b)), seed)


async def _from_one(trueweave: AsyncTrueweave, seed: int) -> Drafts:
    async for texts in sampling.chunks(trueweave.workspace, seed):
        for text in texts:
            yield await asyncio.to_thread(lambda one: _shuffled(drafting.from_one(one), seed), text)


def _shuffled(drafts: Iterator[Draft], seed: int) -> list[Draft]:
    return sorted(drafts, key=lambda one: key("draft", str(seed), one.question).bytes)


def write(path: Path, drafts: Sequence[Draft]) -> None:
    """Write questions to a file that `trueweave bench` reads. Raises ConfigError if there is one already."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            for number, draft in enumerate(drafts, 1):
                file.write(json.dumps(_row(number, draft), ensure_ascii=False) + "\n")
    except FileExistsError as error:
        raise ConfigError(f"{path} already exists. Remove it, or give --out another file.") from error
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}. Give --out another file.") from error


def _row(number: int, draft: Draft) -> dict[str, object]:
    return {
        "id": f"generated {number}",
        "question": draft.question,
        "supporting": [{"uri": quote.uri, "quote": quote.text} for quote in draft.quotes],
        "answers": [draft.answer],
        "kind": draft.kind,
    }
