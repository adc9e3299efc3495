"""Cursors that somebody has changed are refused, whatever was changed; those of the server lead to the same place."""

import base64
import json
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg.adapt import Transformer

from trueweave.server.pages import Pager
from trueweave.server.problems import Refusal

ID = UUID(int=7)
POSITIONS: tuple[tuple[Any, Any], ...] = (
    (str, "a/ä\n'"),
    (UUID, ID),
    (tuple[int, UUID], (3, ID)),
    (tuple[float, UUID], (0.1 + 0.2, ID)),
    (tuple[float, UUID], (12.0, ID)),
    (tuple[int, str, UUID], (2**40, "Ada", ID)),
    (tuple[datetime, UUID], (datetime(2026, 1, 2, 3, 4, 5, 678, UTC), ID)),
)

texts = st.text(st.characters(exclude_categories=()), max_size=5)
values = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | texts
    | st.text(st.sampled_from("\x00\ud800a"), min_size=1, max_size=3)
    | st.sampled_from(["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "NaN", "Infinity", "1e300"])
    | st.datetimes(timezones=st.timezones() | st.none()).map(datetime.isoformat)
    | st.uuids().map(str)
    | st.lists(st.integers(), max_size=2)
)
changes = st.fixed_dictionaries({}, optional=dict.fromkeys(range(3), values))


def pager(kind: Any) -> Pager[Any]:
    return Pager(kind, "some list", 1)


def is_sendable(position: Any) -> bool:
    """Whether PostgreSQL can take it: text without NUL, an integer of 64 bits, a number, a moment that it knows."""
    parts = position if isinstance(position, tuple) else (position,)
    for part in parts:
        Transformer().get_dumper(part, psycopg.adapt.PyFormat.TEXT).dump(part)
        if isinstance(part, str) and "\x00" in part:
            return False
        if isinstance(part, int) and not -(2**63) <= part < 2**63:
            return False
        if isinstance(part, float) and not -(2**63) <= round(part * 1000) < 2**63:
            return False
        if isinstance(part, datetime) and not 1 < part.astimezone(UTC).year < 9999:
            return False
    return True


def check(kind: Any, cursor: str) -> None:
    with suppress(Refusal):
        position = pager(kind).position(cursor)
        assert position is None or is_sendable(position)


@pytest.mark.parametrize(("kind", "position"), POSITIONS)
def test_a_cursor_leads_to_the_position_it_was_made_for(kind: Any, position: Any) -> None:
    cursor = pager(kind).page([1, 2], 1, lambda _: position)["next"]
    assert pager(kind).position(cursor) == position


@given(st.sampled_from(POSITIONS), changes)
def test_any_other_position_is_refused_or_can_be_sent(made: tuple[Any, Any], changed: dict[int, Any]) -> None:
    kind, position = made
    tag, parts = json.loads(base64.urlsafe_b64decode(pager(kind).page([1, 2], 1, lambda _: position)["next"]))
    for n, value in changed.items():
        if isinstance(parts, list):
            parts[n : n + 1] = [value]
        else:
            parts = value
    check(kind, base64.urlsafe_b64encode(json.dumps([tag, parts]).encode()).decode())


@given(st.sampled_from(POSITIONS), st.integers(0, 200), st.binary(max_size=5))
def test_changed_bytes_are_refused_or_can_be_sent(made: tuple[Any, Any], where: int, put: bytes) -> None:
    kind, position = made
    packed = bytearray(base64.urlsafe_b64decode(pager(kind).page([1, 2], 1, lambda _: position)["next"]))
    at = where % len(packed)
    packed[at : at + len(put)] = put
    check(kind, base64.urlsafe_b64encode(packed).decode())


@given(st.sampled_from(POSITIONS), texts)
def test_any_text_is_refused(made: tuple[Any, Any], cursor: str) -> None:
    check(made[0], cursor)


@pytest.mark.parametrize("packed", [b"[" * 5000, b"[1" + b"0" * 5000 + b",1]", b"null", b"{}", b"[1]", b"[1,2,3]"])
def test_odd_json_is_refused(packed: bytes) -> None:
    with pytest.raises(Refusal) as refused:
        pager(str).position(base64.urlsafe_b64encode(packed).decode())
    assert (refused.value.status_code, refused.value.code) == (400, "invalid_cursor")
