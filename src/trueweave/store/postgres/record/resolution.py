"""Similar names, people's rules about names, and the settings of both."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import chain, groupby
from typing import Any
from uuid import UUID

import numpy as np

from trueweave.core.errors import RuleError
from trueweave.core.graph import Rule, RuleKind
from trueweave.core.record import NameKey, ResolutionSettings
from trueweave.graph.alike import alike, compared, keys, mask, most_changes, probes
from trueweave.graph.facts import SOURCE, SUPPRESSED, TARGET
from trueweave.store.postgres.binary_params import Ids, Numbers, Texts
from trueweave.store.postgres.connections import Row
from trueweave.store.postgres.db import Transaction, Workspace
from trueweave.store.postgres.locks import count_change, lock_view, names_may_arrive, nothing_moves
from trueweave.store.postgres.offloop import MUCH, off_loop
from trueweave.store.postgres.record.readers import require_no_readers
from trueweave.text.names import name_id, storable, tidy

_BATCH = 1000
_MOST_NAMES_IN_A_RULE = 100
LONGEST_LABEL = 20_000  # characters
_KINDS: tuple[RuleKind, ...] = ("merge", "split", "rename", "retype", "describe", "suppress")
_LABELLED = {"rename": "the label it shall have", "retype": "its type", "describe": "its description"}
_BEHIND_RULES = 2**63 - 1
FACT = "fact:"  # prefix of the uris of documents that state facts added by people

# A rule's position in the list: its number. Facts come after all rules, ordered by when they were added and by id.
RulePlace = tuple[int, datetime | None, UUID | None]


async def settings(tx: Transaction) -> ResolutionSettings:
    """The workspace's settings for deciding which names are one entity."""
    [(mode, threshold, same)] = await tx.rows("resolve.settings")
    return ResolutionSettings(mode, threshold, same)


async def stage_keys(tx: Transaction, names: Iterable[Row], how: ResolutionSettings) -> None:
    """Stage the keys of these names, given as (id, written, type), for insertion."""
    forms = ((id_, compared(written, how), type_) for id_, written, type_ in names)
    entries = ((key, id_, mask(form)) for id_, form, type_ in forms for key in keys(form, type_, how))
    await tx.copy("stage_key", ("int8", "uuid", "int8"), entries)


async def find_alike(workspace: Workspace, names: Sequence[UUID]) -> int:
    """Find all names similar to these; returns the number of pairs.

    Each name was stored with its keys by a transaction that has already committed. So of any two similar names, the one
    stored later finds the other.
    """
    found = 0
    for at in range(0, len(names), _BATCH):
        async with workspace.transaction() as tx:
            some = names[at : at + _BATCH]
            found += await (
                _find_alike(tx, some) if len(some) < MUCH else off_loop(tx, partial(_find_alike, names=some))
            )
    return found


async def _find_alike(tx: Transaction, names: Sequence[UUID]) -> int:
    await names_may_arrive(tx)
    how = await settings(tx)
    rows = await tx.rows("resolve.lock_pending_matches", names=Ids(names))
    names_here = [(id_, compared(written, how), type_) for id_, written, type_ in rows]
    sought = [probes(form, type_, how) for _, form, type_ in names_here]
    counts = [len(keys) for keys in sought]
    rows = await tx.rows(
        "resolve.candidates",
        keys=Numbers(chain.from_iterable(sought)),
        who=Numbers(np.repeat(np.arange(len(sought)), counts)),
        masks=Numbers(np.repeat([mask(form) for _, form, _ in names_here], counts)),
        most=Numbers(np.repeat([most_changes(form, how) for _, form, _ in names_here], counts)),
    )
    found = [row for row in rows if row[1] != names_here[row[0]][0]]
    verdicts = alike([(names_here[at][1], compared(written, how)) for at, _, written in found], how)
    pairs = [(names_here[at][0], id_) for (at, id_, _), same in zip(found, verdicts, strict=True) if same]
    if pairs:
        await tx.run("resolve.insert_alike", a=Ids(a for a, _ in pairs), b=Ids(b for _, b in pairs))
    await tx.run("resolve.matched", names=Ids(id_ for id_, *_ in names_here))
    return len(pairs)


async def change_settings(workspace: Workspace, to: ResolutionSettings) -> None:
    """Resolve all names again with other settings. The view follows as they are settled, batch by batch."""
    async with workspace.transaction() as tx:
        await change_settings_in(tx, to)


async def change_settings_in(tx: Transaction, to: ResolutionSettings) -> bool:
    """The same inside the caller's transaction; returns whether the settings changed."""
    await nothing_moves(tx)
    if await settings(tx) == to:
        return False
    if to.mode == "fuzzy":
        await require_no_readers(tx)
    await tx.run("resolve.change_settings", mode=to.mode, threshold=to.threshold, same=to.same)
    await _match_all_again(tx, to)
    await count_change(tx)
    return True


async def _match_all_again(tx: Transaction, how: ResolutionSettings) -> None:
    """Delete all pairs of similar names, and queue every name for matching again."""
    await tx.run("resolve.forget_alike")
    await tx.run("resolve.forget_keys")
    await tx.run("record.stage")
    after = UUID(int=0)
    while page := await tx.rows("resolve.names_after", after=after, limit=10 * _BATCH):
        await stage_keys(tx, page, how)
        after = page[-1][0]
    await tx.run("record.insert_keys")
    await tx.run("resolve.match_all_again")
    await tx.run("resolve.mark_all_dirty")


async def follow(tx: Transaction, wanted: Sequence[Rule], how: ResolutionSettings) -> None:
    """Give the workspace of this transaction these rules, in this order, and this resolution."""
    await change_settings_in(tx, how)
    own, kept = {rule.id for rule in await rules(tx)}, {rule.id for rule in wanted}
    if undone := own - kept:
        await delete_rules(tx, list(undone))
    if made := [rule for rule in wanted if rule.id not in own]:
        await insert_rules(tx, made)


async def add_rule(workspace: Workspace, rule: Rule) -> Rule:
    """Add a rule, and return it as stored. Adding a rule with the same id twice has no further effect."""
    rule = checked(rule)
    async with workspace.transaction() as tx:
        await insert_rules(tx, (rule,))
    return rule


def checked(rule: Rule) -> Rule:
    """The rule as it is stored. Raises RuleError if it cannot be."""
    names = sorted({_tidied(name) for name in rule.names}, key=lambda n: (n.name, n.type))
    label = storable(rule.label).strip() if rule.kind == "describe" else tidy(rule.label)
    target = _tidied(rule.target) if rule.target else None
    rule = replace(rule, names=tuple(names), label=label, target=target, by=tidy(rule.by))
    _check(rule)
    return rule


def _tidied(name: NameKey) -> NameKey:
    return NameKey(tidy(name.name), tidy(name.type))


async def insert_rules(tx: Transaction, rules: Sequence[Rule]) -> None:
    """Insert rules in this order, and have the names they mention resolved again."""
    await lock_view(tx)
    await tx.run(
        "resolve.rule_insert",
        ids=Ids(rule.id for rule in rules),
        kinds=Texts(rule.kind for rule in rules),
        labels=Texts(rule.label for rule in rules),
        authors=Texts(rule.by for rule in rules),
        made=[rule.made for rule in rules],
    )
    named = [(rule.id, name, _side(rule)) for rule in rules for name in rule.names]
    named += [(rule.id, rule.target, TARGET) for rule in rules if rule.target]
    await tx.run(
        "resolve.rule_insert_names",
        rules=Ids(rule for rule, *_ in named),
        names=Ids(name_id(name.name, name.type) for _, name, _ in named),
        written=Texts(name.name for _, name, _ in named),
        types=Texts(name.type for _, name, _ in named),
        sides=Numbers(side for *_, side in named),
    )
    await _touch(tx, *(rule.id for rule in rules))


async def dirty_by(tx: Transaction, rule: Rule) -> tuple[list[UUID], list[tuple[UUID, UUID]]]:
    """Insert a rule; returns the names and the pairs of names to be resolved again because of this rule alone. The
    transaction must be rolled back: it forgets those that wait for other reasons."""
    await lock_view(tx)
    await tx.run("resolve.forget_dirty_names")
    await tx.run("resolve.forget_dirty_pairs")
    await insert_rules(tx, (rule,))
    names = [name for (name,) in await tx.rows("resolve.dirty_names")]
    return names, [(source, target) for source, target in await tx.rows("resolve.dirty_pairs")]


def fact_uri(id_: UUID) -> str:
    """The uri of the document that states a fact added by a person."""
    return f"{FACT}{id_}"


def _side(rule: Rule) -> int:
    """The role of a rule's names other than its target."""
    if rule.target:
        return SOURCE
    return SUPPRESSED if rule.kind == "suppress" else 0


async def undo_rule(workspace: Workspace, rule: UUID) -> bool:
    """Delete a rule, if it exists: the names it mentions are resolved as if it had never existed."""
    async with workspace.transaction() as tx:
        return bool(await delete_rules(tx, (rule,)))


async def delete_rules(tx: Transaction, rules: Sequence[UUID]) -> int:
    """Delete rules, and have the names they mention resolved again; returns how many there were."""
    await lock_view(tx)
    await _touch(tx, *rules)
    await tx.run("resolve.rule_delete_names", rules=Ids(rules))
    return await tx.run("resolve.rule_delete", rules=Ids(rules))


async def rules(tx: Transaction, kind: RuleKind | None = None) -> list[Rule]:
    """All rules of the workspace, or those of one kind, oldest first."""
    return _grouped(await tx.rows("resolve.rule_list", kind=kind))


async def rule_page(tx: Transaction, limit: int, after: RulePlace | None = None) -> list[tuple[RulePlace, Rule]]:
    """A page of rules, oldest first, followed by the added facts, each with its position; with `after`, the page that
    follows that position."""
    ordinal, made, fact = after or (0, None, None)
    rows = await tx.rows("resolve.rule_page", limit=limit, after=ordinal)
    page: list[tuple[RulePlace, Rule]] = [
        ((place, None, None), _rule(own, [row[1:] for row in group]))
        for (place, *own), group in groupby(rows, key=lambda row: row[:6])
    ]
    if len(page) == limit:
        return page
    facts = await added_facts(tx, limit=limit - len(page), after=(made, fact) if made and fact else None)
    return [*page, *(((_BEHIND_RULES, one.made, one.id), one) for one in facts)]


def _grouped(rows: Sequence[Row]) -> list[Rule]:
    return [_rule(own, list(group)) for own, group in groupby(rows, key=lambda row: row[:5])]


def _rule(own: Sequence[Any], named: Sequence[Row]) -> Rule:
    id_, kind, label, author, made = own
    names = [(side, NameKey(written, type_)) for *_, side, written, type_ in named]
    target = next((name for side, name in names if side == TARGET), None)
    return Rule(id_, kind, tuple(name for side, name in names if side != TARGET), label, target, author, made)


async def added_facts(
    tx: Transaction, id_: UUID | None = None, *, limit: int | None = None, after: tuple[datetime, UUID] | None = None
) -> list[Rule]:
    """The facts that people added, which are stored as documents, as rules: at most `limit` of those after `after`, or
    the one with this id."""
    first = fact_uri(id_) if id_ else FACT
    last = f"{first[:-1]}{chr(ord(first[-1]) + 1)}"
    made, behind = (after[0], fact_uri(after[1])) if after else (None, None)
    rows = await tx.rows("resolve.added_facts", first=first, last=last, limit=limit, made=made, after=behind)
    return [
        Rule(UUID(uri.removeprefix(FACT)), "add", tuple(map(NameKey, written, types)), text, by=author or "", made=made)
        for uri, author, made, text, written, types in rows
    ]


async def mentioned(tx: Transaction, names: Sequence[NameKey]) -> dict[NameKey, tuple[NameKey, ...]]:
    """For each of these names, the matching names that some document mentions now; without a type, those of any
    type."""
    rows = await tx.rows("resolve.matching", names=[tidy(n.name) for n in names], types=[tidy(n.type) for n in names])
    return {
        name: tuple(NameKey(written, type_) for who, written, type_, _ in rows if who == n)
        for n, name in enumerate(names, 1)
    }


async def sweep(workspace: Workspace, among: Sequence[UUID] | None = None) -> int:
    """Delete names that no document mentions any more, either all or those among these; returns how many there were.

    They are not part of the view. They are kept until swept because deleting them blocks all writers.
    """
    async with workspace.transaction() as tx:
        await nothing_moves(tx)
        how = await settings(tx)
        if among is None:
            dead = await tx.rows("resolve.sweep_dead")
        else:
            dead = await tx.rows("resolve.sweep_dead_among", names=Ids(among))
        if not dead:
            return 0
        ids = [id_ for id_, *_ in dead]
        entries = await asyncio.to_thread(_entries, dead, how)
        await tx.run("resolve.sweep_alike", names=ids)
        await tx.run("resolve.sweep_pending_matches", names=ids)
        await tx.run("resolve.sweep_keys", keys=[k for k, _ in entries], names=[n for _, n in entries])
        await count_change(tx)
        return len(dead)


def _entries(names: Sequence[Row], how: ResolutionSettings) -> list[tuple[int, UUID]]:
    """The keys of these names, given as (id, written, type), each paired with its name."""
    return [(key, id_) for id_, written, type_ in names for key in keys(compared(written, how), type_, how)]


async def _touch(tx: Transaction, *rules: UUID) -> None:
    """Have the names mentioned in these rules resolved again."""
    await tx.run("resolve.mark_dirty", rules=Ids(rules))
    await tx.run("resolve.mark_dirty_pairs", rules=Ids(rules))
    await count_change(tx)


def _check(rule: Rule) -> None:
    kind, names = rule.kind, rule.names
    if kind not in _KINDS:
        raise RuleError(f"there is no rule of kind {kind!r}; there are {', '.join(_KINDS)}")
    if any(not n.name for n in (*names, *([rule.target] if rule.target else ()))):
        raise RuleError(f"a {kind} rule names nothing; give the name as documents write it")
    fewest = 2 if kind == "merge" else 1
    if not fewest <= len(names) <= _MOST_NAMES_IN_A_RULE:
        raise RuleError(f"a {kind} rule takes {fewest} to {_MOST_NAMES_IN_A_RULE} names, not {len(names)}")
    if kind in _LABELLED and (len(names) != 1 or not rule.label):
        raise RuleError(f"a {kind} rule takes one name of the entity, and {_LABELLED[kind]}")
    if rule.target and (kind not in ("retype", "describe", "suppress") or len(names) != 1):
        raise RuleError(f"a {kind} rule is not about a relation; retype, describe and suppress are, with one name")
    if len(rule.label) > LONGEST_LABEL:
        raise RuleError(f"the label of a {kind} rule has {len(rule.label):,} characters; {LONGEST_LABEL:,} are allowed")
    if rule.target in names:
        raise RuleError(f"{names[0].name} has no relation to itself; name another target")
