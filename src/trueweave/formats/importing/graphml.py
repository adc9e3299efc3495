"""Reading GraphML files element by element."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from trueweave.core.errors import UnreadableFile
from trueweave.core.events import Listener
from trueweave.core.record import Document
from trueweave.formats.importing.graphs import stated


class GraphElement(NamedTuple):
    """A node, or an edge between two nodes, with its values by name."""

    ends: tuple[str, ...]  # one for a node, two for an edge
    values: Mapping[str, str]


def read(path: Path, uri: str, listener: Listener | None = None) -> Iterator[Document]:
    """Documents that state the nodes and edges of a file. Only the names of nodes are kept in memory."""
    found = ((one.ends, one.values) for one in elements(path))
    yield from stated(found, uri, path.name, listener)


def elements(path: Path) -> Iterator[GraphElement]:
    """The nodes and edges of a file, in order, one at a time."""
    names: dict[str, str] = {}
    defaults: dict[str, dict[str, str]] = {"node": {}, "edge": {}}
    try:
        with path.open("rb") as file:
            graph: ElementTree.Element | None = None
            for event, element in ElementTree.iterparse(file, ("start", "end")):
                tag = element.tag.rpartition("}")[2]
                if event == "start":
                    graph = element if tag == "graph" else graph
                elif tag == "key":
                    names[element.get("id", "")] = element.get("attr.name") or element.get("id", "")
                    _note_default(element, defaults)
                elif tag in defaults and graph is not None:
                    yield _element(element, tag, names, defaults[tag])
                    graph.clear()
    except ElementTree.ParseError as error:
        raise UnreadableFile(f"{path} is not GraphML: {error}. Export it again.") from error


def _note_default(key: ElementTree.Element, defaults: dict[str, dict[str, str]]) -> None:
    name = key.get("attr.name") or key.get("id") or ""
    for value in (part.text or "" for part in key if part.tag.rpartition("}")[2] == "default"):
        for kind, known in defaults.items():
            if key.get("for", "all") in ("all", kind):
                known[name] = value


def _element(
    element: ElementTree.Element, tag: str, names: Mapping[str, str], defaults: Mapping[str, str]
) -> GraphElement:
    ends = ("id",) if tag == "node" else ("source", "target")
    data = [part for part in element if part.tag.rpartition("}")[2] == "data"]
    keyed = ((part.get("key", ""), part.text or "") for part in data)
    values = {names.get(key, key): text for key, text in keyed}
    return GraphElement(tuple(element.get(end, "") for end in ends), {**defaults, **values})
