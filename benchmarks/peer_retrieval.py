"""What LightRAG's own modes find of a set of questions, given the same as Trueweave: quality.py holds this against
Trueweave.

It gets the same passages, each one chunk; the same extractions; vectors by the same model; and for each question the
same keywords as `local` and `global` use without a language model. LightRAG wants a description of everything: it gets
the triples as sentences, and where there are only names, as Trueweave's `capitals` finds them, the names. With the
sentences in which these stand, which take twice as long to embed, it found about as much on hotpotqa_train100.

What counts are the chunks in its final context, in the order there: chunk, document, passage. Entities and relations
of the context are no passages, and do not count.
"""

from __future__ import annotations

import asyncio
import base64
import json
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, cast

import peer_lightrag
from minilm import minilm
from peer_lightrag import Peer, PeerFailed

from trueweave import Chunk, Link
from trueweave.bench.datasets import limited
from trueweave.bench.loading import documents, sources
from trueweave.bench.types import Dataset, Question
from trueweave.bench.vectors import KeptEmbedder, kept
from trueweave.extend import Query, QueryContext
from trueweave.ingest.extract.capitals import CapitalsExtractor
from trueweave.retrieval.methods.keywords import keywords
from trueweave.types import Keywords

Found = Literal["capitals", "given"]
Ranked = dict[str, dict[str, list[str]]]

PASSAGES = Path(__file__).parent / "peer_passages.py"
_LONGEST_LINE = 1 << 26  # bytes that LightRAG's process may say at once
_SENTENCES = 3  # of what is said of an entity in one passage
_OTHER = "Other"  # the type that its prompt wants where none fits
_NO_KEYWORDS, _TOGETHER = '""', "together"  # it drops a relation without keywords or description, and takes quotes off


def ranked(
    dataset: Dataset,
    extraction: Found,
    folder: Path,
    peer: Peer,
    *,
    limit: int | None = None,
    apart: bool = False,
) -> Ranked:
    """For each of LightRAG's modes, and each question by its id, the ids of the first ten passages.

    What was indexed and asked is kept in `folder`; clear it for another LightRAG. With `apart` every passage is a
    document of its own, which takes LightRAG hours for a large set, as it writes all it has after each document.
    Otherwise the passages are the chunks of one document, and it merges them in one go; on hotpotqa_train100 and
    musique_train100, with names by their capitals, it found the same.
    (`ainsert_custom_kg` will not do: there an entity can name one chunk alone that it is from.)
    """
    return asyncio.run(_ranked(limited(dataset, limit), extraction, folder.absolute(), peer, apart=apart))


async def _ranked(dataset: Dataset, extraction: Found, folder: Path, peer: Peer, *, apart: bool) -> Ranked:
    chunks = _given(dataset) if extraction == "given" else await _capitals(dataset)
    embedder = await minilm()
    passages = _lines(said(id_, chunk) for id_, chunk in chunks.items())
    # Other passages, other findings or another model make another index.
    mark = sha256(f"{embedder.model}\n{passages}".encode()).hexdigest()[:12]
    place = folder / "-".join((dataset.name, extraction, "apart" if apart else "together", mark))
    place.mkdir(parents=True, exist_ok=True)
    (place / "passages.jsonl").write_text(passages)
    answers = place / "ranked.jsonl"
    known = {row["question"]: row["ranked"] for row in _rows(answers)}
    missing = [one for one in dataset.questions if one.id not in known]
    if missing:
        (place / "questions.jsonl").write_text(_lines([await _asked(one) for one in missing]))
        async with kept(embedder, folder / "vectors.sqlite") as remembering:
            each = 1 if apart else len(chunks)
            with answers.open("a") as file:
                async for row in _run(peer, place, each, remembering):
                    known[row["question"]] = row["ranked"]
                    print(json.dumps(row), file=file, flush=True)
    if left := [one.id for one in dataset.questions if one.id not in known]:
        raise PeerFailed(f"LightRAG left {len(left)} questions without an answer, such as {left[0]}.")
    modes = next(iter(known.values()))
    return {mode: {one.id: known[one.id][mode] for one in dataset.questions} for mode in modes}


def said(id_: str, chunk: Chunk) -> dict[str, Any]:
    """A passage as LightRAG's process reads it, with what a model would tell of its entities and relations."""
    told = [(link, f"{link.source} {link.description} {link.target}") for link in chunk.links if link.description]
    types = {mention.name: mention.type for mention in chunk.mentions}
    entities = []
    for name in dict.fromkeys((*types, *(end for link in chunk.links for end in (link.source, link.target)))):
        sentences = dict.fromkeys(sentence for link, sentence in told if name in (link.source, link.target))
        entities.append((name, types.get(name) or _OTHER, " ".join(list(sentences)[:_SENTENCES]) or name))
    relations = [(link.source, link.target, *_relation(link)) for link in chunk.links]
    return {"id": id_, "text": chunk.text, "entities": entities, "relations": relations}


def _relation(link: Link) -> tuple[str, str]:
    """The keywords of a relation, and its description."""
    if link.description:
        return link.description, f"{link.source} {link.description} {link.target}"
    return _NO_KEYWORDS, _TOGETHER


def _given(dataset: Dataset) -> dict[str, Chunk]:
    return {document.uri: document.chunks[0] for document in documents(dataset)}


async def _capitals(dataset: Dataset) -> dict[str, Chunk]:
    found: dict[str, Chunk] = {}
    for source in sources(dataset):
        [one] = await CapitalsExtractor().extract(source, [Chunk(source.text)])
        found[source.uri] = Chunk(source.text, mentions=one.mentions, links=one.links)
    return found


async def _asked(question: Question) -> dict[str, Any]:
    words = await keywords(Query(question.text), cast(QueryContext, _NoModel()))
    return {"id": question.id, "text": question.text, "low": words.low, "high": words.high}


class _NoModel:
    """As much of an index as keywords need: without a language model they come from the question alone."""

    llm = None

    async def once(self, _: str, make: Callable[[], Awaitable[Keywords]]) -> Keywords:
        return await make()

    def note(self, *_: object) -> None:
        """Nobody looks."""


async def _run(peer: Peer, place: Path, each: int, embedder: KeptEmbedder) -> AsyncIterator[dict[str, Any]]:
    """The answers of LightRAG's process, which is given the vectors that it asks for."""
    errors = place / "errors.txt"
    with errors.open("w") as file:
        pipe = subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *(peer.python, PASSAGES, place, str(each)),
            env=peer_lightrag.environment(peer),
            cwd=place,
            stdin=pipe,
            stdout=pipe,
            stderr=file,
            limit=_LONGEST_LINE,
        )
    assert process.stdin
    assert process.stdout
    try:
        async for line in process.stdout:
            row = json.loads(line)
            if "embed" in row:
                vectors = await embedder.embed(row["embed"], "document")
                process.stdin.write(base64.b64encode(vectors.astype("float32").tobytes()) + b"\n")
                await process.stdin.drain()
            elif "question" in row:
                yield row
        failed = await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if failed:
        end = "\n".join(errors.read_text().splitlines()[-15:])
        raise PeerFailed(f"LightRAG broke off:\n{end}")


def _lines(rows: Iterable[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    if path.exists():
        yield from map(json.loads, path.read_text().splitlines())
