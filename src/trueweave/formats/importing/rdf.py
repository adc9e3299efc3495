"""N-Triples and Turtle, read by rdflib.

Resources are named by their label (rdfs:label, skos:prefLabel, foaf:name, schema:name), or else by the last part of
their IRI; their type comes from rdf:type and their description from rdfs:comment or the like. A triple between two
resources is a relation. A triple with a literal is stated, and describes the resource.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from trueweave.core.errors import ConfigError, UnreadableFile
from trueweave.core.events import Listener
from trueweave.core.record import Document, Link, Mention
from trueweave.formats.importing.statements import Statement, documents, of_entity, of_relation, sentence
from trueweave.formats.importing.telling import refuse
from trueweave.ingest.json_lines import broken, place
from trueweave.text.names import tidy

if TYPE_CHECKING:
    from rdflib.term import Node

    Triples = Callable[[], Iterator[tuple[Node, Node, Node]]]

_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_LABELS = (
    "http://www.w3.org/2000/01/rdf-schema#label",
    "http://www.w3.org/2004/02/skos/core#prefLabel",
    "http://xmlns.com/foaf/0.1/name",
    "http://schema.org/name",
    "https://schema.org/name",
)
_COMMENTS = (
    "http://www.w3.org/2000/01/rdf-schema#comment",
    "http://www.w3.org/2004/02/skos/core#definition",
    "http://purl.org/dc/terms/description",
    "http://schema.org/description",
    "https://schema.org/description",
)
_BETWEEN_WORDS = re.compile(r"[_\s]+|(?<=[a-z0-9])(?=[A-Z])")


def read(path: Path, uri: str, listener: Listener | None = None) -> Iterator[Document]:
    """Documents that state the triples of a file.

    An N-Triples file is read line by line, twice; the names, types and comments of resources are kept in memory. A
    Turtle file is in memory as a whole, as rdflib reads it: convert a large one to N-Triples. A line of N-Triples that
    cannot be read is refused, and the others are still imported.
    """
    try:
        import rdflib  # noqa: F401
    except ImportError as error:
        raise ConfigError(f'reading {path.name} needs rdflib: pip install "trueweave[formats]"') from error
    triples = _lines(path, listener) if path.suffix.lower() == ".nt" else _whole(path)
    resources = _Resources()
    for subject, predicate, value in triples():
        resources.note(subject, str(predicate), value)
    yield from documents(_statements(triples, resources), uri, path.name)


def _statements(triples: Triples, resources: _Resources) -> Iterator[Statement]:
    from rdflib import Literal

    stated: set[str] = set()
    for subject, predicate, value in triples():
        name, type_ = resources.name(subject), resources.type(subject)
        if name not in stated and (type_ or resources.comment(subject)):
            stated.add(name)
            yield of_entity(Mention(name, type_, resources.comment(subject)))
        words = resources.words(predicate)
        if resources.is_told(subject, str(predicate), value):
            continue
        if isinstance(value, Literal):
            told = Mention(name, type_, f"{words}: {value}")
            yield Statement(sentence(f"{name} {words}: {tidy(str(value))}"), (told,))
        else:
            link = Link(
                name, resources.name(value), words, (words,), source_type=type_, target_type=resources.type(value)
            )
            yield of_relation(link, words)


class _Resources:
    """The names, types and descriptions of resources."""

    def __init__(self) -> None:
        self._labels: dict[str, str] = {}
        self._comments: dict[str, str] = {}
        self._types: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._taken: dict[str, str] = {}

    def note(self, subject: Node, predicate: str, value: Node) -> None:
        """Keep what a triple says about the name, type or description of its subject."""
        key = _key(subject)
        if predicate in _LABELS:
            self._note(self._labels, key, value)
        elif predicate in _COMMENTS:
            self._note(self._comments, key, value)
        elif predicate == _TYPE:
            self._types.setdefault(key, str(value))

    @staticmethod
    def _note(where: dict[str, str], key: str, value: Any) -> None:
        """Keep the first text, unless a later one is in English and the first was not."""
        language = getattr(value, "language", None) or ""
        if text := tidy(str(value)):
            if language in ("", "en"):
                where.setdefault(f"en {key}", text)
            where.setdefault(key, text)

    def name(self, resource: Node) -> str:
        """The name of a resource. If two would have the same name, the IRI is appended to the later one."""
        key = _key(resource)
        if key not in self._names:
            name = self._of(self._labels, key) or _local(resource, len(self._taken) + 1) or key
            self._names[key] = f"{name} ({key})" if name in self._taken else name
            self._taken[self._names[key]] = key
        return self._names[key]

    def type(self, resource: Node) -> str:
        found = self._types.get(_key(resource))
        return (self._of(self._labels, found) or _words(found)) if found else ""

    def comment(self, resource: Node) -> str:
        return self._of(self._comments, _key(resource))

    def words(self, predicate: Node) -> str:
        return self._of(self._labels, _key(predicate)) or _words(str(predicate))

    def is_told(self, subject: Node, predicate: str, value: Node) -> bool:
        """Whether the name, type or description of the subject already covers a triple."""
        key = _key(subject)
        if predicate == _TYPE:
            return self._types[key] == str(value)
        where = self._labels if predicate in _LABELS else self._comments if predicate in _COMMENTS else {}
        return self._of(where, key) == tidy(str(value)) != ""

    @staticmethod
    def _of(where: dict[str, str], key: str) -> str:
        return where.get(f"en {key}") or where.get(key, "")


def _key(resource: Node) -> str:
    from rdflib import BNode

    return f"_:{resource}" if isinstance(resource, BNode) else str(resource)


def _local(resource: Node, number: int) -> str:
    """The last part of an IRI, with spaces; blank nodes are numbered."""
    from rdflib import BNode

    return f"blank node {number}" if isinstance(resource, BNode) else tidy(_last(str(resource)).replace("_", " "))


def _words(iri: str) -> str:
    """The last part of an IRI as words: `works at` for `http://example.org/worksAt`."""
    words = " ".join(part for part in _BETWEEN_WORDS.split(_last(iri)) if part)
    return tidy(words).lower() or tidy(iri)


def _last(iri: str) -> str:
    return unquote(re.split(r"[#/:]", iri.rstrip("#/:"))[-1])


def _lines(path: Path, listener: Listener | None) -> Triples:
    """The triples of an N-Triples file, line by line. Problems are reported on the first pass."""
    from rdflib.exceptions import ParserError
    from rdflib.plugins.parsers.ntriples import W3CNTriplesParser

    told = [listener]
    blank_nodes: dict[str, Any] = {}  # the same in both passes

    def read_all() -> Iterator[tuple[Node, Node, Node]]:
        sink: Any = _Sink()
        parser = W3CNTriplesParser(sink, blank_nodes)
        refused = told.pop() if told else _unheard
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    parser.parsestring(line.decode("utf-8"))
                except (ParserError, UnicodeDecodeError) as error:
                    refuse(refused, place(path, number), broken(path, number, str(error)))
                yield from sink.taken()

    return read_all


def _unheard(_: object) -> None:
    """A listener for the second pass, whose problems were already reported."""


class _Sink:
    def __init__(self) -> None:
        self._triples: list[tuple[Node, Node, Node]] = []

    def triple(self, subject: Node, predicate: Node, value: Node) -> None:
        self._triples.append((subject, predicate, value))

    def taken(self) -> list[tuple[Node, Node, Node]]:
        found, self._triples = self._triples, []
        return found


def _whole(path: Path) -> Triples:
    """The triples of a Turtle file, in its order, so that names are deterministic."""
    from rdflib import Graph
    from rdflib.plugins.parsers.notation3 import BadSyntax

    class InOrder(Graph):
        def add(self, triple: Any) -> InOrder:
            found.append(triple)
            return self

    found: list[tuple[Node, Node, Node]] = []
    try:
        InOrder(bind_namespaces="none").parse(path, format="turtle")
    except (BadSyntax, UnicodeDecodeError) as error:
        problem = " ".join(str(error).split())
        raise UnreadableFile(f"{path} is not Turtle: {problem}. Fix it, and import it again.") from error
    return lambda: iter(found)
