"""From similar names to entities: connected components, and people's rules on top."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from uuid import UUID

from trueweave.core.graph import RuleKind


@dataclass(frozen=True, slots=True)
class NameRule:
    """A rule with the ids of the names it is about. A later rule (larger `order`) overrides an earlier one."""

    order: int
    kind: RuleKind
    names: frozenset[UUID]
    label: str


def components(
    live: Collection[UUID], alike: Iterable[tuple[UUID, UUID]], rules: Sequence[NameRule]
) -> list[frozenset[UUID]]:
    """The groups of live names that each form one entity. The result does not depend on the order of the arguments.

    - Names that are alike belong together.
    - `merge`: its names belong together as well.
    - `split`: its names belong together, and apart from all others: connections to other names are cut, except
      those that a later rule asks for.
    """
    parent: dict[UUID, UUID] = {name: name for name in live}

    def root(name: UUID) -> UUID:
        while parent[name] != name:
            parent[name] = name = parent[parent[name]]
        return name

    for a, b in _uncut(alike, rules):
        if a in parent and b in parent:
            parent[root(a)] = root(b)
    groups: defaultdict[UUID, set[UUID]] = defaultdict(set)
    for name in live:
        groups[root(name)].add(name)
    return [frozenset(group) for group in groups.values()]


def _uncut(alike: Iterable[tuple[UUID, UUID]], rules: Sequence[NameRule]) -> Iterable[tuple[UUID, UUID]]:
    splits: defaultdict[UUID, list[NameRule]] = defaultdict(list)
    for rule in rules:
        if rule.kind == "split":
            for name in rule.names:
                splits[name].append(rule)

    def cut(a: UUID, b: UUID, order: int) -> bool:
        borders = [*splits.get(a, ()), *splits.get(b, ())]
        return any(rule.order > order and (a in rule.names) != (b in rule.names) for rule in borders)

    yield from (pair for pair in alike if not cut(*pair, 0))
    for rule in rules:
        if rule.kind in ("merge", "split"):
            yield from (pair for pair in combinations(rule.names, 2) if not cut(*pair, rule.order))


def inherit(groups: Iterable[frozenset[UUID]], before: dict[UUID, tuple[UUID, int]]) -> list[UUID | None]:
    """For each group, the entity id that it keeps, or None if it needs a new one.

    `before` has each name's former entity and how much would have to be rewritten if the name left it. Each entity id
    goes to the group that saves most, so that little is rewritten and outside references stay valid. Ids are only
    labels: they are not part of the digest.
    """
    groups = list(groups)
    claims: defaultdict[tuple[UUID, int], int] = defaultdict(int)
    for index, group in enumerate(groups):
        for name in group:
            if name in before:
                entity, weight = before[name]
                claims[entity, index] += weight
    kept: list[UUID | None] = [None] * len(groups)
    taken: set[UUID] = set()
    for entity, index in sorted(claims, key=lambda claim: (-claims[claim], claim)):
        if entity not in taken and kept[index] is None:
            kept[index] = entity
            taken.add(entity)
    return kept
