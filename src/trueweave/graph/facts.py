"""People's decisions about facts: suppressed entities and relations, and types and descriptions of relations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from trueweave.core.graph import RuleKind

SOURCE, TARGET, SUPPRESSED = 1, 2, 3  # the part of a name in a rule about facts

Pair = tuple[UUID, UUID]


class FactRule(NamedTuple):
    """A rule about facts, for one of the names in it and the entity of that name. A larger `order` is later."""

    order: int
    kind: RuleKind
    label: str
    side: int
    name: UUID
    entity: UUID | None


@dataclass(frozen=True)
class FactDecisions:
    """What rules decide about entities and relations. A rule has names, and applies to the entities that have them."""

    suppressed: frozenset[UUID] = frozenset()
    relations: Mapping[Pair, Mapping[RuleKind, str]] = field(default_factory=dict)

    def hide(self, source: UUID, target: UUID) -> bool:
        """Whether the relation from one entity to another is suppressed."""
        is_suppressed = source in self.suppressed or target in self.suppressed
        return is_suppressed or "suppress" in self.relations.get((source, target), {})


def decisions(rules: Iterable[FactRule]) -> FactDecisions:
    """The combined effect of these rules; a later one overrides an earlier one."""
    ends: defaultdict[tuple[int, RuleKind, str], tuple[set[UUID], set[UUID]]] = defaultdict(lambda: (set(), set()))
    suppressed: set[UUID] = set()
    for rule in rules:
        if rule.entity is None:
            continue
        if rule.side == SUPPRESSED:
            suppressed.add(rule.entity)
        else:
            ends[rule.order, rule.kind, rule.label][rule.side == TARGET].add(rule.entity)
    relations: defaultdict[Pair, dict[RuleKind, str]] = defaultdict(dict)
    for (_, kind, label), (sources, targets) in sorted(ends.items(), key=lambda pair: pair[0][0]):
        for source in sources:
            for target in targets - {source}:
                relations[source, target][kind] = label
    return FactDecisions(frozenset(suppressed), dict(relations))
