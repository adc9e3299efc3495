"""Suggests names that may be one entity, for a person to decide: pairs that fuzzy resolution would merge."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from itertools import chain
from typing import NamedTuple
from uuid import UUID, uuid4

import numpy as np
import numpy.typing as npt

from trueweave.core.errors import RuleError
from trueweave.core.graph import NamePassage, Rule, SuggestedName, Suggestion
from trueweave.core.record import NameKey, ResolutionSettings
from trueweave.graph.alike import alike, compared, keys, mask, most_changes, probes, ratio
from trueweave.store.postgres.binary_params import Ids, Numbers, Texts
from trueweave.store.postgres.db import Transaction, Workspace
from trueweave.store.postgres.locks import lock_view
from trueweave.store.postgres.offloop import off_loop
from trueweave.store.postgres.record import resolution
from trueweave.text.names import key, name_id, normalise, pair_key, tidy

_BATCH = 200  # names; between two batches the work can be cancelled
_PASSAGES = 2  # per name
_ROOM = 160  # characters of a passage
_MOST_COUNTED = 10_000  # pairs that are counted, and that pages can be turned through

# A suggestion's place in the list.
SuggestionPlace = tuple[float, int, str, str]

_Forms = tuple[UUID, UUID]


class _Name(NamedTuple):
    """A name that documents mention, and how often."""

    id: UUID
    written: str
    type: str
    entity: UUID
    count: int  # type: ignore[assignment]  # hides tuple.count


class _Pair(NamedTuple):
    """Two names, and their similarity in per cent."""

    score: float
    one: _Name
    other: _Name

    @property
    def rank(self) -> SuggestionPlace:
        """Most similar first, then most often mentioned."""
        return -self.score, -self.one.count - self.other.count, self.one.written, self.other.written


class SuggestionPage(NamedTuple):
    """Suggestions, each with its place in the list, and the number of all of them, counted up to 10,000."""

    items: list[tuple[SuggestionPlace, Suggestion]]
    total: int


async def suggest(
    workspace: Workspace,
    threshold: int | None,
    limit: int,
    *,
    rejected: bool = False,
    type_: str = "",
    after: SuggestionPlace | None = None,
) -> SuggestionPage:
    """Pairs of names of different entities that are more similar than the threshold, most similar first; optionally
    only those with a name of one type; with `after`, those after this place.

    Pairs that a person has decided about are left out: rejected ones (unless `rejected` asks for them) and ones that a
    rule splits. The result is stored as the list that `accept` and `reject` refer to, after the pages before it.
    """
    async with workspace.database.long_work, workspace.transaction() as tx:
        every = await off_loop(tx, lambda aside: _found(aside, threshold, type_, rejected=rejected))
    before = 0 if after is None else sum(pair.rank <= after for pair in every)
    found = every[before : before + limit]
    async with workspace.transaction() as tx:
        await tx.run(
            "suggest.keep",
            ids=Ids(_id(pair) for pair in found),
            a=Ids(pair.one.id for pair in found),
            b=Ids(pair.other.id for pair in found),
            scores=[pair.score for pair in found],
            before=before,
        )
        await tx.run("suggest.forget_after", n=before + len(found))
        passages = await _passages(tx, [name.id for pair in found for name in (pair.one, pair.other)])
    suggested = [
        Suggestion(_id(pair), n, round(pair.score, 1), _shown(pair.one, passages), _shown(pair.other, passages))
        for n, pair in enumerate(found, before + 1)
    ]
    return SuggestionPage([(pair.rank, one) for pair, one in zip(found, suggested, strict=True)], len(every))


async def decide(workspace: Workspace, one: NameKey, other: NameKey, rule: UUID | None, by: str) -> Rule | None:
    """Merge two names by a rule with this id, or reject that they are one entity if none is given.

    Raises RuleError if no document mentions both any more, or somebody has decided on them already. Who decides at the
    same time waits for the other, and is then refused.
    """
    names = NameKey(tidy(one.name), tidy(one.type)), NameKey(tidy(other.name), tidy(other.type))
    a, b = (name_id(name.name, name.type) for name in names)
    form_a, form_b = _forms(names)
    made = resolution.checked(Rule(rule, "merge", names, by=by)) if rule else None
    async with workspace.transaction() as tx:
        await lock_view(tx)
        rows = await tx.rows("suggest.pair", a=a, b=b, form_a=form_a, form_b=form_b)
        [(entity, other_entity, author, rejected)] = rows
        for name, found in zip(names, (entity, other_entity), strict=True):
            if found is None:
                raise RuleError(f"no document mentions {name.typed} any more.")
        both = f"{names[0].typed} and {names[1].typed}"
        if author is not None or entity == other_entity:
            raise RuleError(f"{both} are one entity already{f': {author} merged them' if author else ''}.")
        if rejected:
            raise RuleError(f"somebody has already decided that {both} are not the same.")
        if made:
            await resolution.insert_rules(tx, [made])
        else:
            await tx.run("suggest.reject", **_columns([(form_a, form_b)]))
    return made


async def suggest_again(workspace: Workspace, one: NameKey, other: NameKey) -> bool:
    """Take back that this pair was rejected; returns whether it was."""
    async with workspace.transaction() as tx:
        return bool(await tx.run("suggest.allow", **_columns([_forms((one, other))])))


async def accept(workspace: Workspace, which: Sequence[str], by: str = "") -> list[Rule]:
    """Add a merge rule for each of these suggestions from the last list, given by number or by a prefix of the id."""
    async with workspace.transaction() as tx:
        pairs = await _decided(tx, which)
        rules = [Rule(uuid4(), "merge", pair, by=tidy(by)) for pair in pairs]
        await resolution.insert_rules(tx, rules)
        await tx.run("suggest.allow", **_columns(map(_forms, pairs)))
    return rules


async def reject(workspace: Workspace, which: Sequence[str]) -> list[tuple[NameKey, NameKey]]:
    """Never suggest these pairs again, however the names are written and whatever their types."""
    async with workspace.transaction() as tx:
        pairs = await _decided(tx, which)
        await tx.run("suggest.reject", **_columns(map(_forms, pairs)))
    return pairs


async def _decided(tx: Transaction, which: Sequence[str]) -> list[tuple[NameKey, NameKey]]:
    rows = await tx.rows("suggest.kept", whats=Texts(dict.fromkeys(one.lower() for one in which)))
    pairs: dict[str, tuple[NameKey, NameKey]] = {}
    for what, id_, one, one_type, other, other_type in rows:
        if id_ is None or what in pairs:
            problem = "no suggestion" if id_ is None else "more than one suggestion"
            raise RuleError(
                f"there is {problem} {what!r} in the last list. `trueweave rules suggest` lists them again."
            )
        if one is None or other is None:
            raise RuleError(
                f"of suggestion {what!r} no document mentions both names any more. `trueweave rules suggest` lists "
                "them again."
            )
        pairs[what] = NameKey(one, one_type), NameKey(other, other_type)
    return list(dict.fromkeys(pairs.values()))


async def _found(tx: Transaction, threshold: int | None, type_: str, *, rejected: bool) -> list[_Pair]:
    """The best pairs, at most one per pair of entities. Keeps no more than a few times the most that are counted in
    memory."""
    how = await resolution.settings(tx)
    fuzzy = ResolutionSettings("fuzzy", threshold or how.threshold, how.same)
    refused = set(await tx.rows("suggest.rejected"))
    apart = _kept_apart(await resolution.rules(tx, "split"))
    staged = await _stage(tx, fuzzy)
    best: dict[_Forms, _Pair] = {}
    async for names in _pages(tx, _BATCH):
        for pair in await _alike(tx, names, fuzzy, staged):
            ends = NameKey(pair.one.written, pair.one.type), NameKey(pair.other.written, pair.other.type)
            if (_forms(ends) in refused) != rejected or apart(*ends):
                continue
            if type_ and type_.lower() not in (pair.one.type.lower(), pair.other.type.lower()):
                continue
            entities = min(pair.one.entity, pair.other.entity), max(pair.one.entity, pair.other.entity)
            if entities not in best or pair.rank < best[entities].rank:
                best[entities] = pair
        if len(best) > 4 * _MOST_COUNTED:
            best = dict(sorted(best.items(), key=lambda item: item[1].rank)[:_MOST_COUNTED])
    return sorted(best.values(), key=lambda pair: pair.rank)[:_MOST_COUNTED]


async def _stage(tx: Transaction, fuzzy: ResolutionSettings) -> _StagedKeys:
    """Stage the keys of all live names for lookup: they are not stored unless resolution is fuzzy."""
    await tx.run("suggest.stage")
    staged = _StagedKeys()
    async for names in _pages(tx, 10 * _BATCH):
        forms = [compared(name.written, fuzzy) for name in names]
        found = [keys(form, name.type, fuzzy) for form, name in zip(forms, names, strict=True)]
        staged.add(chain.from_iterable(found))
        entries = (
            (one, name.id, mask(form)) for name, form, own in zip(names, forms, found, strict=True) for one in own
        )
        await tx.copy("suggest_key", ("int8", "uuid", "int8"), entries)
    await tx.run("suggest.index")
    return staged


class _StagedKeys:
    """Filters out keys that were not staged: a name looks up hundreds of keys, hardly any of which exist."""

    def __init__(self) -> None:
        self._seen = np.zeros(2**24, dtype=np.bool_)

    def add(self, some: Iterable[int]) -> None:
        """Add these keys."""
        self._seen[self._places(np.fromiter(some, np.int64))] = True

    def among(self, some: Collection[int]) -> list[int]:
        """Those of these keys that may have been staged, with few false positives."""
        given = np.fromiter(some, np.int64, len(some))
        found: list[int] = given[self._seen[self._places(given)]].tolist()
        return found

    def _places(self, some: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        return (some ^ (some >> 32)) & (self._seen.size - 1)


async def _pages(tx: Transaction, size: int) -> AsyncIterator[list[_Name]]:
    after = UUID(int=0)
    while rows := await tx.rows("suggest.live_names", after=after, limit=size):
        yield [_Name(*row) for row in rows]
        after = rows[-1][0]


async def _alike(
    tx: Transaction, names: Sequence[_Name], fuzzy: ResolutionSettings, staged: _StagedKeys
) -> list[_Pair]:
    forms = [compared(name.written, fuzzy) for name in names]
    sought = [staged.among(probes(form, name.type, fuzzy)) for form, name in zip(forms, names, strict=True)]
    counts = [len(one) for one in sought]
    rows = await tx.rows(
        "suggest.candidates",
        keys=Numbers(chain.from_iterable(sought)),
        who=Numbers(np.repeat(np.arange(len(sought)), counts)),
        masks=Numbers(np.repeat([mask(form) for form in forms], counts)),
        most=Numbers(np.repeat([most_changes(form, fuzzy) for form in forms], counts)),
        ids=Ids(name.id for name in names),
        entities=Ids(name.entity for name in names),
    )
    compare = [(forms[who], compared(written, fuzzy)) for who, _, written, *_ in rows]
    verdicts = alike(compare, fuzzy)
    return [
        _Pair(ratio(*pair), names[who], _Name(*other))
        for (who, *other), pair, same in zip(rows, compare, verdicts, strict=True)
        if same
    ]


def _kept_apart(rules: Iterable[Rule]) -> Callable[[NameKey, NameKey], bool]:
    """A function that says whether a split rule contains one of two names but not the other."""
    splits = [frozenset(rule.names) for rule in rules if rule.kind == "split"]

    def inside(name: NameKey, split: frozenset[NameKey]) -> bool:
        return name in split or NameKey(name.name) in split

    return lambda one, other: any(inside(one, split) != inside(other, split) for split in splits)


async def _passages(tx: Transaction, names: Sequence[UUID]) -> dict[UUID, list[NamePassage]]:
    passages: dict[UUID, list[NamePassage]] = {name: [] for name in names}
    for name, uri, title, text, spans in await tx.rows("suggest.passages", names=Ids(passages), each=_PASSAGES):
        passages[name].append(NamePassage(uri, title, _around(text, spans[0] if spans else 0)))
    return passages


def _shown(name: _Name, passages: dict[UUID, list[NamePassage]]) -> SuggestedName:
    return SuggestedName(NameKey(name.written, name.type), name.entity, name.count, tuple(passages[name.id]))


def _around(text: str, place: int) -> str:
    """An excerpt of a text around a position, cut at word boundaries."""
    start, end = max(place - _ROOM // 2, 0), min(place + _ROOM // 2, len(text))
    start = text.find(" ", start, place) + 1 or start if start else 0
    end = max(text.rfind(" ", place, end), place + 1) if end < len(text) else end
    return f"{'… ' if start else ''}{' '.join(text[start:end].split())}{' …' if end < len(text) else ''}"


def _id(pair: _Pair) -> UUID:
    return pair_key("suggestion", *sorted((pair.one.id, pair.other.id)))


def _forms(names: tuple[NameKey, NameKey]) -> _Forms:
    """A pair of names by their normal forms, in ascending order."""
    a, b = sorted(key("form", normalise(name.name)) for name in names)
    return a, b


def _columns(pairs: Iterable[_Forms]) -> dict[str, Ids]:
    listed = list(pairs)
    return {"a": Ids(a for a, _ in listed), "b": Ids(b for _, b in listed)}
