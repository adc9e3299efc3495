"""Vectors of relations: what they find when they are derived from other vectors instead of embedded.

    python benchmarks/relation_vectors.py            # minutes; writes results/relation_vectors.json
    python benchmarks/relation_vectors.py --smoke    # a few questions; writes nothing

Passages are loaded once with their relation texts embedded by all-MiniLM-L6-v2 (8 bits); then the vectors of relations
are put in the place of these, form by form: sums of unit vectors, brought to length 1 again. Recall at 5 in per cent,
and the difference from the embedded text, question by question, with its 95 % interval. See ADR 0040.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import parts
import quality_sets as sets
from counting import CountingEmbedder
from minilm import minilm
from numpy.typing import NDArray
from parts import Figures
from quality_sets import Extraction, Shelf

from trueweave import AsyncTrueweave
from trueweave.bench.datasets import Dataset
from trueweave.bench.experiment import deep_enough
from trueweave.core.bootstrap import difference
from trueweave.extend import Database, Embedder
from trueweave.methods import Global, Hybrid
from trueweave.store.postgres.vectors import vectors
from trueweave.store.postgres.vectors.vectors import Vector, half

KEPT = Path(__file__).parent / ".relation_vectors"
RESULTS = Path(__file__).parent / "results" / "relation_vectors.json"
# Of each set: how names are found, and how many passages are there beside those that support the questions.
SETS: dict[str, tuple[Extraction, int]] = {"musique_train100": ("given", 500), "hotpotqa_train100": ("capitals", 150)}
METHODS = {"global": deep_enough(Global(), 10), "hybrid": deep_enough(Hybrid(), 10)}
_QUESTIONS = 100
_WRITTEN_AT_ONCE = 2000

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class _Relations:
    """The relations of a workspace: their ids and hashes, and what their vectors can be made of, a row each."""

    ids: list[UUID]
    hashes: list[UUID]
    ends: Matrix
    chunks: Matrix
    words: Matrix

    @property
    def forms(self) -> dict[str, Matrix]:
        return {
            "both entities": self.ends,
            "entities and chunks": _unit(self.ends + self.chunks),
            "entities and keywords": _unit(self.ends + self.words),
            "all three": _unit(self.ends + self.chunks + self.words),
        }


async def measured(database: Database, name: str, *, smoke: bool) -> Figures:
    """The figures of one set."""
    extractor, others = SETS[name]
    dataset = sets.cut(sets.found(name), 5 if smoke else _QUESTIONS, 20 if smoke else others)
    embedder = CountingEmbedder(await minilm())
    async with Shelf(database, embedder, embedder).loaded(dataset, extractor) as trueweave:
        texts, status = embedder.texts, await trueweave.status()
        base = await _asked(trueweave, dataset)
        figures: Figures = {
            "questions": len(dataset.questions),
            "passages": status.chunks,
            "entities": status.entities,
            "relations": status.relations,
            "texts_a_passage": round(texts / status.chunks, 1),
            "of_these_relations": round(status.relations / status.chunks, 1),
            "embedded": {method: round(100 * float(np.mean(hits)), 1) for method, hits in base.items()},
        }
        relations = await _relations(trueweave, embedder.inner)
        for form, values in relations.forms.items():
            await _write(trueweave, relations, values)
            found = await _asked(trueweave, dataset)
            figures[form] = {method: _compared(hits, base[method]) for method, hits in found.items()}
    return figures


async def _relations(trueweave: AsyncTrueweave, embedder: Embedder) -> _Relations:
    async with trueweave.workspace.transaction(snapshot=True) as tx:
        rows = await (
            await tx.execute("SELECT id, text_hash, source, target, source_name, keywords, description FROM relation")
        ).fetchall()
        stated = await (
            await tx.execute(
                """SELECT DISTINCT p.relation, l.chunk FROM link l
                JOIN name_pair p ON p.source = l.source AND p.target = l.target WHERE p.relation IS NOT NULL"""
            )
        ).fetchall()
        of_entity = await vectors.of_ids(tx, "entity", list({end for row in rows for end in row[2:4]}))
        of_chunk = await vectors.of_ids(tx, "chunk", list({chunk for _, chunk in stated}))
    entity = {id_: np.asarray(one.to_list(), np.float32) for id_, one in of_entity.items()}
    chunk = {id_: np.asarray(one.to_list(), np.float32) for id_, one in of_chunk.items()}
    chunks: defaultdict[UUID, list[UUID]] = defaultdict(list)
    for relation, where in stated:
        chunks[relation].append(where)
    said = [", ".join(row[5]) or row[6] or row[4] for row in rows]
    known = dict(zip(set(said), await embedder.embed(list(set(said)), "document"), strict=True))
    return _Relations(
        [row[0] for row in rows],
        [row[1] for row in rows],
        _unit(np.stack([entity[row[2]] + entity[row[3]] for row in rows])),
        _unit(np.stack([np.mean([chunk[where] for where in chunks[row[0]]], axis=0) for row in rows])),
        _unit(np.stack([known[text] for text in said])),
    )


async def _write(trueweave: AsyncTrueweave, relations: _Relations, values: Matrix) -> None:
    async with trueweave.workspace.transaction() as tx:
        space = await vectors.space(tx)
        assert space
        made = [
            Vector("relation", id_, hash_, half(one))
            for id_, hash_, one in zip(relations.ids, relations.hashes, values, strict=True)
        ]
        for at in range(0, len(made), _WRITTEN_AT_ONCE):
            await vectors.write(tx, space, made[at : at + _WRITTEN_AT_ONCE], ())


async def _asked(trueweave: AsyncTrueweave, dataset: Dataset) -> dict[str, list[float]]:
    """The share of supporting passages among the first five, for each method and question."""
    hits: dict[str, list[float]] = {}
    for name, method in METHODS.items():
        hits[name] = []
        for question in dataset.questions:
            evidence = await trueweave.retrieve(question.text, method)
            first = {passage.uri for passage in evidence.passages[:5]}
            hits[name].append(len(first & set(question.supporting)) / len(question.supporting))
    return hits


def _compared(hits: Sequence[float], base: Sequence[float]) -> Figures:
    ahead = difference(hits, base)
    return {
        "recall": round(100 * float(np.mean(hits)), 1),
        "ahead": [round(100 * one, 1) for one in (ahead.mean, ahead.low, ahead.high)],
    }


def _unit(rows: Any) -> Matrix:
    lengths: Matrix = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, 1e-9), np.float32)


async def run(url: str, folder: Path, options: argparse.Namespace) -> Figures:
    async with Database(url) as database:
        named = [(name, lambda name=name: measured(database, name, smoke=options.smoke)) for name in SETS]
        return await parts.carried_out(named, options.only)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts.main(parser, run, KEPT, RESULTS)


if __name__ == "__main__":
    main()
