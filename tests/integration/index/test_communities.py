"""Communities follow the graph: what they are depends on it alone, who they are on those before, and only what changed
is written about again."""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import combinations, pairwise
from pathlib import Path
from uuid import UUID
from xml.etree import ElementTree

import pytest

from trueweave import AsyncTrueweave, Chunk, Document, Evidence, Filter, Link, Mention, Settings, Source
from trueweave.core.model_calls import Purpose
from trueweave.errors import (
    BadReply,
    BudgetReached,
    ConfigError,
    InvalidArgument,
    ModelUnavailable,
    NoReports,
    UnknownCommunity,
)
from trueweave.extend import Database, Prompt, Reply
from trueweave.graph.community_ids import LEAST_SHARED
from trueweave.index.communities.reports import Reporting, write_reports
from trueweave.index.communities.writer import ReportWriter
from trueweave.methods import Auto, Community, Drift, GraphRag, Keyword, Naive
from trueweave.store.postgres.view import communities as store
from trueweave.store.postgres.view.communities import LEAST_MEMBERS
from trueweave.testing import HashEmbedder

TOWNS = ("Aldar", "Berth", "Corin", "Dunmere", "Eskel", "Farrow")
FOLK = ("miller", "smith", "reeve", "priest", "ferryman", "innkeeper", "widow")
Members = dict[UUID, frozenset[UUID]]


@dataclass
class Model:
    """Writes a report that rests on the first thing it is shown, and keeps count."""

    model: str = "testing/scripted"
    asked: list[Prompt] = field(default_factory=list)
    replies: Mapping[str, str] = field(default_factory=dict)
    tokens: int = 5

    async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        self.asked.append(prompt)
        await asyncio.sleep(0)
        finding = {
            "summary": "They know each other.",
            "text": "All of them do.",
            "references": ["E1", "R1", "F1", "X9"],
        }
        report = {"title": f"Report {len(self.asked)}", "summary": "A town.", "rating": 7, "reason": "It is there."}
        return Reply(self.replies.get(purpose.stage) or json.dumps(report | {"findings": [finding]}), 10, self.tokens)

    async def stream(self, prompt: Prompt, purpose: Purpose) -> AsyncIterator[str | Reply]:
        yield await self.complete(prompt, purpose)


@dataclass
class Failing(Model):
    """Is away after a few calls."""

    after: int = 0

    async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        if len(self.asked) == self.after:
            raise ModelUnavailable("it is away")
        return await super().complete(prompt, purpose)


def told(town: str, a: str, b: str, how: str = "knows", uri: str = "") -> Document:
    """A document in which somebody of a town knows somebody else there."""
    ends = f"{a} of {town}", f"{b} of {town}"
    text = f"The {ends[0]} {how} the {ends[1]}."
    link = Link(*ends, how)
    return Document(uri or f"{town}/{a}/{b}", (Chunk(text, mentions=tuple(map(Mention, ends)), links=(link,)),))


def towns(*names: str) -> list[Document]:
    return [told(town, a, b) for town in names for a, b in combinations(FOLK, 2)]


def road(a: str, b: str) -> Document:
    """Two towns that hang together by their ferrymen."""
    ends = f"ferryman of {a}", f"ferryman of {b}"
    return Document(f"road/{a}/{b}", (Chunk(f"A road from {a} to {b}.", links=(Link(*ends, "meets"),)),))


async def everybody(trueweave: AsyncTrueweave) -> Members:
    """The members of each community."""
    found = await trueweave.communities.select(limit=10_000)
    return {one.id: frozenset(e.id for e in await trueweave.communities.members(one.id, 10_000)) for one in found}


async def hashes(trueweave: AsyncTrueweave) -> dict[UUID, UUID]:
    """What each community that is large enough to be written about says."""
    async with trueweave.workspace.transaction() as tx:
        rows = await (await tx.execute("SELECT id, hash, size FROM community")).fetchall()
    return {id_: hash_ for id_, hash_, size in rows if size >= LEAST_MEMBERS}


async def write(trueweave: AsyncTrueweave, model: Model) -> int:
    """Have the model write all reports that are wanted; how many there were."""
    how = Reporting(ReportWriter(model), HashEmbedder(16))
    return sum([page.reports async for page in write_reports(trueweave.workspace, how)])


@pytest.fixture
async def trueweave(database: Database) -> AsyncTrueweave:
    return await AsyncTrueweave.enter(database, "test", HashEmbedder(16))


# --- what they are ------------------------------------------------------------------------------------


async def test_each_town_is_a_community(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents(
        [*towns("Aldar", "Berth", "Corin"), road("Aldar", "Berth"), told("Dunmere", "smith", "reeve")]
    )
    await trueweave.add_documents([Document("alone", (Chunk("A hermit.", mentions=(Mention("Hermit"),)),))])
    found = await trueweave.communities.find()
    assert (found.changed, found.unchanged, found.removed) == (0, 0, 0)
    names = {
        frozenset(e.name for e in await trueweave.communities.members(one.id))
        for one in await trueweave.communities.select()
    }
    for town in ("Aldar", "Berth", "Corin"):
        assert frozenset(f"{one} of {town}" for one in FOLK) in names
    assert frozenset({"smith of Dunmere", "reeve of Dunmere"}) in names
    whole = await trueweave.communities.hierarchy()
    assert whole is not None
    assert (whole.entities, whole.alone, whole.behind) == (24, 1, False)
    assert "graspologic-native" in whole.library
    assert whole.modularity > 0.5
    [small] = [one for one in await trueweave.communities.select() if one.written == "small"]
    assert small.size == 2


async def test_they_depend_on_the_graph_alone(trueweave: AsyncTrueweave, database: Database) -> None:
    await trueweave.add_documents(towns(*TOWNS))
    await trueweave.communities.find()
    await trueweave.remove([f"Aldar/{a}/{b}" for a, b in combinations(FOLK, 2)])
    await trueweave.communities.find()
    await trueweave.add_documents(road(a, b) for a, b in combinations(TOWNS[1:], 2))
    assert (await trueweave.communities.hierarchy()).behind  # type: ignore[union-attr]
    await trueweave.communities.find()
    other = await AsyncTrueweave.enter(database, "other", HashEmbedder(16))
    documents = [*(road(a, b) for a, b in combinations(TOWNS[1:], 2)), *towns(*reversed(TOWNS[1:]))]
    await other.add_documents(documents)
    await other.communities.find()
    assert await trueweave.maintenance.digest() == await other.maintenance.digest()
    assert (await trueweave.maintenance.verify()).exact


async def test_where_nothing_changed_nothing_is_done(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents(towns(*TOWNS))
    first = await trueweave.communities.find()
    before = await trueweave.communities.select(limit=1000)
    again = await trueweave.communities.find()
    assert (again.added, again.changed, again.unchanged, again.removed) == (0, 0, first.added, 0)
    assert await trueweave.communities.select(limit=1000) == before


async def test_an_empty_workspace_has_none(trueweave: AsyncTrueweave) -> None:
    assert await trueweave.communities.hierarchy() is None
    assert (await trueweave.communities.find()).added == 0
    assert await trueweave.communities.select() == []
    assert (await trueweave.communities.write_reports()).reports == 0


async def test_entities_without_relations_are_in_none(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents([Document("alone", (Chunk("A hermit.", mentions=(Mention("Hermit"),)),))])
    await trueweave.communities.find()
    whole = await trueweave.communities.hierarchy()
    assert whole is not None
    assert (whole.entities, whole.alone, whole.levels, whole.modularity) == (1, 1, (), 0)


# --- who they are, and what is stale ------------------------------------------------------------------


async def test_identity_and_staleness_follow_the_rule_through_random_changes(trueweave: AsyncTrueweave) -> None:
    chance = random.Random(7)
    everything = [*towns(*TOWNS), *(road(a, b) for a, b in combinations(TOWNS, 2))]
    here = {one.uri for one in chance.sample(everything, 90)}
    await trueweave.add_documents(one for one in everything if one.uri in here)
    await trueweave.communities.find()
    model = Model()
    assert await write(trueweave, model) == len(model.asked) == len(await hashes(trueweave))
    for _ in range(12):
        members, said = await everybody(trueweave), await hashes(trueweave)
        going = set(chance.sample(sorted(here), 6))
        coming = chance.sample([one for one in everything if one.uri not in here], 6)
        here = here - going | {one.uri for one in coming}
        await trueweave.remove(sorted(going))
        changed = [told("Aldar", "smith", "priest", chance.choice(("owes", "fears", "likes")), uri="Aldar/said")]
        await trueweave.add_documents([*coming, *changed])
        counted = await trueweave.communities.find()
        now, says = await everybody(trueweave), await hashes(trueweave)
        assert_labels_follow(members, now)
        assert counted.added == len(now.keys() - members.keys())
        assert counted.removed == len(members.keys() - now.keys())
        assert counted.unchanged + counted.changed == len(now.keys() & members.keys())

        new_or_changed = {id_ for id_, hash_ in says.items() if said.get(id_) != hash_}
        listed = {one.id: one.written for one in await trueweave.communities.select(limit=1000)}
        assert {id_ for id_, state in listed.items() if state in ("stale", "unwritten")} == new_or_changed
        for id_ in new_or_changed & said.keys():
            report = await trueweave.communities.report(id_)
            assert report is None or report.stale, "what may quote a removed document is gone, the rest is stale"
        model.asked.clear()
        assert await write(trueweave, model) == len(model.asked) == len(new_or_changed), "each once, and no other"
        states = {one.written for one in await trueweave.communities.select(limit=1000)}
        assert states <= {"written", "small"}
    assert (await trueweave.maintenance.verify()).exact


def assert_labels_follow(before: Members, now: Members) -> None:
    """Each label is with the community that shares most: no other pair is closer than both that the two are in."""

    def closeness(a: frozenset[UUID], b: frozenset[UUID]) -> float:
        return len(a & b) / len(a | b)

    kept = {id_: closeness(before[id_], now[id_]) for id_ in before.keys() & now.keys()}
    assert all(value >= LEAST_SHARED for value in kept.values())
    for old, was in before.items():
        for new, is_ in now.items():
            value = closeness(was, is_)
            if value >= LEAST_SHARED and old != new:
                assert max(kept.get(old, 0.0), kept.get(new, 0.0)) >= value


async def test_a_community_that_becomes_too_small_loses_its_report(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents([told("Aldar", a, b) for a, b in combinations(FOLK[:3], 2)])
    await trueweave.communities.find()
    await trueweave.communities.write_reports()
    await trueweave.remove(["Aldar/miller/smith", "Aldar/miller/reeve"])
    await trueweave.communities.find()
    [town] = await trueweave.communities.select()
    assert (town.size, town.written) == (2, "small")
    assert await trueweave.communities.report(town.id) is None


async def test_what_went_and_what_changed_can_be_asked_for(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents(towns("Aldar", "Berth"))
    await trueweave.communities.find()
    await trueweave.communities.write_reports()
    then = datetime.now(UTC)
    await asyncio.sleep(0.01)
    await trueweave.remove([f"Berth/{a}/{b}" for a, b in combinations(FOLK, 2)])
    await trueweave.add_documents([told("Aldar", "smith", "reeve", "owes")])
    await trueweave.communities.find()
    [gone] = await trueweave.communities.retired(then)
    assert (gone.size, gone.title) == (7, ""), "what was removed is not named any more"
    [changed] = await trueweave.communities.select(since=then)
    assert changed.since < then < changed.changed
    assert changed.written == "stale"


# --- reports ------------------------------------------------------------------------------------------


async def test_a_report_says_what_it_rests_on(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents(towns("Aldar"))
    await trueweave.communities.find()
    await write(trueweave, Model())
    [town] = await trueweave.communities.select()
    report = await trueweave.communities.report(town.id)
    assert report is not None
    assert (report.title, report.rating, report.author, report.stale) == ("Report 1", 7, "testing/scripted", False)
    [finding] = report.findings
    assert len(finding.entities) == len(finding.relations) == 1, "what is not there is not referred to"
    assert finding.chunks
    assert (town.title, town.written) == ("Report 1", "written")


async def test_a_parent_is_written_from_its_parts_where_its_own_facts_do_not_fit(database: Database) -> None:
    trueweave = await AsyncTrueweave.enter(database, "test", settings=Settings(max_community_size=4))
    hamlets = [f"Hamlet{n}" for n in range(30)]
    known = [told(hamlet, a, b) for hamlet in hamlets for a, b in combinations(("miller", "smith", "ferryman"), 2)]
    await trueweave.add_documents(
        [*known, *(road(a, b) for a, b in zip(hamlets, hamlets[1:] + hamlets[:1], strict=True))]
    )
    await trueweave.communities.find()
    outer = [one for one in await trueweave.communities.select(0) if one.parts]
    assert outer, "hamlets beside each other hang together"
    model = Model()
    how = Reporting(ReportWriter(model, budget=60))
    assert [page async for page in write_reports(trueweave.workspace, how)]
    asked = [prompt.messages[-1].content for prompt in model.asked]
    assert not any("F1 |" in text for text in asked[: -len(outer)]), "the innermost are written first"
    assert all("F1 | They know each other." in text for text in asked[-len(outer) :])
    report = await trueweave.communities.report(outer[0].id)
    assert report is not None
    parts = [
        await trueweave.communities.report(part.id) for part in await trueweave.communities.select(within=outer[0].id)
    ]
    rests_on = {chunk for part in parts if part for finding in part.findings for chunk in finding.chunks}
    assert rests_on & set(report.findings[0].chunks), "what parts rest on, it rests on too"


async def test_without_a_model_sentences_are_picked_out(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents(towns("Aldar"))
    await trueweave.communities.find()
    estimate = await trueweave.communities.estimate_reports()
    assert (estimate.reports, estimate.calls, estimate.model) == (1, 0, "")
    assert (await trueweave.communities.write_reports()).reports == 1
    [town] = await trueweave.communities.select()
    report = await trueweave.communities.report(town.id)
    assert report is not None
    assert report.author == ""
    assert "no model" in report.reason
    texts = {chunk.text for document in towns("Aldar") for chunk in document.chunks}
    assert {finding.text for finding in report.findings} <= texts
    assert all(finding.chunks and finding.entities for finding in report.findings)
    assert (await trueweave.communities.estimate_reports()).reports == 0


async def test_a_model_that_fails_leaves_a_report_that_says_so(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents(towns("Aldar"))
    await trueweave.communities.find()
    assert await write(trueweave, Model(replies={"report": "I would rather not."})) == 1
    [town] = await trueweave.communities.select()
    report = await trueweave.communities.report(town.id)
    assert report is not None
    assert report.author == ""
    assert "unusable" in report.problem
    async with trueweave.workspace.transaction() as tx:
        assert not await store.any_report_due(tx, by_model=True), "it is no reason to go on asking"
    assert await write(trueweave, Model()) == 1, "who asks for reports once more has it tried once more"
    assert await write(trueweave, Model()) == 0


async def test_what_was_written_before_an_error_is_kept_and_not_asked_for_again(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents(towns(*TOWNS))
    await trueweave.communities.find()
    model = Failing(after=4)
    with pytest.raises(ModelUnavailable):
        await write(trueweave, model)
    assert await write(trueweave, other := Model()) == len(other.asked) == len(TOWNS) - 4


async def test_a_budget_that_is_reached_stops_the_writing_and_the_rest_is_written_later(database: Database) -> None:
    trueweave = await AsyncTrueweave.enter(database, "test", llm=Model(tokens=1000))
    await trueweave.add_documents(towns(*TOWNS))
    await trueweave.communities.find()
    estimate = await trueweave.communities.estimate_reports()
    assert (estimate.reports, estimate.calls, estimate.most_price) == (len(TOWNS), len(TOWNS), None)
    await trueweave.budget.allow(tokens=8000)  # for one call at a time, at its most, and a few in all
    with pytest.raises(BudgetReached):
        await trueweave.communities.write_reports()
    await trueweave.budget.allow()
    left = (await trueweave.communities.estimate_reports()).reports
    assert 0 < left < len(TOWNS)
    assert (await trueweave.communities.write_reports()).reports == left
    [spent] = await trueweave.budget.receipt()
    assert (spent.stage, spent.calls) == ("report", len(TOWNS))


async def test_once_there_is_a_model_it_writes_what_was_picked_out(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents(towns("Aldar"))
    await trueweave.communities.find()
    await trueweave.communities.write_reports()
    assert await write(trueweave, Model()) == 1
    assert await write(trueweave, Model()) == 0


async def test_stale_reports_are_written_again_only_on_request(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents(towns("Aldar"))
    await trueweave.communities.find()
    await trueweave.communities.write_reports()
    await trueweave.add_documents([told("Aldar", "smith", "miller", "fears", uri="later")])
    await trueweave.communities.find()
    await trueweave.add(Source("note", "The weather is fine."))
    assert (await trueweave.communities.estimate_reports()).reports == 1, "adding documents writes no report"
    assert (await trueweave.communities.write_reports()).reports == 1


async def test_only_one_process_writes_at_a_time(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents(towns(*TOWNS))
    await trueweave.communities.find()
    model = Model()
    written = await asyncio.gather(write(trueweave, model), write(trueweave, model))
    assert sorted(written)[0] == 0
    assert len(model.asked) == max(written)


async def test_one_report_is_written_again_and_paid_for_again(database: Database) -> None:
    model = Model()
    trueweave = await AsyncTrueweave.enter(database, "test", HashEmbedder(16), llm=model)
    await trueweave.add_documents(towns("Aldar", "Berth"))
    await trueweave.communities.find()
    town = (await trueweave.communities.select())[0].id
    first = await trueweave.communities.estimate_report(town)
    assert (first.reports, first.current, first.calls, first.answered) == (1, 0, 1, 0)
    assert (await trueweave.communities.write_report(town)).title == "Report 1"
    again = await trueweave.communities.estimate_report(town)
    assert again == replace(first, current=1), "its stored reply is not used again"
    assert (await trueweave.communities.write_report(town)).title == "Report 2"
    found = await trueweave.communities.report(town)
    assert found is not None
    assert (found.title, found.stale, len(model.asked)) == ("Report 2", False, 2)
    assert [one.written for one in await trueweave.communities.select()].count("unwritten") == 1, "others stay"
    model.replies = {"report": "I would rather not."}
    with pytest.raises(BadReply, match="unusable"):
        await trueweave.communities.write_report(town)
    await trueweave.budget.allow(tokens=1)
    with pytest.raises(BudgetReached):
        await trueweave.communities.write_report(town)
    assert await trueweave.communities.report(town) == found, "the one that was there stays"


async def test_a_community_that_goes_while_its_report_is_written_gets_none(database: Database) -> None:
    asked, answer = asyncio.Event(), asyncio.Event()

    class Slow(Model):
        async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
            asked.set()
            await answer.wait()
            return await super().complete(prompt, purpose)

    trueweave = await AsyncTrueweave.enter(database, "test", llm=Slow())
    await trueweave.add_documents(towns("Aldar", "Berth"))
    await trueweave.communities.find()
    town = next(one for one in await trueweave.communities.select() if "Aldar" in one.names[0])
    writing = asyncio.create_task(trueweave.communities.write_report(town.id))
    await asked.wait()
    await trueweave.remove([document.uri for document in towns("Aldar")])
    await trueweave.communities.find()
    answer.set()
    with pytest.raises(UnknownCommunity, match="found again"):
        await writing
    async with trueweave.workspace.transaction() as tx:
        assert not await (await tx.execute("SELECT FROM report")).fetchall()
    with pytest.raises(UnknownCommunity):
        await trueweave.communities.estimate_report(town.id)


async def test_a_report_on_what_has_changed_meanwhile_is_stale(database: Database) -> None:
    asked, answer = asyncio.Event(), asyncio.Event()

    class Slow(Model):
        async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
            if not self.asked:
                asked.set()
                await answer.wait()
            return await super().complete(prompt, purpose)

    trueweave = await AsyncTrueweave.enter(database, "test", llm=Slow())
    await trueweave.add_documents(towns("Aldar"))
    await trueweave.communities.find()
    [town] = await trueweave.communities.select()
    writing = asyncio.create_task(trueweave.communities.write_report(town.id))
    await asked.wait()
    await trueweave.add_documents([told("Aldar", "smith", "baker")])
    await trueweave.communities.find()
    answer.set()
    assert (await writing).title == "Report 1"
    [town] = await trueweave.communities.select()
    assert (town.title, town.written) == ("Report 1", "stale")


async def test_two_who_are_one_relation_get_no_report(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents([told("Aldar", "smith", "miller")])
    await trueweave.communities.find()
    [pair] = await trueweave.communities.select()
    with pytest.raises(InvalidArgument, match="2 members"):
        await trueweave.communities.write_report(pair.id)


async def test_a_change_of_model_brings_reports_along(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents(towns("Aldar", "Berth"))
    await trueweave.communities.find()
    await trueweave.communities.write_reports()
    await trueweave.maintenance.change_space(HashEmbedder(24))
    found = await trueweave.retrieve("Who knows the smith of Aldar?", "community")
    assert len(found.reports) == 2


# --- asking -------------------------------------------------------------------------------------------


async def _built(database: Database, replies: Mapping[str, str] | None = None) -> AsyncTrueweave:
    llm = Model(replies=replies) if replies else None
    trueweave = await AsyncTrueweave.enter(database, "test", HashEmbedder(16), llm=llm)
    await trueweave.add_documents([*towns(*TOWNS), *(road(a, b) for a, b in combinations(TOWNS[:3], 2))])
    await trueweave.communities.find()
    await trueweave.communities.write_reports()
    return trueweave


async def test_community_without_a_model_reads_the_nearest_reports(database: Database) -> None:
    trueweave = await _built(database)
    found = await trueweave.retrieve("Whom does the smith of Aldar know?", Community(max_reports=3, top_k=4))
    assert len(found.reports) == 3
    assert 0 < len(found.passages) <= 4
    scores = [report.score for report in found.reports]
    assert scores == sorted(scores, reverse=True)


async def test_where_nothing_is_embedded_the_largest_speak(database: Database) -> None:
    trueweave = await AsyncTrueweave.enter(database, "test")
    await trueweave.add_documents([*towns("Aldar"), *(told("Berth", a, b) for a, b in combinations(FOLK[:4], 2))])
    await trueweave.communities.find()
    await trueweave.communities.write_reports()
    found = await trueweave.retrieve("Who?", Community(max_reports=1))
    assert [report.title for report in found.reports] == [
        "ferryman of Aldar, innkeeper of Aldar, miller of Aldar and 4 more"
    ]
    found = await trueweave.retrieve("Who is the miller of Aldar?", Drift(part=Keyword()))
    assert found.passages
    assert len(found.reports) == 2


async def test_community_keeps_the_points_that_help_and_the_passages_behind_them(database: Database) -> None:
    points = [
        {"text": "The towns trade.", "helpfulness": 90, "references": [1]},
        {"text": "Of no use.", "helpfulness": 0, "references": ["[2]"]},
        {"text": "Made up.", "helpfulness": 80, "references": [77, 0]},
    ]
    answer = 'The towns trade. [1: "The'
    trueweave = await _built(database, {"partial": json.dumps({"points": points}), "answer": answer})
    found = await trueweave.retrieve("What holds the towns together?", Community(level=0))
    [report] = found.reports
    assert (report.text, report.score) == ("The towns trade.", 0.9)
    written = await trueweave.communities.report(report.id)
    assert written is not None
    chunks = {chunk for finding in written.findings[:1] for chunk in finding.chunks}
    assert {passage.id for passage in found.passages} == chunks == set(report.passages)
    assert [step.what for step in found.trace.steps if not step.statements][-1] == "points"


async def test_community_reads_reports_in_batches_and_says_which_replies_it_could_not_read(database: Database) -> None:
    trueweave = await _built(database, {"partial": "no"})
    with pytest.raises(Exception, match="gave no points that can be read"):
        await trueweave.retrieve("What holds the towns together?", Community(map_tokens=500))


async def test_auto_reads_reports_for_a_question_about_all_documents_without_a_model(database: Database) -> None:
    await _built(database)
    model = Model()
    trueweave = await AsyncTrueweave.enter(database, "test", HashEmbedder(16), llm=model)
    found = await trueweave.retrieve("What are the main themes of these documents?", Auto(top_k=4))
    assert _chosen(found) == "community"
    assert found.reports
    assert 0 < len(found.passages) <= 4
    assert not model.asked


@pytest.mark.parametrize(
    ("question", "filter"),
    [
        ("Whom does the smith of Aldar know?", Filter()),
        ("What are the main themes of the priest of Berth?", Filter()),
        ("What are the main themes of these documents?", Filter(uris=("Aldar/*",))),
    ],
)
async def test_auto_reads_no_reports_for_a_question_with_a_name_or_a_filter(
    database: Database, question: str, filter: Filter
) -> None:
    trueweave = await _built(database)
    found = await trueweave.retrieve(question, Auto(), filter=filter)
    assert _chosen(found) in ("weave", "fuse")
    assert not found.reports


async def test_auto_searches_where_reports_have_no_findings(database: Database) -> None:
    empty = {"title": "A town", "summary": "It is there.", "rating": 1, "reason": "None.", "findings": []}
    trueweave = await _built(database, {"report": json.dumps(empty)})
    found = await trueweave.retrieve("What are the main themes of these documents?", Auto())
    assert _chosen(found) in ("weave", "fuse")
    assert found.passages


async def test_auto_without_reports_searches(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents(towns("Aldar"))
    found = await trueweave.retrieve("What are the main themes of these documents?", Auto())
    assert _chosen(found) in ("weave", "fuse")
    assert found.passages


def _chosen(found: Evidence) -> str:
    [step] = [step for step in found.trace.steps if step.what == "chose"]
    return step.best[0].item


async def test_a_stale_report_rests_on_the_chunks_that_are_there_now(database: Database) -> None:
    trueweave = await _built(database)
    await trueweave.add_documents(Document(f"new/{one.uri}", one.chunks) for one in towns("Eskel"))
    await trueweave.add_documents(Document(one.uri, (Chunk("Nothing to tell."),)) for one in towns("Eskel"))
    found = await trueweave.retrieve("Whom does the smith of Eskel know?", Community(max_reports=1000, top_k=100))
    assert any(passage.uri.startswith("new/Eskel") for passage in found.passages)
    await trueweave.communities.find()
    await trueweave.add_documents([told("Eskel", "smith", "reeve", "owes")])
    await trueweave.communities.find()
    found = await trueweave.retrieve("Whom does the smith of Eskel know?", Community(max_reports=1000))
    assert any("before its latest changes" in report.title for report in found.reports)


async def test_drift_follows_up_on_reports(database: Database) -> None:
    plan = {"answer": "They meet.", "follow_ups": ["Who is the miller of Berth?", " ", "Who rows?", "More?", "More?"]}
    trueweave = await _built(database, {"drift": json.dumps(plan)})
    found = await trueweave.retrieve("Who meets whom?", Drift(follow_ups=2, part=Naive(top_k=3), top_k=4))
    assert len(found.passages) == 4
    assert found.reports[0].text.startswith("They meet.")
    [followed] = [step for step in found.trace.steps if step.what == "follow-ups"]
    assert [one.item for one in followed.best] == ["Who is the miller of Berth?", "Who rows?"]


async def test_drift_says_so_when_a_plan_cannot_be_read_and_asks_beside_titles(database: Database) -> None:
    trueweave = await _built(database, {"drift": "I would rather not."})
    found = await trueweave.retrieve("Who meets whom?", Drift(follow_ups=2, part=Naive(top_k=3)))
    assert found.passages
    [told] = [step for step in found.trace.steps if step.what == "unreadable"]
    assert "returned no readable follow-up questions" in told.best[0].item
    [followed] = [step for step in found.trace.steps if step.what == "follow-ups"]
    assert all(one.item.startswith("Who meets whom? ") for one in followed.best)


async def test_drift_without_a_model_asks_beside_titles(database: Database) -> None:
    trueweave = await _built(database)
    found = await trueweave.retrieve("Who meets whom?", Drift(follow_ups=2, part=Naive(top_k=3)))
    assert found.passages
    assert found.reports


@pytest.mark.parametrize("level", [0, 1, 2])
async def test_graphrag_brings_the_reports_on_the_communities_with_most_of_its_entities(
    database: Database, level: int
) -> None:
    trueweave = await _built(database)
    found = await trueweave.retrieve("Whom does the smith of Aldar know?", GraphRag(community_level=level))
    chosen = {entity.id for entity in found.entities}
    assert len(chosen) == 20
    members = await everybody(trueweave)
    there = [
        one
        for one in await trueweave.communities.select(limit=10_000)
        if one.size >= LEAST_MEMBERS and (one.level == level or (one.level < level and not one.parts))
    ]
    counts = {one.id: len(chosen & members[one.id]) for one in there if chosen & members[one.id]}
    assert len(set(counts.values())) > 1
    assert [round(20 * one.score) for one in found.reports] == sorted(counts.values(), reverse=True)[:3]
    assert all(round(20 * one.score) == counts[one.id] for one in found.reports)
    best = await trueweave.communities.report(found.reports[0].id)
    assert best is not None
    assert found.reports[0].text == best.text
    [step] = [step for step in found.trace.steps if step.what == "reports on"]
    assert step.statements == 1
    behind = {chunk for finding in best.findings for chunk in finding.chunks}
    assert set(found.reports[0].passages) == behind & {passage.id for passage in found.passages}


async def test_graphrag_leaves_reports_out_under_a_filter_and_says_so(database: Database) -> None:
    trueweave = await _built(database)
    wanted = "Aldar/miller/smith", "Aldar/miller/reeve"
    found = await trueweave.retrieve("Whom does the smith of Aldar know?", GraphRag(), filter=Filter(uris=wanted))
    assert not found.reports
    assert {passage.uri for passage in found.passages} == set(wanted)
    assert {entity.name for entity in found.entities} == {f"{one} of Aldar" for one in ("miller", "smith", "reeve")}
    assert [step.what for step in found.trace.steps if "cannot be filtered" in step.what]


async def test_reports_cannot_answer_from_some_documents_only(database: Database) -> None:
    trueweave = await _built(database)
    for method in (Community(), Drift()):
        with pytest.raises(ConfigError, match="reports cover all documents"):
            await trueweave.retrieve("Who?", method, filter=Filter(uris=("Aldar/miller/smith",)))


async def test_without_reports_there_is_a_next_step(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents(towns("Aldar"))
    with pytest.raises(NoReports, match="trueweave communities build"):
        await trueweave.retrieve("Who?", "community")
    compared = {row.method: row for row in (await trueweave.compare("Who?")).rows}
    assert "trueweave communities build" in compared["drift"].problem


async def test_both_are_compared_with_the_others(database: Database) -> None:
    trueweave = await _built(database)
    compared = {row.method: row for row in (await trueweave.compare("Who knows the smith of Aldar?")).rows}
    assert compared["community"].evidence.passages
    assert compared["drift"].evidence.passages


# --- reading ------------------------------------------------------------------------------------------


async def test_a_community_is_found_by_the_beginning_of_its_id(database: Database) -> None:
    trueweave = await _built(database)
    some = (await trueweave.communities.select())[0]
    assert await trueweave.communities.get(str(some.id)[:13].upper()) == some
    assert await trueweave.communities.get(some.id) == some
    with pytest.raises(UnknownCommunity, match="no community whose id begins with zz"):
        await trueweave.communities.get("zz")
    with pytest.raises(UnknownCommunity, match="more than one"):
        await trueweave.communities.get("")


async def test_the_tree_can_be_walked(database: Database) -> None:
    trueweave = await _built(database)
    for outer in await trueweave.communities.select(0):
        parts = await trueweave.communities.select(within=outer.id)
        assert len(parts) == outer.parts
        assert all(part.parent == outer.id for part in parts)
        if parts:
            assert sum(part.size for part in parts) == outer.size


async def test_the_tree_in_one_call_is_bounded_and_never_without_what_is_around(database: Database) -> None:
    trueweave = await AsyncTrueweave.enter(database, "test", settings=Settings(max_community_size=4))
    hamlets = [f"Hamlet{n}" for n in range(12)]
    known = [told(hamlet, a, b) for hamlet in hamlets for a, b in combinations(("miller", "smith", "ferryman"), 2)]
    await trueweave.add_documents([*known, *(road(a, b) for a, b in pairwise(hamlets))])
    await trueweave.communities.find()
    every = await trueweave.communities.select(limit=1000)
    whole = await trueweave.communities.tree(depth=10)
    assert (set(whole.communities), whole.total, whole.path) == (set(every), len(every), ())
    for limit in range(1, len(every) + 1):
        found = await trueweave.communities.tree(depth=10, limit=limit)
        ids = [one.id for one in found.communities]
        assert (len(ids), found.total) == (limit, len(every))
        assert all(one.parent is None or one.parent in ids[:n] for n, one in enumerate(found.communities))
    inner = next(one for one in every if one.level and one.parent)
    within = await trueweave.communities.tree(inner.parent, depth=1)
    assert within.communities == tuple(await trueweave.communities.select(within=inner.parent))
    assert [one.level for one in within.path] == list(range(inner.level))
    assert within.path[-1].id == inner.parent


async def test_the_graph_can_be_exported(database: Database, tmp_path: Path) -> None:
    trueweave = await _built(database)
    await trueweave.graph.export(tmp_path / "graph.json")
    written = json.loads((tmp_path / "graph.json").read_text("utf-8"))
    status = await trueweave.status()
    assert len(written["entities"]) == status.entities
    assert len(written["relations"]) == status.relations
    known = {one["id"] for one in written["communities"]}
    assert {one["community"] for one in written["entities"]} <= known
    assert all(one["parent"] in known for one in written["communities"] if one["parent"])
    assert any(one["findings"] for one in written["communities"])

    await trueweave.graph.export(tmp_path / "graph.graphml")
    root = ElementTree.parse(tmp_path / "graph.graphml").getroot()
    space = {"g": "http://graphml.graphdrawing.org/xmlns"}
    assert len(root.findall(".//g:node", space)) == status.entities
    assert len(root.findall(".//g:edge", space)) == status.relations
    with pytest.raises(ConfigError, match=r"graph\.txt has none of the extensions"):
        await trueweave.graph.export(tmp_path / "graph.txt")
