"""Extraction from several chunks at once: what is stored, what is asked, and what is left when texts go."""

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest

from trueweave import AsyncTrueweave, Settings, Source
from trueweave.errors import ConfigError
from trueweave.extend import Database
from trueweave.testing import HashEmbedder, ModelServer, tables
from trueweave.testing.model_server import Asked
from trueweave.types import OutOfDate

PEOPLE = ("Ada Lovelace", "Charles Babbage", "Mary Somerville", "Zyxomarque")
SIZES = {"min_chunk_size": 1, "max_chunk_size": 24, "chunk_overlap": 0}


@dataclass
class Reader:
    """A model that finds the people in what it is shown, and relates the first of them to each other."""

    shown: list[str] = field(default_factory=list)

    def __call__(self, asked: Asked) -> str:
        text = asked.messages[-1].content
        self.shown.append(text)
        names = [name for name in PEOPLE if name in text]
        entities = [{"name": name, "type": "person", "description": f"{name} is a person."} for name in names]
        relations = [
            {"source": names[0], "target": name, "description": f"{names[0]} knew {name}.", "strength": 5}
            for name in names[1:]
        ]
        return json.dumps({"entities": entities, "relations": relations})


@pytest.fixture
def reader() -> Reader:
    return Reader()


@pytest.fixture
async def server(reader: Reader) -> AsyncIterator[ModelServer]:
    async with ModelServer(reader) as made:
        yield made


async def opened(database: Database, server: ModelServer, size: int | None) -> AsyncTrueweave:
    settings = Settings(
        model="vllm/any",
        model_url=server.url,
        model_tries=1,
        extraction_chunk_size=size,
        **SIZES,  # type: ignore[arg-type]
    )
    return await AsyncTrueweave.enter(database, "test", HashEmbedder(), settings=settings)


@pytest.fixture
async def index(database: Database, server: ModelServer) -> AsyncIterator[AsyncTrueweave]:
    async with aclosing(await opened(database, server, 100)) as made:
        yield made


def written(uri: str, *people: str) -> Source:
    """A document with a paragraph, and so a chunk, about each of these."""
    return Source(uri, "\n\n".join(f"{name} walked slowly along the river on a cold day in spring." for name in people))


def replies(url: str) -> list[str]:
    """The uris that replies of the model are stored under."""
    with psycopg.connect(url) as connection:
        return [uri for (uri,) in connection.execute("SELECT document FROM trueweave.reply WHERE stage = 'extract'")]


LETTER = written("letter.md", "Ada Lovelace", "Charles Babbage", "Nobody", "Ada Lovelace", "Mary Somerville")


async def test_findings_are_at_the_right_place_of_the_right_chunk(index: AsyncTrueweave, reader: Reader) -> None:
    await index.add(LETTER)
    [document] = [document async for document in index.documents()]
    assert len(document.chunks) == 5
    assert len(reader.shown) == 1, "all chunks fit, and are read in one call"
    located = [[m.name for m in chunk.mentions if m.spans] for chunk in document.chunks]
    assert located == [["Ada Lovelace"], ["Charles Babbage"], [], ["Ada Lovelace"], ["Mary Somerville"]]
    for chunk in document.chunks:
        assert LETTER.text[chunk.start : chunk.end] == chunk.text
        for mention in chunk.mentions:
            assert [chunk.text[start:end] for start, end in mention.spans] in ([mention.name], [])
    assert sum(len(chunk.links) for chunk in document.chunks) == 2, "each relation is stated once"
    ada = (await index.graph.entity("Ada Lovelace")).entity
    assert (ada.type, ada.description) == ("person", "Ada Lovelace is a person.")
    assert {r.target_name for r in await index.graph.relations(ada.id)} == {"Charles Babbage", "Mary Somerville"}
    assert (await index.maintenance.verify()).exact


async def test_the_view_is_exact_after_changes_and_removals(index: AsyncTrueweave) -> None:
    await index.add(LETTER, written("other.md", "Mary Somerville", "Charles Babbage"))
    await index.add(written("letter.md", "Ada Lovelace", "Mary Somerville", "Nobody"))
    ada = (await index.graph.entity("Ada Lovelace")).entity
    assert [r.target_name for r in await index.graph.relations(ada.id)] == ["Mary Somerville"]
    assert (await index.maintenance.verify()).exact
    await index.remove(["letter.md"])
    assert {one.name for one in await index.graph.entities()} == {"Charles Babbage", "Mary Somerville"}
    assert (await index.maintenance.verify()).exact


async def test_the_estimate_counts_the_calls_that_are_made(index: AsyncTrueweave, reader: Reader) -> None:
    many = written("many.md", *(f"{name} {n}" for n in range(6) for name in PEOPLE))
    expected = await index.estimate(LETTER, many)
    assert (expected.documents, expected.chunks) == (2, 29)
    await index.add(LETTER, many)
    assert expected.calls == len(reader.shown) < 29 / 2
    again = await index.estimate(Source("copy.md", LETTER.text))
    assert (again.calls, again.answered) == (0, 1), "the same text was read already"


async def test_another_size_makes_documents_out_of_date(
    index: AsyncTrueweave, database: Database, server: ModelServer
) -> None:
    await index.add(LETTER)
    assert await index.maintenance.out_of_date() == []
    async with aclosing(await opened(database, server, None)) as other:
        assert await other.maintenance.out_of_date() == [OutOfDate(1, ("extraction_chunk_size",))]
        assert (await other.add(LETTER)).new == 1
        assert len(server.calls) == 1 + 4, "one for each different chunk"
        assert await other.maintenance.out_of_date() == []


async def test_a_size_below_that_of_chunks_is_refused(database: Database, server: ModelServer) -> None:
    async with aclosing(await opened(database, server, 20)) as index:
        with pytest.raises(ConfigError, match="extraction_chunk_size is 20 tokens; it must be at least max_chunk_size"):
            await index.add(LETTER)


async def test_a_trial_shows_the_prompt_that_the_chunk_is_read_with(index: AsyncTrueweave, tmp_path: Path) -> None:
    (tmp_path / "letter.md").write_text(LETTER.text)
    trial = await index.try_extract(tmp_path / "letter.md", chunk=2)
    assert LETTER.text in trial.calls[0].prompt.messages[-1].content
    assert [mention.name for mention in trial.found.mentions] == ["Charles Babbage"]


async def test_a_removed_text_is_in_no_reply_whoever_asked_first(index: AsyncTrueweave, url: str) -> None:
    shared = written("first.md", "Ada Lovelace", "Zyxomarque")
    await index.add(shared)
    await index.add(Source("second.md", shared.text))
    assert replies(url) == ["first.md"], "asked once"
    await index.add(written("first.md", "Ada Lovelace"))
    assert replies(url) == ["first.md", "first.md"], "the old reply is still listed under first.md"
    await index.remove(["second.md"])
    assert replies(url) == ["first.md"]
    assert tables.holding(url, "Zyxomarque") == {}


async def test_a_reply_is_kept_while_another_document_has_all_its_chunks(index: AsyncTrueweave, reader: Reader) -> None:
    await index.add(LETTER)
    await index.add(Source("copy.md", LETTER.text))
    await index.remove(["letter.md"])
    await index.add(LETTER)
    assert len(reader.shown) == 1
