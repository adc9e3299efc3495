"""Turns a model's replies for one chunk into mentions and links: normalised, located in the text, and without what was
copied from the prompt's example."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Literal

from trueweave.core.record import DroppedFinding, Extraction, Link, Mention
from trueweave.ingest.extract.graph_schema import OTHER, GraphSchema
from trueweave.ingest.extract.schema import EntityReply, Findings, RelationReply
from trueweave.ingest.extract.spans import LONGEST_NAME, Finder
from trueweave.text.names import storable, tidy

NOTHING_FOUND = "the model found no entity and no relation in this chunk"

# Words that only the prompt's example uses: a reply that has such a word, while its chunk does not, must have copied
# it.
EXAMPLE_WORDS = ("Quendrith", "Vossalar", "Ambrelhine", "Tovrick")

_Name = tuple[str, str]


class ExtractionBuilder:
    """The findings of all replies for one chunk.

    Of two findings with the same name and type the first is kept, with the description of the second if it had none. A
    type that was not asked for becomes "other": if it were kept, an entity that a model types in two ways would become
    two. The type of a relation is stored as its first keyword. With a strict schema, findings that do not match are
    dropped.

    `left_out` is called with each dropped finding and the reason.
    """

    def __init__(
        self, text: str, schema: GraphSchema, left_out: Callable[[DroppedFinding], None] | None = None
    ) -> None:
        self._text = text
        self._schema = schema
        self._left_out = left_out
        folded = text.casefold()
        self._foreign = [word for word in map(str.casefold, EXAMPLE_WORDS) if word not in folded]
        self._mentions: dict[_Name, Mention] = {}
        self._types_of: defaultdict[str, list[str]] = defaultdict(list)
        self._links: dict[tuple[str, str, str], Link] = {}
        self._odd: Counter[str] = Counter()

    def add(self, findings: Findings) -> bool:
        """Add the findings of one reply; returns whether any is new.

        A relation between two names that an earlier reply related in the same direction is not new.
        """
        before = len(self._mentions), len(self._links)
        related = {(source, target) for source, target, _ in self._links}
        for entity in findings.entities:
            self._add_entity(entity)
        for relation in findings.relations:
            self._add_relation(relation, related)
        return before != (len(self._mentions), len(self._links))

    def as_json(self) -> str:
        """All findings so far, in the format of a reply."""
        entities = [
            {"name": m.name, "type": m.type, "description": m.description, "emphasis": m.emphasis}
            for m in self._mentions.values()
        ]
        relations = [
            {"source": k.source, "target": k.target, "description": k.description, "keywords": k.keywords}
            | {"strength": k.strength, "emphasis": k.emphasis}
            | ({"type": self._type_of(k)} if self._schema.relation_types else {})
            for k in self._links.values()
        ]
        return json.dumps({"entities": entities, "relations": relations}, ensure_ascii=False)

    def extraction(self, most_links: int, notes: Iterable[str] = ()) -> Extraction:
        """The mentions with their positions, the strongest links up to a maximum, and notes on anything unusual."""
        finder = Finder(self._text)
        mentions = tuple(replace(mention, spans=finder.find(mention.name)) for mention in self._mentions.values())
        links = list(self._links.values())
        strongest = sorted(range(len(links)), key=lambda n: (-links[n].strength, -links[n].emphasis, n))[:most_links]
        written = {mention.name.casefold(): mention.name for mention in reversed(mentions)}
        kept = tuple(_as_written(links[n], written) for n in sorted(strongest))
        for n in sorted(set(range(len(links))) - set(strongest)) if self._left_out else ():
            self._drop(_between(links[n].source, links[n].target), f"at most {most_links} are kept per chunk")
        odd = self._odd + Counter(
            {
                f"relations dropped, because at most {most_links} are kept per chunk": len(links) - len(kept),
                "names that do not occur literally in the text": sum(not mention.spans for mention in mentions),
            }
        )
        counted = (f"{what}: {times}" for what, times in odd.items())
        return Extraction(mentions, kept, (*notes, *counted, *(() if mentions or kept else (NOTHING_FOUND,))))

    def _add_entity(self, found: EntityReply) -> None:
        name, description = tidy(found.name), storable(found.description).strip()
        if not self._is_of_use("entity", name, [name], name, description):
            return
        type_ = self._schema.entity_type(found.type)
        if type_ is None and self._schema.strict:
            self._odd["entities of a type that is not in the schema, dropped"] += 1
            self._drop(name, f"the schema has no entity type {tidy(found.type)!r}", "entity")
            return
        if type_ is None:
            self._odd[f'entities of a type that was not asked for, now "{OTHER}"'] += 1
        mention = Mention(name, type_ or OTHER, description, self._figure(found.emphasis, 9))
        key = name.casefold(), mention.type
        if key not in self._mentions:
            self._types_of[key[0]].append(mention.type)
        known = self._mentions.setdefault(key, mention)
        if not known.description:
            self._mentions[key] = replace(known, description=description)

    def _add_relation(self, found: RelationReply, related: set[tuple[str, str]]) -> None:
        source, target, description = tidy(found.source), tidy(found.target), storable(found.description).strip()
        words = tuple(word for word in map(tidy, found.keywords) if word)
        what = _between(source, target)
        if not self._is_of_use("relation", what, [source, target], source, target, description, *words):
            return
        ends = source.casefold(), target.casefold()
        if ends[0] == ends[1]:
            self._odd["relations of an entity with itself, dropped"] += 1
            self._drop(what, "it relates an entity with itself")
            return
        if ends in related:
            self._drop(what, "an earlier reply already related the two")
            return
        type_ = self._schema.relation_type(found.type)
        if not self._fits(found, type_, ends, what):
            return
        if type_:
            words = (type_, *(word for word in words if word.casefold() != type_.casefold()))
        strength, emphasis = self._figure(found.strength, 10), self._figure(found.emphasis, 9)
        self._links.setdefault((*ends, description), Link(source, target, description, words, strength, emphasis))

    def _fits(self, found: RelationReply, type_: str | None, ends: tuple[str, str], what: str) -> bool:
        """Whether the schema keeps a relation. One that does not match is counted, and dropped if the schema is
        strict."""
        types = [self._types_of[end] for end in ends]
        problem = why = ""
        if self._schema.strict and not all(types):
            problem = "relations whose ends are not both among the entities"
            why = "an end of it is not among the entities"
        elif type_ is None and self._schema.relation_types:
            problem = "relations of a type that is not in the schema"
            why = f"the schema has no relation type {tidy(found.type)!r}"
        elif type_ is not None and not self._schema.allows(types[0], type_, types[1]):
            problem = "relations that no pattern allows"
            between = " to ".join(" or ".join(some) or "something unknown" for some in types)
            why = f"no pattern allows {type_!r} from {between}"
        if not problem:
            return True
        self._odd[f"{problem}, {'dropped' if self._schema.strict else 'kept'}"] += 1
        if self._schema.strict:
            self._drop(what, why)
        return not self._schema.strict

    def _type_of(self, link: Link) -> str:
        """The type of a relation, which is its first keyword."""
        return next((word for word in link.keywords[:1] if word in self._schema.relation_types), OTHER)

    def _drop(self, what: str, why: str, kind: Literal["entity", "relation"] = "relation") -> None:
        if self._left_out:
            self._left_out(DroppedFinding(kind, what, why))

    def _is_of_use(self, kind: Literal["entity", "relation"], what: str, names: list[str], *said: str) -> bool:
        if any(word in part.casefold() for part in said for word in self._foreign):
            self._odd["findings copied from the prompt's example, dropped"] += 1
            self._drop(what, "it is copied from the prompt's example", kind)
            return False
        if not all(0 < len(name) <= LONGEST_NAME for name in names):
            self._odd[f"findings with an empty name, or one of over {LONGEST_NAME} characters, dropped"] += 1
            self._drop(what, f"a name is empty, or has over {LONGEST_NAME} characters", kind)
            return False
        return True

    def _figure(self, given: float | None, most: int) -> int:
        if given is None:
            self._odd["emphases or strengths missing, now 5"] += 1
            return 5
        figure = min(max(round(given), 1), most)
        self._odd["emphases or strengths out of range, moved into it"] += abs(figure - given) >= 1
        return figure


def example(schema: GraphSchema) -> str:
    """The prompt's example as a reply, with requested types, or with "other" or the first type instead."""
    known = list(schema.entity_types)
    otherwise = OTHER if OTHER in known else known[0]

    def entity(name: str, type_: str, description: str, emphasis: int) -> Mapping[str, object]:
        type_ = type_ if type_ in known else otherwise
        return {"name": name, "type": type_, "description": description, "emphasis": emphasis}

    seller, thing, buyer = "Quendrith Vossalar", "Ambrelhine", "Tovrick & Sons"
    sale = f"{seller} sold the {thing} to {buyer}."
    relation: dict[str, object] = {"source": seller, "target": buyer, "description": sale, "keywords": ["sale"]}
    relation |= {"strength": 7, "emphasis": 8}
    if schema.relation_types:
        relation["type"] = OTHER if OTHER in schema.relation_types else next(iter(schema.relation_types))
    entities = [
        entity(seller, "person", f"The one who sold the {thing}.", 8),
        *([] if schema.strict else [entity(thing, OTHER, f"What {seller} sold.", 6)]),
        entity(buyer, "organization", f"They bought the {thing}.", 6),
    ]
    return json.dumps({"entities": entities, "relations": [relation]})


def _between(source: str, target: str) -> str:
    return f"{source} -> {target}"


def _as_written(link: Link, written: Mapping[str, str]) -> Link:
    """The link with its ends written as the chunk's mentions write them."""
    source, target = (written.get(end.casefold(), end) for end in (link.source, link.target))
    return replace(link, source=source, target=target)
