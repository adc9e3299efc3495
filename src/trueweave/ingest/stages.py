"""The stages of a document: text, chunks, findings, rows. Pure functions, independent of their caller."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from uuid import UUID

from trueweave.core.events import Working, tell
from trueweave.core.protocols import Chunker, Extractor
from trueweave.core.record import Chunk, Document, Extraction, Source
from trueweave.core.telemetry.spans import span
from trueweave.graph.contribution import Contribution, Made, contribution
from trueweave.ingest.recipe import Recipe
from trueweave.ingest.short_names import with_full_names
from trueweave.text.chunking import StructureChunker

_QUICK = 20_000  # characters; building rows for more is worth a thread
_LONG = 500_000  # characters; chunking more takes a second or longer


async def work(
    source: Source, id_: UUID | None, recipe: Recipe, extractor: Extractor, chunker: Chunker | None = None
) -> Contribution:
    """The contents of a document, as rows of the record; `id_` is that of the submitted source, if it was submitted."""
    if len(source.text) > _LONG:
        tell(Working(source.uri))
    chunker = chunker or StructureChunker()
    with span("chunk", {"trueweave.chunker": recipe.chunker}) as cutting:
        chunks = await chunker.chunk(source, recipe.sizes)
        cutting.set_attribute("trueweave.chunks", len(chunks))
    with span("extract", {"trueweave.extractor": recipe.extractor}):
        found = await extractor.extract(source, chunks)
    notes = (*source.notes, *summed_up(note for each in found for note in each.notes))
    if not chunks:
        notes = ("it has no text" if not source.text.strip() else "no chunk was made of it", *notes)
    made = made_by(recipe, extractor, chunker)

    def rows() -> Contribution:
        document = assemble(source, chunks, found)
        return contribution(with_full_names(document) if recipe.short_names else document, id_, notes, made)

    return rows() if len(source.text) < _QUICK else await asyncio.to_thread(rows)


def made_by(recipe: Recipe, extractor: Extractor, chunker: Chunker) -> Made:
    """The fingerprint of processing a document with a recipe, this extractor and chunker, and this version of
    Trueweave."""
    return Made(recipe.packed(), f"{extractor.fingerprint} {chunker.fingerprint}")


def assemble(source: Source, chunks: Sequence[Chunk], found: Sequence[Extraction]) -> Document:
    """A source with its chunks and their findings."""
    said = (replace(c, mentions=f.mentions, links=f.links) for c, f in zip(chunks, found, strict=True))
    return Document(source.uri, tuple(said), source.title, source.metadata, source.places, readers=source.readers)


def summed_up(notes: Iterable[str]) -> tuple[str, ...]:
    """Each note once: a note that ends in a number with the sum, any other with the number of chunks."""
    chunks: Counter[str] = Counter()
    figures: Counter[str] = Counter()
    for note in notes:
        what, _, figure = note.rpartition(": ")
        if figure.isdecimal():
            figures[what] += int(figure)
        else:
            chunks[note] += 1
    of_chunks = (note if times == 1 else f"{note} ({times} chunks)" for note, times in chunks.most_common())
    return (*of_chunks, *(f"{what}: {figure}" for what, figure in figures.most_common()))
