"""A schema of the graph: the types of entities and relations, and which relations are allowed between which types."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from trueweave.core.errors import ConfigError
from trueweave.text.names import letters, tidy

OTHER = "other"

Pattern = tuple[str, str, str]


@dataclass(frozen=True)
class GraphSchema:
    """Types of entities and of relations, each with a description or none, and patterns: type of the source, type of
    the relation, type of the target. A relation type without a pattern is allowed between any two types.

    Unless it is `strict`, there is an additional type "other" for everything else. Without relation types, relations
    have no type.
    """

    entity_types: Mapping[str, str]
    relation_types: Mapping[str, str]
    patterns: Sequence[Pattern]
    strict: bool

    @classmethod
    def of(
        cls,
        entity_types: Mapping[str, str],
        relation_types: Mapping[str, str] | None = None,
        patterns: Iterable[Sequence[str]] = (),
        *,
        strict: bool = False,
    ) -> GraphSchema:
        """The normalised schema. ConfigError if it is invalid."""
        entities, relations = _tidied("entity", entity_types), _tidied("relation", relation_types or {})
        if not entities:
            raise ConfigError('no entity types are set; set some, as in {"person": "", "place": "where things are"}')
        further = {} if strict else {OTHER: "anything else that matters"}
        between = {} if strict or not relations else {OTHER: "any other relation"}
        made = cls({**further, **entities}, {**between, **relations}, tuple(_patterns(patterns)), strict)
        # "other" comes last, with the description that it was given, if any.
        made = cls(_with_last(made.entity_types), _with_last(made.relation_types), made.patterns, strict)
        made._check_patterns()
        return made

    def entity_type(self, given: str) -> str | None:
        """The matching type, ignoring case, spacing and punctuation; None if there is none."""
        return self._entity_names.get(plain(given))

    def relation_type(self, given: str) -> str | None:
        """The same for a type of relations."""
        return self._relation_names.get(plain(given))

    def allows(self, sources: Iterable[str], relation: str, targets: Iterable[str]) -> bool:
        """Whether a relation of this type may go from one of these types to one of those."""
        wanted = [(source, target) for source, one, target in self.patterns if one == relation]
        ends = {(source, target) for source in sources for target in targets}
        return not wanted or not ends.isdisjoint(wanted)

    def told_of_entities(self) -> str:
        """The types of entities, for the prompt."""
        return "\n".join(_listed(self.entity_types))

    def told_of_relations(self) -> str:
        """Additional instructions for the prompt: the types of relations and their patterns, and to use only them if
        strict. Empty if none are set."""
        lines: list[str] = []
        if self.relation_types:
            lines += ["- type: one of", *_listed(self.relation_types)]
        if self.patterns:
            lines += ["These types are only used like this (source, type, target):"]
            lines += [f"  - {' | '.join(pattern)}" for pattern in self.patterns]
        if self.strict:
            lines += ["", "Leave out whatever has none of these types, and relations to what is left out."]
        return "".join(f"\n{line}" for line in lines)

    @property
    def parts(self) -> list[str]:
        """The schema as texts, for a fingerprint: only entity types if nothing else is set."""
        types = [part for pair in self.entity_types.items() for part in pair]
        relations = [part for pair in self.relation_types.items() for part in pair]
        patterns = [part for pattern in self.patterns for part in pattern]
        further = ["relations", *relations, "patterns", *patterns] if relations or patterns else []
        return [*types, *further, *(["strict"] if self.strict else [])]

    @cached_property
    def _entity_names(self) -> dict[str, str]:
        return {plain(name): name for name in self.entity_types}

    @cached_property
    def _relation_names(self) -> dict[str, str]:
        return {plain(name): name for name in self.relation_types}

    def _check_patterns(self) -> None:
        for source, relation, target in self.patterns:
            unknown = [name for name in (source, target) if name not in self.entity_types]
            if unknown:
                known = ", ".join(self.entity_types)
                raise ConfigError(
                    f"the pattern {_shown(source, relation, target)} names {unknown[0]!r}, which is not one of the "
                    f"entity types: {known}. Correct it, or add it to [entity_types]."
                )
            if relation not in self.relation_types:
                known = ", ".join(self.relation_types) or "none are set"
                raise ConfigError(
                    f"the pattern {_shown(source, relation, target)} names {relation!r}, which is not one of the "
                    f"relation types: {known}. Correct it, or add it to [relation_types]."
                )


def plain(type_: str) -> str:
    """A type without case, punctuation and white space, which models vary."""
    return "".join(filter(str.isalnum, letters(type_)))


def _tidied(kind: str, types: Mapping[str, str]) -> dict[str, str]:
    tidied = {tidy(name): tidy(what) for name, what in types.items()}
    if not all(tidied):
        raise ConfigError(f"{'an' if kind == 'entity' else 'a'} {kind} type has no name; name it, or remove it")
    return tidied


def _with_last(types: Mapping[str, str]) -> dict[str, str]:
    named = {name: what for name, what in types.items() if name != OTHER}
    return {**named, OTHER: types[OTHER]} if OTHER in types else named


def _patterns(given: Iterable[Sequence[str]]) -> Iterator[Pattern]:
    for one in given:
        if len(one) != 3:
            raise ConfigError(
                f'the pattern {list(one)} must have three parts, as in ["person", "works for", "company"]'
            )
        source, relation, target = map(tidy, one)
        yield source, relation, target


def _listed(types: Mapping[str, str]) -> list[str]:
    return [f"  - {name}: {what}" if what else f"  - {name}" for name, what in types.items()]


def _shown(*parts: str) -> str:
    return f"[{', '.join(parts)}]"
