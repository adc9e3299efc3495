"""Questions on a standby while the primary takes in documents, and what a promotion loses.

    python benchmarks/standby.py            # some minutes; writes results/standby.json
    python benchmarks/standby.py --smoke    # a few seconds of each; writes nothing

a: questions with the primary alone and with a standby, in turns: while nobody writes, and while another process adds
documents one by one. Both servers share the machine, so that what a standby brings shows in the processor time that the
primary spends, not in questions a second. b: a document is added by one pool of connections and asked for by another at
once, also where the standby replays commits late; beside it, whether the document was on the standby when it was
acknowledged, as a bound on lag alone would have it. c: the primary is killed while documents are
added, and the standby promoted; also after the sender of its log has stood still, as over a link that stalls.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, islice
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import corpora
import psycopg
from parts import carried_out

sys.path.append(str(Path(__file__).parents[1]))

from tests.replication import Server, both, no_standby, replicated
from trueweave import AsyncTrueweave, Document, Settings
from trueweave.engine.database import opened_database
from trueweave.errors import DatabaseError
from trueweave.store.postgres.standby_reads import StandbyState
from trueweave.testing import HashEmbedder

RESULTS = Path(__file__).parent / "results" / "standby.json"
METHOD = "hybrid"
AT_ONCE = 4
WRITERS = 4
Figures = dict[str, Any]


@dataclass(frozen=True)
class Size:
    """How much is done: documents that are there at first, seconds of each turn, turns, documents that are added and
    asked for, promotions of each kind, and seconds of writing before each."""

    documents: int = 1500
    seconds: float = 15.0
    turns: int = 3
    own: int = 100
    promotions: int = 3
    writing: float = 4.0


SMOKE = Size(60, 1.5, 1, 5, 1, 1.0)


@asynccontextmanager
async def opened(url: str, *standbys: str) -> AsyncIterator[AsyncTrueweave]:
    """A workspace in a process that asks or writes, with the default settings but for standbys."""
    settings = Settings(database_url=url, standby_urls=standbys, graph_vectors=True)
    async with opened_database(settings) as database:
        trueweave = await AsyncTrueweave.enter(database, "standby", HashEmbedder(256), settings=settings)
        try:
            yield trueweave
        finally:
            await trueweave.aclose()


def _state(trueweave: AsyncTrueweave) -> StandbyState | None:
    standbys = trueweave.workspace.database.standbys
    return standbys.states()[0] if standbys else None


async def _is_used(trueweave: AsyncTrueweave) -> None:
    standbys = trueweave.workspace.database.standbys
    assert standbys
    [state] = await standbys.look(30)
    assert not state.problem, state


def _renamed(documents: Sequence[Document], n: int) -> Document:
    """One of these as a document that was not there before."""
    one = documents[n % len(documents)]
    [chunk] = one.chunks
    return replace(one, uri=f"added/{n}", chunks=(replace(chunk, text=f"{chunk.text} Number {n}."),))


# --- a: questions while documents are added ---------------------------------------------------------------------


@asynccontextmanager
async def _writing(server: Server, first: int) -> AsyncIterator[Callable[[], int]]:
    """A process that adds documents one by one, from the number `first` on; none, if that is 0. How many it added."""
    if not first:
        yield lambda: 0
        return
    context = multiprocessing.get_context("spawn")
    added, stop = context.Value("q", 0), context.Event()
    writer = context.Process(target=_write, args=(server.url, first, added, stop))
    writer.start()
    try:
        while not added.value and writer.is_alive():  # noqa: ASYNC110 (of another process)
            await asyncio.sleep(0.05)
        yield lambda: int(added.value)
    finally:
        stop.set()
        await asyncio.to_thread(writer.join)
    assert writer.exitcode == 0


def _write(url: str, first: int, added: Any, stop: Event) -> None:
    asyncio.run(_written(url, first, added, stop))


async def _written(url: str, first: int, added: Any, stop: Event) -> None:
    documents = corpora.musique_train100()
    async with opened(url) as trueweave:
        for n in count(first):
            await trueweave.add_documents([_renamed(documents, n)])
            added.value += 1
            if stop.is_set():
                return


@dataclass
class Turns:
    """What was measured of one way to ask, over all its turns."""

    took: list[float]
    seconds: float = 0.0
    added: int = 0
    primary: float = 0.0
    standby: float = 0.0
    reads: int = 0
    passed_over: int = 0

    def figures(self) -> Figures:
        questions = len(self.took)
        ordered = sorted(self.took)
        return {
            "questions": questions,
            "questions_per_second": round(questions / self.seconds, 1),
            "p50_ms": round(1000 * statistics.median(ordered), 1),
            "p95_ms": round(1000 * ordered[int(0.95 * (questions - 1))], 1),
            "documents_per_second": round(self.added / self.seconds, 2),
            "primary_processor_ms_per_question": round(1000 * self.primary / questions, 1),
            "standby_processor_ms_per_question": round(1000 * self.standby / questions, 1),
            "statements_by_standby": self.reads,
            "statements_passed_over": self.passed_over,
        }


def _processor(server: Server) -> dict[int, float]:
    """The processor time that each process of a server has spent so far, in seconds."""
    spent = {}
    for one in server.processes:
        times = one.cpu_times()
        spent[one.pid] = times.user + times.system
    return spent


def _since(server: Server, before: dict[int, float]) -> float:
    return sum(spent - before.get(pid, 0.0) for pid, spent in _processor(server).items())


async def _turn(pair: tuple[Server, Server], turns: Turns, size: Size, first: int, *, standby: bool) -> None:
    """Ask for a while; documents are added meanwhile, from the number `first` on, unless that is 0."""
    primary, other = pair
    documents = corpora.musique_train100()[: size.documents]
    numbers = count(first)
    async with opened(primary.url, *([other.url] if standby else ())) as trueweave, _writing(primary, first) as added:
        if standby:
            await _is_used(trueweave)

        async def ask() -> None:
            asked = documents[next(numbers) % len(documents)]
            await trueweave.retrieve(f"What is known about {asked.title}?", METHOD)

        async def ask_until(end: float) -> None:
            while time.perf_counter() < end:
                began = time.perf_counter()
                await ask()
                turns.took.append(time.perf_counter() - began)

        await asyncio.gather(*(ask() for _ in range(2 * AT_ONCE)))  # connections are made, and plans
        before = _processor(primary), _processor(other)
        counted, there = _state(trueweave), added()
        began = time.perf_counter()
        await asyncio.gather(*(ask_until(began + size.seconds) for _ in range(AT_ONCE)))
        turns.seconds += time.perf_counter() - began
        turns.added += added() - there
        turns.primary += _since(primary, before[0])
        turns.standby += _since(other, before[1])
        if counted and (now := _state(trueweave)):
            turns.reads += now.reads - counted.reads
            turns.passed_over += now.failures - counted.failures


async def asking(pair: tuple[Server, Server], size: Size) -> Figures:
    """Questions with the primary alone and with a standby, in turns."""
    figures: Figures = {"at_once": AT_ONCE, "method": METHOD}
    numbers = count(1)
    for name, writes in (("nobody_writes", False), ("documents_are_added", True)):
        alone, beside = Turns([]), Turns([])
        for _ in range(size.turns):
            for turns in (alone, beside):
                await _turn(pair, turns, size, writes * 100_000 * next(numbers), standby=turns is beside)
        figures[name] = {"primary": alone.figures(), "standby": beside.figures()}
    return figures


# --- b: what was just added is found -----------------------------------------------------------------------------


async def own_writes(pair: tuple[Server, Server], size: Size) -> Figures:
    """Documents that are asked for the moment they are acknowledged, by how late the standby replays commits."""
    figures = {}
    numbers = count(10_000_000)
    for milliseconds in (0, 100, 500):
        _, standby = pair
        standby.execute(f"ALTER SYSTEM SET recovery_min_apply_delay = '{milliseconds} ms'")
        standby.execute("SELECT pg_reload_conf()")
        figures[f"replayed_{milliseconds}_ms_late"] = await _own_writes(pair, size, numbers)
    return figures


async def _own_writes(pair: tuple[Server, Server], size: Size, numbers: count[int]) -> Figures:
    primary, standby = pair
    documents = corpora.musique_train100()
    found = there = 0
    took = []
    async with opened(primary.url, standby.url) as trueweave, opened(primary.url) as writing:
        await _is_used(trueweave)
        with psycopg.connect(standby.url, autocommit=True) as connection:
            for n in islice(numbers, size.own):
                added = _renamed(documents, n)
                await writing.add_documents([added])
                query = "SELECT EXISTS (SELECT FROM trueweave.document WHERE uri = %s)"
                row = connection.execute(query, (added.uri,)).fetchone()
                there += bool(row and row[0])
                began = time.perf_counter()
                evidence = await trueweave.retrieve(f"Number {n}", "keyword")
                took.append(time.perf_counter() - began)
                found += added.uri in {passage.uri for passage in evidence.passages}
        state = _state(trueweave)
    assert state
    return {
        "documents": size.own,
        "found_share": found / size.own,
        "on_standby_when_acknowledged_share": there / size.own,
        "statements_by_standby": state.reads,
        "question_p50_ms": round(1000 * statistics.median(took), 1),
    }


# --- c: promotion ------------------------------------------------------------------------------------------------


async def _again(act: Callable[[], Awaitable[object]]) -> None:
    """Do this until it succeeds, as whoever calls a service does."""
    end = time.monotonic() + 60
    while True:
        try:
            await act()
        except DatabaseError:
            if time.monotonic() > end:
                raise
            await asyncio.sleep(0.05)
        else:
            return


async def promotion(size: Size, *, synchronous: bool, stalled: float) -> Figures:
    """Documents that were acknowledged before the primary was killed, and are not there after the promotion."""
    documents = corpora.musique_train100()
    with replicated() as (primary, standby):
        await AsyncTrueweave.migrate(primary.url)
        if synchronous:
            primary.execute("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
            primary.execute("SELECT pg_reload_conf()")
            await asyncio.sleep(1)
            assert primary.execute("SELECT sync_state FROM pg_stat_replication") == [("sync",)]
        acknowledged: list[tuple[float, str]] = []
        stop, enough = asyncio.Event(), asyncio.Event()
        wanted = sys.maxsize
        numbers = count()
        async with opened(both(primary, standby)) as trueweave:

            async def write() -> None:
                while not stop.is_set():
                    added = _renamed(documents, next(numbers))
                    await _again(partial(trueweave.add_documents, [added]))
                    acknowledged.append((time.monotonic(), added.uri))
                    if len(acknowledged) >= wanted:
                        enough.set()

            async with asyncio.TaskGroup() as group:
                for _ in range(WRITERS):
                    group.create_task(write())
                await asyncio.sleep(size.writing)
                if stalled:
                    [sender] = [one for one in primary.processes if "walsender" in " ".join(one.cmdline())]
                    sender.suspend()
                    await asyncio.sleep(stalled)
                await asyncio.to_thread(primary.kill)
                killed = time.monotonic()
                before = {uri for at, uri in acknowledged if at < killed}
                promoting = await asyncio.to_thread(standby.promote)
                if synchronous:
                    standby.execute("ALTER SYSTEM SET synchronous_standby_names = ''")
                    standby.execute("SELECT pg_reload_conf()")
                wanted = len(acknowledged) + 2 * WRITERS
                await enough.wait()
                stop.set()
            kept = {one.uri for one in await trueweave.list_documents(1_000_000)}
            verdict = await trueweave.maintenance.verify()
    return {
        "acknowledged": len(before),
        "lost": len(before - kept),
        "first_write_after_s": round(next(at for at, _ in acknowledged if at > killed) - killed, 2),
        "promotion_s": round(promoting, 2),
        "exact": verdict.exact,
    }


async def promotions(size: Size) -> Figures:
    """Promotions with synchronous and with asynchronous replication, where nothing stalls and where the sender does."""
    figures = {}
    for name, synchronous, stalled in (
        ("synchronous", True, 0.0),
        ("synchronous_stalled_1s", True, 1.0),
        ("asynchronous", False, 0.0),
        ("asynchronous_stalled_1s", False, 1.0),
    ):
        figures[name] = [
            await promotion(size, synchronous=synchronous, stalled=stalled) for _ in range(size.promotions)
        ]
        print(f"  {name}: {figures[name]}", file=sys.stderr)
    return figures


async def run(size: Size, only: str) -> Figures:
    """All three parts, or some of them."""
    with replicated() as pair:
        await AsyncTrueweave.migrate(pair[0].url)
        async with opened(pair[0].url) as trueweave:
            await trueweave.add_documents(corpora.musique_train100()[: size.documents])
        parts = (
            ("asking", lambda: asking(pair, size)),
            ("own_writes", lambda: own_writes(pair, size)),
            ("promotion", lambda: promotions(size)),
        )
        return {"documents": size.documents, **await carried_out(parts, only)}


def main() -> None:
    """Run as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="a little of everything, to see that it runs")
    parser.add_argument("--only", default="", help="parts to run, by their names; the others' results stay")
    options = parser.parse_args()
    if not corpora.are_there(smoke=options.smoke):
        return
    if reason := no_standby():
        sys.exit(reason)
    figures = asyncio.run(run(SMOKE if options.smoke else Size(), options.only))
    assert all(one["found_share"] == 1 for one in figures.get("own_writes", {}).values()), figures
    for name, runs in figures.get("promotion", {}).items():
        assert all(one["exact"] and not (one["lost"] and name.startswith("synchronous")) for one in runs), figures
    if not options.smoke:
        before = json.loads(RESULTS.read_text()) if options.only and RESULTS.exists() else {}
        RESULTS.write_text(json.dumps(before | figures, indent=1) + "\n")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
