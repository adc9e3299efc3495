"""What a rule would change: it is inserted and planned in a transaction that is rolled back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from trueweave.core.errors import RuleError
from trueweave.core.graph import Entity, EntityChange, Relation, RelationChange, Rule, RulePreview
from trueweave.graph.aggregate import THOUSANDTHS, EntityRow, RelationRow
from trueweave.graph.plan import Batch, Plan
from trueweave.index.planning import Planner
from trueweave.store.postgres.db import Transaction, Workspace
from trueweave.store.postgres.record import resolution
from trueweave.store.postgres.view import view


class _Planned(Exception):
    """Rolls the transaction back, and carries the result out of it."""

    def __init__(self, preview: RulePreview) -> None:
        self.preview = preview


async def preview(workspace: Workspace, rule: Rule, limit: int) -> RulePreview:
    """What a rule would change in the view of this moment, with up to `limit` entities and relations. Nothing is
    changed; while it is computed, the view is locked. Raises RuleError if the rule cannot be made."""
    if rule.kind == "add":
        raise RuleError("a fact that is added changes no other, so there is nothing to preview")
    rule = resolution.checked(rule)
    try:
        async with workspace.transaction() as tx:
            raise _Planned(await _planned(tx, rule, limit))
    except _Planned as planned:
        return planned.preview


async def _planned(tx: Transaction, rule: Rule, limit: int) -> RulePreview:
    names, pairs = await resolution.dirty_by(tx, rule)
    plan = await Planner(tx, Batch({}, tuple(names), tuple(pairs))).plan()
    entities = await _entities(tx, plan)
    changed = [one for one in entities if _is_more_than_relations(one)]
    relations = await _relations(tx, plan)
    return RulePreview(
        tuple(sorted(changed, key=_rank(lambda one: one.count))[:limit]),
        tuple(sorted(relations, key=_rank(lambda one: one.weight))[:limit]),
        len(changed),
        len(relations),
        len(entities) - len(changed),
    )


async def _entities(tx: Transaction, plan: Plan) -> list[EntityChange]:
    after = {row.id: _entity(row) for row in plan.entities}
    old = await view.entities(tx, {*after, *plan.gone_entities})
    before = {id_: _entity(row) for id_, row in old.items()}
    changes = (EntityChange(before.get(id_), after.get(id_)) for id_ in {**before, **after})
    return [one for one in changes if one.before != one.after]


async def _relations(tx: Transaction, plan: Plan) -> list[RelationChange]:
    after = {row.id: _relation(row) for row in plan.relations}
    old = await view.relations(tx, {*after, *plan.gone_relations})
    before = {id_: _relation(row) for id_, row in old.items()}
    changes = (RelationChange(before.get(id_), after.get(id_)) for id_ in {**before, **after})
    return [one for one in changes if one.before != one.after]


def _is_more_than_relations(change: EntityChange) -> bool:
    before, after = change.before, change.after
    if before is None or after is None:
        return True
    return (before.name, before.type, before.description, before.aliases, before.count) != (
        after.name,
        after.type,
        after.description,
        after.aliases,
        after.count,
    )


def _rank(size: Callable[[Any], float]) -> Callable[[EntityChange | RelationChange], tuple[float, str]]:
    """Largest before or after first."""

    def rank(change: EntityChange | RelationChange) -> tuple[float, str]:
        there = [one for one in (change.before, change.after) if one is not None]
        return -max(size(one) for one in there), str(there[0].id)

    return rank


def _entity(row: EntityRow) -> Entity:
    said = row.description, tuple(row.aliases), row.count, tuple(row.histogram), row.degree
    return Entity(row.id, row.name, row.type, *said)


def _relation(row: RelationRow) -> Relation:
    said = row.description, tuple(row.keywords), row.weight / THOUSANDTHS, row.count, tuple(row.histogram), "", row.type
    return Relation(row.id, row.source, row.target, row.source_name, row.target_name, *said)
