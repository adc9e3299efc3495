"""An index made from what other systems have written, and from our own export."""

import asyncio
import hashlib
import json
import logging
import re
from collections.abc import AsyncIterator
from contextlib import aclosing
from itertools import islice
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest

from tests.unit.formats.test_importing import write_graphrag
from trueweave import AsyncTrueweave, Chunk, Document, Link, Mention, NameKey, Place
from trueweave.extend import Database
from trueweave.formats import importing
from trueweave.ingest.extract import preannotated
from trueweave.testing import HashEmbedder

TEXTS = {
    "doc-1": "Ada met Babbage in London, where it rained all day. Later that year Ada hired Byron as a clerk. "
    "Byron praised Ada in a letter that nobody kept. " * 3,
    "doc-2": "Carol met Dave & his <brother>. Dave hired Ada, who knew 東京 and Zoë. Ada met Babbage once more.",
}
SAID = re.compile(r"([A-Z]\w+) (met|hired|praised) ([A-Z]\w+)")


class Letters:
    """A tokenizer for LightRAG that needs no download: a token for each character."""

    def encode(self, content: str) -> list[int]:
        return [ord(character) for character in content]

    def decode(self, tokens: list[int]) -> str:
        return "".join(map(chr, tokens))


async def _reply(prompt: str, system_prompt: str | None = None, **options: Any) -> str:
    """What a model finds in a text, in the form that LightRAG asks for."""
    if options.get("history_messages") or "<|#|>" not in (system_prompt or "") + prompt:
        return "<|COMPLETE|>"
    lines = []
    for one, did, other in SAID.findall(prompt.rpartition("---Data to be Processed---")[2] or prompt):
        lines.append(f"entity<|#|>{one}<|#|>person<|#|>{one} is one who {did} {other}.")
        lines.append(f"entity<|#|>{other}<|#|>person<|#|>{other} was {did} by {one}.")
        lines.append(f'relation<|#|>{one}<|#|>{other}<|#|>{did}, people<|#|>{one} {did} {other} & "others".')
    return "\n".join([*dict.fromkeys(lines), "<|COMPLETE|>"])


async def _embed(texts: list[str], **_: object) -> Any:
    digests = (hashlib.blake2b(text.encode(), digest_size=32).digest() for text in texts)
    return np.array([[byte / 255 for byte in digest] for digest in digests], np.float32)


@pytest.fixture(scope="module")
def working_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working directory that LightRAG itself has made of TEXTS, with its default storages."""
    lightrag = pytest.importorskip("lightrag")
    from lightrag.utils import EmbeddingFunc, Tokenizer, logger

    folder = tmp_path_factory.mktemp("lightrag")
    level = logger.level
    logger.setLevel(logging.ERROR)

    async def make() -> None:
        rag = lightrag.LightRAG(
            working_dir=str(folder),
            llm_model_func=_reply,
            llm_model_name="scripted",
            tokenizer=Tokenizer("letters", Letters()),
            embedding_func=EmbeddingFunc(embedding_dim=32, max_token_size=8192, func=_embed, model_name="hash"),
            enable_llm_cache=False,
            workspace="",
            chunk_token_size=120,
            chunk_overlap_token_size=20,
        )
        await rag.initialize_storages()
        names = [f"folder/{id_}.txt" for id_ in TEXTS]
        await rag.ainsert(list(TEXTS.values()), ids=list(TEXTS), file_paths=names)
        await rag.finalize_storages()

    with asyncio.Runner() as runner:
        runner.run(make())
    logger.setLevel(level)
    return folder


async def test_what_lightrag_has_made_is_the_same_here(trueweave: AsyncTrueweave, working_directory: Path) -> None:
    notes: list[Any] = []
    read = list(importing.read(working_directory, uri="l", listener=notes.append))
    assert notes == []
    await trueweave.add_documents(read)

    kept = json.loads((working_directory / "kv_store_text_chunks.json").read_text("utf-8"))
    assert len(kept) > 4, "several chunks in a document"
    assert sorted(chunk.text for document in read for chunk in document.chunks) == sorted(
        row["content"] for row in kept.values()
    )
    assert {document.uri: document.metadata["file_path"] for document in read} == {
        f"l#{row['full_doc_id']}": row["file_path"] for row in kept.values()
    }
    starts = {(document.uri, chunk.start): chunk.text for document in read for chunk in document.chunks}
    for (uri, start), text in starts.items():
        whole = TEXTS[uri.removeprefix("l#")]
        assert text.strip() in whole[max(start - 5, 0) : start + len(text) + 5], "where it stands, but for white space"

    graph = networkx.read_graphml(working_directory / "graph_chunk_entity_relation.graphml")
    entities = await trueweave.graph.entities(limit=1000)
    found = {entity.name: (entity.type, {*entity.description.split("\n")}, entity.count) for entity in entities}
    assert len(graph.nodes) > 4
    assert found == {
        name: (node["entity_type"], {*node["description"].split("<SEP>")}, len(node["source_id"].split("<SEP>")))
        for name, node in graph.nodes(data=True)
    }
    relations = await trueweave.graph.relations(*(entity.id for entity in entities), limit=1000)
    told = {
        frozenset((one.source_name, one.target_name)): (one.weight, {*one.description.split("\n")}, {*one.keywords})
        for one in relations
    }
    assert told == {
        frozenset(ends): (
            edge["weight"],
            {*edge["description"].split("<SEP>")},
            {*edge["keywords"].split(",")},
        )
        for *ends, edge in graph.edges(data=True)
    }
    assert (await trueweave.maintenance.verify()).exact


async def test_what_graphrag_has_made_is_the_same_here(trueweave: AsyncTrueweave, tmp_path: Path) -> None:
    folder = write_graphrag(tmp_path / "output")
    assert await trueweave.add_documents(importing.read(folder, uri="g", listener=lambda _: None)) == 4
    entities = {one.name: one for one in await trueweave.graph.entities()}
    assert {name: (one.type, one.description) for name, one in entities.items()} == {
        "ACME": ("ORGANIZATION", "A firm."),
        "ADA BYRON": ("PERSON", "Its founder."),
        "ZETA": ("", ""),
        "LOST": ("EVENT", "Nowhere."),
    }
    relations = await trueweave.graph.relations(entities["ACME"].id)
    assert {one.source_name: (one.description, one.weight) for one in relations} == {
        "ADA BYRON": ("founded", 15),
        "ZETA": ("bought", 0.4),
        "LOST": ("haunts", 2),
    }
    assert await trueweave.add_documents(importing.read(folder, uri="g", listener=lambda _: None)) == 0, "unchanged"
    assert await trueweave.remove(await _uris(trueweave, "g#d1")) == 1
    assert (await trueweave.maintenance.verify()).exact


async def _uris(trueweave: AsyncTrueweave, *begin: str) -> list[str]:
    return [one.uri for one in await trueweave.list_documents(limit=1000) if one.uri.startswith(begin)]


async def test_what_is_stated_without_a_text_is_found_and_cited(trueweave: AsyncTrueweave, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("Ada Lovelace,lived in,London\nCharles Babbage,built,engines\n")
    await trueweave.add_documents(importing.read(tmp_path / "t.csv", uri="t.csv"))
    [passage, *_] = (await trueweave.retrieve("Where did Ada Lovelace live?", "keyword")).passages
    assert passage.uri == "t.csv#1"
    assert "Ada Lovelace lived in London." in passage.text
    assert {one.name for one in await trueweave.graph.entities()} == {
        "Ada Lovelace",
        "London",
        "Charles Babbage",
        "engines",
    }


# --- there and back -----------------------------------------------------------------------------------


@pytest.fixture
async def other(database: Database) -> AsyncIterator[AsyncTrueweave]:
    """Another workspace."""
    async with aclosing(await AsyncTrueweave.enter(database, "other", HashEmbedder())) as opened:
        yield opened


async def _moved(source: AsyncTrueweave, target: AsyncTrueweave, folder: Path) -> None:
    await source.graph.export(folder / "all.jsonl")
    await target.add_documents(importing.read(folder / "all.jsonl"))


async def test_an_export_that_is_imported_has_the_same_digest(
    trueweave: AsyncTrueweave, other: AsyncTrueweave, tmp_path: Path
) -> None:
    said = Link("Ada", "Mercury", " knows\nof ", ("k", "l"), 9, 3, ((0, 1),), "person", "planet")
    chunk = Chunk(
        " Ada knows Mercury. \n", 3, 5, (Mention("Mercury", "metal", "d", 8), Mention("Ada", "person")), (said,)
    )
    places = (Place(0, "page", " 1 "), Place(3, "heading", "On Mercury", 2, 17))
    odd = Document(
        "notes/ä b.md", (chunk, Chunk("Again.", 30), Chunk("Again.", 40)), " A title ", {" k ": [1, None]}, places
    )
    await trueweave.add_documents([odd, Document("empty", ()), Document("https://x.org/a", (Chunk("Ada."),))])
    await trueweave.add_documents([Document("https://x.org/a", (Chunk("Ada, in another version."),))])
    await _moved(trueweave, other, tmp_path)
    assert await other.maintenance.digest() == await trueweave.maintenance.digest()
    await other.graph.export(tmp_path / "back.jsonl")
    assert sorted((tmp_path / "back.jsonl").read_text("utf-8").splitlines()) == sorted(
        (tmp_path / "all.jsonl").read_text("utf-8").splitlines()
    )


async def test_real_documents_with_triples_come_and_go_with_the_same_digest(
    trueweave: AsyncTrueweave, other: AsyncTrueweave, bench: Path, tmp_path: Path, full: bool
) -> None:
    folder = bench / "musique_train100"
    read = preannotated.read(folder / "corpus.jsonl.gz", folder / "openie.jsonl.gz")
    await trueweave.add_documents(islice(read, None if full else 100))
    await trueweave.remove(await _uris(trueweave, *(f"{folder / 'corpus.jsonl.gz'}#{n}" for n in range(20, 30))))
    await _moved(trueweave, other, tmp_path)
    assert (await other.status()).relations > (2000 if full else 700)
    assert await other.maintenance.digest() == await trueweave.maintenance.digest()
    first, second, *_ = await trueweave.graph.entities()
    await trueweave.rules.merge(NameKey(first.name), NameKey(second.name))
    assert await other.maintenance.digest() != await trueweave.maintenance.digest(), "rules are not exported"
