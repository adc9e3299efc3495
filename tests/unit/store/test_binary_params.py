"""Arrays in PostgreSQL's binary form, taken apart again by hand as its manual describes it (array_send)."""

import struct
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from psycopg.adapt import Dumper
from psycopg.pq import Format

from trueweave.store.postgres.binary_params import (
    Halves,
    Ids,
    Numbers,
    Texts,
    _HalvesDumper,
    _IdsDumper,
    _NumbersDumper,
    _TextsDumper,
    array,
)

A, B = UUID(int=1), UUID(int=2**128 - 1)
UUID_OID, TEXT_OID, INT8_OID = 2950, 25, 20


def decoded(dumper: type[Dumper], value: object) -> tuple[int, list[bytes | None]]:
    """The element type and the elements of a dumped array."""
    data = bytes(dumper(type(value)).dump(value) or b"")
    dimensions, nulls, element = struct.unpack_from(">iiI", data)
    items: list[bytes | None] = []
    at = 12
    if dimensions:
        assert dimensions == 1
        length, lower_bound = struct.unpack_from(">ii", data, at)
        assert lower_bound == 1
        at += 8
        for _ in range(length):
            (size,) = struct.unpack_from(">i", data, at)
            at += 4
            items.append(None if size == -1 else data[at : at + size])
            at += max(size, 0)
        assert items, "an array without elements has no dimensions"
    assert nulls == (None in items)
    assert at == len(data)
    return element, items


@pytest.mark.parametrize("ids", [[A, B], [None], [A, None, B]])
def test_ids_may_be_null(ids: list[UUID | None]) -> None:
    assert decoded(_IdsDumper, Ids(ids)) == (UUID_OID, [id_ and id_.bytes for id_ in ids])


def test_texts_are_measured_in_bytes() -> None:
    texts = ["", "Ada", "Zürich", "東京 👍", '{"a",NULL}\\', "x" * 70_000]
    assert decoded(_TextsDumper, Texts(texts)) == (TEXT_OID, [text.encode() for text in texts])


@pytest.mark.parametrize("form", [list, iter, lambda numbers: np.array(numbers, dtype=np.int64)])
def test_numbers_span_64_bits_and_may_come_from_anything_iterable(form: Any) -> None:
    numbers = [0, -1, 2**63 - 1, -(2**63)]
    expected = [number.to_bytes(8, "big", signed=True) for number in numbers]
    assert decoded(_NumbersDumper, Numbers(form(numbers))) == (INT8_OID, expected)


def test_vectors_are_16_bit_numbers_behind_their_length() -> None:
    class Here(_HalvesDumper):
        element = 4711

    rows = np.array([[1.0, -0.5, 65504.0], [0.1, 0.0, 1e-7]], dtype=np.float32)
    expected = [struct.pack(">hh3e", 3, 0, *row) for row in rows]
    assert decoded(Here, Halves(rows)) == (4711, expected)


@pytest.mark.parametrize(
    ("dumper", "value", "oid"),
    [(_IdsDumper, Ids(), UUID_OID), (_TextsDumper, Texts(), TEXT_OID), (_NumbersDumper, Numbers([]), INT8_OID)],
)
def test_an_empty_array_still_says_its_element_type(dumper: type[Dumper], value: object, oid: int) -> None:
    assert decoded(dumper, value) == (oid, [])


@pytest.mark.parametrize(("dumper", "oid"), [(_IdsDumper, 2951), (_TextsDumper, 1009), (_NumbersDumper, 1016)])
def test_each_travels_in_binary_as_an_array_of_its_type(dumper: type[Dumper], oid: int) -> None:
    assert (dumper.format, dumper.oid) == (Format.BINARY, oid)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([A], Ids),
        ([None, A], Ids),
        (("Ada",), Texts),
        ([1, 2], Numbers),
        ([True, False], list),
        ([1.5], list),
        ([None], list),
        ([], list),
    ],
)
def test_a_column_takes_the_form_of_its_first_value(values: Sequence[Any], kind: type[Any]) -> None:
    made = array(values)
    assert type(made) is kind
    assert list(made.values if isinstance(made, Numbers) else made) == list(values)
