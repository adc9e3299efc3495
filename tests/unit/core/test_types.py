"""What documents and settings may hold, and what is said of one that holds something else."""

from collections.abc import Callable
from typing import Any

import pytest

from trueweave import Chunk, Document, Link, Mention, ResolutionSettings
from trueweave.errors import InvalidDocument


def emphasised(emphasis: int) -> Mention:
    return Mention("Ada", emphasis=emphasis)


def linked(emphasis: int) -> Link:
    return Link("Ada", "Babbage", emphasis=emphasis)


def strong(strength: int) -> Link:
    return Link("Ada", "Babbage", strength=strength)


def loose(threshold: int) -> ResolutionSettings:
    return ResolutionSettings(threshold=threshold)


@pytest.mark.parametrize(
    ("make", "least", "most", "what"),
    [
        (emphasised, 1, 9, "emphasis of 'Ada' is {}; it must be between 1 and 9"),
        (linked, 1, 9, "emphasis of 'Ada' -> 'Babbage' is {}; it must be between 1 and 9"),
        (strong, 1, 1_000_000, "strength of 'Ada' -> 'Babbage' is {}; it must be between 0.001 and 1,000,000"),
        (loose, 70, 100, r"threshold is {}; it must be between 70 \(loose\) and 100 \(equal names only\)"),
    ],
)
def test_a_number_outside_its_limits_is_refused_with_the_limits(
    make: Callable[[int], Any], least: int, most: int, what: str
) -> None:
    for within in (least, most):
        make(within)
    for outside in (least - 1, most + 1):
        with pytest.raises((InvalidDocument, ValueError), match=what.format(outside)):
            make(outside)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Chunk("a\x00b"), "chunk's text contains a NUL"),
        (lambda: Document("", ()), "has no uri; give each a stable, unique name"),
        (lambda: Document("a\x00", ()), r"uri or title of 'a\\x00' contains a NUL"),
        (lambda: Document("u", (), title="a\x00"), "uri or title of 'u' contains a NUL"),
    ],
)
def test_a_document_that_cannot_be_stored_is_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidDocument, match=message):
        make()


def test_a_chunk_ends_where_its_text_does_in_characters() -> None:
    assert Chunk("東京", start=5).end == 7
