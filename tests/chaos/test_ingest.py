"""Workers, model server and PostgreSQL are killed at random moments: all documents come in, and are paid for once."""

import asyncio
import random
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from tests.chaos import calls
from tests.chaos.calls import Kind, hash_of
from tests.chaos.corpus import documents, reply
from tests.chaos.scene import Scene, scene
from tests.chaos.worker import WORKSPACE, settings
from trueweave import AsyncTrueweave, Source
from trueweave.core.events import ignore
from trueweave.engine import model_settings
from trueweave.ingest.intake import take_in
from trueweave.store.embedded import EmbeddedServer
from trueweave.store.postgres.schema.migrate import migrate
from trueweave.testing import ModelServer

SEED = 7
WORKERS = 3
STARTS_IN = 60.0  # seconds in which a worker starts to call the model, however busy the machine is
PROBE = "trueweave"  # the word that an embedder is opened with, to learn its dimension
NOWHERE = "http://127.0.0.1:9/v1"


@dataclass(frozen=True)
class Form:
    """How much of it."""

    documents: int
    kills: Mapping[Kind, int]
    gap: tuple[float, float]  # seconds between two kills
    delay: float  # seconds that a reply takes
    patience: float  # seconds after the last kill
    faults: Mapping[str, float] = field(default_factory=dict)


SHORT = Form(20, {"worker": 3, "model server": 2, "postmaster": 1, "backend": 1}, (0.2, 3.0), 0.4, 120)
FULL = Form(500, {"worker": 22, "model server": 12, "postmaster": 8, "backend": 6}, (0.2, 6.0), 0.05, 900)
TROUBLED = replace(FULL, faults={"rate-limit": 0.02, "drop-first": 0.01, "drop-middle": 0.01})


@pytest.fixture
def postgres() -> Iterator[EmbeddedServer]:
    """A server of these tests' own, which forgets nothing when it is killed."""
    with tempfile.TemporaryDirectory() as root:
        Path(root).chmod(0o755)
        server = EmbeddedServer(Path(root, "server"), {"shared_buffers": "128MB"})
        asyncio.run(migrate(server.start()))
        yield server
        server.stop()


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody's settings are in force here."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
async def trueweave(postgres: EmbeddedServer) -> AsyncIterator[AsyncTrueweave]:
    """Who hands documents in and looks at the outcome."""
    async with AsyncTrueweave.open(postgres.url, WORKSPACE, settings=settings(NOWHERE), make=True) as opened:
        yield opened


@pytest.mark.parametrize("troubled", [False, True], ids=["", "troubled"])
async def test_whatever_is_killed_every_document_comes_in_and_no_call_is_repeated_that_was_not_in_flight(
    trueweave: AsyncTrueweave, postgres: EmbeddedServer, tmp_path: Path, full: bool, troubled: bool
) -> None:
    """Three workers; a call is in flight as `calls` defines it, from the model server's own log."""
    if troubled and not full:
        pytest.skip("only in the full run")
    form = TROUBLED if troubled else FULL if full else SHORT
    began = time.monotonic()
    async with scene(tmp_path, postgres, form.delay, form.faults, WORKERS) as stage:
        await _make_havoc(stage, trueweave, form)
        assert len(stage.workers) < WORKERS, "the last one that was killed stays dead"
        await _wait_until_done(stage, trueweave, form.patience)
        seconds = time.monotonic() - began
        stage.end()
    _check_calls(stage, seconds)
    assert await trueweave.maintenance.failed_documents() == []
    assert (await trueweave.status()).documents == form.documents
    async with ModelServer(reply) as server:
        async with AsyncTrueweave.open(postgres.url, WORKSPACE, settings=settings(server.url), make=True) as whole:
            assert (await whole.maintenance.verify()).exact
            digest = await whole.maintenance.digest()
        async with AsyncTrueweave.open(
            postgres.url, "undisturbed", settings=settings(server.url), make=True
        ) as undisturbed:
            await undisturbed.add(*documents(form.documents, SEED))
            assert await undisturbed.maintenance.digest() == digest


async def test_adding_goes_on_by_itself_when_postgresql_is_killed_and_no_call_is_repeated(
    postgres: EmbeddedServer, tmp_path: Path
) -> None:
    stage = Scene(tmp_path, postgres)
    async with (
        ModelServer(reply, delay=0.1) as server,
        AsyncTrueweave.open(postgres.url, WORKSPACE, settings=settings(server.url), make=True) as adder,
    ):
        adding = asyncio.create_task(adder.add(*documents(12, SEED)))
        kinds: tuple[Kind, ...] = ("postmaster", "backend", "postmaster")
        for kind in kinds:
            await asyncio.sleep(1)
            assert not adding.done()
            await stage.kill(kind, random.Random(SEED))
        await asyncio.wait_for(adding, 120)
        assert (await adder.status()).documents == 12
        assert (await adder.maintenance.verify()).exact
    asked = [call.key for call in server.calls]
    assert len(asked) == len(set(asked))


async def _make_havoc(stage: Scene, trueweave: AsyncTrueweave, form: Form) -> None:
    """Hand the documents in, half of them first and some after each kill, and kill. Every other worker stays dead, the
    last one for good: its work is taken over when its leases end, while there is other work to do."""
    chance = random.Random(SEED)
    kinds = list(Counter(form.kills).elements())
    chance.shuffle(kinds)
    kinds.append(kinds.pop(kinds.index("worker")))
    sources = list(documents(form.documents, SEED))
    half = len(sources) // 2
    share = (len(sources) - half) / len(kinds)
    await _hand_in(trueweave, sources[:half])
    while len(calls.read(stage.log)) < WORKERS:  # noqa: ASYNC110 (until the workers are there)
        await asyncio.sleep(0.1)
    for number, kind in enumerate(kinds):
        called = stage.log.stat().st_size
        await asyncio.sleep(chance.uniform(*form.gap))
        await _until_called(stage, called)
        await stage.kill(kind, chance, stays_dead=(form.kills["worker"] - kinds[:number].count("worker")) % 2 == 1)
        await _hand_in(trueweave, sources[half + round(number * share) : half + round((number + 1) * share)])


async def _until_called(stage: Scene, called: int) -> None:
    """Wait until a worker calls the model after the last kill: on a busy machine it takes long to start one. When all
    that was handed in is done, nobody calls any more."""
    end = time.monotonic() + STARTS_IN
    while stage.log.stat().st_size <= called and time.monotonic() < end:  # noqa: ASYNC110 (other processes act)
        await asyncio.sleep(0.05)


async def _hand_in(trueweave: AsyncTrueweave, sources: list[Source]) -> None:
    recipe = model_settings.recipe(settings(NOWHERE))
    await take_in(trueweave.workspace, sources, recipe, ignore)


async def _wait_until_done(stage: Scene, trueweave: AsyncTrueweave, patience: float) -> None:
    async def left() -> bool:
        async with trueweave.workspace.transaction() as tx:
            return bool(await tx.value("source.any_left") or await tx.value("summary.any_due"))

    end = time.monotonic() + patience
    while await trueweave.database.retry_while_down(left):
        stage.check_nobody_left()
        assert time.monotonic() < end, f"{await trueweave.status()}\n{stage.said()}"
        await asyncio.sleep(0.2)


def _check_calls(stage: Scene, seconds: float) -> None:
    """Each call that was made again was in flight at a kill. So there are no more than needed and in flight."""
    every = calls.read(stage.log)
    made = [call for call in every if call.fault is None and call.what != (hash_of(PROBE),)]
    lost = {call: kill for kill in stage.kills for call in calls.in_flight(made, kill, stage.kills)}
    print(f"\n{len(stage.kills)} kills in {seconds:.0f} s: {dict(Counter(kill.kind for kill in stage.kills))}")
    print(f"{stage.unreplaced} of the workers stayed dead")
    print(f"{len(every) - len(made)} calls that were refused or dropped, or asked for a dimension")
    for kind in ("chat", "embed"):
        asked = [what for call in made if call.kind == kind for what in call.what]
        needed = len(set(asked))
        in_flight = sum(len(call.what) for call in lost if call.kind == kind)
        ended = sum(len(call.what) for call, kill in lost.items() if call.kind == kind and call.ended < kill.after)
        print(f"{kind}: {needed} needed, {len(asked)} made, {len(asked) - needed} repeated", end="; ")
        print(f"{in_flight} in flight, {ended} of these on their way from the worker to the database")
        assert len(asked) <= needed + in_flight
    assert lost, "all kills missed: nothing was in flight"
    unexplained = [call for _, call in calls.repeated(made) if call not in lost]
    assert not unexplained, f"in vain, and not in flight at any kill: {unexplained}\n{stage.kills}"
