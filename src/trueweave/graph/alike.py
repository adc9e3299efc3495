"""Finding similar names with an index, instead of comparing all with all.

With exact resolution, two names are alike if their normal forms are equal. With fuzzy resolution, they are alike if the
rapidfuzz ratio of their letters (lower-case ASCII) exceeds the threshold and their digits agree: with `d` the number of
single-character insertions and deletions between them,

    100 · (1 − d / (|a| + |b|)) > threshold

So the threshold and the two lengths bound `d`. Where that allows at most one deletion from either name, as for short
names, names that are alike become equal by it: each name is stored as it is and without each of its characters. Such a
key has nearly all of the name, so few other names share it, however similar their beginnings are.

Where it allows more, cut a name into more pieces than `d` can touch: at least one piece remains intact in any name that
is alike (the pigeonhole principle of Li, Deng, Wang and Feng's Pass-Join, VLDB 2011). The name is stored under one key
per piece; a search computes the keys that names alike must have, for every length they can have and every position the
piece can have moved to. No pair is missed, whatever the order in which names arrive: the exactness of the index depends
on that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple
from zlib import crc32

from rapidfuzz import process
from rapidfuzz.distance import Indel

from trueweave.core.record import ResolutionSettings
from trueweave.text.names import digits, letters, normalise

# A longer "name" is a phrase, and is alike only if equal. This bounds the number of keys.
LONGEST_FUZZY = 64


# Used as the piece number for keys of the whole name, or of all but one character.
_WHOLE = -1
_SHORTENED = -2


class Search(NamedTuple):
    """What to search for, by the length of stored names: the name itself, the name without a character, or pieces of
    it. The first two also say which kind of stored key to compare with."""

    whole: tuple[tuple[int, int], ...]
    shortened: tuple[tuple[int, int], ...]
    pieces: tuple[tuple[int, tuple[Piece, ...]], ...]


class StoredForms(NamedTuple):
    """The forms under which a name is stored: itself, itself without each character, and a number of pieces."""

    whole: bool
    shortened: bool
    pieces: int


class Piece(NamedTuple):
    """Where piece `number` of a stored name is, and where in the searching name it can have moved to."""

    number: int
    length: int
    first: int
    last: int


def compared(written: str, settings: ResolutionSettings) -> str:
    """The form in which names are compared. All functions below take names in this form."""
    return letters(written) if settings.mode == "fuzzy" else normalise(written)


def keys(form: str, type_: str, settings: ResolutionSettings) -> list[int]:
    """The keys under which a name is stored: none if resolution is off, one if only equal names are alike."""
    if settings.mode == "off":
        return []
    data = form.encode("latin-1", "replace")
    size, allowance = len(form), _allowance(settings)
    group = _group(form, type_, settings)
    stored = _stored(size, allowance)
    found: set[int] = set()
    if stored.whole:
        found.add(_bucket(group, size, _WHOLE) | crc32(data))
    if stored.shortened:
        bucket = _bucket(group, size, _SHORTENED)
        found.update(bucket | crc32(one) for one in _shortened(data))
    if stored.pieces:
        ends = [size * i // stored.pieces for i in range(stored.pieces + 1)]
        parts = enumerate(pairwise(ends))
        found.update(_bucket(group, size, i) | crc32(data[start:end]) for i, (start, end) in parts)
    return sorted(found)


def probes(form: str, type_: str, settings: ResolutionSettings) -> set[int]:
    """Keys such that every name alike has at least one of them."""
    if settings.mode == "off":
        return set()
    data = form.encode("latin-1", "replace")
    group = _group(form, type_, settings)
    search = _search(len(form), _allowance(settings))
    found = {
        bucket | crc32(data[at : at + piece.length])
        for size, pieces in search.pieces
        for piece in pieces
        for bucket in (_bucket(group, size, piece.number),)
        for at in range(piece.first, piece.last + 1)
    }
    whole, shortened = crc32(data), [crc32(one) for one in _shortened(data)] if search.shortened else []
    found.update(_bucket(group, size, number) | whole for size, number in search.whole)
    found.update(_bucket(group, size, number) | one for size, number in search.shortened for one in shortened)
    return found


def _shortened(data: bytes) -> set[bytes]:
    """The name without each of its characters in turn."""
    return {data[:at] + data[at + 1 :] for at in range(len(data))}


def mask(form: str) -> int:
    """The characters that occur, as 63 bits. One change flips at most one bit, so names alike have similar masks."""
    bits = 0
    for character in set(form):
        bits |= 1 << ord(character) % 63
    return bits


def most_changes(form: str, settings: ResolutionSettings) -> int:
    """The most insertions and deletions by which a name alike can differ."""
    return _pieces(len(form), _allowance(settings)) - 1


def alike(pairs: Sequence[tuple[str, str]], settings: ResolutionSettings) -> list[bool]:
    """For each pair of forms, whether they are alike."""
    if not pairs:
        return []
    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    distances = process.cpdist(left, right, scorer=Indel.distance)
    allowance = _allowance(settings)
    return [
        a == b or (_fuzzy(a, b) and 100 * int(d) < allowance * (len(a) + len(b)))
        for a, b, d in zip(left, right, distances, strict=True)
    ]


def ratio(a: str, b: str) -> float:
    """The similarity of two forms, from 0 to 100, which is compared with the threshold."""
    return 100 * Indel.normalized_similarity(a, b)


def _fuzzy(a: str, b: str) -> bool:
    return len(a) <= LONGEST_FUZZY and len(b) <= LONGEST_FUZZY and digits(a) == digits(b)


def _allowance(settings: ResolutionSettings) -> int:
    """Hundredths of the joint length, of which fewer may differ: none if only equal names are alike."""
    return 100 - settings.threshold if settings.mode == "fuzzy" else 0


def _group(form: str, type_: str, settings: ResolutionSettings) -> int:
    type_ = type_.lower() if settings.same == "name_and_type" else ""
    return crc32(f"{type_}\x00{digits(form)}".encode())


def _bucket(group: int, size: int, number: int) -> int:
    """The upper half of a signed 64-bit key; the lower half is the hash of the piece.

    Two pieces may share a key by chance: that costs time but gives no wrong result, as `alike` decides.
    """
    return (crc32(b"%d %d" % (size, number), group) << 32) - (1 << 63)


@lru_cache(maxsize=4096)
def _pieces(size: int, allowance: int) -> int:
    """One more than the most changes by which any name alike can differ."""
    if size > LONGEST_FUZZY:
        return 1
    return 1 + max(_changes(size, other, allowance) for other in range(LONGEST_FUZZY + 1))


@lru_cache(maxsize=4096)
def _search(size: int, allowance: int) -> Search:
    """What to search for among the stored names of each length that a name alike can have."""
    whole: list[tuple[int, int]] = []
    shortened: list[tuple[int, int]] = []
    pieces: list[tuple[int, tuple[Piece, ...]]] = []
    for other in _lengths(size, allowance):
        deleted = _deleted(other, size, allowance)
        if deleted is None:
            pieces.append((other, tuple(_windows(other, size, allowance))))
        else:
            of_stored, of_searching = deleted
            (shortened if of_searching else whole).append((other, _SHORTENED if of_stored else _WHOLE))
    return Search(tuple(whole), tuple(shortened), tuple(pieces))


@lru_cache(maxsize=4096)
def _stored(size: int, allowance: int) -> StoredForms:
    """The forms that searches by names of any possible length need."""
    deleted = [_deleted(size, other, allowance) for other in _lengths(size, allowance)]
    return StoredForms(
        whole=any(one is not None and not one[0] for one in deleted),
        shortened=any(one is not None and bool(one[0]) for one in deleted),
        pieces=_pieces(size, allowance) if None in deleted else 0,
    )


def _lengths(size: int, allowance: int) -> Iterable[int]:
    """The lengths that names alike can have."""
    if size > LONGEST_FUZZY:
        return (size,)
    return (other for other in range(LONGEST_FUZZY + 1) if _changes(other, size, allowance) >= 0)


def _deleted(stored: int, searching: int, allowance: int) -> tuple[int, int] | None:
    """How many characters, at most one each, to delete from a stored name and from a searching one to make names that
    are alike equal; None if more may be needed.

    If fewer are needed, as for equal names, the same character can be deleted from both.
    """
    if stored > LONGEST_FUZZY:
        return 0, 0
    most, grown = _changes(stored, searching, allowance), searching - stored
    both = (most - grown) // 2, (most + grown) // 2
    return both if max(both) <= 1 else None


def _windows(stored: int, searching: int, allowance: int) -> Iterable[Piece]:
    """The pieces of a stored name of one length that a searching name of another length must look for.

    With `most` changes, one of the first `most + 1` pieces is intact, and one of those has at most `i` changes before
    it and at most `most − i` after it, where `i` is its number: so it has moved by no more than that.
    """
    most, pieces = _changes(stored, searching, allowance), _pieces(stored, allowance)
    grown = searching - stored
    inserted, deleted = (most + grown) // 2, (most - grown) // 2
    for i in range(most + 1):
        start, end = stored * i // pieces, stored * (i + 1) // pieces
        first = start + max(-i, grown - (most - i), -deleted)
        last = start + min(i, grown + (most - i), inserted)
        first, last = max(first, 0), min(last, searching - (end - start))
        if first <= last:
            yield Piece(i, end - start, first, last)


@lru_cache(maxsize=8192)
def _changes(a: int, b: int, allowance: int) -> int:
    """The most insertions and deletions between names alike of these lengths; -1 if none of these lengths are alike."""
    most = (allowance * (a + b) - 1) // 100
    gap = abs(a - b)
    if most < gap:
        return 0 if a == b else -1
    return most - (most - gap) % 2  # each change alters the length by one, so their number has the parity of the gap
