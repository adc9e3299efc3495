"""Dates of documents: where they come from, and where they are shown."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from trueweave import AsyncTrueweave, Chunk, Document, Filter, Mention, Range, Settings, Source
from trueweave.errors import InvalidArgument
from trueweave.extend import Database
from trueweave.methods import Keyword


@pytest.fixture
async def index(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[AsyncTrueweave]:
    monkeypatch.chdir(tmp_path)
    settings = Settings(extractor="capitals", embedding_model=None, project_folder=tmp_path)
    async with aclosing(await AsyncTrueweave.enter(database, "test", settings=settings)) as opened:
        yield opened


async def dates(index: AsyncTrueweave) -> dict[str, str]:
    return {one.uri: one.date for one in await index.search("Babbage", 20)}


async def test_documents_have_the_date_that_they_state_or_else_that_of_the_call(
    index: AsyncTrueweave, tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_text("---\ndate: 1903-08-19\n---\nAda met Babbage in a.")
    (tmp_path / "b.md").write_text("---\ndate: 1903\n---\nAda met Babbage in b.")
    (tmp_path / "c.md").write_text("---\ndate: some time ago\n---\nAda met Babbage in c.")
    (tmp_path / "d.csv").write_text("id,text,date\n1,Ada met Babbage in d.,2024-05-31\n")
    (tmp_path / "e.eml").write_text(
        "From: a@b.c\nDate: Fri, 31 May 2024 12:00:00 +0200\nSubject: E\n\nAda met Babbage in e.\n"
    )
    (tmp_path / "f.txt").write_text("Ada met Babbage in f.")
    await index.add("a.md", "b.md", "c.md", "d.csv", "e.eml", "f.txt", Source("g", "Babbage in g."), date="1999-12")
    assert await dates(index) == {
        "a.md": "1903-08-19",
        "b.md": "1903",
        "c.md": "",
        "d.csv#1": "2024-05-31",
        "e.eml": "2024-05-31T12:00:00+02:00",
        "f.txt": "1999-12",
        "g": "1999-12",
    }
    late = await index.search("Babbage", filter=Filter(metadata={"date": Range("1999", "1999")}))
    assert {one.uri for one in late} == {"f.txt", "g"}


async def test_the_date_of_a_call_is_metadata_of_the_documents_and_goes_without_it(index: AsyncTrueweave) -> None:
    text = Source("a", "Ada met Babbage.", metadata={"kind": "letter"})
    assert (await index.add(text, date="2024-05-31")).new == 1
    assert (await index.document("a")).metadata == {"kind": "letter", "date": "2024-05-31"}
    assert (await index.add(text, date="2024-05-31")).unchanged == 1
    await index.add(text)
    assert await dates(index) == {"a": ""}
    await index.jobs.submit(text, date="2025")
    await index.add()
    assert await dates(index) == {"a": "2025"}


async def test_what_is_no_date_is_refused_before_anything_is_added(index: AsyncTrueweave) -> None:
    with pytest.raises(InvalidArgument, match="'yesterday' is not a date"):
        await index.add(Source("a", "Ada met Babbage."), date="yesterday")
    with pytest.raises(InvalidArgument, match="'yesterday' is not a date"):
        await index.jobs.submit(Source("a", "Ada met Babbage."), date="yesterday")
    assert await index.list_documents(state="any") == []


async def test_each_call_that_returns_passages_has_their_dates(index: AsyncTrueweave) -> None:
    said = Chunk("Ada met Babbage.", mentions=(Mention("Ada"), Mention("Babbage")))
    await index.add_documents([Document("a", (said,), metadata={"date": "1843-07-05"})])
    [found] = (await index.retrieve("Babbage", Keyword())).passages
    details = await index.document("a")
    entity = await index.graph.entity("Ada")
    shown = [found, *await index.passages(found.id), *details.passages, *entity.passages]
    assert [one.date for one in shown] == ["1843-07-05"] * 4


async def test_the_time_of_a_memory_is_its_date(index: AsyncTrueweave) -> None:
    uri = await index.remember("Ada met Babbage.", by="Ada")
    await index.add()
    stated = (await index.document(uri)).metadata
    assert stated["date"] == stated["said_at"]
    assert await dates(index) == {uri: stated["said_at"]}
