"""GraphML: entities as nodes, each with the id of its innermost community, and relations as edges."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from trueweave.formats.exporting.files import Pieces, write_text
from trueweave.formats.exporting.rows import Row, rows
from trueweave.store.postgres.db import Workspace

_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
_NODE = {"name": "string", "type": "string", "description": "string", "mentions": "long", "degree": "long"}
_NODE |= {"community": "string"}
_EDGE = {"type": "string", "description": "string", "keywords": "string", "weight": "double"}
# XML cannot contain these, not even escaped.
_UNWANTED = dict.fromkeys((*range(9), 11, 12, *range(14, 32), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF))


async def write(workspace: Workspace, path: Path) -> None:
    """Write the graph as GraphML."""
    await write_text(path, _pieces(workspace))


async def _pieces(workspace: Workspace) -> Pieces:
    async with workspace.transaction(snapshot=True, unhurried=True) as tx:
        yield _HEAD
        for kind, keys in (("node", _NODE), ("edge", _EDGE)):
            for name, type_ in keys.items():
                yield f'<key id="{kind}_{name}" for="{kind}" attr.name="{name}" attr.type="{type_}"/>\n'
        yield '<graph edgedefault="directed">\n'
        async with aclosing(rows(tx, "entities")) as found:
            async for row in found:
                yield f'<node id="{row["id"]}">{_data("node", _NODE, row)}</node>\n'
        async with aclosing(rows(tx, "relations")) as found:
            async for row in found:
                ends = f"source={quoteattr(row['source'])} target={quoteattr(row['target'])}"
                yield f'<edge id="{row["id"]}" {ends}>{_data("edge", _EDGE, row)}</edge>\n'
        yield "</graph>\n</graphml>\n"


def _data(kind: str, keys: Mapping[str, str], row: Row) -> str:
    return "".join(f'<data key="{kind}_{name}">{_text(row[name])}</data>' for name in keys if row[name] is not None)


def _text(value: object) -> str:
    joined = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    # A bare carriage return would be read as a line feed.
    return escape(joined.translate(_UNWANTED), {"\r": "&#13;"})
