"""Writes the class Trueweave and its groups in src/trueweave/engine/sync.py from AsyncTrueweave and its groups in
src/trueweave/engine, and Client with its groups in src/trueweave/client/sync.py from AsyncClient in
src/trueweave/client. `make docs` fails while they are out of date.

What is above these classes is written by hand, imports included.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from written import write_or_check

SOURCES = Path(__file__).parents[1] / "src" / "trueweave"

# An open database is of the loop that opened it, so there is no workspace to be entered in one, and no projection.
LEFT_OUT = frozenset(
    {
        "enter",
        "aclose",
        "database",
        "workspace",
        "worker_dependencies",
        "model_and_prompts",
        "varied",
        "estimate_varied",
        "source_runs",
        "watch_runs",
        "clean_up",
        "projection",
        "for_run",
    }
)


@dataclass(frozen=True)
class Target:
    """A synchronous class: the file and the folder that it is written to and from, the modules of the folder that it
    takes its calls from, each with a heading, those that have its groups, and what it says of itself."""

    name: str
    file: Path
    folder: Path
    parts: Mapping[str, str]
    groups: Sequence[str]
    doc: str


TARGETS = (
    Target(
        "Trueweave",
        SOURCES / "engine" / "sync.py",
        SOURCES / "engine",
        {"trueweave": "", "documents": "documents", "questions": "questions", "memory": "memory"},
        (
            "graph",
            "communities",
            "rules",
            "access",
            "history",
            "bench",
            "sources",
            "watches",
            "jobs",
            "budget",
            "projections",
            "certificates",
            "records",
            "vectors",
            "maintenance",
        ),
        """One workspace: the blocking form of AsyncTrueweave.

    `with` or the first call opens it; the end of `with`, `close` or the end of the program closes it. The work is done
    in a separate thread, which also calls the listeners, so it works inside a running event loop, for example in a
    notebook. Several threads may use it at the same time, and Ctrl-C stops the current call.
    """,
    ),
    Target(
        "Client",
        SOURCES / "client" / "sync.py",
        SOURCES / "client",
        {"client": "", "documents": "documents", "questions": "questions", "memory": "memory"},
        (
            "graph",
            "communities",
            "rules",
            "access",
            "history",
            "bench",
            "sources",
            "watches",
            "jobs",
            "budget",
            "maintenance",
        ),
        """One workspace of a server: the blocking form of AsyncClient.

    `with` or the first call opens it; the end of `with`, `close` or the end of the program closes it. Requests are made
    in a separate thread, which also calls the listeners, so it works inside a running event loop, for example in a
    notebook. Several threads may use it at the same time, and Ctrl-C stops the current call.
    """,
    ),
)

_INSTEAD = {
    "AsyncIterator": "Iterator",
    "Stream": "Iterator",
    "AsyncTrueweave": "Trueweave",
    "AsyncClient": "Client",
    "AsyncConversation": "Conversation",
    "asyncio": "threading",
}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def module(target: Target) -> str:
    """The module as it should be."""
    by_hand = target.file.read_text("utf-8").partition("# --- written by")[0]
    head = f"# --- written by `make sync` from trueweave/{target.folder.name}: what is below is changed there ---\n"
    written = by_hand + head + "".join(_group(target, name) for name in target.groups)
    written += f'\n\nclass {target.name}(_Waiting):\n    """{target.doc}"""\n'
    for file, heading in target.parts.items():
        written += f"\n    # --- {heading} {'-' * (90 - len(heading))}\n" if heading else ""
        written += "".join(_members(target, file))
    written += "".join(_group_property(target, name) for name in target.groups)
    command = (sys.executable, "-m", "ruff", "format", "--stdin-filename", str(target.file), "-")
    return subprocess.run(command, input=written, text=True, capture_output=True, check=True).stdout


def _group(target: Target, name: str) -> str:
    whole, _ = _class(target, name)
    doc = ast.get_docstring(whole)
    return f'''\n\nclass {_name_of(whole)}(_Group):\n    """{doc}"""\n{"".join(_members(target, name, group=name))}'''


def _group_property(target: Target, name: str) -> str:
    made = _name_of(_class(target, name)[0])
    return f'''
    @property
    def {name}(self) -> {made}:
        """What is about {name}."""
        return {made}(self)
'''


def _class(target: Target, file: str) -> tuple[ast.ClassDef, str]:
    """The public class of a module, and the module's source."""
    source = (target.folder / f"{file}.py").read_text("utf-8")
    [whole] = [
        node for node in ast.parse(source).body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]
    return whole, source


def _name_of(whole: ast.ClassDef) -> str:
    return whole.name.removeprefix("Async")


def _members(target: Target, file: str, group: str = "") -> Iterator[str]:
    """The members of the class, or of a group of it, that come from a module."""
    whole, source = _class(target, file)
    for node in whole.body:
        if not isinstance(node, Function) or node.name.startswith("_") or node.name in LEFT_OUT:
            continue
        yield _constructor(target, source, node) if node.name == "open" else _member(target, source, node, group)


def _constructor(target: Target, source: str, opening: Function) -> str:
    given = _call(f"Async{target.name}.open", opening)
    return _function("def __init__", opening, "None", _doc(source, opening), f"super().__init__(lambda: {given})")


def _member(target: Target, source: str, node: Function, group: str) -> str:
    decorators = {ast.unparse(decorator) for decorator in node.decorator_list}
    returns = ast.unparse(_instead(node.returns)) if node.returns else "None"
    doc = _doc(source, node)
    if _is_static(node):
        waited = f"return wait_for(lambda: {_call(f'Async{target.name}.{node.name}', node)})"
        return _function(f"@staticmethod\n    def {node.name}", node, returns, doc, waited)
    called = f"trueweave.{group}.{node.name}" if group else f"trueweave.{node.name}"
    takes = next((f"@{one}\n    " for one in decorators if one.startswith("takes(")), "")
    act = f"lambda trueweave: {called}(**values({node.args.args[1].arg}))" if takes else ""
    act = act or f"lambda trueweave: {_call(called, node)}"
    if "property" in decorators:
        head, body = f"@property\n    def {node.name}", f"return self._{called}"
    elif "asynccontextmanager" in decorators:
        head = f"@contextmanager\n    def {node.name}"
        body = f"with self._entered({act}) as entered:\n            yield self._beside(entered)"
    elif returns == target.name:
        head, body = f"def {node.name}", f"return self._beside(self._{called}({', '.join(_given(node))}))"
    elif returns == "Conversation":
        head, body = f"def {node.name}", f"return {_call('Conversation', node).replace('(', '(self, ', 1)}"
    elif returns.startswith("Iterator["):
        head, body = f"{takes}def {node.name}", f"return self._iterate({act})"
    else:
        head, body = f"{takes}def {node.name}", f"{'' if returns == 'None' else 'return '}self._wait_for({act})"
    return _function(head, node, returns, doc, body)


def _function(head: str, node: Function, returns: str, doc: str, body: str) -> str:
    parameters = _instead(node.args)
    assert isinstance(parameters, ast.arguments)
    if not _is_static(node):
        parameters.args[0].arg = "self"
    return f"\n    {head}({ast.unparse(parameters)}) -> {returns}:\n        {doc}\n        {body}\n"


def _call(what: str, node: Function) -> str:
    """The call that passes everything on."""
    return f"{what}({', '.join(_given(node))})"


def _given(node: Function) -> list[str]:
    args = node.args
    given = [_passed(arg) for arg in args.args[0 if _is_static(node) else 1 :]]
    given += [f"*{args.vararg.arg}"] if args.vararg else []
    return given + [f"{arg.arg}={_passed(arg)}" for arg in args.kwonlyargs]


def _is_static(node: Function) -> bool:
    return any(ast.unparse(decorator) == "staticmethod" for decorator in node.decorator_list)


def _passed(arg: ast.arg) -> str:
    is_event = arg.annotation is not None and "asyncio.Event" in ast.unparse(arg.annotation)
    return f"awaited({arg.arg})" if is_event else arg.arg


def _doc(source: str, node: Function) -> str:
    found = ast.get_source_segment(source, node.body[0])
    assert found, f"{node.name} has no docstring"
    return found


class _Instead(ast.NodeTransformer):
    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(_INSTEAD.get(node.id, node.id))


def _instead(node: ast.AST) -> ast.AST:
    """The same without async."""
    return _Instead().visit(node)  # type: ignore[no-any-return]


def main() -> None:
    write_or_check({target.file: module(target) for target in TARGETS}, "sync")


if __name__ == "__main__":
    main()
