"""N-Triples and Turtle, written by rdflib, some rows at a time.

An entity is `urn:uuid:…` with its name as rdfs:label and its description as rdfs:comment. From it to another leads
`relatedTo`; what is known of that relation is at a resource of its own, as RDF has no place for it on a triple.
"""

from __future__ import annotations

from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

from trueweave.core.errors import ConfigError
from trueweave.formats.exporting.files import Pieces, write_text
from trueweave.formats.exporting.rows import Row, Section, batches
from trueweave.store.postgres.db import Workspace

if TYPE_CHECKING:
    from rdflib import Graph

VOCABULARY = "urn:trueweave:"
_FORMATS = {".nt": "nt", ".ttl": "turtle"}
_CLASSES: dict[Section, str] = {"entities": "Entity", "relations": "Relation", "communities": "Community"}
_LEADING = frozenset({"source", "target", "community", "parent"})  # columns with the id of another row
_URN = "urn:uuid:"
_AT_ONCE = 1000  # rows; each batch is a graph in memory, and what is written of several can stand in one file


async def write(workspace: Workspace, path: Path) -> None:
    """Write the graph as N-Triples or as Turtle, as the path ends."""
    try:
        import rdflib  # noqa: F401 - before anything is written
    except ImportError as error:
        raise ConfigError(f'writing {path.suffix} needs rdflib: pip install "trueweave[formats]"') from error
    await write_text(path, _pieces(workspace, _FORMATS[path.suffix.lower()]))


async def _pieces(workspace: Workspace, format_: str) -> Pieces:
    async with workspace.transaction(snapshot=True, unhurried=True) as tx:
        for section in _CLASSES:
            async with aclosing(batches(tx, section, _AT_ONCE)) as found:
                async for batch in found:
                    yield triples(section, batch).serialize(format=format_)


def triples(section: Section, batch: list[Row]) -> Graph:
    """What these rows say, as triples."""
    from rdflib import RDF, RDFS, Graph, Literal, Namespace, URIRef

    ours = Namespace(VOCABULARY)
    called = {"name": RDFS.label, "title": RDFS.label, "description": RDFS.comment, "summary": RDFS.comment}
    graph = Graph(bind_namespaces="none")
    for prefix, namespace in (("tw", ours), ("rdfs", RDFS)):
        graph.bind(prefix, namespace)
    for row in batch:
        subject = URIRef(_URN + row["id"])
        graph.add((subject, RDF.type, ours[_CLASSES[section]]))
        for name, value in row.items():
            for one in value if isinstance(value, list) else [value]:
                if name != "id" and one not in (None, ""):
                    told = URIRef(_URN + one) if name in _LEADING else Literal(_plain(one))
                    graph.add((subject, called.get(name, ours[name]), told))
        if section == "relations":
            graph.add((URIRef(_URN + row["source"]), ours.relatedTo, URIRef(_URN + row["target"])))
    return graph


def _plain(value: object) -> object:
    """A value that can be a literal: of a report's finding, its summary and its text."""
    return f"{value['summary']}: {value['text']}" if isinstance(value, dict) else value
