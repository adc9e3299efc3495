"""Questions generated from the documents of a workspace, and measured there."""

import json
from collections import Counter
from pathlib import Path

import pytest

from trueweave import AsyncTrueweave, Source
from trueweave.bench import datasets, generating, loading
from trueweave.bench.drafts import ONE, TWO
from trueweave.bench.experiment import Experiment
from trueweave.bench.measures import usual
from trueweave.bench.results import results
from trueweave.errors import ConfigError
from trueweave.extend import Database
from trueweave.methods import Keyword
from trueweave.store.postgres.view import sampling

PEOPLE = ("Ada Lund", "Olaf Berg", "Rosa Quint", "Emil Hart", "Ines Falk", "Karl Noor", "Lena Moss", "Otto Wick")
TOWNS = ("Bergen", "Oslo", "Rome", "Paris", "Lisbon", "Vienna", "Prague", "Dublin")
FIRMS = ("Acme", "Borealis", "Corvex", "Dynamo", "Elmira", "Fjordline", "Granite", "Helios")


def sources() -> list[Source]:
    """Two documents for each person: where they were born, and what they founded."""
    born = (
        f"The clerk wrote it down. {one} was born in the rainy town of {town}."
        for one, town in zip(PEOPLE, TOWNS, strict=True)
    )
    founded = (
        f"The paper had it. {one} founded the hat factory {firm}." for one, firm in zip(PEOPLE, FIRMS, strict=True)
    )
    texts = [*born, *founded]
    return [Source(f"{number}.md", text) for number, text in enumerate(texts)]


@pytest.fixture
async def filled(trueweave: AsyncTrueweave) -> AsyncTrueweave:
    await trueweave.add(*sources())
    return trueweave


async def test_half_of_the_questions_need_two_documents(filled: AsyncTrueweave) -> None:
    made = await generating.generate(filled, 12)
    assert (made.of(TWO), made.of(ONE)) == (6, 6)
    used = Counter(uri for draft in made.drafts for uri in {quote.uri for quote in draft.quotes})
    assert max(used.values()) <= 3
    first = made.drafts[0]
    assert first.kind == TWO
    assert len({quote.uri for quote in first.quotes}) == 2
    assert first.answer in {*TOWNS, *FIRMS}


async def test_the_same_seed_gives_the_same_questions(filled: AsyncTrueweave) -> None:
    first, again, other = [await generating.generate(filled, 8, seed=seed) for seed in (1, 1, 2)]
    assert first.drafts == again.drafts
    assert first.drafts != other.drafts


async def test_another_database_with_the_same_documents_gives_the_same_questions(
    filled: AsyncTrueweave, database: Database
) -> None:
    other = await AsyncTrueweave.enter(database, "other")
    await other.add(*reversed(sources()))
    assert (await generating.generate(other, 8)).drafts == (await generating.generate(filled, 8)).drafts


async def test_no_document_has_more_questions_than_allowed(filled: AsyncTrueweave) -> None:
    made = await generating.generate(filled, 100, per_document=1)
    used = Counter(uri for draft in made.drafts for uri in {quote.uri for quote in draft.quotes})
    assert set(used.values()) == {1}
    assert made.documents == len(used) <= len(sources())


async def test_a_walk_visits_everything_once_in_small_pages(
    filled: AsyncTrueweave, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "_PAGE", 3)
    walks = [[texts[0].uri async for texts in sampling.chunks(filled.workspace, seed)] for seed in (0, 1)]
    assert sorted(walks[0]) == sorted(walks[1]) == sorted(one.uri for one in sources())
    assert walks[0] != walks[1]
    names = [texts[0].name async for texts in sampling.bridges(filled.workspace, 0)]
    assert sorted(name for name in names if name in PEOPLE) == sorted(PEOPLE)


async def test_generated_questions_are_measured_by_the_passages_that_they_quote(
    filled: AsyncTrueweave, tmp_path: Path
) -> None:
    made = await generating.generate(filled, 12)
    file = tmp_path / "questions.jsonl"
    generating.write(file, made.drafts)
    with pytest.raises(ConfigError, match="already exists"):
        generating.write(file, made.drafts)
    dataset = await loading.over_documents(filled, datasets.find(str(file)))
    texts = {one.uri: one.text for one in sources()}
    for question, draft in zip(dataset.questions, made.drafts, strict=True):
        assert [texts[span.uri][span.start : span.end] for span in question.spans.values()] == [
            quote.text for quote in draft.quotes
        ]
    ran = await Experiment(filled, dataset, {"keyword": Keyword()}, usual([5])).run(None)
    found = results(Experiment(filled, dataset, {"keyword": Keyword()}, usual([5])), ran, passages=16, under={})
    assert found.ranked == "passages"
    assert found.kinds == {ONE: 6, TWO: 6}
    by_kind = found.methods[0].by_kind
    assert by_kind[ONE]["recall@5"] == 1.0


async def test_questions_about_a_passage_that_changed_are_left_out(filled: AsyncTrueweave, tmp_path: Path) -> None:
    made = await generating.generate(filled, 12)
    file = tmp_path / "questions.jsonl"
    generating.write(file, made.drafts)
    gone = made.drafts[0].quotes[0].uri
    await filled.add(Source(gone, "It says something else now."))
    dataset = await loading.over_documents(filled, datasets.find(str(file)))
    left_out = sum(gone in {quote.uri for quote in draft.quotes} for draft in made.drafts)
    assert len(dataset.questions) == 12 - left_out
    assert f"{left_out} of the questions are left out: a passage that they quote" in dataset.notes[0]


async def test_a_set_without_any_quoted_passage_left_is_an_error(filled: AsyncTrueweave, tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    row = {"question": "Who?", "supporting": [{"uri": "0.md", "quote": "not there"}]}
    file.write_text(json.dumps(row))
    with pytest.raises(ConfigError, match="no question can be measured"):
        await loading.over_documents(filled, datasets.find(str(file)))
