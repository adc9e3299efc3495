"""Look-ups under rights or a filter give what they give in a workspace that has only the visible documents."""

import random
import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest

from trueweave import AsyncTrueweave, Chunk, Document, Filter, Link, Mention, NameKey, Range, ResolutionSettings
from trueweave.core.graph import RuleKind
from trueweave.errors import AmbiguousName, TrueweaveError, UnknownEntity
from trueweave.extend import Database

NAMES = ("Ada", "ada", "Ada Lovelace", "Babbage", "BABBAGE", "Byron", "The Engine", "Engine", "Zoë", "Zoe", "Rust")
TYPES = ("", "person", "Person", "thing")
SAID = ("wrote letters", "built it", "was first", "lived in London", "is told of", "knew the others")
WORDS = ("met", "Met", "wrote", "built", "knew")
GROUPS = ("a", "b", "c")
MANY = 10_000


@dataclass(frozen=True)
class Said:
    """A rule: its kind, its names, its label and, for one about a relation, the other end."""

    kind: RuleKind
    names: tuple[NameKey, ...]
    label: str = ""
    target: NameKey | None = None


def corpus(chance: random.Random, number: int) -> list[Document]:
    return [document(chance, n) for n in range(number)]


def document(chance: random.Random, n: int) -> Document:
    readers = tuple(chance.sample(GROUPS, chance.choice((0, 0, 1, 1, 2))))
    chunks, at = [], 0
    for _ in range(chance.randint(1, 3)):
        names = [(chance.choice(NAMES), chance.choice(TYPES)) for _ in range(chance.randint(1, 4))]
        text = " and ".join(f"{name} {chance.choice(SAID)}" for name, _ in names)
        mentions = []
        for name, type_ in names:
            start = text.index(name)
            spans = ((start, start + len(name)),) if chance.random() < 0.8 else ()
            mentions.append(Mention(name, type_, chance.choice((*SAID, "")), chance.randint(1, 9), spans))
        links = []
        for one, other in pairwise(names):
            if one[0] != other[0]:
                told = chance.choice((*SAID, "")), tuple(chance.sample(WORDS, chance.randint(0, 2)))
                weights = chance.randint(1, 9), chance.randint(1, 9)
                links.append(Link(one[0], other[0], *told, *weights, source_type=one[1], target_type=other[1]))
        chunks.append(Chunk(text, at, mentions=tuple(mentions), links=tuple(links)))
        at += len(text) + 1
    return Document(f"folder {n % 3}/{n}", tuple(chunks), f"Title {n}", {"n": n, "k": n % 3}, readers=readers)


def rules(chance: random.Random) -> list[Said]:
    def key() -> NameKey:
        return NameKey(chance.choice(NAMES), chance.choice((*TYPES, "", "")))

    made = []
    for _ in range(chance.randint(0, 6)):
        kind: RuleKind = chance.choice(("merge", "merge", "split", "rename", "retype", "describe", "suppress"))
        one, other = key(), key()
        if one.name == other.name:
            continue
        if kind in ("merge", "split"):
            made.append(Said(kind, (one, other)))
        elif kind == "rename":
            made.append(Said(kind, (one,), f"called {one.name}"))
        else:
            target = chance.choice((None, other))
            made.append(Said(kind, (one,), "" if kind == "suppress" else f"{kind} it", target))
    return made


async def decide(index: AsyncTrueweave, decided: Sequence[Said]) -> None:
    calls = index.rules
    for rule in decided:
        if rule.kind in ("merge", "split"):
            await getattr(calls, rule.kind)(*rule.names)
        elif rule.kind == "rename":
            await calls.rename(rule.names[0], rule.label)
        elif rule.kind == "suppress":
            await calls.suppress(rule.names[0], target=rule.target)
        else:
            await getattr(calls, rule.kind)(rule.names[0], rule.label, target=rule.target)


class Told:
    """What look-ups say, without ids: an entity is told by all its names, and lists of equal rank are sorted."""

    def __init__(self, index: AsyncTrueweave, **given: Any) -> None:
        self.index = index
        self.given = given  # the filter of each look-up, if there is one
        self.keys: dict[UUID, Any] = {}

    async def learn(self) -> None:
        for one in await self.index.graph.entities(MANY, **self.given):
            self.keys[one.id] = one.name, one.type, one.aliases, one.count

    def entity(self, one: Any) -> Any:
        return replace(one, id=UUID(int=0))

    def relation(self, one: Any) -> Any:
        none = UUID(int=0)
        return self.keys[one.source], self.keys[one.target], replace(one, id=none, source=none, target=none)

    def part(self, found: Any) -> Any:
        nodes = sorted(tuple(asdict(replace(one, id=self.keys[one.id])).values())[1:] for one in found.nodes)
        edges = sorted((self.keys[one.source], self.keys[one.target], one.type, one.weight) for one in found.edges)
        return nodes, edges, found.entities, found.relations

    async def documents(self) -> dict[Any, Any]:
        told: dict[Any, Any] = {"status": await self.index.status()}
        for one in await self.index.list_documents(MANY):
            told["document", one.uri] = await self.document(one.uri)
        told["no document"] = await self.attempt(self.index.document, "folder 0/17")
        told["documents"] = [
            (one.uri, one.title, one.chunks, one.state) for one in await self.index.list_documents(MANY)
        ]
        told["number"] = await self.index.count_documents(prefix="folder 1")
        told["stored"] = [
            await self.index.count_documents(state=state)
            for state in ("any", "waiting", "failed", "indexing", "indexed")
        ]
        return told

    async def graph(self) -> dict[Any, Any]:
        await self.learn()
        graph, told = self.index.graph, dict[Any, Any]()
        entities = await graph.entities(MANY, **self.given)
        told["order"] = [(one.count, one.name) for one in entities]
        told["entities"] = sorted(repr(self.entity(one)) for one in entities)
        told["persons"] = sorted(
            repr(self.entity(one)) for one in await graph.entities(MANY, type="PERSON", **self.given)
        )
        told["first"] = [self.entity(one).name for one in await graph.entities(3, **self.given)]
        relations = [self.relation(one) for one in await graph.relations(limit=MANY, **self.given)]
        told["relations"] = sorted(relations, key=repr)
        told["heaviest"] = [one.weight for one in await graph.relations(limit=3, **self.given)]
        told["types"] = await graph.types(**self.given)
        for text in ("ada", "engine", "lovelace", "zo"):
            told["complete", text] = sorted(map(repr, self.part_nodes(await graph.complete(text, **self.given))))
            told["search", text] = sorted(
                repr(self.entity(one.item)) for one in (await graph.search_entities(text, MANY, **self.given)).items
            )
            found = await graph.search_relations(text, MANY, **self.given)
            told["stated", text] = sorted(repr((self.relation(one.item), one.score)) for one in found.items)
            told["persons", text] = sorted(
                repr(self.entity(one.item))
                for one in (await graph.search_entities(text, MANY, type="person", **self.given)).items
            )
        for name in (*NAMES, "Adaa", "nobody knows"):
            told["entity", name] = await self.attempt(self.about, name)
        some = sorted((one.id for one in entities), key=lambda id_: repr(self.keys[id_]))[::4]
        told["some"] = sorted([repr(await self.about(id_)) for id_ in some])
        told["around"] = sorted(
            [self.part(await graph.around(one.id, limit=MANY, **self.given)) for one in entities], key=repr
        )
        further = [
            self.part(await graph.around(one.id, hops=2, limit=MANY, types=["person"], **self.given))
            for one in entities
        ]
        told["further"] = sorted(further, key=repr)
        ids = [one.id for one in entities]
        told["part"] = self.part(await graph.subgraph(ids, **self.given)) if ids else None
        told["paths"] = sorted([repr(await self.path(a, b)) for a in some for b in some if a != b])
        return told

    def part_nodes(self, nodes: Any) -> list[Any]:
        return [(self.keys[one.id], one.name, one.type, one.count, one.degree) for one in nodes]

    async def about(self, name: Any) -> Any:
        graph = self.index.graph
        found = await graph.entity(name, relations=MANY, passages=MANY, **self.given)
        id_ = found.entity.id
        statements = []
        for one in found.relations:
            assert (await graph.relation(one.id, **self.given)) == one
            statements += [(self.relation(one), await graph.statements(one.id, **self.given))]
        near = await graph.neighbours(id_, limit=MANY, **self.given)
        return (
            self.entity(found.entity),
            sorted(map(repr, map(self.relation, found.relations))),
            sorted((one.uri, one.start, one.text) for one in found.passages),
            await graph.mentions(id_, limit=MANY, **self.given),
            await graph.mention_counts(id_, **self.given),
            sorted(map(repr, statements)),
            sorted(repr(self.entity(one)) for one in near),
            sorted(repr(self.entity(one)) for one in await graph.neighbours(id_, hops=2, limit=MANY, **self.given)),
            await self.stated_best(found.relations),
        )

    async def stated_best(self, relations: Any) -> Any:
        found = await self.index.graph.relation_passages(*(one.id for one in relations), each=MANY, **self.given)
        by_id = {one.id: one for one in relations}
        return sorted(
            repr((self.relation(by_id[id_]), sorted((one.uri, one.start) for one in passages)))
            for id_, passages in found.items()
        )

    async def path(self, a: UUID, b: UUID) -> Any:
        found = await self.index.graph.path(a, b, **self.given)
        if found is None:
            return None
        return len(found.steps), min(one.relation.weight for one in found.steps)

    async def document(self, uri: str) -> Any:
        found = await self.index.document(uri)
        spans = await self.index.document_mentions(uri)
        return (
            found.title, found.metadata, found.chunks, [replace(one, id=UUID(int=0)) for one in found.passages],
            sorted(repr((self.entity(one.item), one.score)) for one in found.entities),
            sorted((one.start, one.end, one.name, one.type) for one in spans),
            await self.index.document_outline(uri),
        )  # fmt: skip

    async def attempt(self, call: Callable[..., Awaitable[Any]], *given: Any) -> Any:
        try:
            return await call(*given)
        except AmbiguousName as error:
            return "ambiguous", sorted(error.near)
        except TrueweaveError as error:
            return re.sub(r"id [0-9a-f-]{36}", "id", str(error))


@asynccontextmanager
async def opened(database: Database, name: str) -> Any:
    async with aclosing(await AsyncTrueweave.enter(database, name)) as index:
        yield index


@pytest.mark.parametrize("seed", range(4))
async def test_look_ups_of_a_caller_are_those_of_its_documents_alone(database: Database, seed: int) -> None:
    chance = random.Random(seed)
    documents, decided = corpus(chance, 9), rules(chance)
    async with opened(database, "all") as index:
        await index.add_documents(documents)
        await decide(index, decided)
        for n, groups in enumerate(((), ("a",), ("a", "b"))):
            visible = [one for one in documents if not one.readers or {*one.readers} & {*groups}]
            async with opened(database, f"visible {n}") as alone:
                await alone.add_documents([replace(one, readers=None) for one in visible])
                await decide(alone, decided)
                told, told_alone = Told(index.acting_as(groups)), Told(alone)
                found = await told.graph() | await told.documents()
                expected = await told_alone.graph() | await told_alone.documents()
            assert found.keys() == expected.keys()
            for what, said in expected.items():
                assert found[what] == said, (what, groups, decided)


@pytest.mark.parametrize("seed", range(4))
async def test_look_ups_under_a_filter_are_those_of_the_documents_that_pass(database: Database, seed: int) -> None:
    chance = random.Random(f"filter {seed}")
    documents, decided, groups = corpus(chance, 9), rules(chance), chance.choice((None, (), ("a",)))
    choices: list[tuple[Filter, Callable[[Any], bool]]] = [
        (Filter(metadata={"k": (0, 2)}), lambda one: one.metadata["k"] in (0, 2)),
        (~Filter(prefix="folder 1"), lambda one: not one.uri.startswith("folder 1")),
        (Filter(metadata={"n": Range(2, 6)}), lambda one: 2 <= one.metadata["n"] <= 6),
        (Filter(prefix="folder 0") | Filter(("folder 1/1", "folder 1/4")), lambda one: one.uri[-1] in "036914"),
    ]
    passing = chance.choice(choices)
    async with opened(database, "all") as index, opened(database, "passing") as alone:
        if groups is None:
            await index.rules.change_resolution(ResolutionSettings("fuzzy", 80))
            await alone.rules.change_resolution(ResolutionSettings("fuzzy", 80))
            documents = [replace(one, readers=None) for one in documents]
        await index.add_documents(documents)
        await decide(index, decided)
        visible = [
            one for one in documents if passing[1](one) and (not one.readers or {*one.readers} & {*(groups or ())})
        ]
        await alone.add_documents([replace(one, readers=None) for one in visible])
        await decide(alone, decided)
        acting = index if groups is None else index.acting_as(groups)
        found, expected = await Told(acting, filter=passing[0]).graph(), await Told(alone).graph()
    assert found.keys() == expected.keys()
    for what, said in expected.items():
        assert found[what] == said, (what, groups, passing[0], decided)


async def test_parts_of_an_entity_that_an_invisible_name_connects_are_apart(database: Database) -> None:
    async with opened(database, "all") as index:
        await index.add_documents(
            [
                Document("a", (Chunk("Ada met Byron", mentions=(Mention("Ada"), Mention("Byron"))),)),
                Document("b", (Chunk("Countess", mentions=(Mention("Countess"),)),), readers=("b",)),
                Document(
                    "c",
                    (Chunk("Lovelace met Byron", mentions=(Mention("Lovelace"),), links=(Link("Lovelace", "Byron"),)),),
                ),
            ]
        )
        await index.rules.merge(NameKey("Ada"), NameKey("Countess"))
        await index.rules.merge(NameKey("Countess"), NameKey("Lovelace"))
        assert {one.name for one in await index.graph.entities()} == {"Byron", "Ada"}
        acting = index.acting_as([])
        assert {one.name for one in await acting.graph.entities()} == {"Byron", "Ada", "Lovelace"}
        lovelace = await acting.graph.entity("Lovelace")
        assert (lovelace.entity.count, lovelace.entity.degree, lovelace.entity.aliases) == (1, 1, ())
        assert (await acting.graph.entity(lovelace.entity.id)) == lovelace
        [relation] = lovelace.relations
        assert (await acting.graph.relation(relation.id)) == relation
        assert [one.uri for one in await acting.graph.statements(relation.id)] == ["c"]
        with pytest.raises(UnknownEntity, match="Near it"):
            await acting.graph.entity("Countes Ada")
