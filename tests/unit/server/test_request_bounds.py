"""Everything that a request may hold has a bound: each field in the OpenAPI description, and the values of its JSON."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueweave import Settings
from trueweave.core.record import is_storable
from trueweave.server.app import create_app
from trueweave.server.json_values import JsonValues
from trueweave.text import tokens
from trueweave.text.sentences import cut

FIXED = {"uuid", "date-time", "binary"}  # formats of bounded length, and files, which the size of an upload bounds
WHOLE_BODIES = {"post /v1/workspaces/{workspace}/documents/annotated"}  # lines, which the size of an upload bounds


def unbounded(schema: dict[str, Any], where: str, schemas: dict[str, Any], seen: frozenset[str]) -> Iterator[str]:
    """The strings, lists and maps of a schema that have no bound."""
    if reference := schema.get("$ref"):
        name = reference.rpartition("/")[2]
        if name not in seen:
            yield from unbounded(schemas[name], where, schemas, seen | {name})
        return
    kind = schema.get("type")
    if kind == "string" and not {"maxLength", "enum", "const"} & schema.keys() and schema.get("format") not in FIXED:
        yield f"{where}: a string without maxLength"
    if kind == "array":
        if "maxItems" not in schema:
            yield f"{where}: a list without maxItems"
        yield from unbounded(schema.get("items", {}), f"{where}[]", schemas, seen)
    for one in (*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())):
        yield from unbounded(one, where, schemas, seen)
    for name, one in schema.get("properties", {}).items():
        yield from unbounded(one, f"{where}.{name}", schemas, seen)
    if isinstance(values := schema.get("additionalProperties"), dict):
        if "maxProperties" not in schema:
            yield f"{where}: a map without maxProperties"
        yield from unbounded(values, f"{where}{{}}", schemas, seen)


def test_every_string_and_list_of_a_request_has_a_bound() -> None:
    described = create_app(Settings(database_url="postgresql://localhost/none")).openapi()
    schemas, found = described["components"]["schemas"], list[str]()
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            where = f"{method} {path}"
            for one in operation.get("parameters", ()):
                found += unbounded(one["schema"], f"{where} ?{one['name']}", schemas, frozenset())
            for content in operation.get("requestBody", {}).get("content", {}).values():
                if where not in WHOLE_BODIES:
                    found += unbounded(content["schema"], where, schemas, frozenset())
    assert found == []


def test_an_unbounded_field_is_found() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}}}}
    assert list(unbounded(schema, "x", {}, frozenset())) == [
        "x.a: a list without maxItems",
        "x.a[]: a string without maxLength",
    ]


def values(value: Any) -> int:
    """Members of all lists and objects, and these themselves."""
    match value:
        case dict():
            return 1 + sum(map(values, value.values()))
        case list():
            return 1 + sum(map(values, value))
    return 1


JSON = st.recursive(
    st.none() | st.integers() | st.text(alphabet='a"\\,[{', max_size=8),
    lambda some: st.lists(some, max_size=4) | st.dictionaries(st.text(alphabet='b"\\,', max_size=3), some, max_size=4),
)


@given(JSON, st.integers(1, 7))
def test_values_are_counted_however_the_text_arrives(value: Any, size: int) -> None:
    text, counted = json.dumps(value, ensure_ascii=False).encode(), JsonValues()
    found = 0
    for start in range(0, len(text), size):
        found = counted.count(text[start : start + size])
    assert values(value) - 1 <= found <= 2 * values(value)


@pytest.mark.parametrize("unit", ["Ada met Bob. ", "a", "漢字", " ", "\n"])
def test_the_time_to_cut_a_text_depends_on_the_room_alone(unit: str) -> None:
    long, room = unit * 2_000_000, 100
    short = long[: 200 * room]
    cut(short, room)
    began = time.thread_time()
    found = cut(long, room)
    assert time.thread_time() - began < 0.2
    assert long.startswith(found)
    assert room * 0.8 <= tokens.count(found) <= room


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_a_text_is_storable_that_has_neither_nul_nor_a_lone_surrogate(text: str) -> None:
    assert is_storable(text) == (not any(one == "\0" or "\ud800" <= one <= "\udfff" for one in text))
