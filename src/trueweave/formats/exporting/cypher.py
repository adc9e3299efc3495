"""A Cypher script for Neo4j and other databases that support Cypher: `cypher-shell -f graph.cypher`.

Entities are nodes with the label Entity, relations are of type RELATED_TO, communities have the label Community. Text
from documents only appears in values, never as a label, type or property name. Running the script twice changes
nothing. Nodes are matched by a label of their own, so that the script can run in a database which is also a store of
Trueweave: a copy there has nodes with the same labels and ids.
"""

from __future__ import annotations

import re
from contextlib import aclosing
from pathlib import Path

from trueweave.formats.exporting.files import Pieces, write_text
from trueweave.formats.exporting.rows import Row, Section, batches
from trueweave.store.postgres.db import Workspace

_HEAD = """\
CREATE CONSTRAINT trueweave_exported_entity IF NOT EXISTS FOR (e:ExportedEntity) REQUIRE e.id IS UNIQUE;
CREATE CONSTRAINT trueweave_exported_community IF NOT EXISTS FOR (c:ExportedCommunity) REQUIRE c.id IS UNIQUE;
"""
_AT_ONCE = 500  # rows in a statement
_COLUMNS: dict[Section, tuple[str, ...]] = {
    "communities": ("id", "level", "parent", "size", "title", "summary", "rating"),
    "entities": ("id", "name", "type", "description", "aliases", "mentions", "degree", "community"),
    "relations": ("id", "source", "target", "type", "description", "keywords", "weight", "links"),
}
_STATEMENTS: dict[Section, str] = {
    "communities": """\
MERGE (c:ExportedCommunity {id: row.id})
SET c:Community, c.level = row.level, c.size = row.size,
    c.title = row.title, c.summary = row.summary, c.rating = row.rating
WITH c, row MATCH (p:ExportedCommunity {id: row.parent})
MERGE (c)-[:PART_OF]->(p)""",
    "entities": """\
MERGE (e:ExportedEntity {id: row.id})
SET e:Entity, e.name = row.name, e.type = row.type, e.description = row.description, e.aliases = row.aliases,
    e.mentions = row.mentions, e.degree = row.degree
WITH e, row MATCH (c:ExportedCommunity {id: row.community})
MERGE (e)-[:MEMBER_OF]->(c)""",
    "relations": """\
MATCH (a:ExportedEntity {id: row.source}), (b:ExportedEntity {id: row.target})
MERGE (a)-[r:RELATED_TO {id: row.id}]->(b)
SET r.type = row.type, r.description = row.description,
    r.keywords = row.keywords, r.weight = row.weight, r.links = row.links""",
}
_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ESCAPED = re.compile(r"[\\'\n\r\t]")
# Control characters and unpaired surrogates, which are of no use in names.
_UNWANTED = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_UNICODE_ESCAPE = re.compile(r"(?<=\\)(?=[uU])")


async def write(workspace: Workspace, path: Path) -> None:
    """Write the graph as a script."""
    await write_text(path, _pieces(workspace))


async def _pieces(workspace: Workspace) -> Pieces:
    yield _HEAD
    async with workspace.transaction(snapshot=True, unhurried=True) as tx:
        for section in _STATEMENTS:
            async with aclosing(batches(tx, section, _AT_ONCE)) as found:
                async for batch in found:
                    yield statement(section, batch)


def statement(section: Section, batch: list[Row]) -> str:
    """The statement that adds these rows."""
    maps = (", ".join(f"{name}: {literal(row[name])}" for name in _COLUMNS[section]) for row in batch)
    listed = ",\n".join(f"{{{one}}}" for one in maps)
    return f"UNWIND [\n{listed}\n] AS row\n{_STATEMENTS[section]};\n"


def literal(value: object) -> str:
    """A value as a Cypher literal: null, a number, a string, or a list of these."""
    if value is None:
        return "null"
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    return str(value) if isinstance(value, int | float) else _string(str(value))


def _string(text: str) -> str:
    r"""A string, quoted.

    Neo4j may read \uXXXX before anything else, even after an escaped backslash, where it could become a quote. So if
    the text has a backslash and a u, two strings are concatenated, and the script never contains \u.
    """
    parts = _UNICODE_ESCAPE.split(_UNWANTED.sub("", text))
    return " + ".join(f"'{_ESCAPED.sub(lambda found: _ESCAPES[found[0]], part)}'" for part in parts)
