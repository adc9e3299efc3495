"""A second opinion: the view worked out from the documents by the plainest means, comparing all names with all.

It shares nothing with the index but the normal form of a name; the definition of a fuzzy pair (rapidfuzz, digits) is
written down again here.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import combinations, product
from uuid import UUID

from anyascii import anyascii
from rapidfuzz import fuzz

from trueweave import AsyncTrueweave, Entity, Link, Mention, NameKey, ResolutionSettings, Rule
from trueweave.text.names import key, normalise

Names = frozenset[NameKey]


async def assert_view_is_right(trueweave: AsyncTrueweave) -> None:
    """Entities with their names, counts and degrees, and relations with their weights, are what they should be."""
    documents = [document async for document in trueweave.documents()]
    mentioned: Counter[NameKey] = Counter()
    tied: defaultdict[tuple[NameKey, NameKey], list[Link]] = defaultdict(list)
    told: defaultdict[NameKey, list[Mention]] = defaultdict(list)
    for chunk in (chunk for document in documents for chunk in document.chunks):
        # Documents read back from the record name every end of a link among their mentions.
        mentioned.update(NameKey(m.name, m.type) for m in chunk.mentions)
        for mention in chunk.mentions:
            told[NameKey(mention.name, mention.type)].append(mention)
        for link in chunk.links:
            ends = NameKey(link.source, link.source_type), NameKey(link.target, link.target_type)
            tied[ends].append(link)
    rules = await trueweave.rules.all()
    groups = _groups(set(mentioned), rules, await trueweave.rules.resolution())
    entity_of = {name: group for group in groups for name in group}
    facts = _Facts(rules, groups)
    between: defaultdict[tuple[Names, Names], list[list[Link]]] = defaultdict(list)
    for (source, target), links in tied.items():
        if entity_of[source] != entity_of[target] and not facts.hide(entity_of[source], entity_of[target]):
            between[entity_of[source], entity_of[target]].append(links)
    degrees = Counter(end for pair in between for end in pair)
    expected = {
        group: (sum(mentioned[name] for name in group), degrees[group])
        for group in groups
        if group not in facts.suppressed
    }

    stored = await _stored(trueweave, facts.suppressed)
    assert {names: (e.count, e.degree) for names, e in stored.items()} == expected
    by_id = {e.id: names for names, e in stored.items()}
    relations = await trueweave.graph.relations(*by_id, limit=10_000) if by_id else []
    assert {
        (by_id[r.source], by_id[r.target]): (r.weight, r.type, set(r.keywords), set(r.description.split("\n")))
        for r in relations
    } == {pair: facts.corrected(pair, _relation(links)) for pair, links in between.items()}
    for names, found in stored.items():
        described = facts.of_entity(names, "describe")
        expected_lines = {described} if described else _emphasised([told[name] for name in names])
        assert set(found.description.split("\n")) == expected_lines
        for kind, value in (("rename", found.name), ("retype", found.type)):
            decided = facts.of_entity(names, kind)
            assert decided in (None, value)


class _Facts:
    """What people decided about entities and relations; the last rule counts."""

    def __init__(self, rules: list[Rule], groups: set[Names]) -> None:
        self._entities: dict[tuple[Names, str], str] = {}
        self._relations: dict[tuple[Names, Names, str], str] = {}
        names = {name for group in groups for name in group}
        for rule in rules:
            sources = {group for group in groups if group & _spoken_of(rule.names, names)}
            if rule.target is None:
                self._entities |= {(group, rule.kind): rule.label for group in sources}
            else:
                targets = {group for group in groups if group & _spoken_of((rule.target,), names)}
                self._relations |= {(*pair, rule.kind): rule.label for pair in product(sources, targets)}
        self.suppressed = {group for group, kind in self._entities if kind == "suppress"}

    def of_entity(self, group: Names, kind: str) -> str | None:
        return self._entities.get((group, kind))

    def hide(self, source: Names, target: Names) -> bool:
        return bool({source, target} & self.suppressed) or (source, target, "suppress") in self._relations

    def corrected(
        self, pair: tuple[Names, Names], found: tuple[float, str, set[str], set[str]]
    ) -> tuple[float, str, set[str], set[str]]:
        weight, type_, words, descriptions = found
        described = self._relations.get((*pair, "describe"))
        retyped = self._relations.get((*pair, "retype"), type_)
        return weight, retyped, words, {described} if described else descriptions


def _relation(of_pairs: list[list[Link]]) -> tuple[float, str, set[str], set[str]]:
    """Weight, type, keywords and descriptions of the relation that the links of these pairs of names make."""
    weight = sum(round(1000 * link.strength) for links in of_pairs for link in links) / 1000
    votes = [Counter(link.keywords[0].lower() for link in links if link.keywords) for links in of_pairs]
    most = {word: max(some[word] for some in votes) for some in votes for word in some}
    type_ = min(most, key=lambda word: (-most[word], key("said", word)), default="")
    words = [Counter[str]() for _ in of_pairs]
    for links, sums in zip(of_pairs, words, strict=True):
        for link in links:
            sums.update(dict.fromkeys(link.keywords, link.emphasis))
    return weight, type_, _first(words, 16), _emphasised(of_pairs) if any(of_pairs) else set()


def _emphasised(of_owners: Sequence[Sequence[Mention | Link]]) -> set[str]:
    """The eight descriptions that were said with most emphasis; an empty one where nothing was said."""
    sums = [Counter[str]() for _ in of_owners]
    for said, counter in zip(of_owners, sums, strict=True):
        for one in said:
            counter[one.description] += one.emphasis
        del counter[""]
    return _first(sums, 8) or {""}


def _first(sums: list[Counter[str]], most: int) -> set[str]:
    best = {value: max(some[value] for some in sums) for some in sums for value in some}
    return set(sorted(best, key=lambda value: (-best[value], key("said", value)))[:most])


def _groups(names: set[NameKey], rules: list[Rule], how: ResolutionSettings) -> set[Names]:
    linked = {pair: 0 for pair in combinations(names, 2) if _alike(*pair, how)}
    for order, rule in enumerate(rules, 1):
        if rule.kind in ("merge", "split"):
            for a, b in product(_spoken_of(rule.names, names), repeat=2):
                linked[a, b] = max(order, linked.get((a, b), 0))
    for order, rule in enumerate(rules, 1):
        if rule.kind == "split":
            inside = _spoken_of(rule.names, names)
            linked = {
                (a, b): laid for (a, b), laid in linked.items() if laid >= order or (a in inside) == (b in inside)
            }
    group = {name: frozenset((name,)) for name in names}
    for a, b in linked:
        joined = group[a] | group[b]
        group.update(dict.fromkeys(joined, joined))
    return set(group.values())


def _spoken_of(given: Sequence[NameKey], names: set[NameKey]) -> Names:
    """The names that a rule gives: without a type, those of all types."""
    wanted = set(given)
    return frozenset(name for name in names if name in wanted or NameKey(name.name) in wanted)


def _alike(a: NameKey, b: NameKey, how: ResolutionSettings) -> bool:
    if how.mode == "off" or (how.same == "name_and_type" and a.type.lower() != b.type.lower()):
        return False
    if how.mode == "exact":
        return normalise(a.name) == normalise(b.name)
    x, y = (" ".join(anyascii(n.name).lower().split()) or n.name.lower() for n in (a, b))
    same_digits = re.findall(r"\d+", x) == re.findall(r"\d+", y)
    return x == y or (same_digits and fuzz.ratio(x, y) > how.threshold)


async def _stored(trueweave: AsyncTrueweave, suppressed: set[Names]) -> dict[Names, Entity]:
    entities = {e.id: e for e in await trueweave.graph.entities(limit=10_000)}
    members: defaultdict[UUID, set[NameKey]] = defaultdict(set)
    async with trueweave.workspace.transaction() as tx:
        rows = await (await tx.execute("SELECT entity, written, type FROM name WHERE entity IS NOT NULL")).fetchall()
    for id_, written, type_ in rows:
        members[id_].add(NameKey(written, type_))
    there = {id_: frozenset(names) for id_, names in members.items()}
    assert {names for id_, names in there.items() if id_ not in entities} == suppressed
    assert set(entities) <= set(there)
    return {there[id_]: entity for id_, entity in entities.items()}
