"""People's own questions, which are stored in the workspace, as a set to measure with; and a run on them that is short
enough for a server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from trueweave.bench.experiment import Experiment, deep_enough
from trueweave.bench.measures import usual
from trueweave.bench.results import results
from trueweave.bench.saving import save
from trueweave.bench.types import Dataset, Question, Span
from trueweave.core.errors import InvalidArgument
from trueweave.retrieval.methods import registry

if TYPE_CHECKING:
    from trueweave.core.bench import BenchPassage, BenchQuestion, BenchRun
    from trueweave.engine.trueweave import AsyncTrueweave

MINE = "mine"
DEPTHS = (2, 5, 10)
MOST_QUESTIONS = 10_000
MOST_SEARCHES = 1000  # of a run at a server: questions times methods

# Methods that never call a language model, whatever the settings say.
WITHOUT_MODEL = ("auto", "naive", "keyword", "fuse", "subgraph", "walk", "weave")


async def own_questions(trueweave: AsyncTrueweave) -> Dataset:
    """The questions of the workspace. Those with a passage that has changed or is gone are left out, with a note."""
    stored = await trueweave.bench.questions(MOST_QUESTIONS)
    if not stored:
        raise InvalidArgument(
            "there are no questions in this workspace. Add one in the web UI, where an answer is wrong, or give a "
            'file with lines such as {"question": "…", "supporting": ["uri of a document"]}.'
        )
    usable = [one for one in stored if all(passage.state == "there" for passage in one.passages)]
    left_out = len(stored) - len(usable)
    if not usable:
        raise InvalidArgument(
            "no question can be measured: the passages of all of them have changed or were removed. Choose their "
            "passages again under Bench, My questions, in the web UI."
        )
    note = f"{left_out:,} of the questions are left out: passages of theirs have changed or were removed"
    notes = (note,) if left_out else ()
    return Dataset(MINE, tuple(map(_question, reversed(usable))), notes=notes)


def _question(stored: BenchQuestion) -> Question:
    ids = {_id(passage): passage for passage in stored.passages}
    spans = {
        id_: Span(one.uri, one.start, one.end, one.chunk)
        for id_, one in ids.items()
        if one.start is not None and one.end is not None
    }
    supporting = dict.fromkeys(ids, 1)
    return Question(str(stored.id), stored.question, supporting, stored.answers, stored.kind, spans=spans)


def _id(passage: BenchPassage) -> str:
    return passage.uri if passage.start is None else f"{passage.uri}#{passage.start}-{passage.end}"


async def run_own(
    trueweave: AsyncTrueweave,
    names: Sequence[str],
    author: str,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> BenchRun:
    """Measure methods on the questions of the workspace, store the run and return it. No language model is called, and
    nothing is answered. `progress` is called with the number of searches done, and of all.

    Raises InvalidArgument for a method that may call a language model, and if there are too many questions.
    """
    wanted = list(dict.fromkeys(names))
    if others := [name for name in wanted if name not in WITHOUT_MODEL]:
        raise InvalidArgument(
            f"{others[0]} may call a language model for each question, or is unknown. Measure it with `trueweave bench "
            f"{MINE} --methods {others[0]}`, which asks before it spends anything."
        )
    dataset = await own_questions(trueweave)
    searches = len(dataset.questions) * len(wanted)
    if searches > MOST_SEARCHES:
        raise InvalidArgument(
            f"{len(dataset.questions):,} questions with {len(wanted)} methods are {searches:,} searches. A run here "
            f"has at most {MOST_SEARCHES:,}. Choose fewer methods, or use `trueweave bench {MINE} --methods "
            f"{','.join(wanted)}`."
        )
    methods = {name: deep_enough(registry.make(name), max(DEPTHS)) for name in wanted}
    experiment = Experiment(trueweave, dataset, methods, usual(DEPTHS), insist=False)
    done = 0

    def heard(more: int) -> None:
        nonlocal done
        done += more
        progress(done, searches)

    ran = await experiment.run(None, heard)
    documents = (await trueweave.status()).documents
    models = await trueweave.maintenance.models()
    under = {"embedding model": models.embedding or "none"}
    # In a thread, because intervals of many methods take longer than others should wait.
    found = await asyncio.to_thread(results, experiment, ran, passages=documents, under=under)
    return await save(experiment, ran, found, author)
