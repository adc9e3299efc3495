"""Imports: the output of other systems, as documents with their entities and relations.

    from trueweave.formats import importing

    index.add_documents(importing.read("ragtest/output"))

No model is called to extract entities again. All readers yield documents one at a time. What cannot be used or imported
is reported to a listener; without one, a row that cannot be used is an error, and other notes go to the log. See
docs/how-to/moving.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trueweave.core.errors import ConfigError
from trueweave.core.events import Listener
from trueweave.core.record import Document
from trueweave.formats.importing.formats import FORMATS, Format, guess
from trueweave.text.uris import Naming

if TYPE_CHECKING:
    from trueweave.formats.importing.langchain import GraphDocument

__all__ = ["FORMATS", "Format", "from_langchain", "from_networkx", "guess", "read"]


def read(
    path: str | Path,
    format: str | None = None,
    *,
    uri: str | None = None,
    listener: Listener | None = None,
    reports: bool = False,
) -> Iterator[Document]:
    """The documents in a file or folder of another system, in one of FORMATS; by default, the one that `guess` finds.

    Their uris consist of `uri` and their name in the file or folder, as in `graphrag:ragtest#doc-1`. `uri` defaults to
    the format and the full path. With `reports`, GraphRAG's community reports become documents, too.
    """
    place = Path(path)
    chosen = _named(format) if format else guess(place).format
    if reports and chosen.name != "graphrag":
        raise ConfigError(f"only the output of GraphRAG has community reports, and {place} is read as {chosen.what}.")
    options: dict[str, Any] = {"reports": True} if reports else {}
    return chosen.reader()(place, uri or chosen.uri(place, Naming()), listener, **options)


def from_networkx(graph: Any, name: str, listener: Listener | None = None) -> Iterator[Document]:
    """Documents that state the nodes and edges of a networkx graph in one sentence each, with the uris
    `networkx:name#1` and so on.

    Names, types, descriptions, predicates, keywords and weights are taken from attributes with the usual names.
    """
    from trueweave.formats.importing.graphs import stated

    nodes = (((node,), values) for node, values in graph.nodes(data=True))
    edges = (((source, target), values) for source, target, values in graph.edges(data=True))
    elements = (one for part in (nodes, edges) for one in part)
    return stated(elements, f"networkx:{name}", str(graph.graph.get("name") or name), listener)


def from_langchain(graphs: Iterable[GraphDocument], name: str) -> Iterator[Document]:
    """A document for each of LangChain's GraphDocuments, with its text, nodes and relationships. Its uri is
    `langchain:name#` followed by the id of its source, or its number."""
    from trueweave.formats.importing.langchain import read as read_langchain

    return read_langchain(graphs, f"langchain:{name}")


def _named(name: str) -> Format:
    if name not in FORMATS:
        raise ConfigError(f"there is no format {name}. Available: {', '.join(FORMATS)}.")
    return FORMATS[name]
