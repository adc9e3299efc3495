"""Named queries: in a .sql file next to the code, `-- name: x` starts a query, and `QUERIES["file.x"]` is its text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files
from typing import LiteralString, cast

_NAME = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)


def parse(texts: Mapping[str, str]) -> dict[str, LiteralString]:
    """All queries in these files, by name. Raises ValueError for a duplicate name or a query without a body."""
    queries: dict[str, LiteralString] = {}
    for stem, said in texts.items():
        parts = _NAME.split(said)[1:]
        for short, text in zip(parts[::2], parts[1::2], strict=True):
            name = f"{stem}.{short}"
            if name in queries:
                raise ValueError(f"there are two queries {name}")
            body = cast("LiteralString", text.strip())
            if all(line.startswith("--") or not line for line in body.splitlines()):
                raise ValueError(f"query {name} has no body")
            queries[name] = body
    return queries


def _read() -> dict[str, str]:
    here = [*files(__package__).iterdir()]
    found = here + [file for folder in here if folder.is_dir() for file in folder.iterdir()]
    return {f.name.removesuffix(".sql"): f.read_text("utf-8") for f in found if f.name.endswith(".sql")}


QUERIES = parse(_read())
