"""Estimates the number of chunks and tokens, and their cost, before anything is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from trueweave.core.events import Event, Listener, Refused, Unreadable
from trueweave.core.graph import GRAPH_KINDS, VectorKind
from trueweave.core.model_calls import Prompt
from trueweave.core.money import EmbeddingEstimate, Estimate, Price, Spent
from trueweave.core.protocols import Embedder
from trueweave.core.record import Chunk, Source
from trueweave.ingest.describe import EXPECTED_TOKENS, picture_prompt
from trueweave.ingest.extract.llm import LLMExtractor
from trueweave.ingest.extract.units import Unit
from trueweave.ingest.intake import batches
from trueweave.ingest.loading import Loaded
from trueweave.ingest.own import BUILT_IN_EXTRACTORS
from trueweave.ingest.parsers.ocr import SCANNED_PAGES
from trueweave.ingest.recipe import Recipe
from trueweave.models.prompts import BUILT_IN, PromptSet
from trueweave.models.stored_replies import prompt_key
from trueweave.models.usage import prompt_tokens
from trueweave.store.postgres.db import Workspace
from trueweave.store.postgres.money import ledger, replies
from trueweave.store.postgres.record import sources
from trueweave.store.postgres.vectors import vectors
from trueweave.store.postgres.vectors.space import Space
from trueweave.text import tokens
from trueweave.text.chunking import chunk

SECONDS_A_SCAN = 6  # to read a dense page by OCR; see benchmarks/parsing.py
ASSUMED_OUT = 1.5  # tokens that a model writes per token of text, until it has written some here


@dataclass(frozen=True)
class Prices:
    """The basis of an estimate: the prompts (None without a model), and the prices of the models."""

    asked: LLMExtractor | None
    model: Price | None
    embedding_model: str
    embedding: Price | None
    vision_model: str = ""
    vision: Price | None = None
    prompts: PromptSet = BUILT_IN
    cached_as: str = ""  # the names of the two chat models in the keys of cached replies
    vision_cached_as: str = ""


@dataclass
class _Sum:
    documents: int = 0
    unchanged: int = 0
    unreadable: int = 0
    chunks: int = 0
    tokens: int = 0
    answered: int = 0
    calls: int = 0
    tokens_asked_about: int = 0
    tokens_in: int = 0
    scans: int = 0
    pictures: int = 0
    picture_tokens: int = 0
    seen: set[UUID] = field(default_factory=set)


async def estimate(
    workspace: Workspace,
    incoming: Iterable[Loaded],
    recipe: Recipe,
    prices: Prices,
    listener: Listener,
    made: UUID | None = None,
) -> Estimate:
    """The estimate for adding these. The listener receives what cannot be read."""
    total = _Sum()

    def tell(event: Event) -> None:
        total.unreadable += isinstance(event, Unreadable | Refused)
        listener(event)

    async for found in batches(incoming, tell):
        async with workspace.transaction() as tx:
            new = await sources.not_in_record(tx, found, recipe.packed(), made)
        total.documents += len(new)
        total.scans += sum(pages for one in new if isinstance(pages := one.metadata.get(SCANNED_PAGES), int))
        total.unchanged += len(found) - len(new)
        chunks = await asyncio.to_thread(_chunks, new, recipe)
        total.chunks += sum(len(some) for some in chunks)
        total.tokens += sum(c.tokens for some in chunks for c in some)
        await _count_pictures(workspace, new, prices, total)
        if asked := prices.asked:
            read = [unit for source, some in zip(new, chunks, strict=True) for unit in asked.units(source, some)]
            await _ask(workspace, read, asked, prices.cached_as, recipe, total)
    async with workspace.transaction() as tx:
        spent = await ledger.receipt(tx)
    return _estimate(total, recipe, prices, spent)


async def estimate_embedding(workspace: Workspace, embedder: Embedder, price: Price | None) -> EmbeddingEstimate:
    """The estimate for embedding everything that is not embedded with this model yet."""
    async with workspace.transaction() as tx:
        space = await vectors.find_space(tx, embedder)
        _, of_kinds = await vectors.wanted(tx)
    return await _estimate_kinds(workspace, embedder, price, space, of_kinds)


async def estimate_graph_vectors(workspace: Workspace, embedder: Embedder, price: Price | None) -> EmbeddingEstimate:
    """The estimate for embedding all entities and relations that have no vector yet."""
    async with workspace.transaction() as tx:
        space = await vectors.find_space(tx, embedder)
    return await _estimate_kinds(workspace, embedder, price, space, GRAPH_KINDS)


async def _estimate_kinds(
    workspace: Workspace, embedder: Embedder, price: Price | None, space: Space | None, of_kinds: Sequence[VectorKind]
) -> EmbeddingEstimate:
    texts = total = 0
    for kind in of_kinds:
        async for page in vectors.missing_of_kind(workspace, space, kind):
            texts += len(page)
            total += await asyncio.to_thread(_tokens, [one.text for one in page])
    present = await vectors.count_present(workspace, space, of_kinds) if space else 0
    return EmbeddingEstimate(embedder.model, texts, total, present, price.of(total, 0) if price else None)


def _tokens(texts: Iterable[str]) -> int:
    return sum(map(tokens.count, texts))


def _chunks(sources: Iterable[Source], recipe: Recipe) -> list[list[Chunk]]:
    return [chunk(source, recipe.sizes) for source in sources]


async def _ask(
    workspace: Workspace, read: list[Unit], asked: LLMExtractor, cached_as: str, recipe: Recipe, total: _Sum
) -> None:
    """Count the prompts of the units without a cached reply."""
    prompts = await asyncio.to_thread(_prompts, read, asked, cached_as)
    prompts = {key: pair for key, pair in prompts.items() if key not in total.seen}
    total.seen.update(prompts)
    async with workspace.transaction() as tx:
        known = await replies.answered(tx, list(prompts))
    total.answered += len(read) - len(prompts) + len(known)
    new = [(one, prompt) for key, (one, prompt) in prompts.items() if key not in known]
    total.calls += recipe.max_gleaning * len(new)
    total.tokens_asked_about += sum(one.tokens for one, _ in new)
    said = [message.content for _, prompt in new for message in prompt.messages]
    total.tokens_in += recipe.max_gleaning * await asyncio.to_thread(_tokens, said)


async def _count_pictures(workspace: Workspace, new: Iterable[Source], prices: Prices, total: _Sum) -> None:
    """Count the pictures without a stored description."""
    prompts: dict[UUID, Prompt] = {}
    for picture in (picture for source in new for picture in source.pictures):
        prompt = picture_prompt(picture, prices.prompts)
        cached_as = prices.vision_cached_as if picture.model == prices.vision_model else picture.model
        prompts.setdefault(prompt_key(cached_as, prompt), prompt)
    prompts = {key: prompt for key, prompt in prompts.items() if key not in total.seen}
    total.seen.update(prompts)
    if prompts:
        async with workspace.transaction() as tx:
            known = await replies.answered(tx, list(prompts))
        asked = [prompt for key, prompt in prompts.items() if key not in known]
        total.pictures += len(asked)
        total.picture_tokens += sum(map(prompt_tokens, asked))


def _prompts(read: list[Unit], asked: LLMExtractor, cached_as: str) -> dict[UUID, tuple[Unit, Prompt]]:
    asked_about = ((unit, asked.prompt(unit)) for unit in read)
    return {prompt_key(cached_as, prompt): (unit, prompt) for unit, prompt in asked_about}


def _estimate(total: _Sum, recipe: Recipe, prices: Prices, spent: Iterable[Spent]) -> Estimate:
    before = [s for s in spent if s.stage == "extract" and s.model == recipe.model and s.calls > s.lost]
    seen, written = sum(s.tokens_in for s in before), sum(s.tokens_out for s in before)
    if seen:
        expected = round(total.tokens_in * written / seen)
    else:
        expected = round(total.tokens_asked_about * ASSUMED_OUT) * recipe.max_gleaning
    most = total.calls * (prices.asked.max_tokens if prices.asked else 0)
    expected = min(expected, most)
    embedded = total.tokens * (2 if recipe.chunker == "semantic" else 1)  # sentences, and then chunks
    return Estimate(
        total.documents,
        total.unchanged,
        total.unreadable,
        total.chunks,
        total.tokens,
        total.answered,
        recipe.model,
        total.calls,
        total.tokens_in,
        expected,
        most,
        bool(seen),
        prices.model.of(total.tokens_in, expected) if prices.model else None,
        prices.model.of(total.tokens_in, most) if prices.model else None,
        prices.embedding_model,
        prices.embedding.of(embedded, 0) if prices.embedding else None,
        recipe.extractor,
        tuple(_not_counted(recipe, total)),
        total.pictures,
        prices.vision_model,
        prices.vision.of(total.picture_tokens, total.pictures * EXPECTED_TOKENS) if prices.vision else None,
    )


def _not_counted(recipe: Recipe, total: _Sum) -> Iterator[str]:
    """Notes on what cannot be known in advance."""
    if total.pictures:
        yield "descriptions of pictures are not counted in chunks and tokens, because they are not written yet"
    if scans := total.scans:
        time = str(timedelta(seconds=scans * SECONDS_A_SCAN))
        yield (
            f"OCR would take about {time} for {scans:,} scanned pages; their text is not counted, and a document with "
            "such pages counts as new"
        )
    if recipe.chunker != "structure":
        yield (
            f"chunks are counted with the chunker structure, because {recipe.chunker} may have to call a model: "
            "there may be more or fewer"
        )
    if recipe.extractor not in BUILT_IN_EXTRACTORS:
        yield f"the model calls of the extractor {recipe.extractor} are not known in advance, and not counted"
