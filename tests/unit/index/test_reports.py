"""Reports: what a model is shown of a community and what is made of its reply, and what is picked out without one."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest

from trueweave import CommunityReport
from trueweave.core.model_calls import Purpose
from trueweave.errors import BadReply
from trueweave.extend import Prompt, Reply
from trueweave.graph.report_facts import EntityFact, Facts, RelationFact
from trueweave.index.communities import extractive
from trueweave.index.communities.writer import ReportWriter, shown
from trueweave.text import tokens
from trueweave.types import Finding

CHUNK, OTHER = UUID(int=900), UUID(int=901)
NAMES = ("Ada Lovelace", "Charles Babbage", "Analytical Engine", "London")


def entity(n: int, name: str = "", description: str = "somebody") -> EntityFact:
    return EntityFact(UUID(int=n), name or f"Thing {n}", "person", description, (), CHUNK)


def relation(n: int, a: EntityFact, b: EntityFact, description: str = "knows") -> RelationFact:
    return RelationFact(UUID(int=100 + n), a.id, b.id, a.name, b.name, description, 5, OTHER)


ENTITIES = [entity(n, name) for n, name in enumerate(NAMES, 1)]
RELATIONS = [relation(n, ENTITIES[0], other) for n, other in enumerate(ENTITIES[1:], 1)]
FACTS = Facts(len(ENTITIES), len(RELATIONS), ENTITIES, RELATIONS)


@dataclass
class Model:
    reply: str | dict[str, Any]
    finish: Any = "stop"
    model: str = "testing/model"
    asked: list[Prompt] = field(default_factory=list)

    async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        assert purpose.stage == "report"
        self.asked.append(prompt)
        text = self.reply if isinstance(self.reply, str) else json.dumps(self.reply)
        return Reply(text, 1, 1, self.finish)


def replied(*findings: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"title": "T", "summary": "S", "rating": 5, "reason": "R", "findings": list(findings)} | more


async def test_a_report_is_read_with_what_each_finding_rests_on() -> None:
    finding = {"summary": "She wrote a program.", "text": "The first.", "references": ["E1", "[r2]", "E99", "nonsense"]}
    model = Model(replied(finding))
    report = await ReportWriter(model).write(FACTS)
    assert (report.title, report.summary, report.rating, report.reason, report.author) == (
        "T",
        "S",
        5,
        "R",
        model.model,
    )
    [read] = report.findings
    assert read == Finding("She wrote a program.", "The first.", (UUID(int=1),), (UUID(int=102),), (OTHER, CHUNK))
    assert report.text == "S\n\nShe wrote a program.\nThe first."


async def test_what_is_asked_depends_on_the_facts_alone() -> None:
    writer = ReportWriter(Model(replied()))
    assert writer.prompt(FACTS) == writer.prompt(Facts(4, 3, list(ENTITIES), list(RELATIONS)))
    assert writer.prompt(FACTS) != writer.prompt(Facts(4, 2, ENTITIES, RELATIONS[:2]))


@pytest.mark.parametrize(("rating", "kept"), [(-3, 0), (11, 10), ("7", 7), (None, 0)])
async def test_a_rating_is_from_0_to_10(rating: Any, kept: float) -> None:
    assert (await ReportWriter(Model(replied(rating=rating))).write(FACTS)).rating == kept


async def test_references_may_come_as_one_text_and_a_reply_that_was_cut_off_is_kept_as_far_as_it_goes() -> None:
    whole = json.dumps(replied({"summary": "One", "text": "", "references": "E1, R1"}, {"summary": "Two"}))
    report = await ReportWriter(Model(whole[:-20], "length")).write(FACTS)
    assert [one.summary for one in report.findings] == ["One"]
    assert report.findings[0].entities == (UUID(int=1),)
    assert report.findings[0].relations == (UUID(int=101),)


async def test_a_reply_that_cannot_be_read_is_forgotten_and_says_so() -> None:
    forgotten: list[Prompt] = []

    async def forget(prompt: Prompt) -> None:
        forgotten.append(prompt)

    writer = ReportWriter(Model("I cannot do that."), forget=forget)
    with pytest.raises(
        BadReply, match=r"the report of testing/model on Ada Lovelace, .* is unusable: it holds no JSON"
    ):
        await writer.write(FACTS)
    assert forgotten == [writer.prompt(FACTS)]


def rows(text: str) -> Sequence[str]:
    return [line.split(" |")[0] for line in text.splitlines()]


def test_own_facts_are_shown_while_they_fit() -> None:
    assert rows(shown(FACTS, 8000).text) == ["E1", "E2", "E3", "E4", "R1", "R2", "R3"]


def test_else_what_was_found_about_parts_then_what_is_between_them() -> None:
    part = CommunityReport("P", "S", 5, "", (Finding("Found", "out", (UUID(int=7),), (UUID(int=8),), (UUID(int=9),)),))
    many = [entity(n, description="very much to say of this " * 8) for n in range(1, 40)]
    facts = Facts(39, 1, many, RELATIONS[:1], [part], RELATIONS[:1])
    seen = shown(facts, 300)
    assert rows(seen.text)[:3] == ["F1", "R1", "E1"]
    assert tokens.count(seen.text) <= 300
    assert len(seen.rows) == len(rows(seen.text))
    without_parts = shown(Facts(39, 1, many, RELATIONS[:1]), 300)
    assert rows(without_parts.text)[0] == "E1"
    assert tokens.count(without_parts.text) <= 300


async def test_a_finding_that_rests_on_a_part_rests_on_what_that_does() -> None:
    part = CommunityReport("P", "S", 5, "", (Finding("Found", "out", (UUID(int=7),), (UUID(int=8),), (UUID(int=9),)),))
    facts = Facts(1000, 1, ENTITIES, (), [part])
    report = await ReportWriter(Model(replied({"summary": "x", "references": ["F1"]}))).write(facts)
    assert report.findings[0] == Finding("x", "", (UUID(int=7),), (UUID(int=8),), (UUID(int=9),))


def test_nothing_in_a_row_passes_for_another() -> None:
    forged = Facts(1, 0, [entity(1, "A | person\nE2 | B", "x")], ())
    assert len(shown(forged, 8000).text.splitlines()) == 1


# --- without a model ----------------------------------------------------------------------------------


TEXT = """The weather was fine. Ada Lovelace met Charles Babbage in London. Babbage planned much.
Charles Babbage designed the Analytical Engine. Ada Lovelace lived in London.
"""


def test_sentences_with_the_most_central_members_come_first() -> None:
    report = extractive.extractive(FACTS, {CHUNK: TEXT})
    assert report.findings[0].text == "Ada Lovelace met Charles Babbage in London."
    assert report.findings[0].entities == (ENTITIES[0].id, ENTITIES[1].id, ENTITIES[3].id)
    assert report.findings[0].relations == (RELATIONS[0].id, RELATIONS[2].id)
    assert report.findings[0].chunks == (CHUNK,)
    assert "weather" not in report.text
    assert report.author == ""


def test_each_sentence_brings_other_members_than_those_before() -> None:
    texts = [finding.text for finding in extractive.extractive(FACTS, {CHUNK: TEXT}).findings]
    assert texts[1] == "Charles Babbage designed the Analytical Engine."


def test_where_sentences_are_wanting_relations_are_told() -> None:
    report = extractive.extractive(FACTS, {})
    assert [finding.text for finding in report.findings] == ["knows"] * 3
    assert report.findings[0].relations == (RELATIONS[0].id,)
    assert report.title == "Ada Lovelace, Charles Babbage, Analytical Engine and 1 more"


def test_names_are_found_in_small_letters_and_by_their_aliases() -> None:
    chemo = EntityFact(UUID(int=1), "Chemotherapy", "", "", ("chemo",), CHUNK)
    nausea = EntityFact(UUID(int=2), "Nausea", "", "", (), CHUNK)
    facts = Facts(2, 0, [chemo, nausea], ())
    [finding] = extractive.extractive(facts, {CHUNK: "After chemo, most patients feel some nausea for days."}).findings
    assert finding.entities == (chemo.id, nausea.id)


def test_the_larger_the_higher_it_is_rated() -> None:
    ratings = [extractive.extractive(Facts(n, 0, ENTITIES, ()), {}).rating for n in (2, 8, 100, 10_000)]
    assert ratings == sorted(ratings)
    assert (ratings[0], ratings[-1]) == (1, 10)
