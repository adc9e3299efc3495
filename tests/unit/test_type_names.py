"""A name means one thing: no two public classes have the same one."""

import ast
from collections import defaultdict
from pathlib import Path

import trueweave
from trueweave.retrieval.methods import registry

SOURCE = Path(trueweave.__file__).parent


def test_no_two_public_classes_share_a_name() -> None:
    defined: defaultdict[str, list[str]] = defaultdict(list)
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                defined[node.name].append(file.relative_to(SOURCE).as_posix())
    # A method is named for what it searches, and may be called like the type of that.
    methods = {f"{name}.py" for name in registry.names()}
    twice = {name: files for name, files in defined.items() if len(files) > 1}
    assert not {
        name: files
        for name, files in twice.items()
        if len([one for one in files if not (one.startswith("retrieval/methods/") and Path(one).name in methods)]) > 1
    }
