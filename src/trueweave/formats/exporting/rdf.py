"""N-Triples and Turtle, written by rdflib, a batch of rows at a time.

An entity is `urn:uuid:…` with its name as rdfs:label and its description as rdfs:comment. It is linked to another by
`relatedTo`; the attributes of that relation are on a separate resource, as RDF cannot attach them to a triple.
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
_AT_ONCE = 1000  # rows; each batch is a graph in memory, and the output of several can go into one file


async def write(workspace: Workspace, path: Path) -> None:
    """Write the graph as N-Triples or Turtle, depending on the extension."""
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
    """These rows as triples."""
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
    """A value that can be a literal: for a finding of a report, its summary and text."""
    return f"{value['summary']}: {value['text']}" if isinstance(value, dict) else value
