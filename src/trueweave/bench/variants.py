"""Measures methods under several settings of the index: each combination of settings gets a temporary index of the same
documents, and all of them are asked the same questions."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trueweave.bench.experiment import Experiment, Ran
from trueweave.bench.outcomes import Outcome, read_outcomes
from trueweave.bench.results import GraphGain, IndexResult, scored
from trueweave.core.bootstrap import difference
from trueweave.core.errors import ConfigError
from trueweave.core.settings import workspace_settings
from trueweave.retrieval.methods.needs import needs_of
from trueweave.text.names import key

if TYPE_CHECKING:
    pass

METHOD = "method"
Changes = Mapping[str, str]
Progress = Callable[[str, int, int], None]  # what is done, how much of it, and of how much

_MOST = 50  # indexes
# The others use the graph, but for `auto`, which may or may not.
_WITHOUT_GRAPH = frozenset({"naive", "keyword", "fuse", "hyde", "rephrase", "rewrite", "decompose"})
_EITHER = frozenset({"auto"})


def read_variations(given: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The values of each setting and of `method`, from texts such as `max_chunk_size=256,512`."""
    found: dict[str, tuple[str, ...]] = {}
    for one in given:
        name, equals, listed = one.partition("=")
        values = tuple(value.strip() for value in listed.split(",") if value.strip())
        if not (equals and name.strip() and values):
            raise ConfigError(
                f"{one!r} names no values. Write SETTING=VALUE,VALUE, as in --vary max_chunk_size=256,512."
            )
        if len(set(values)) < len(values) or name.strip() in found:
            raise ConfigError(f"--vary {one} repeats a value or a name. Give each once.")
        found[name.strip()] = values
    return found


def combinations(variations: Mapping[str, Sequence[str]]) -> list[dict[str, str]]:
    """All combinations of settings, without those of methods. Raises ConfigError if one is not valid."""
    settings = {name: values for name, values in variations.items() if name != METHOD}
    made = [dict(zip(settings, values, strict=True)) for values in product(*settings.values())] if settings else []
    if len(made) > _MOST:
        raise ConfigError(f"--vary asks for {len(made):,} indexes, and at most {_MOST} are built. Give fewer values.")
    for one in made:
        workspace_settings(one)
    return made


@dataclass(frozen=True)
class Variants:
    """Indexes to build and to measure. `experiment` has what is the same for all of them."""

    experiment: Experiment
    changes: Sequence[Changes]
    folder: Path

    async def run(self, progress: Progress) -> tuple[Experiment, Ran, tuple[IndexResult, ...]]:
        """The outcomes under all settings, and what each index took. What an interrupted run has finished is kept in
        the folder. Raises ConfigError if documents change meanwhile, or if another process measures into the folder."""
        with _alone(self.folder) as folder:
            before = await self._state()
            found = [await self._one(n, folder, before, progress) for n in range(len(self.changes))]
            labels = {label: name for index, _ in found for name, label in index.labels.items()}
            methods = {label: self.experiment.methods[name] for label, name in labels.items()}
            outcomes = tuple(
                replace(one, method=index.labels[one.method]) for index, ran in found for one in ran.outcomes
            )
            left_out = {name: why for _, ran in found for name, why in ran.left_out.items()}
            shutil.rmtree(folder)
        return replace(self.experiment, methods=methods), Ran(outcomes, left_out), tuple(index for index, _ in found)

    async def _one(self, n: int, folder: Path, before: str, progress: Progress) -> tuple[IndexResult, Ran]:
        changes, experiment = self.changes[n], self.experiment
        where = f"index {n + 1} of {len(self.changes)}"
        file, about = folder / f"{self._key(changes, before)}.jsonl", folder / f"{self._key(changes, before)}.json"
        if about.exists() and file.exists():
            stored = json.loads(about.read_text("utf-8"))
            return _index(stored["index"]), Ran(tuple(read_outcomes(file)), stored["left_out"])
        trueweave, documents, done = experiment.trueweave, (await experiment.trueweave.status()).documents, 0

        def built(more: int) -> None:
            nonlocal done
            done += more
            progress(f"Building {where}", done, documents)

        def asked(more: int) -> None:
            nonlocal done
            done += more
            progress(f"Asking {where}", done, len(experiment.dataset.questions) * len(experiment.methods))

        since, begun = await trueweave.maintenance.clock(), time.perf_counter()
        async with trueweave.varied(self._settings(changes), built) as (beside, size):
            seconds, done = time.perf_counter() - begun, 0
            await self._check_unchanged(before)
            spent, there = await trueweave.budget.receipt(since), await beside.status()
            prices = [one.price for one in spent]
            price = None if None in prices else sum((one for one in prices if one is not None), start=Decimal(0))
            tokens = sum(one.tokens_in + one.tokens_out for one in spent)
            ran = await replace(experiment, trueweave=beside).run(file, asked)
            counts = there.chunks, there.entities, there.relations
            labels = {name: label(name, changes) for name in experiment.methods if name not in ran.left_out}
            index = IndexResult(label("", changes), dict(changes), labels, seconds, *counts, size, tokens, price)
        await self._check_unchanged(before)
        about.write_text(json.dumps({"index": asdict(index), "left_out": dict(ran.left_out)}, default=str), "utf-8")
        return index, ran

    def _settings(self, changes: Changes) -> dict[str, str]:
        """The changes of settings in full, and vectors of entities and relations if a method needs them."""
        needed = any("graph_vectors" in needs_of(method) for method in self.experiment.methods.values())
        return {**({"graph_vectors": "true"} if needed else {}), **in_full(changes)}

    def _key(self, changes: Changes, state: str) -> str:
        """A key of everything that the outcomes depend on."""
        one = self.experiment
        asked = [repr(question) for question in one.dataset.questions]
        methods = [f"{name} {method!r}" for name, method in one.methods.items()]
        settings = repr(sorted(changes.items()))
        judge = one.judge.fingerprint if one.judge else ""
        return key("variant", state, settings, one.under, str(one.answers), judge, *methods, "asked", *asked).hex

    async def _state(self) -> str:
        return await self.experiment.trueweave.maintenance.state()

    async def _check_unchanged(self, before: str) -> None:
        if await self._state() != before:
            raise ConfigError(
                "documents of the workspace have changed while indexes of them were measured, so the results could not "
                "be compared. Run the same command again when nothing is being added."
            )


def in_full(changes: Changes) -> dict[str, str]:
    """The changes of settings, with `min_chunk_size` at half of a `max_chunk_size` that is varied without it, as it is
    by default."""
    if "max_chunk_size" not in changes or "min_chunk_size" in changes:
        return dict(changes)
    return {**changes, "min_chunk_size": str(max(int(changes["max_chunk_size"]) // 2, 1))}


def label(method: str, changes: Changes) -> str:
    """The name of a method under some settings."""
    settings = ", ".join(f"{name}={value}" for name, value in changes.items())
    return f"{method} with {settings}" if method else settings


def graph_gain(experiment: Experiment, ran: Ran, indexes: Sequence[IndexResult], leading: str) -> GraphGain | None:
    """How much more the best method that uses the graph finds than the best that does not; None if either is
    missing."""
    names = {shown: name for index in indexes for name, shown in index.labels.items() if name not in _EITHER}
    questions = {question.id: question for question in experiment.dataset.questions}
    found: dict[str, list[Outcome]] = {}
    for outcome in ran.outcomes:
        found.setdefault(outcome.method, []).append(outcome)
    values = {shown: scored(found[shown], questions, experiment.measures)[leading] for shown in names}

    def best(*, by_graph: bool) -> str | None:
        some = [shown for shown, name in names.items() if (name not in _WITHOUT_GRAPH) == by_graph]
        return max(some, key=lambda shown: sum(values[shown]), default=None)

    using, without = best(by_graph=True), best(by_graph=False)
    if using is None or without is None:
        return None
    return GraphGain(using, without, difference(values[using], values[without]))


@contextmanager
def _alone(folder: Path) -> Iterator[Path]:
    """The folder of unfinished results, for this process alone."""
    unfinished = folder / "unfinished"
    try:
        unfinished.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise ConfigError(f"cannot write to {folder}: {error.strerror}. Give --out another folder.") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield unfinished
    except BlockingIOError as error:
        raise ConfigError(f"another process is measuring into {folder}. Give --out another folder.") from error
    finally:
        os.close(handle)


def _index(stored: dict[str, Any]) -> IndexResult:
    price = stored["price"]
    return IndexResult(**{**stored, "price": None if price is None else Decimal(price)})
