"""Named queries: `-- name: x` starts one in sql/*.sql, and `QUERIES["file.x"]` is its text."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import LiteralString

_NAME = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)


def _load() -> dict[str, LiteralString]:
    queries: dict[str, LiteralString] = {}
    for file in sorted(files(__package__).joinpath("sql").iterdir(), key=lambda f: f.name):
        if file.name.endswith(".sql"):
            parts = _NAME.split(file.read_text("utf-8"))[1:]
            stem = file.name.removesuffix(".sql")
            for name, text in zip(parts[::2], parts[1::2], strict=True):
                queries[f"{stem}.{name}"] = text.strip()
    return queries


QUERIES = _load()
