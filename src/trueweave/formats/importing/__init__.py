"""Imports: what other systems have made of documents, as documents with their entities and relations.

    from trueweave.formats import importing

    index.add_documents(importing.read("ragtest/output"))

No model is asked for entities again. All readers give documents one at a time. What cannot be used or does not carry
over is said to a listener; without one, a row that cannot be used is an error, and the rest goes to the log.
See docs/moving.md.
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
    """The documents in a file or folder of another system, in one of FORMATS; without a format, as `guess` finds.

    They are called by a `uri` and what names them in the file or folder, as in `graphrag:ragtest#doc-1`. Unless it is
    given, it is the format and the whole path. With `reports`, GraphRAG's community reports are documents, too.
    """
    place = Path(path)
    chosen = _named(format) if format else guess(place).format
    if reports and chosen.name != "graphrag":
        raise ConfigError(f"only the output of GraphRAG has community reports, and {place} is read as {chosen.what}.")
    options: dict[str, Any] = {"reports": True} if reports else {}
    return chosen.reader()(place, uri or chosen.uri(place, Naming()), listener, **options)


def from_networkx(graph: Any, name: str, listener: Listener | None = None) -> Iterator[Document]:
    """Documents that state the nodes and edges of a networkx graph in a sentence each, called `networkx:name#1` and so
    on.

    Names, types, descriptions, predicates, keywords and weights are taken from attributes of the usual names.
    """
    from trueweave.formats.importing.graphs import stated

    nodes = (((node,), values) for node, values in graph.nodes(data=True))
    edges = (((source, target), values) for source, target, values in graph.edges(data=True))
    elements = (one for part in (nodes, edges) for one in part)
    return stated(elements, f"networkx:{name}", str(graph.graph.get("name") or name), listener)


def from_langchain(graphs: Iterable[GraphDocument], name: str) -> Iterator[Document]:
    """A document for each of LangChain's GraphDocuments, with its text, nodes and relationships, called
    `langchain:name#` and the id of its source, or else its number."""
    from trueweave.formats.importing.langchain import read as read_langchain

    return read_langchain(graphs, f"langchain:{name}")


def _named(name: str) -> Format:
    if name not in FORMATS:
        raise ConfigError(f"there is no format {name}. Available: {', '.join(FORMATS)}.")
    return FORMATS[name]
