"""Documents that state entities and relations in one sentence each, for graphs without texts.

So they can be found by their words, and a citation shows the sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from trueweave.core.record import Chunk, Document, Link, Mention
from trueweave.text import tokens
from trueweave.text.names import storable, tidy
from trueweave.text.uris import ROW

_LONGEST_CHUNK = 1500  # characters
_MOST_CHUNKS = 500  # in a document; a longer list of statements becomes several documents
_ELLIPSIS = " …"


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence, and the mentions and links in it."""

    text: str
    mentions: tuple[Mention, ...] = ()
    links: tuple[Link, ...] = ()


def of_entity(entity: Mention) -> Statement:
    """The statement that there is an entity of this type, with its description."""
    name = tidy(entity.name) + (f" ({tidy(entity.type)})" if tidy(entity.type) else "")
    return Statement(sentence(f"{name}: {entity.description}" if entity.description else name), (entity,))


def of_relation(relation: Link, predicate: str = "") -> Statement:
    """The statement of a relation: as subject, predicate and object if it has a predicate, or else by its
    description."""
    source, target, said = tidy(relation.source), tidy(relation.target), relation.description
    if predicate:
        text = f"{source} {predicate} {target}"
        text += f": {said}" if said and said != predicate else ""
    elif source in said and target in said:
        text = said
    else:
        text = f"{source} and {target}" + (f": {said}" if said else " are related")
    return Statement(sentence(text), links=(relation,))


def documents(statements: Iterable[Statement], uri: str, title: str, part: str = "") -> Iterator[Document]:
    """The documents that make these statements, in chunks of limited size.

    Their uris are the uri of the file and a number, as in `graph.nt#1`, with the name of a `part` before the number if
    there is one.
    """
    number, chunks, packed = 1, list[Chunk](), list[Statement]()
    length, start = 0, 0

    def close() -> None:
        nonlocal length, start
        chunk = _chunk(packed, start)
        chunks.append(chunk)
        start, length = chunk.end + 1, 0
        packed.clear()

    for statement in statements:
        if packed and length + len(statement.text) > _LONGEST_CHUNK:
            close()
        if len(chunks) == _MOST_CHUNKS:
            yield _document(uri, part, number, title, chunks)
            number, start = number + 1, 0
            chunks.clear()
        packed.append(statement)
        length += len(statement.text) + 1
    if packed:
        close()
    if chunks:
        yield _document(uri, part, number, title, chunks)


def _document(uri: str, part: str, number: int, title: str, chunks: list[Chunk]) -> Document:
    return Document(f"{uri}{ROW}{part}{number}", tuple(chunks), storable(title), origin=uri)


def _chunk(packed: list[Statement], start: int) -> Chunk:
    text = "\n".join(statement.text for statement in packed)
    mentions = dict.fromkeys(mention for statement in packed for mention in statement.mentions)
    links = tuple(link for statement in packed for link in statement.links)
    return Chunk(text, start, tokens.count(text), tuple(mentions), links)


def sentence(text: str) -> str:
    """One line that ends with a full stop and fits into a chunk. What is cut off is still in the description."""
    line = " ".join(storable(text).split())
    if len(line) >= _LONGEST_CHUNK:
        return line[: _LONGEST_CHUNK - len(_ELLIPSIS)].rpartition(" ")[0] + _ELLIPSIS
    return line if line.endswith((".", "!", "?", "…")) else f"{line}."
