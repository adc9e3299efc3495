"""A second opinion: the view worked out from the documents by the plainest means, comparing all names with all.

It shares nothing with the index but the normal form of a name; the definition of a fuzzy pair (rapidfuzz, digits) is
written down again here.
"""

import re
from collections import Counter, defaultdict
from itertools import combinations, product
from uuid import UUID

from anyascii import anyascii
from rapidfuzz import fuzz

from trueweave import AsyncTrueweave, Entity, NameKey, ResolutionSettings, Rule
from trueweave.text.names import normalise

Names = frozenset[NameKey]


async def assert_view_is_right(trueweave: AsyncTrueweave) -> None:
    """Entities with their names, counts and degrees, and relations with their weights, are what they should be."""
    documents = [document async for document in trueweave.documents()]
    mentioned: Counter[NameKey] = Counter()
    tied: defaultdict[tuple[NameKey, NameKey], list[int]] = defaultdict(list)
    for chunk in (chunk for document in documents for chunk in document.chunks):
        # Documents read back from the record name every end of a link among their mentions.
        mentioned.update(NameKey(m.name, m.type) for m in chunk.mentions)
        for link in chunk.links:
            ends = NameKey(link.source, link.source_type), NameKey(link.target, link.target_type)
            tied[ends].append(link.strength)
    groups = _groups(set(mentioned), await trueweave.rules.all(), await trueweave.rules.resolution())
    entity_of = {name: group for group in groups for name in group}
    weights: Counter[tuple[Names, Names]] = Counter()
    for (source, target), strengths in tied.items():
        if entity_of[source] != entity_of[target]:
            weights[entity_of[source], entity_of[target]] += sum(strengths)
    degrees = Counter(end for pair in weights for end in pair)
    expected = {group: (sum(mentioned[name] for name in group), degrees[group]) for group in groups}

    stored = await _stored(trueweave)
    assert {names: (e.count, e.degree) for names, e in stored.items()} == expected
    by_id = {e.id: names for names, e in stored.items()}
    relations = await trueweave.graph.relations(*by_id, limit=10_000) if by_id else []
    assert {(by_id[r.source], by_id[r.target]): r.weight for r in relations} == dict(weights)


def _groups(names: set[NameKey], rules: list[Rule], how: ResolutionSettings) -> set[Names]:
    linked = {pair: 0 for pair in combinations(names, 2) if _alike(*pair, how)}
    for order, rule in enumerate(rules, 1):
        if rule.kind != "rename":
            for a, b in product(_spoken_of(rule, names), repeat=2):
                linked[a, b] = max(order, linked.get((a, b), 0))
    for order, rule in enumerate(rules, 1):
        if rule.kind == "split":
            inside = _spoken_of(rule, names)
            linked = {
                (a, b): laid for (a, b), laid in linked.items() if laid >= order or (a in inside) == (b in inside)
            }
    group = {name: frozenset((name,)) for name in names}
    for a, b in linked:
        joined = group[a] | group[b]
        group.update(dict.fromkeys(joined, joined))
    return set(group.values())


def _spoken_of(rule: Rule, names: set[NameKey]) -> Names:
    """The names that a rule speaks of: without a type, those of all types."""
    wanted = set(rule.names)
    return frozenset(name for name in names if name in wanted or NameKey(name.name) in wanted)


def _alike(a: NameKey, b: NameKey, how: ResolutionSettings) -> bool:
    if how.mode == "off" or (how.same == "name_and_type" and a.type != b.type):
        return False
    if how.mode == "exact":
        return normalise(a.name) == normalise(b.name)
    x, y = (" ".join(anyascii(n.name).lower().split()) or n.name.lower() for n in (a, b))
    same_digits = re.findall(r"\d+", x) == re.findall(r"\d+", y)
    return x == y or (same_digits and fuzz.ratio(x, y) > how.threshold)


async def _stored(trueweave: AsyncTrueweave) -> dict[Names, Entity]:
    entities = {e.id: e for e in await trueweave.graph.entities(limit=10_000)}
    members: defaultdict[UUID, set[NameKey]] = defaultdict(set)
    async with trueweave.workspace.transaction() as tx:
        rows = await (await tx.execute("SELECT entity, written, type FROM name WHERE entity IS NOT NULL")).fetchall()
    for id_, written, type_ in rows:
        members[id_].add(NameKey(written, type_))
    assert set(members) == set(entities)
    return {frozenset(names): entities[id_] for id_, names in members.items()}
