"""The index on passages with the entities and triples that a real model found in them."""

from itertools import islice
from pathlib import Path

from trueweave import AsyncTrueweave, NameKey, ResolutionSettings
from trueweave.ingest.extract import preannotated


async def test_real_triples_come_and_go_exactly(trueweave: AsyncTrueweave, bench: Path) -> None:
    folder = bench / "musique_train100"
    documents = list(islice(preannotated.read(folder / "corpus.jsonl.gz", folder / "openie.jsonl.gz"), 60))
    await trueweave.add_documents(documents)
    assert (await trueweave.status()).relations > 400
    await trueweave.remove([document.uri for document in documents[::3]])
    await trueweave.rules.change_resolution(ResolutionSettings("fuzzy", 80, "name"))
    first, second, *_ = await trueweave.graph.entities()
    await trueweave.rules.merge(NameKey(first.name), NameKey(second.name))
    await trueweave.add_documents(documents[:12])
    verdict = await trueweave.maintenance.verify()
    assert verdict.exact, verdict.differences


async def test_what_a_model_wrote_in_two_files_is_joined_by_id(bench: Path) -> None:
    folder = bench / "musique_train100"
    documents = preannotated.read(folder / "corpus.jsonl.gz", folder / "openie.jsonl.gz")
    assert sum(len(chunk.links) for document in documents for chunk in document.chunks) == 17234
