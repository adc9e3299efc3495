"""Writes the class Trueweave and its groups in src/trueweave/sync.py from AsyncTrueweave and its groups in
src/trueweave/engine. `make docs` fails while they are out of date.

What is above these classes is written by hand, imports included.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from written import write_or_check

SOURCES = Path(__file__).parents[1] / "src" / "trueweave"
ENGINE, TARGET = SOURCES / "engine", SOURCES / "sync.py"

# An open database is of the loop that opened it, so there is no workspace to be entered in one, and no projection.
LEFT_OUT = frozenset({"enter", "aclose", "database", "workspace", "worker_dependencies", "clean_up", "projection"})
PARTS = {"trueweave": "", "documents": "documents", "questions": "questions"}
GROUPS = ("graph", "communities", "rules", "jobs", "budget", "projections", "maintenance")

_HEAD = "# --- written by `make sync` from trueweave/engine: what is below is changed there ---\n"
_CLASS = '''

class Trueweave(_Waiting):
    """One workspace: all that AsyncTrueweave does, in calls that wait until it is done.

    It is opened by `with`, or else by the first call, and let go at the end of `with`, by `close`, or with the program.
    The work is done in a thread of its own, where listeners are called too: so it also goes on inside a running event
    loop, as in a notebook. Several threads may call at the same time, and Ctrl-C stops what the call began.
    """
'''
_INSTEAD = {
    "AsyncIterator": "Iterator",
    "Stream": "Iterator",
    "AsyncTrueweave": "Trueweave",
    "AsyncConversation": "Conversation",
    "asyncio": "threading",
}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def module() -> str:
    """The module as it should be."""
    by_hand = TARGET.read_text("utf-8").partition("# --- written by")[0]
    written = by_hand + _HEAD + "".join(map(_group, GROUPS)) + _CLASS
    for file, heading in PARTS.items():
        written += f"\n    # --- {heading} {'-' * (90 - len(heading))}\n" if heading else ""
        written += "".join(_members(file))
    written += "".join(map(_group_property, GROUPS))
    command = (sys.executable, "-m", "ruff", "format", "--stdin-filename", str(TARGET), "-")
    return subprocess.run(command, input=written, text=True, capture_output=True, check=True).stdout


def _group(name: str) -> str:
    whole, _ = _class(name)
    doc = ast.get_docstring(whole)
    return f'''\n\nclass {_name_of(whole)}(_Group):\n    """{doc}"""\n{"".join(_members(name, group=name))}'''


def _group_property(name: str) -> str:
    made = _name_of(_class(name)[0])
    return f'''
    @property
    def {name}(self) -> {made}:
        """What is about {name}."""
        return {made}(self)
'''


def _class(file: str) -> tuple[ast.ClassDef, str]:
    """The public class of a module of the engine, and the module's source."""
    source = (ENGINE / f"{file}.py").read_text("utf-8")
    [whole] = [node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)]
    return whole, source


def _name_of(whole: ast.ClassDef) -> str:
    return whole.name.removeprefix("Async")


def _members(file: str, group: str = "") -> Iterator[str]:
    """The members of Trueweave that come from a module of the engine."""
    whole, source = _class(file)
    for node in whole.body:
        if not isinstance(node, Function) or node.name.startswith("_") or node.name in LEFT_OUT:
            continue
        yield _constructor(source, node) if node.name == "open" else _member(source, node, group)


def _constructor(source: str, opening: Function) -> str:
    given = _call("AsyncTrueweave.open", opening)
    return _function("def __init__", opening, "None", _doc(source, opening), f"super().__init__(lambda: {given})")


def _member(source: str, node: Function, group: str) -> str:
    decorators = {ast.unparse(decorator) for decorator in node.decorator_list}
    returns = ast.unparse(_instead(node.returns)) if node.returns else "None"
    doc = _doc(source, node)
    if _is_static(node):
        waited = f"return _wait_for(lambda: {_call(f'AsyncTrueweave.{node.name}', node)})"
        return _function(f"@staticmethod\n    def {node.name}", node, returns, doc, waited)
    called = f"trueweave.{group}.{node.name}" if group else f"trueweave.{node.name}"
    act = f"lambda trueweave: {_call(called, node)}"
    if "property" in decorators:
        head, body = f"@property\n    def {node.name}", f"return self._{called}"
    elif "asynccontextmanager" in decorators:
        head = f"@contextmanager\n    def {node.name}"
        body = f"with self._entered({act}) as entered:\n            yield self._beside(entered)"
    elif returns == "Conversation":
        head, body = f"def {node.name}", f"return {_call('Conversation', node).replace('(', '(self, ', 1)}"
    elif returns.startswith("Iterator["):
        head, body = f"def {node.name}", f"return self._iterate({act})"
    else:
        head, body = f"def {node.name}", f"{'' if returns == 'None' else 'return '}self._wait_for({act})"
    return _function(head, node, returns, doc, body)


def _function(head: str, node: Function, returns: str, doc: str, body: str) -> str:
    parameters = _instead(node.args)
    assert isinstance(parameters, ast.arguments)
    if not _is_static(node):
        parameters.args[0].arg = "self"
    return f"\n    {head}({ast.unparse(parameters)}) -> {returns}:\n        {doc}\n        {body}\n"


def _call(what: str, node: Function) -> str:
    """The call that passes everything on."""
    args = node.args
    given = [_passed(arg) for arg in args.args[0 if _is_static(node) else 1 :]]
    given += [f"*{args.vararg.arg}"] if args.vararg else []
    given += [f"{arg.arg}={_passed(arg)}" for arg in args.kwonlyargs]
    return f"{what}({', '.join(given)})"


def _is_static(node: Function) -> bool:
    return any(ast.unparse(decorator) == "staticmethod" for decorator in node.decorator_list)


def _passed(arg: ast.arg) -> str:
    is_event = arg.annotation is not None and "asyncio.Event" in ast.unparse(arg.annotation)
    return f"_awaited({arg.arg})" if is_event else arg.arg


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
    write_or_check({TARGET: module()}, "sync")


if __name__ == "__main__":
    main()
