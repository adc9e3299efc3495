"""Linking: finds known names in all chunks, regardless of which document introduced them.

Settling queues the chunks that were added, removed or retitled, and the phrases that may have been added or removed
with their names. One linker at a time takes from that queue: first phrases, which queue the chunks that contain their
words, then chunks, which are linked against all current phrases. So when the queue is empty, the occurrences depend
only on names and texts, not on the order of their arrival.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple
from uuid import UUID

from trueweave.core.record import Place
from trueweave.store.postgres.binary_params import Ids, Numbers, Texts
from trueweave.store.postgres.db import Transaction, Workspace
from trueweave.store.postgres.locks import one_linker
from trueweave.store.postgres.offloop import MUCH, off_loop
from trueweave.text import phrases
from trueweave.text.phrases import Occurrence, PhraseWord, Vocabulary

PHRASES_AT_ONCE = 2000
CHUNKS_AT_ONCE = 300
_MANY = 10  # chunks, from which on a thread is worthwhile


class _Text(NamedTuple):
    """A chunk to link: its text, its position in the document, and the document's title and headings."""

    id: UUID
    text: str
    start: int
    n: int
    title: str
    places: list[list[Any]]


class _Row(NamedTuple):
    chunk: UUID
    phrase: int
    count: int  # type: ignore[assignment]  # hides tuple.count
    inside: int
    defines: bool


async def link(workspace: Workspace, *, is_stopping: Callable[[], bool] = lambda: False) -> int:
    """Link until the queue is empty or it should stop; returns the number of chunks."""
    linked = 0
    while not is_stopping() and (some := await link_some(workspace)) is not None:
        linked += some
    return linked


async def link_some(workspace: Workspace) -> int | None:
    """Process part of the queue; returns the number of linked chunks, or None if it was empty."""
    async with workspace.transaction() as tx:
        if not await tx.value("link.any"):
            return None
        await one_linker(tx)
        due = await tx.rows("link.due_phrases", limit=PHRASES_AT_ONCE)
        if due:
            found = {phrase for _, phrase in due}
            await (_phrases(tx, found) if len(due) < MUCH else off_loop(tx, partial(_phrases, ids=found)))
            await _done(tx, due)
            return 0
        due = await tx.rows("link.due_chunks", limit=CHUNKS_AT_ONCE)
        if not due:
            return None
        chunks = list(dict.fromkeys(chunk for _, chunk in due))
        linked = await (_chunks(tx, chunks) if len(chunks) < _MANY else off_loop(tx, partial(_chunks, ids=chunks)))
        await _done(tx, due)
        return linked


async def _done(tx: Transaction, due: Sequence[tuple[int, object]]) -> None:
    await tx.run("link.done", positions=Numbers(position for position, _ in due))


# --- phrases ------------------------------------------------------------------------------------------


async def _phrases(tx: Transaction, ids: set[int]) -> None:
    """Make the known phrases match the current names, and queue all chunks that this may affect."""
    rows = await tx.rows("link.phrases", phrases=Numbers(ids))
    come = {id_: phrases.phrase(written) for id_, written, known in rows if written is not None and not known}
    gone = [id_ for id_, written, known in rows if written is None and known]
    if come:
        split = [key.split() for key in come.values()]
        firsts = Numbers(phrases.number(words[0]) for words in split)
        lengths = Numbers(len(words) for words in split)
        await tx.run("link.phrases_come", ids=Numbers(come), keys=Texts(come.values()), firsts=firsts, words=lengths)
        distinct = [{phrases.number(word) for word in words} for words in split]
        await tx.run("link.queue_chunks_with", **_packed(distinct))
    if gone:
        await tx.run("link.phrases_go", ids=gone)


def _packed(sets: Sequence[Iterable[int]]) -> dict[str, Numbers]:
    """Sets of numbers in transport form: concatenated, with their sizes."""
    listed = [sorted(one) for one in sets]
    return {"sizes": Numbers(map(len, listed)), "words": Numbers(number for one in listed for number in one)}


# --- chunks -------------------------------------------------------------------------------------------


async def link_new(tx: Transaction, ids: Sequence[UUID]) -> None:
    """Link new chunks, in parallel with other processes that link other chunks. The number of chunks per phrase must be
    counted afterwards."""
    found = await _found(tx, ids)
    if found.rows:
        await tx.run("bulk.insert_occurrences", **found.values)
    await tx.run("link.store_chunk_words", chunks=Ids(ids), **found.words)


async def _chunks(tx: Transaction, ids: Sequence[UUID]) -> int:
    found = await _found(tx, ids)
    await tx.run("link.write", chunks=Ids(ids), **found.values)
    if found.rows:
        await tx.run("link.insert", **found.values)
    await tx.run("link.store_chunk_words", chunks=Ids(ids), **found.words)
    return found.texts


class _Found(NamedTuple):
    """The contents of some chunks: the rows of their occurrences, also by column, their words, and how many have
    text."""

    rows: list[_Row]
    values: dict[str, Any]
    words: dict[str, Numbers]
    texts: int


async def _found(tx: Transaction, ids: Sequence[UUID]) -> _Found:
    texts = [_Text(*row) for row in await tx.rows("link.texts", chunks=Ids(ids))]
    words = {text.id: phrases.words(text.text) for text in texts}
    titles = {text.id: _titles(text) for text in texts}
    vocabulary, known = await _vocabulary(tx, words.values(), titles.values())
    rows = [row for text in texts for row in _linked(text, words[text.id], titles[text.id], vocabulary, known)]
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(_Row._fields)
    chunk, phrase, count, inside, defines = columns
    values = {
        "chunk": Ids(chunk), "phrase": Numbers(phrase), "count": Numbers(count), "inside": Numbers(inside),
        "defines": list(defines),
    }  # fmt: skip
    words_by_chunk = {id_: {word.word for word in words[id_]}.union(*map(str.split, titles[id_])) for id_ in words}
    numbers = [{phrases.number(word) for word in words_by_chunk.get(id_, ())} for id_ in ids]
    return _Found(rows, values, _packed(numbers), len(texts))


async def _vocabulary(
    tx: Transaction, texts: Iterable[Sequence[PhraseWord]], titles: Iterable[Sequence[str]]
) -> tuple[Vocabulary, set[str]]:
    """The known phrases that may occur in these texts."""
    texts = list(texts)
    firsts = {word.word for text in texts for word in text}
    found = await tx.rows("link.longest", firsts=Numbers(map(phrases.number, firsts)))
    lengths: Mapping[int, int] = dict(found)
    longest = {word: lengths[number] for word in firsts if (number := phrases.number(word)) in lengths}
    wanted = {candidate for text in texts for candidate in phrases.candidates(text, longest)}
    wanted.update(title for some in titles for title in some)
    live = {id_ for (id_,) in await tx.rows("link.known", phrases=Numbers(map(phrases.number, wanted)))}
    known = {candidate for candidate in wanted if phrases.number(candidate) in live}
    return Vocabulary(known, longest), known


def _titles(text: _Text) -> list[str]:
    """The phrases of the heading over a chunk, or of the title for the first chunk."""
    above = (place for place in (Place(*place) for place in text.places) if place.start <= text.start)
    headings = [place.label for place in above if place.kind == "heading"]
    over = headings[-1:] or ([text.title] if text.n == 0 and text.title else [])
    return phrases.title_phrases(over[0]) if over else []


def _linked(
    text: _Text, words: Sequence[PhraseWord], titles: Sequence[str], vocabulary: Vocabulary, known: set[str]
) -> list[_Row]:
    found = phrases.occurrences(words, vocabulary)
    heading = _heading(text)
    times = Counter(one.phrase for one in found)
    inside = Counter(one.phrase for one in found if one.start >= heading)
    own = [title for title in titles if title in known]
    for title in own:
        times[title] += title not in times
    defined = own[0] if own else _lead(found)
    return [
        _Row(text.id, phrases.number(phrase), min(count, 32767), min(inside[phrase], 32767), phrase == defined)
        for phrase, count in times.items()
    ]


def _heading(text: _Text) -> int:
    """The length of the title at the start of a chunk, in characters."""
    return len(text.title) if text.title and text.text.startswith(text.title) else 0


def _lead(found: Sequence[Occurrence]) -> str | None:
    """The subject of a text without a title: the name that it begins with."""
    return found[0].phrase if found and found[0].start < phrases.LEAD else None
