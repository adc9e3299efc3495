"""The pages of the server: its paths, and the bodies of requests and responses, from the OpenAPI document."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from written import cell, filled_table

from trueweave.core.history import AS_OF
from trueweave.core.settings import Settings

Schema = dict[str, Any]

_PATHS = """# The server's paths

What [the server](../how-to/server.md) answers to, with the parameters of each path. The fields of what is sent and
answered are on [a page of their own](rest-bodies.md). `/v1/openapi.json` says the same for programs. Errors are
`application/problem+json` everywhere: [errors](errors.md) lists their codes. The header `Trueweave-As-Of` asks for the
index [as it was](../how-to/history.md). This page is written by `make reference`.
"""
_BODIES = """# REST: bodies

The fields of what [the paths of the server](rest.md) take and answer, as JSON. This page is written by
`make reference`.
"""


def rest_pages() -> dict[str, str]:
    """The pages, by the names of their files."""
    from trueweave.server.app import create_app

    described = create_app(Settings()).openapi()
    rooms: dict[str, list[str]] = {}
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            rooms.setdefault(operation["tags"][0], []).append(_operation(method.upper(), path, operation))
    paths = "".join(f"\n## {room.capitalize()}\n{''.join(told)}" for room, told in rooms.items())
    bodies = "".join(part for name, one in described["components"]["schemas"].items() for part in _body(name, one))
    return {"rest.md": _PATHS + paths, "rest-bodies.md": _BODIES + bodies}


def _operation(method: str, path: str, one: Schema) -> str:
    told = [f"\n### `{method} {path}`\n\n{' '.join(one['description'].split())}\n"]
    headers = {p["name"] for p in one.get("parameters", ()) if p["in"] == "header"}
    named = [p for p in one.get("parameters", ()) if p["in"] not in ("path", "header")]
    if named:
        rows = [f"| `{p['name']}` | {_typed(p['schema'])} | {p.get('description', '')} |\n" for p in named]
        told += ["\n| parameter | type | meaning |\n|---|---|---|\n", *rows]
    body = one.get("requestBody", {}).get("content", {})
    sent = [f"{_linked(content['schema'])} as `{kind}`" for kind, content in body.items()]
    good = {status: r for status, r in one["responses"].items() if status.startswith("2")}
    answered = [
        f"{status}: {_linked(content['schema'])} as `{kind}`"
        for status, response in good.items()
        for kind, content in response.get("content", {}).items()
    ]
    facts = [f"Takes {'; '.join(sent)}."] if sent else []
    facts += [f"Answers {'; '.join(answered)}."] if answered else []
    if "idempotency-key" in headers:
        facts.append("Takes an `Idempotency-Key`.")
    if AS_OF in headers:
        facts.append(f"Takes `{AS_OF}`.")
    return "".join((*told, f"\n{' '.join(facts)}\n" if facts else ""))


def _body(name: str, one: Schema) -> Iterator[str]:
    about = "\n\n".join(" ".join(part.split()) for part in one.get("description", "").split("\n\n"))
    yield f"\n## {name}\n" + (f"\n{about}\n" if about else "")
    fields = one.get("properties", {})
    if not fields:
        kind = _kind(one)
        yield f"\n{kind[0].upper()}{kind[1:]}.\n"
        return
    required = one.get("required", ())
    rows = [
        (
            f"`{field}`",
            cell(f"{_kind(schema)}, required" if field in required else _typed(schema)),
            cell(" ".join(schema.get("description", "").split())),
        )
        for field, schema in fields.items()
    ]
    yield "\n" + filled_table(("field", "type", "meaning"), rows)


def _typed(schema: Schema) -> str:
    """A type with its default, if that says anything."""
    default = schema.get("default")
    shown = "" if default in (None, "", [], {}) or isinstance(default, dict) else f", default `{json.dumps(default)}`"
    return f"{_kind(schema)}{shown}"


def _linked(schema: Schema) -> str:
    """A type, whose name leads to its fields."""
    return re.sub(r"\((#\w+)\)", r"(rest-bodies.md\1)", _kind(schema))


def _kind(schema: Schema) -> str:
    """What a schema is, in a word or two."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[`{name}`](#{name.lower()})"
    if "anyOf" in schema or "oneOf" in schema:
        return " or ".join(dict.fromkeys(map(_kind, schema.get("anyOf") or schema["oneOf"])))
    if "enum" in schema or "const" in schema:
        return " or ".join(f"`{json.dumps(one)}`" for one in schema.get("enum") or [schema["const"]])
    match schema.get("type"):
        case "array" if schema.get("items"):
            return f"list of {_kind(schema['items'])}"
        case "object" if isinstance(schema.get("additionalProperties"), dict):
            return f"object of {_kind(schema['additionalProperties'])}"
    return str(schema.get("format") or schema.get("type", "any JSON"))
