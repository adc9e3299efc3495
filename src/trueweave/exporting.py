"""The graph and its communities as a file: GraphML for programs that draw graphs, JSON for all others.

It is written as it is read, so it may be larger than memory.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from trueweave.errors import ConfigError
from trueweave.store.postgres.db import Transaction, Workspace
from trueweave.store.postgres.queries import QUERIES

Row = Mapping[str, Any]
Pieces = AsyncGenerator[str, None]

_AT_ONCE = 2000
_SECTIONS = ("communities", "entities", "relations")
_GRAPHML = '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
_NODE = {"name": "string", "type": "string", "description": "string", "mentions": "long", "degree": "long"}
_NODE |= {"community": "string"}
_EDGE = {"description": "string", "keywords": "string", "weight": "double"}
# XML has no place for these, not even escaped.
_UNWANTED = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 0xFFFE, 0xFFFF))


def form(path: Path) -> Callable[[Workspace], Pieces]:
    """What writes a file of this name: by its ending, .graphml or .json."""
    forms = {".graphml": graphml, ".json": as_json}
    if path.suffix not in forms:
        raise ConfigError(f"{path.name} is neither .graphml nor .json. Name the file as what you want it to be.")
    return forms[path.suffix]


async def as_json(workspace: Workspace) -> Pieces:
    """One object with lists of communities (each before those within it, with its report), entities and relations."""
    async with workspace.transaction(snapshot=True, unhurried=True) as tx:
        for n, section in enumerate(_SECTIONS):
            yield f'{"," if n else "{"}\n"{section}": ['
            before = "\n"
            async with aclosing(_rows(tx, section)) as rows:
                async for row in rows:
                    yield before + json.dumps(row, ensure_ascii=False)
                    before = ",\n"
            yield "]"
        yield "\n}\n"


async def graphml(workspace: Workspace) -> Pieces:
    """Entities as nodes, each with the id of its innermost community, and relations as edges."""
    async with workspace.transaction(snapshot=True, unhurried=True) as tx:
        yield _GRAPHML
        for kind, keys in (("node", _NODE), ("edge", _EDGE)):
            for name, type_ in keys.items():
                yield f'<key id="{kind}_{name}" for="{kind}" attr.name="{name}" attr.type="{type_}"/>\n'
        yield '<graph edgedefault="directed">\n'
        async with aclosing(_rows(tx, "entities")) as rows:
            async for row in rows:
                yield f'<node id="{row["id"]}">{_data("node", _NODE, row)}</node>\n'
        async with aclosing(_rows(tx, "relations")) as rows:
            async for row in rows:
                ends = f"source={quoteattr(row['source'])} target={quoteattr(row['target'])}"
                yield f'<edge id="{row["id"]}" {ends}>{_data("edge", _EDGE, row)}</edge>\n'
        yield "</graph>\n</graphml>\n"


def _data(kind: str, keys: Mapping[str, str], row: Row) -> str:
    return "".join(f'<data key="{kind}_{name}">{_text(row[name])}</data>' for name in keys if row[name] is not None)


def _text(value: object) -> str:
    joined = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return escape(joined.translate(_UNWANTED))


async def _rows(tx: Transaction, section: str) -> AsyncGenerator[Row, None]:
    async with tx.connection.cursor(name=f"trueweave_export_{section}") as cursor:
        cursor.itersize = _AT_ONCE
        await cursor.execute(QUERIES[f"community.export_{section}"])
        async for (row,) in cursor:
            yield row
