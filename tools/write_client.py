"""Writes those calls of AsyncClient that are one request each: with the signature and docstring of AsyncTrueweave, and
the path and parameters of the server's routes. `make docs` fails while they are out of date.

What is above the line with `make sync` in a module of src/trueweave/client is written by hand, imports included.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from written import write_or_check

from trueweave.core.settings import Settings
from trueweave.server.app import create_app

SOURCES = Path(__file__).parents[1] / "src" / "trueweave"
PREFIX = "/v1/workspaces/{workspace}"

# The operation of the server for each call, by module, with the parameters that have another name there.
CALLS: dict[str, dict[str, tuple[str, dict[str, str]]]] = {
    "access": {"all": ("list_access_rules", {})},
    "bench": {
        "runs": ("list_runs", {}),
        "run": ("get_run", {}),
        "remove_run": ("remove_run", {}),
        "outcome": ("get_outcome", {}),
        "compare": ("compare_runs", {}),
        "questions": ("list_questions", {}),
        "remove_question": ("remove_question", {"id": "question"}),
    },
    "budget": {
        "get": ("get_budget", {}),
        "allow": ("set_budget", {}),
        "receipt": ("get_spend", {}),
        "receipt_by_document": ("get_spend_by_document", {}),
        "receipt_by_day": ("get_spend_by_day", {}),
    },
    "communities": {
        "find": ("find_communities", {}),
        "estimate_reports": ("estimate_reports", {}),
        "request_reports": ("request_reports", {}),
        "hierarchy": ("get_hierarchy", {}),
        "select": ("list_communities", {}),
        "retired": ("list_retired", {}),
        "tree": ("get_tree", {}),
        "members": ("list_members", {}),
        "estimate_report": ("estimate_report", {}),
        "write_report": ("write_report", {}),
    },
    "documents": {
        "document_outline": ("get_document_outline", {}),
        "document_mentions": ("list_document_mentions", {}),
        "passages": ("get_passages", {"ids": "id"}),
    },
    "graph": {
        "entities": ("list_entities", {}),
        "entity": ("get_entity", {"entity": "name"}),
        "mentions": ("list_mentions", {"entity": "name"}),
        "mention_counts": ("count_mentions", {"entity": "name"}),
        "relations": ("list_relations", {"entities": "entity"}),
        "relation": ("get_relation", {}),
        "statements": ("list_statements", {"relation": "id"}),
        "conflicts": ("list_conflicts", {}),
        "neighbours": ("list_neighbours", {"entities": "entity"}),
        "path": ("find_path", {}),
        "around": ("get_around", {"entities": "entity", "types": "type"}),
        "map": ("get_map", {}),
        "types": ("get_types", {}),
        "complete": ("complete_entities", {}),
    },
    "jobs": {
        "get": ("get_job", {"id": "job"}),
        "documents": ("list_job_documents", {}),
        "state": ("get_document_status", {}),
    },
    "maintenance": {
        "drop": ("drop_workspace", {}),
        "activity": ("get_activity", {}),
        "models": ("get_models", {}),
        "checks": ("run_checks", {}),
        "failed_documents": ("list_failed", {}),
        "request_retry": ("retry_documents", {}),
    },
    "rules": {
        "undo": ("undo_rule", {}),
        "all": ("list_rules", {}),
        "suggestions": ("list_suggestions", {}),
        "resolution": ("get_resolution", {}),
    },
    "sources": {"all": ("list_sources", {})},
}

# How an argument is sent, by its type.
_SENT = {
    "int": "{0}",
    "int | None": "{0}",
    "str": "{0}",
    "SpendBy": "{0}",
    "FoundBy | None": "{0}",
    "float": "{0}",
    "Sequence[str]": "list({0})",
    "Sequence[UUID]": "[str(one) for one in {0}]",
    "bool": "'true' if {0} else None",
    "UUID": "str({0})",
    "UUID | None": "str({0}) if {0} else None",
    "datetime": "moment({0})",
    "datetime | None": "moment({0})",
    "Decimal | None": "None if {0} is None else str({0})",
    "Filter | None": "filter_text({0})",
    "UUID | str | NameKey": "entity_name({0})",
}

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Operation(NamedTuple):
    """A route of the server: its method, path and query, and what its response has."""

    method: str
    path: str
    query: dict[str, dict[str, Any]]
    response: str
    fields: dict[str, Any]


class Argument(NamedTuple):
    """An argument of a call: what it is called at the server, and the expression that is sent."""

    name: str
    sent: str


def operations() -> dict[str, Operation]:
    """The routes of the server by name."""
    described = create_app(Settings()).openapi()
    found: dict[str, Operation] = {}
    for path, methods in described["paths"].items():
        for method, one in methods.items():
            query = {given["name"]: given for given in one.get("parameters", ()) if given["in"] == "query"}
            answers: list[dict[str, Any]] = [
                answer for status, answer in one["responses"].items() if status.startswith("2")
            ]
            schema = (answers or [{}])[0].get("content", {}).get("application/json", {}).get("schema", {})
            name = schema.get("$ref", "").rpartition("/")[2]
            fields = described["components"]["schemas"].get(name, {}).get("properties", {})
            route = path.removeprefix(PREFIX)
            found[one["operationId"]] = Operation(method.upper(), route, query, name, fields)
    return found


def module(name: str, known: dict[str, Operation]) -> str:
    """A module of the client as it should be."""
    file = SOURCES / "client" / f"{name}.py"
    by_hand = file.read_text("utf-8").partition("    # --- written by")[0]
    written = by_hand + f"    # --- written by `make sync` from engine/{name}.py and the server's routes ---\n"
    source = (SOURCES / "engine" / f"{name}.py").read_text("utf-8")
    calls = CALLS[name]
    for node in _functions(source):
        if node.name in calls:
            operation, renamed = calls[node.name]
            written += _call(source, node, known[operation], renamed)
    command = (sys.executable, "-m", "ruff", "format", "--stdin-filename", str(file), "-")
    return subprocess.run(command, input=written, text=True, capture_output=True, check=True).stdout


def _functions(source: str) -> Iterator[Function]:
    for whole in ast.parse(source).body:
        if isinstance(whole, ast.ClassDef):
            yield from (node for node in whole.body if isinstance(node, Function))


def _call(source: str, node: Function, route: Operation, renamed: dict[str, str]) -> str:
    assert node.returns
    returns, doc = ast.unparse(node.returns), ast.get_source_segment(source, node.body[0])
    has_default = {id(arg) for arg, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if default}
    arguments = [
        _argument(arg, renamed, omitted=id(arg) in has_default) for arg in (*node.args.args[1:], *node.args.kwonlyargs)
    ]
    head = f"\n    async def {node.name}({ast.unparse(node.args)}) -> {returns}:\n        {doc}\n"
    if node.args.vararg:
        arguments.append(_argument(node.args.vararg, renamed, several=True))
        if route.query[arguments[-1].name]["required"] and returns.startswith("list"):
            head += f"        if not {node.args.vararg.arg}:\n            return []\n"
    path, passed = route.path, [one for one in arguments if f"{{{one.name}}}" not in route.path]
    for one in arguments:
        path = path.replace(f"{{{one.name}}}", "{" + one.sent.removeprefix("str(").removesuffix(")") + "}")
    where = f"f'{path}'" if "{" in path else f"'{path}'"
    return f"{head}        {_answered(route, where, passed, returns)}\n"


def _argument(arg: ast.arg, renamed: dict[str, str], *, several: bool = False, omitted: bool = False) -> Argument:
    assert arg.annotation
    kind = ast.unparse(arg.annotation)
    sent = "{0} or None" if kind == "str" and omitted else _SENT[kind]
    name = renamed.get(arg.arg, arg.arg)
    return Argument(name, f"[{sent.format('one')} for one in {arg.arg}]" if several else sent.format(arg.arg))


def _answered(route: Operation, where: str, passed: list[Argument], returns: str) -> str:
    """The statement that makes the request and reads the response."""
    given = "".join(f", {one.name}={one.sent}" for one in passed if one.name in route.query)
    if route.response.startswith("ListPage"):
        limit = next((one.sent for one in passed if one.name == "limit"), "None")
        more = "".join(f", {one.name}={one.sent}" for one in passed if one.name != "limit")
        return f"return await self._requests.listed({where}, {_item(returns)}, {limit}{more})"
    body = ", ".join(f"'{one.name}': {one.sent}" for one in passed if one.name not in route.query)
    match route.method:
        case "GET":
            made = f"await self._requests.get({where}{given})"
        case "DELETE":
            made = f"await self._requests.delete({where})"
        case _:
            sent = f", {{{body}}}" if body else ""
            how = "" if route.method == "POST" else f", method='{route.method}'"
            made = f"await self._requests.write({where}{sent}{how})"
    if returns == "None":
        return made
    found = _part(route, made, returns)
    if returns.endswith(" | None"):
        return f"return read_or_none({returns.removesuffix(' | None')}, {found})"
    return f"return read({returns}, {found})"


def _part(route: Operation, made: str, returns: str) -> str:
    """The field of the response that has the result, where that is not all of it."""
    wrapped = {
        name
        for name, field in route.fields.items()
        if (returns.startswith("list[") and field.get("type") == "array")
        or (returns.endswith("| None") and "anyOf" in field)
        or (returns == "int" and field.get("type") == "integer")
    }
    return f"part({made}, '{wrapped.pop()}')" if len(wrapped) == 1 else made


def _item(returns: str) -> str:
    return returns.removeprefix("list[").removesuffix("]")


def main() -> None:
    known = operations()
    write_or_check({SOURCES / "client" / f"{name}.py": module(name, known) for name in CALLS}, "sync")


if __name__ == "__main__":
    main()
