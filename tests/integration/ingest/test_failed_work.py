"""What fails by a bug is marked and shown, keeps nothing else waiting, and is tried again when it is asked for."""

from collections.abc import Sequence

import pytest

from tests.integration.index.test_communities import FOLK, TOWNS, told, towns
from tests.integration.index.test_settle import document
from tests.integration.ingest.test_summaries import described
from tests.integration.ingest.test_worker import CAPITALS, QUICK, Mill, Scripted
from trueweave import AsyncTrueweave, CommunityReport, Settings, Source
from trueweave.errors import ConfigError, Defect, ModelRefused
from trueweave.events import Failed, WorkFailed
from trueweave.extend import Extractor
from trueweave.graph.plan import Plan
from trueweave.graph.report_facts import Facts
from trueweave.index import linking
from trueweave.index.communities import extractive
from trueweave.index.planning import Planner
from trueweave.ingest.jobs import WorkerDependencies
from trueweave.ingest.recipe import Recipe
from trueweave.ingest.summaries import summarise_some
from trueweave.ingest.worker import Worker, worker_of
from trueweave.store.postgres.view.view import LONG_DESCRIPTION
from trueweave.testing import HashEmbedder


@pytest.fixture
def mill(trueweave: AsyncTrueweave) -> Mill:
    return Mill(trueweave)


# --- reports ------------------------------------------------------------------------------------------


async def test_a_community_whose_members_are_all_gone_has_no_report_and_asks_for_none(mill: Mill) -> None:
    trueweave = mill.trueweave
    await trueweave.add_documents(towns("Aldar", "Berth"))
    await trueweave.communities.find()
    assert (await trueweave.communities.write_reports()).reports == 2
    await trueweave.add_documents([told("Aldar", FOLK[0], FOLK[1], "hates", uri="Aldar/more"), *towns("Corin")])
    await trueweave.communities.find()
    await trueweave.remove([one.uri for one in towns("Aldar", "Corin")] + ["Aldar/more"])
    for _ in range(2):
        await mill.add(Source("a", "Ada knows Bob"))
    assert await trueweave.maintenance.failed_work() == []
    assert not [event for event in mill.events if isinstance(event, WorkFailed | Failed)]


async def test_a_report_that_fails_is_named_while_the_others_are_written(
    mill: Mill, monkeypatch: pytest.MonkeyPatch
) -> None:
    trueweave = mill.trueweave
    await trueweave.add_documents(towns(*TOWNS[:3]))
    await trueweave.communities.find()
    whole = extractive.extractive

    def broken(facts: Facts, texts: dict[object, str]) -> CommunityReport:
        if any("Berth" in fact.name for fact in facts.entities):
            raise IndexError("list index out of range")
        return whole(facts, texts)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(extractive, "extractive", broken)
        assert (await trueweave.communities.write_reports()).reports == 2
        [failed] = await trueweave.maintenance.failed_work()
        assert (failed.kind, failed.count) == ("report", 1)
        assert failed.about.startswith("community ")
        assert "unexpected IndexError: list index out of range" in failed.error
        await mill.add(Source("a", "Ada knows Bob"))
        assert [one.count for one in await trueweave.maintenance.failed_work()] == [1], "it is not tried at every turn"
    assert await trueweave.maintenance.retry() == 1
    assert await trueweave.maintenance.failed_work() == []
    assert sum(one.written == "written" for one in await trueweave.communities.select()) == 3


# --- settling and linking -----------------------------------------------------------------------------


async def test_a_document_that_cannot_be_settled_is_named_and_the_others_are_seen(
    mill: Mill, monkeypatch: pytest.MonkeyPatch
) -> None:
    trueweave = mill.trueweave
    plan = Planner.plan

    async def broken(self: Planner) -> Plan:
        made = await plan(self)
        if any(text.text == "bad text" for text in made.texts):
            raise KeyError("bad")
        return made

    with monkeypatch.context() as patch:
        patch.setattr(Planner, "plan", broken)
        await mill.add(*(Source(f"doc/{n}", f"Ada{n} knows Bob") for n in range(5)), Source("bad", "bad text"))
        assert (await trueweave.status()).documents == 5
        [failed] = await trueweave.maintenance.failed_work()
        assert (failed.kind, failed.about) == ("settle", "bad")
        assert [event.error for event in mill.events if isinstance(event, WorkFailed)]
        await mill.add(Source("more", "Cecil"))
        assert (await trueweave.status()).documents == 6
        with pytest.raises(Defect, match="bad: cannot be settled"):
            await trueweave.add_documents([document("bad", "Ada", text="bad text")])
    assert await trueweave.maintenance.retry() == 1
    assert (await trueweave.status()).documents == 7
    assert (await trueweave.maintenance.verify()).exact


async def test_a_failure_to_find_names_in_texts_does_not_keep_documents_from_being_seen(
    mill: Mill, monkeypatch: pytest.MonkeyPatch
) -> None:
    trueweave = mill.trueweave

    def broken(*_: object) -> None:
        raise ZeroDivisionError("a bug")

    with monkeypatch.context() as patch:
        patch.setattr(linking, "_linked", broken)
        await mill.add(Source("a", "Ada knows Bob"))
        assert (await trueweave.status()).documents == 1
        assert [one.kind for one in await trueweave.maintenance.failed_work()] == ["link"]
    await mill.add(Source("b", "Bob sleeps"))
    assert await trueweave.maintenance.failed_work() == [], "a worker that begins tries it again"
    assert (await trueweave.maintenance.verify()).exact


async def test_a_summary_that_fails_is_named_and_the_others_are_made(trueweave: AsyncTrueweave) -> None:
    long = "She wrote the first program. " * (LONG_DESCRIPTION // 20)
    await trueweave.add_documents([described("a", long)])

    async def broken(name: str, descriptions: str) -> str:
        raise TypeError("a bug")

    told: list[object] = []
    assert await summarise_some(trueweave.workspace, broken, told.append) == 1
    assert await summarise_some(trueweave.workspace, broken, told.append) == 0
    [failed] = await trueweave.maintenance.failed_work()
    assert (failed.kind, failed.about) == ("summary", "Ada")
    assert [event.about for event in told if isinstance(event, WorkFailed)] == ["Ada"]


# --- settings of what is queued -----------------------------------------------------------------------


class Missing(Scripted):
    """An extractor whose pipeline is not installed, or whose server refuses."""

    async def extract(self, source: Source, chunks: Sequence[object]) -> Sequence[object]:  # type: ignore[override]
        assert self.error
        raise self.error


@pytest.mark.parametrize("error", [ConfigError("the pipeline xx is not installed"), ModelRefused("wrong key")])
async def test_what_is_queued_fails_by_its_own_settings_and_stops_no_one_else(mill: Mill, error: Exception) -> None:
    trueweave = mill.trueweave
    other = Recipe(extractor="nlp", pipeline="xx")
    missing = Missing()
    missing.error = error

    def extractor(recipe: Recipe) -> Extractor:
        return missing if recipe == other else mill.extractor

    def worker(own: Recipe) -> Worker:
        kit = WorkerDependencies(extractor, HashEmbedder(), recipe=own)
        return worker_of(trueweave.workspace, kit, mill.events.append, QUICK)

    mill.worker = lambda *, patient=False: worker(other)  # type: ignore[method-assign]
    with pytest.raises(type(error)):
        await mill.add(Source("old", "Ada"), recipe=other)
    mill.worker = lambda *, patient=False: worker(CAPITALS)  # type: ignore[method-assign]
    await mill.add(Source("new", "Bob"))
    [aside] = await trueweave.maintenance.failed_documents()
    assert (aside.uri, aside.error, aside.failures) == ("old", str(error), 1)
    assert (await trueweave.status()).documents == 1


async def test_a_wrong_setting_of_a_run_is_told_before_anything_is_queued(trueweave: AsyncTrueweave) -> None:
    settings = Settings.load(extractor="nlp").model_copy(update={"pipeline": "no_such_pipeline"})
    wrong = AsyncTrueweave(trueweave.workspace, settings=settings)
    try:
        with pytest.raises(ConfigError, match=r"no_such_pipeline|needs spaCy"):
            await wrong.add(Source("a", "Ada"))
    finally:
        await wrong.aclose()
    assert (await trueweave.maintenance.ingest_progress()).waiting == 0
