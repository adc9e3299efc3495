"""The annotations of the chunks of a corpus, by chunk id: the texts of chunks are not kept in memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from trueweave.core.events import Listener
from trueweave.core.record import Document, Link, Mention
from trueweave.formats.importing.statements import Statement, documents, of_entity, of_relation
from trueweave.formats.importing.telling import counted, note
from trueweave.graph.aggregate import THOUSANDTHS
from trueweave.text.names import tidy

WITHOUT_TEXT = "without-text-"  # in the uris of documents for entities and relations without a text
_USUAL, _MOST = 5.0, 1_000_000


@dataclass(frozen=True, slots=True)
class GivenRelation:
    """A relation from another system: one for all texts, with one weight."""

    source: str
    target: str
    description: str = ""
    keywords: tuple[str, ...] = ()
    weight: float | None = None


class Annotations:
    """Mentions and links by chunk id. Add entities first, as the ends of relations take their types.

    A description that another system wrote from several chunks is given to each of them, as it is no longer known which
    sentence is from which. So the entity has exactly that description, and keeps it until the last of them is removed.
    """

    def __init__(self, chunks: Collection[str]) -> None:
        self._chunks = chunks
        self._mentions: defaultdict[str, list[Mention]] = defaultdict(list)
        self._links: defaultdict[str, list[Link]] = defaultdict(list)
        self._types: defaultdict[str, list[str]] = defaultdict(list)
        self._unattached_entities: list[Mention] = []
        self._unattached_relations: list[GivenRelation] = []
        self._missing = self._nameless = self._without_weight = 0

    def add_entity(self, entity: Mention, chunks: Sequence[str]) -> None:
        """Record that these chunks mention an entity."""
        if not tidy(entity.name):
            self._nameless += 1
            return
        if entity.type not in self._types[entity.name]:
            self._types[entity.name].append(entity.type)
        known = self._known(chunks)
        for chunk in known:
            self._mentions[chunk].append(entity)
        if not known:
            self._unattached_entities.append(entity)

    def add_relation(self, relation: GivenRelation, chunks: Sequence[str]) -> None:
        """Record that these chunks state a relation."""
        if not (tidy(relation.source) and tidy(relation.target)):
            self._nameless += 1
            return
        known = self._known(chunks)
        self._without_weight += is_no_weight(relation.weight)
        if not known:
            self._unattached_relations.append(relation)
        shared: dict[Link, Link] = {}  # share one object between all chunks for which it is equal
        for chunk, strength in zip(known, strengths(relation.weight, len(known)), strict=True):
            link = self._link(relation, strength, chunk)
            self._links[chunk].append(shared.setdefault(link, link))

    def take(self, chunk: str) -> tuple[tuple[Mention, ...], tuple[Link, ...]]:
        """The mentions and links of a chunk, which are then forgotten."""
        return tuple(self._mentions.pop(chunk, ())), tuple(self._links.pop(chunk, ()))

    def unattached(self, uri: str) -> Iterator[Document]:
        """Documents that state the entities and relations without a chunk."""
        yield from documents(self._statements(), uri, "Entities and relations without a text", WITHOUT_TEXT)

    def tell(self, listener: Listener | None, uri: str) -> None:
        """Report what was left out, moved or changed, if anything."""
        entities, relations = len(self._unattached_entities), len(self._unattached_relations)
        if entities or relations:
            told = f"{counted(entities, 'entity', 'entities')} and {counted(relations, 'relation')}"
            note(
                listener,
                f"{told} have no text that is there. They are stated in documents of their own, {uri}#{WITHOUT_TEXT}…",
            )
        if self._missing:
            told = counted(self._missing, "reference")
            note(
                listener,
                f"{told} to texts that are not there were left out of entities and relations that have others.",
            )
        if self._nameless:
            told = counted(self._nameless, "entity or relation", "entities or relations")
            note(listener, f"{told} without a name were left out.")
        if self._without_weight:
            told = counted(self._without_weight, "relation")
            note(listener, f"{told} had a weight that is no number above 0, up to a million, and has the usual one.")

    def _known(self, chunks: Sequence[str]) -> list[str]:
        known = [chunk for chunk in dict.fromkeys(chunks) if chunk in self._chunks]
        if known:
            self._missing += len(dict.fromkeys(chunks)) - len(known)
        return known

    def _link(self, relation: GivenRelation, strength: float, chunk: str | None) -> Link:
        source_type, target_type = (self._type(end, chunk) for end in (relation.source, relation.target))
        said = relation.source, relation.target, relation.description, relation.keywords, strength
        return Link(*said, source_type=source_type, target_type=target_type)

    def _type(self, name: str, chunk: str | None) -> str:
        """The type of a name: if it has several, the one mentioned in the chunk, or else the first."""
        types = self._types.get(name, [""])
        if len(types) > 1 and chunk is not None:
            here = [mention.type for mention in self._mentions[chunk] if mention.name == name]
            return (here or types)[0]
        return types[0]

    def _statements(self) -> Iterator[Statement]:
        for entity in self._unattached_entities:
            yield of_entity(entity)
        for relation in self._unattached_relations:
            yield of_relation(self._link(relation, strengths(relation.weight, 1)[0], None))


def strengths(weight: float | None, chunks: int) -> list[float]:
    """The strengths of a relation's links, one per chunk: as equal as possible, with the weight as their sum, to three
    decimals. Without a weight, or with one that is not a positive number, 5 each."""
    if weight is None or is_no_weight(weight):
        return [_USUAL] * chunks
    if not chunks:
        return []
    each, more = divmod(max(round(weight * THOUSANDTHS), chunks), chunks)
    return [(each + (n < more)) / THOUSANDTHS for n in range(chunks)]


def is_no_weight(weight: float | None) -> bool:
    """Whether a weight was given that is invalid."""
    return weight is not None and not 0 < weight <= _MOST
