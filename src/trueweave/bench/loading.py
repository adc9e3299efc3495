"""Loads the passages of a set into a workspace, one document each, or uses the documents that are already there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from trueweave.bench.types import Dataset, DatasetPassage, Question, Span
from trueweave.core.errors import ConfigError
from trueweave.core.events import Event, Extracted, Failed, Found
from trueweave.core.record import Document, Source
from trueweave.ingest.extract import preannotated
from trueweave.ingest.json_lines import name_of, rows
from trueweave.store.postgres.view import sampling

if TYPE_CHECKING:
    from trueweave.engine.trueweave import AsyncTrueweave

_AT_ONCE = 10_000  # passages; a set may have more than fit in memory
_QUESTIONS_AT_ONCE = 200  # whose quotes are looked up by one statement

Progress = Callable[[int], None]


def sources(dataset: Dataset) -> Iterator[Source]:
    """The passages of a set, to be processed as the settings say."""
    return (Source(one.id, one.whole, one.title) for one in dataset.passages or ())


def documents(dataset: Dataset) -> Iterator[Document]:
    """The passages of a set with the entities and relations in its file; no model is called."""
    said: Mapping[str, Any] = {name_of(row): row for _, row in rows(dataset.said)} if dataset.said else {}
    return (_document(passage, said.get(passage.id, {})) for passage in dataset.passages or ())


def _document(passage: DatasetPassage, said: Mapping[str, Any]) -> Document:
    told = {name: said[name] for name in ("entities", "triples", "relations") if name in said}
    return preannotated.document({"title": passage.title, "text": passage.whole, **told}, passage.id)


async def load(trueweave: AsyncTrueweave, dataset: Dataset, *, as_said: bool, progress: Progress) -> list[str]:
    """Add a set to a separate workspace, and return notes on anything unusual.

    `as_said` takes entities and relations from the set's file; without it, they are extracted as the settings say.
    Unchanged documents are left alone. Raises ConfigError if the workspace has other documents, which would also be
    found.
    """
    if as_said:
        await trueweave.add_documents(documents(dataset), progress)
    else:
        coming = sources(dataset)
        while some := list(islice(coming, _AT_ONCE)):
            await trueweave.add(*some, listener=_Heard(progress))
    wanted = {passage.id for passage in dataset.passages or ()}
    there = (await trueweave.status()).documents
    if there > len(wanted):
        raise ConfigError(
            f"this workspace has {there - len(wanted):,} documents that do not belong to {dataset.name} and would "
            "be found, too. Name another workspace with --workspace; it is created."
        )
    missing = len(wanted) - there
    return (
        [f"{missing:,} of the passages could not be indexed. `trueweave status --failed` shows why."] if missing else []
    )


async def over_documents(trueweave: AsyncTrueweave, dataset: Dataset) -> Dataset:
    """The set with the uris of the documents that it is about, which are already in the workspace.

    A document may be named by its title. A missing document is an error; in a partial set, its questions are left out.
    """
    uris: set[str] = set()
    titled: dict[str, str] = {}
    async for document in trueweave.documents():
        uris.add(document.uri)
        titled.setdefault(document.title, document.uri)
    known = titled | {uri: uri for uri in uris}
    kept = [one for one in dataset.questions if not _unknown(one, known)]
    if len(kept) < len(dataset.questions):
        if not (dataset.partial and kept):
            raise _not_there(next(one for one in dataset.questions if _unknown(one, known)), known)
        left_out = len(dataset.questions) - len(kept)
        note = f"{left_out:,} of the questions are left out: their documents are not in the workspace"
        dataset = replace(dataset, notes=(*dataset.notes, note))
    return await _located(trueweave, replace(dataset, questions=tuple(_renamed(one, known) for one in kept)))


async def _located(trueweave: AsyncTrueweave, dataset: Dataset) -> Dataset:
    """The set with the places of the passages that its questions quote. A question with a quote that is not in its
    document any more is left out, with a note."""
    located: list[Question] = []
    for at in range(0, len(dataset.questions), _QUESTIONS_AT_ONCE):
        some = dataset.questions[at : at + _QUESTIONS_AT_ONCE]
        quotes = [quote for question in some for quote in question.quotes]
        async with trueweave.workspace.transaction(snapshot=True) as tx:
            starts = iter(await sampling.places(tx, quotes))
        found = [_with_spans(question, [next(starts) for _ in question.quotes]) for question in some]
        located += filter(None, found)
    left_out = len(dataset.questions) - len(located)
    if not left_out:
        return replace(dataset, questions=tuple(located))
    note = f"{left_out:,} of the questions are left out: a passage that they quote is not in its document any more"
    if not located:
        raise ConfigError(
            f"no question can be measured: {note}. `trueweave bench generate` makes questions from the documents as "
            "they are now."
        )
    return replace(dataset, questions=tuple(located), notes=(*dataset.notes, note))


def _with_spans(question: Question, starts: Sequence[int | None]) -> Question | None:
    """The question with the parts of documents that it quotes, instead of whole documents; None if one is missing."""
    if None in starts:
        return None
    placed = (
        (uri, start, start + len(quote))
        for (uri, quote), start in zip(question.quotes, starts, strict=True)
        if start is not None
    )
    spans = {f"{uri}#{start}-{end}": Span(uri, start, end) for uri, start, end in placed}
    quoted = {uri for uri, _ in question.quotes}
    whole = {id_: grade for id_, grade in question.supporting.items() if id_ not in quoted}
    return replace(
        question, supporting={**whole, **dict.fromkeys(spans, 1)}, spans={**question.spans, **spans}, quotes=()
    )


def _unknown(question: Question, known: Mapping[str, str]) -> list[str]:
    named = [question.spans[id_].uri if id_ in question.spans else id_ for id_ in question.supporting]
    return [one for one in named if one not in known]


def _renamed(question: Question, known: Mapping[str, str]) -> Question:
    supporting = {known.get(id_, id_): grade for id_, grade in question.supporting.items()}
    quotes = tuple((known.get(uri, uri), quote) for uri, quote in question.quotes)
    return replace(question, supporting=supporting, quotes=quotes)


def _not_there(question: Question, known: Mapping[str, str]) -> ConfigError:
    example = f"One that is there is called {next(iter(known))!r}" if known else "There are none at all"
    return ConfigError(
        f"question {question.id} is supported by {_unknown(question, known)[0]!r}, and no document of the workspace "
        f"has that uri or title. {example}. Fix the question, add the document, or name another --workspace."
    )


class _Heard:
    """A listener that counts documents as done when they are extracted, fail, or are already there unchanged."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def __call__(self, event: Event) -> None:
        match event:
            case Found(_, unchanged) if unchanged:
                self._progress(unchanged)
            case Extracted() | Failed(final=True):
                self._progress(1)
