"""People's names, types and descriptions for entities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from uuid import UUID

from trueweave.core.graph import RuleKind
from trueweave.graph.aggregate import Phrase
from trueweave.graph.components import NameRule

Labels = Mapping[UUID, tuple[int, str]]  # for names: the number of a rule, and what it decides


def labels(rules: Iterable[NameRule], kind: RuleKind) -> Labels:
    """The decision of people's rules of a kind for the entity of a name: the latest wins."""
    decided: dict[UUID, tuple[int, str]] = {}
    for rule in rules:
        if rule.kind == kind:
            for name in rule.names:
                decided[name] = max(decided.get(name, (0, "")), (rule.order, rule.label))
    return decided


def latest(decided: Labels, names: Iterable[UUID]) -> str | None:
    """The latest decision for one of these names; None if there is none."""
    return max((decided[name] for name in names if name in decided), default=(0, None))[1]


def described(said: str | None) -> list[Phrase]:
    """A person's description, which replaces those of documents."""
    return [Phrase(UUID(int=0), said, 1)] if said else []
