"""A name means one thing: no two public classes have the same one."""

import re
from collections import defaultdict
from pathlib import Path

import trueweave
from trueweave.retrieval.methods import registry

SOURCE = Path(trueweave.__file__).parent
PUBLIC_CLASS = re.compile(r"^ *class ((?!_)\w+)[(:\[]", re.MULTILINE)  # parsing all files takes many seconds


def test_no_two_public_classes_share_a_name() -> None:
    defined: defaultdict[str, list[str]] = defaultdict(list)
    for file in SOURCE.rglob("*.py"):
        for name in PUBLIC_CLASS.findall(file.read_text("utf-8")):
            defined[name].append(file.relative_to(SOURCE).as_posix())
    # A method is named for what it searches, and may be called like the type of that.
    methods = {f"{name}.py" for name in registry.names()}
    twice = {name: files for name, files in defined.items() if len(files) > 1}
    assert not {
        name: files
        for name, files in twice.items()
        if len([one for one in files if not (one.startswith("retrieval/methods/") and Path(one).name in methods)]) > 1
    }
