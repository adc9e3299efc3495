"""Ids of 16 bytes as columns."""

import numpy as np

from trueweave.store.postgres.binary_copy import Column, places


def ids(*pairs: tuple[int, int]) -> Column:
    return np.frombuffer(np.array(pairs, ">u8").tobytes(), "V16")


def test_places_are_found_by_both_halves() -> None:
    known = ids((5, 1), (2, 9), (5, 0), (2**64 - 1, 3), (5, 7))
    [first, second] = places(known, ids((5, 7), (5, 0), (2, 9)), ids((2**64 - 1, 3), (5, 1)))
    assert first.tolist() == [4, 2, 1]
    assert second.tolist() == [3, 0]


def test_there_may_be_none() -> None:
    assert places(ids(), ids())[0].tolist() == []
