"""What prefixes, and what is done with long texts, make of what vectors find.

    python benchmarks/embedding.py            # full size: half an hour; writes benchmarks/results/embedding.json
    python benchmarks/embedding.py --smoke    # a few passages by MiniLM; writes nothing
    python benchmarks/embedding.py --only prefixes_hotpotqa_train100

Full size needs the models that `make models` fetches. The last line printed is one JSON object with all figures.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import mean
from typing import Any
from uuid import uuid4

import corpora
import numpy as np
import parts
from jars import BGE_INT8, E5_INT8
from minilm import minilm

from trueweave import AsyncTrueweave, Chunk, Document
from trueweave.bench.folders import read_folder
from trueweave.core.model_calls import TextRole
from trueweave.extend import Database, Embedder, Vectors
from trueweave.models import catalogue
from trueweave.models.embedder_wrapper import EmbedderWrapper
from trueweave.models.onnx import OnnxEmbedder
from trueweave.models.prefixes import PrefixedEmbedder, Prefixes
from trueweave.retrieval.methods.naive import Naive
from trueweave.text import tokens

Figures = dict[str, Any]
RESULTS = Path(__file__).parent / "results" / "embedding.json"
KEPT = Path(__file__).parent / ".embedding"
SETS = ("hotpotqa_train100", "musique_train100")
FEW = 60  # passages of a smoke run
LONG = {"all-MiniLM-L6-v2-int8": 600, "bge-small-en-v1.5-int8": 1200}  # tokens of joined passages: more than each reads


@dataclass(frozen=True)
class Questions:
    """Texts by their names, and questions with the names of the texts that answer each."""

    texts: Mapping[str, str]
    asked: Sequence[tuple[str, frozenset[str]]]


def passages(name: str, few: int | None = None) -> Questions:
    """A set as it is: one text for each passage. With `few`, the questions whose passages are among the first."""
    dataset = read_folder(corpora.BENCH / name)
    texts = {one.id: one.whole for one in islice(dataset.passages or (), few)}
    asked = [(one.text, frozenset(one.supporting)) for one in dataset.questions]
    return Questions(texts, [one for one in asked if one[1] <= texts.keys()])


def joined(found: Questions, size: int) -> Questions:
    """The same passages, in random order, joined to texts of about so many tokens."""
    names = list(found.texts)
    random.Random(0).shuffle(names)
    held: list[list[str]] = [[]]
    used = 0
    for name in names:
        held[-1].append(name)
        used += tokens.count(found.texts[name])
        if used >= size:
            held.append([])
            used = 0
    whole = {str(place): some for place, some in enumerate(held) if some}
    place_of = {name: place for place, some in whole.items() for name in some}
    return Questions(
        {place: "\n\n".join(found.texts[name] for name in some) for place, some in whole.items()},
        [(question, frozenset(place_of[name] for name in supporting)) for question, supporting in found.asked],
    )


@dataclass(frozen=True)
class Beginning(EmbedderWrapper):
    """What was done with long texts before: only their beginning is embedded."""

    bare: OnnxEmbedder

    @property
    def model(self) -> str:
        return f"{self.bare.model} of the beginning"

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        return await self.bare.embed([self._beginning(text, self.bare.prefixes.of(role)) for text in texts], role)

    def _beginning(self, text: str, prefix: str) -> str:
        encoded = self.bare._local.tokenizer.encode(prefix + text)  # noqa: SLF001 (to do what it did)
        if len(encoded.ids) <= self.bare.most_tokens:
            return text
        return text[: encoded.offsets[self.bare.most_tokens - 2][1] - len(prefix)]


@dataclass(frozen=True)
class Remembered(EmbedderWrapper):
    """An embedder that is given the same document once, whatever the prefix of queries is."""

    bare: OnnxEmbedder
    known: dict[tuple[str, str], Vectors]

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        if role == "query":
            return await self.bare.embed(texts, role)
        keys = [(self.bare.prefixes.document, text) for text in texts]
        new = list(dict.fromkeys(key for key in keys if key not in self.known))
        made = await self.bare.embed([text for _, text in new], role)
        self.known.update(zip(new, made, strict=True))
        return np.stack([self.known[key] for key in keys])


class Bench:
    """Where texts are found, and the size at which the parts run."""

    def __init__(self, database: Database, *, smoke: bool) -> None:
        self._database = database
        self._smoke = smoke

    # Which share of a question's passages is among the first five, in per cent, with the prefixes that the model was
    # trained with, and without any.
    async def prefixes(self, name: str) -> Figures:
        if self._smoke:
            found = passages(name, FEW)
            bare = await minilm()
            prefixed = PrefixedEmbedder(bare, Prefixes("query: ", "passage: "))
            return {"prefixes": await self._recall(found, prefixed), "none": await self._recall(found, bare)}
        found = passages(name)
        figures: Figures = {"questions": len(found.asked), "passages": len(found.texts)}
        for jar in (BGE_INT8, E5_INT8):
            trained, plain = await jar.open(catalogue.named(jar.known_as).prefixes), await jar.open()
            known: dict[tuple[str, str], Vectors] = {}
            figures[f"{jar.known_as}-int8"] = {
                "as_trained": await self._recall(found, Remembered(trained, trained, known)),
                "none": await self._recall(found, Remembered(plain, plain, known)),
            }
        return figures

    # The same with passages joined to long texts, of which the model reads less at once: by windows, whose vectors are
    # averaged, and by the beginning alone. `divided` is how many of the texts are longer than what it reads.
    async def long_texts(self, name: str) -> Figures:
        models: dict[str, OnnxEmbedder] = {"all-MiniLM-L6-v2-int8": await minilm()}
        if not self._smoke:
            trained = catalogue.named(BGE_INT8.known_as).prefixes
            models["bge-small-en-v1.5-int8"] = await BGE_INT8.open(trained)
        figures: Figures = {}
        for model, embedder in models.items():
            found = joined(passages(name, FEW if self._smoke else None), LONG[model])
            figures[model] = {
                "reads_tokens": embedder.most_tokens,
                "text_tokens": LONG[model],
                "questions": len(found.asked),
                "texts": len(found.texts),
                "divided": sum(_tokens(embedder, text) > embedder.most_tokens for text in found.texts.values()),
                "windows": await self._recall(found, embedder),
                "beginning": await self._recall(found, Beginning(embedder, embedder)),
            }
        return figures

    async def _recall(self, found: Questions, embedder: Embedder) -> float:
        """Which share of what answers a question is among the first five texts, in per cent."""
        trueweave = await AsyncTrueweave.enter(self._database, f"embedding {uuid4()}", embedder)
        async with aclosing(trueweave):
            try:
                await trueweave.add_documents(Document(name, (Chunk(text),)) for name, text in found.texts.items())
                shares = []
                for question, supporting in found.asked:
                    evidence = await trueweave.retrieve(question, Naive(top_k=5))
                    got = {uri for one in evidence.passages for uri in (one.uri, *(copy.uri for copy in one.also))}
                    shares.append(len(supporting & got) / len(supporting))
            finally:
                await trueweave.maintenance.drop()
        return round(100 * mean(shares), 1)


def _tokens(embedder: OnnxEmbedder, text: str) -> int:
    return len(embedder._local.tokenizer.encode(text).ids)  # noqa: SLF001 (as the model counts)


async def run(url: str, _: Path, options: argparse.Namespace) -> Figures:
    async with Database(url) as database:
        bench = Bench(database, smoke=options.smoke)
        each = [
            (f"{what}_{name}", partial(part, name))
            for what, part in (("prefixes", bench.prefixes), ("long_texts", bench.long_texts))
            for name in (SETS[:1] if options.smoke else SETS)
        ]
        return await parts.carried_out(each, options.only)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts.main(parser, run, KEPT, RESULTS)


if __name__ == "__main__":
    main()
