"""Settings of the index that are measured side by side, while others write, leave or measure."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path

import psycopg
import pytest

from tests.integration.bench.test_generating import sources
from trueweave import AsyncTrueweave, Evidence, Source
from trueweave.bench import generating, loading
from trueweave.bench.datasets import find
from trueweave.bench.experiment import Experiment
from trueweave.bench.measures import usual
from trueweave.bench.results import results
from trueweave.bench.variants import Variants, graph_gain
from trueweave.errors import ConfigError
from trueweave.extend import Method, Query, QueryContext
from trueweave.methods import Keyword
from trueweave.store.postgres.cluster import temporary_workspaces

CHANGES: list[Mapping[str, str]] = [{"max_chunk_size": "60"}, {"max_chunk_size": "800"}]


@dataclass
class Staged:
    """A method like `keyword` that waits at one of its questions until it may go on."""

    at: int = 0
    asked: int = 0
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    may_go_on: asyncio.Event = field(default_factory=asyncio.Event)

    async def retrieve(self, query: Query, context: QueryContext) -> Evidence:
        self.asked += 1
        if self.asked == self.at:
            self.reached.set()
            await self.may_go_on.wait()
        return await Keyword(top_k=5).retrieve(query, context)

    def __repr__(self) -> str:
        return "Staged()"


def unseen(_what: str, _done: int, _of: int) -> None:
    """Progress that nobody looks at."""


def temporary(url: str) -> list[str]:
    """The names of temporary workspaces."""
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT name FROM trueweave.workspace WHERE expires IS NOT NULL AND NOT dropped")
        return [name for (name,) in rows]


@pytest.fixture
async def experiment(trueweave: AsyncTrueweave, tmp_path: Path) -> Experiment:
    """Six questions about a workspace with one long document besides."""
    long = "\n\n".join(f"Chapter {n} tells of the sea and of ship number {n}." for n in range(60))
    await trueweave.add(*sources(), Source("long.md", long))
    made = await generating.generate(trueweave, 6)
    generating.write(tmp_path / "own.jsonl", made.drafts)
    dataset = await loading.over_documents(trueweave, find(str(tmp_path / "own.jsonl")))
    return Experiment(trueweave, dataset, {"keyword": Keyword(top_k=5)}, usual([2, 5]))


async def test_every_combination_gets_an_index_of_its_own_which_is_dropped(
    experiment: Experiment, url: str, tmp_path: Path
) -> None:
    before = await experiment.trueweave.status()
    measured, ran, indexes = await Variants(experiment, CHANGES, tmp_path / "out").run(unseen)
    assert list(measured.methods) == ["keyword with max_chunk_size=60", "keyword with max_chunk_size=800"]
    small, large = indexes
    assert small.chunks > large.chunks >= 17
    assert small.size > 0
    assert small.tokens == 0
    assert small.price == Decimal(0)
    found = results(measured, ran, passages=17, under={})
    assert all(one.scores["recall@5"].mean > 0.8 for one in found.methods), "quotes are found in chunks of other sizes"
    assert graph_gain(measured, ran, indexes, found.leading) is None, "no method uses the graph"
    assert temporary(url) == []
    assert await experiment.trueweave.status() == before
    assert not (tmp_path / "out" / "unfinished").exists()


async def test_the_graph_is_compared_with_the_best_without_it(experiment: Experiment, tmp_path: Path) -> None:
    methods: dict[str, Method] = {"keyword": Keyword(top_k=5), "weave": Keyword(top_k=1)}
    varied = Variants(replace(experiment, methods=methods), CHANGES[:1], tmp_path / "out")
    measured, ran, indexes = await varied.run(unseen)
    gain = graph_gain(measured, ran, indexes, "recall@5")
    assert gain is not None
    assert (gain.using, gain.without) == ("weave with max_chunk_size=60", "keyword with max_chunk_size=60")
    assert gain.interval.mean < 0


async def test_an_interrupted_run_leaves_no_index_and_resumes_after_the_last_one(
    experiment: Experiment, url: str, tmp_path: Path
) -> None:
    staged = Staged(at=8)  # in the second index
    varied = Variants(replace(experiment, methods={"keyword": staged}), CHANGES, tmp_path / "out")
    running = asyncio.create_task(varied.run(unseen))
    await asyncio.wait_for(staged.reached.wait(), 60)
    assert len(temporary(url)) == 1
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert temporary(url) == []
    staged.at, staged.asked = 0, 0
    _, ran, indexes = await varied.run(unseen)
    assert staged.asked == 5, "nothing that was asked is asked again"
    assert len(ran.outcomes) == 12
    assert len(indexes) == 2


async def test_documents_that_change_meanwhile_end_the_run(experiment: Experiment, url: str, tmp_path: Path) -> None:
    staged = Staged(at=8)
    varied = Variants(replace(experiment, methods={"keyword": staged}), CHANGES, tmp_path / "out")
    running = asyncio.create_task(varied.run(unseen))
    await asyncio.wait_for(staged.reached.wait(), 60)
    await experiment.trueweave.add(Source("new.md", "Something new."))
    staged.may_go_on.set()
    with pytest.raises(ConfigError, match="documents of the workspace have changed while"):
        await running
    assert temporary(url) == []
    staged.at, staged.asked = 0, 0
    await varied.run(unseen)
    assert staged.asked == 12, "nothing that was measured with the former documents is taken over"


async def test_two_runs_at_the_same_time_need_two_folders(experiment: Experiment, tmp_path: Path) -> None:
    staged = Staged(at=1)
    varied = Variants(replace(experiment, methods={"keyword": staged}), CHANGES[:1], tmp_path / "out")
    running = asyncio.create_task(varied.run(unseen))
    await asyncio.wait_for(staged.reached.wait(), 60)
    with pytest.raises(ConfigError, match="another process is measuring into"):
        await Variants(experiment, CHANGES[:1], tmp_path / "out").run(unseen)
    _, other, _ = await Variants(experiment, CHANGES[:1], tmp_path / "other").run(unseen)
    staged.may_go_on.set()
    _, ran, _ = await running
    assert [one.found for one in ran.outcomes] == [one.found for one in other.outcomes]


async def test_the_index_of_a_killed_process_is_dropped_by_the_next_run(
    experiment: Experiment, url: str, tmp_path: Path
) -> None:
    """But not that of a process that is alive, which extends its life."""
    database = experiment.trueweave.database
    async with database.transaction(None) as tx:
        for name in ("vary-dead", "vary-alive"):
            await tx.value("temporary_workspace.make", name=name, lasts=temporary_workspaces._LASTS)
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE trueweave.workspace SET expires = now() - interval '1 s' WHERE name = 'vary-dead'")
    await Variants(experiment, CHANGES[:1], tmp_path / "out").run(unseen)
    assert temporary(url) == ["vary-alive"]


async def test_a_file_that_cannot_be_written_is_an_error(experiment: Experiment, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(ConfigError, match="Give --out another folder"):
        await Variants(experiment, CHANGES[:1], tmp_path / "out").run(unseen)
