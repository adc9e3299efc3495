"""Which documents may speak, by uri and by metadata: the same for a few documents as for many."""

import re
from collections.abc import Mapping
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from random import Random

import psycopg
import pytest

from trueweave import AsyncTrueweave, Chunk, Document, Evidence, Filter, Link, Mention, NameKey, Range
from trueweave.core.evidence import Scalar
from trueweave.core.record import Json
from trueweave.extend import Method
from trueweave.methods import Fuse, Global, Keyword, Local, Naive, Subgraph
from trueweave.store.postgres.connections import Row
from trueweave.store.postgres.search import search
from trueweave.store.postgres.search.document_filter import ConditionShape, FilterShape, scope
from trueweave.store.postgres.search.search import VectorLayout
from trueweave.store.postgres.vectors import vectors
from trueweave.testing import HashEmbedder

METADATA: dict[str, dict[str, Json]] = {
    "a": {"year": 1843, "lang": "en", "tags": ["math", "engine"], "author": {"name": "Ada", "age": 27}, "draft": True},
    "b": {"year": 1843.0, "lang": "fr", "tags": ["math"], "author": {"name": "Blaise"}, "draft": False},
    "c": {"year": "1843", "lang": "en", "tags": [], "author": [{"name": "Cas"}, {"name": "Ada"}], "draft": "true"},
    "d": {"year": 1843.5, "lang": "EN", "tags": "math", "author": "Ada", "draft": 1},
    "e": {"year": None, "lang": 'it\'s "quoted"', "tags": [1, "1", True], "a.b": "dotted"},
    "f": {"lang": "'; DROP TABLE trueweave.document; --", "a": {"b": "dotted"}, "é ключ": "värde", "%s": "{facet_0}"},
    "g": {},
    "h": {"year": 10**30, "deep": {"er": {"still": [[["bottom"]]]}}, "big": 0.1, "empty": "", "zero": 0},
}

CASES: list[tuple[Mapping[str, object], str]] = [
    ({"lang": "en"}, "ac"),
    ({"lang": ["en", "fr"]}, "abc"),
    ({"lang": ("en", "fr", "none")}, "abc"),
    ({"lang": {"fr"}}, "b"),
    ({"lang": []}, ""),
    ({"lang": "de"}, ""),
    ({"nothing": "at all"}, ""),
    # Numbers are numbers however they are written, and no text.
    ({"year": 1843}, "ab"),
    ({"year": 1843.0}, "ab"),
    ({"year": "1843"}, "c"),
    ({"year": 1843.5}, "d"),
    ({"year": [1843, "1843"]}, "abc"),
    ({"year": 10**30}, "h"),
    ({"big": 0.1}, "h"),
    ({"big": 0.10000000000000002}, ""),
    ({"zero": 0}, "h"),
    ({"zero": -0.0}, "h"),
    # Neither are booleans numbers.
    ({"draft": True}, "a"),
    ({"draft": False}, "b"),
    ({"draft": 1}, "d"),
    ({"draft": "true"}, "c"),
    # A list has every value in it.
    ({"tags": "math"}, "abd"),
    ({"tags": "engine"}, "a"),
    ({"tags": 1}, "e"),
    ({"tags": True}, "e"),
    ({"tags": ["engine", 1]}, "ae"),
    # What is inside is named by its way.
    ({"author.name": "Ada"}, "ac"),
    ({"author.age": 27}, "a"),
    ({"author": "Ada"}, "d"),
    ({"deep.er.still": "bottom"}, "h"),
    ({"a.b": "dotted"}, "ef"),
    # All keys must fit.
    ({"lang": "en", "year": 1843}, "a"),
    ({"lang": "en", "year": [1843, "1843"], "author.name": "Ada", "draft": [True, "true"]}, "ac"),
    ({"lang": "en", "tags": "nothing"}, ""),
    ({"tags": "nothing", "lang": "en"}, ""),
    # Values are values, whatever is written in them.
    ({"lang": 'it\'s "quoted"'}, "e"),
    ({"lang": "'; DROP TABLE trueweave.document; --"}, "f"),
    ({"lang": "' OR true --"}, ""),
    ({"lang' OR '1'='1": "x"}, ""),
    ({"é ключ": "värde"}, "f"),
    ({"%s": "{facet_0}"}, "f"),
    ({"%(facet_0)s": "x"}, ""),
    ({"empty": ""}, "h"),
    ({"": ""}, ""),
    ({"lang": "en\x01string\x01x"}, ""),
    ({"x" * 10_000: "y" * 10_000}, ""),
    # Ranges of numbers, also of those that are written as text.
    ({"year": Range(1843)}, "abcdh"),
    ({"year": Range(1843, bounds="(]")}, "dh"),
    ({"year": Range(1843, 1843.5, "[)")}, "abc"),
    ({"year": Range(high=1843.4)}, "abc"),
    ({"year": Range(high=10**30, bounds="[)")}, "abcd"),
    ({"year": Range(10**30 + 1)}, ""),
    ({"year": Range(10**30 - 1, 10**30 + 1)}, "h"),
    ({"big": Range(0.1, 0.1)}, "h"),
    ({"big": Range(Decimal("0.10000000000000000000000000001"))}, ""),
    ({"big": Range(0.1, bounds="(]")}, ""),
    ({"zero": Range(-1, 1)}, "h"),
    ({"zero": Range(Decimal("1e-400"))}, ""),
    ({"zero": Range(Decimal("-1e400"), Decimal("1e400"))}, "h"),
    ({"draft": Range(0, 2)}, "d"),
    ({"tags": Range(1)}, "e"),
    ({"author.age": Range(20, 30)}, "a"),
    ({"nothing": Range(0)}, ""),
    ({"lang": Range(0)}, ""),
    ({"year": Range(2, 1)}, ""),
    # Ranges of moments, as exact as both are written.
    ({"date": Range("2024")}, "abcd"),
    ({"date": Range("2024-05", "2024-06")}, "bc"),
    ({"date": Range(high="2024-06-30")}, "bcde"),
    ({"date": Range(high="2024-06-30", bounds="[)")}, "bde"),
    ({"date": Range("2024-06-30", "2024-06-30")}, "c"),
    ({"date": Range("2024-06-30T22:00Z", "2024-06-30T23:00Z")}, "c"),
    ({"date": Range("2024-07-01T00:00Z")}, "ad"),
    ({"date": Range(date(2024, 5, 1), date(2024, 5, 31))}, "b"),
    ({"date": Range(datetime(2024, 7, 1, 1, tzinfo=timezone(timedelta(hours=2))), "2024-07")}, "a"),
    ({"date": Range(2024)}, "df"),
    ({"year": Range("1800", "1850")}, "c"),
    # Any of these, and all keys.
    ({"date": [Range("2024-05", "2024-05"), Range(high="2023")]}, "be"),
    ({"year": [Range(2000), 1843.5]}, "dh"),
    ({"year": Range(1800, 1900), "date": Range("2024-05")}, "abcd"),
    ({"year": Range(1800, 1900), "date": Range("2024-05"), "lang": "en"}, "ac"),
    ({"year": Range(1800, 1900), "lang": "de"}, ""),
]
for uri, written in {
    "a": "2024-07-01",
    "b": ["2024-05-31T23:59:59.999", "2024-02-31"],
    "c": "2024-07-01T00:30:00+02:00",
    "d": ["2024", "2024-12"],
    "e": "2023-12-31 10:00",
    "f": ["20240701", "2024-13-01", "0000-01-01", "today", "infinity", "2024-07-01T25:00"],
}.items():
    METADATA[uri]["date"] = written  # type: ignore[assignment]

METHODS: list[Method] = [
    Keyword(top_k=50),
    Naive(top_k=50),
    Local(graph_top_k=50),
    Global(graph_top_k=50),
    Subgraph(similarity_threshold=None, top_k_chunks=50),
    Fuse(top_k=50),
]


def document(uri: str, metadata: Mapping[str, Json]) -> Document:
    said = Chunk(
        f"The common thing is told of by {uri}.",
        mentions=(Mention("Common Thing", "", f"as {uri} tells"),),
        links=(Link("Common Thing", "Other Thing", f"related by {uri}"),),
    )
    return Document(uri, (said,), metadata=metadata)


def by(metadata: Mapping[str, object]) -> Filter:
    given: Mapping[str, Scalar] = metadata  # type: ignore[assignment]
    return Filter(metadata=given)


@pytest.fixture(params=[2000, 0, 1], ids=["few", "many", "one is many"])
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many documents are a few."""
    monkeypatch.setattr("trueweave.store.postgres.search.document_filter.FEW", request.param)
    return int(request.param)


@pytest.fixture
async def told(trueweave: AsyncTrueweave) -> AsyncTrueweave:
    await trueweave.add_documents(document(uri, metadata) for uri, metadata in METADATA.items())
    return trueweave


async def found(trueweave: AsyncTrueweave, method: Method, filter: Filter) -> str:
    """The documents that speak, in passages and in all that is told of entities and relations."""
    evidence = await trueweave.retrieve("common thing", method, filter=filter)
    uris = {passage.uri for passage in evidence.passages}
    for description in (*(e.description for e in evidence.entities), *(r.description for r in evidence.relations)):
        spoken = {line.split()[1 if line.startswith("as") else 2] for line in description.splitlines()}
        assert spoken <= uris or isinstance(method, Fuse), (spoken, uris)
    return "".join(sorted(uris))


@pytest.mark.usefixtures("few")
async def test_metadata_decide_who_may_speak(told: AsyncTrueweave) -> None:
    for metadata, expected in CASES:
        assert await found(told, Keyword(top_k=50), by(metadata)) == expected, metadata
    assert (await told.status()).documents == len(METADATA)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("method", METHODS, ids=repr)
async def test_every_method_keeps_to_it(told: AsyncTrueweave, method: Method) -> None:
    for metadata, expected in (
        ({"lang": "en"}, "ac"),
        ({"tags": "math", "lang": ["fr", "EN"]}, "bd"),
        ({"x": 1}, ""),
        ({"year": Range(1843.0, 1843.0), "date": Range(high="2024-06")}, "bc"),
    ):
        assert await found(told, method, by(metadata)) == expected, metadata


@pytest.mark.usefixtures("few")
async def test_uris_decide_too_and_both_together(told: AsyncTrueweave) -> None:
    keyword = Keyword(top_k=50)
    assert await found(told, keyword, Filter(uris=("a", "b", "nowhere", "a"))) == "ab"
    assert await found(told, keyword, Filter(uris=("b", "c"), metadata={"lang": "en"})) == "c"
    assert await found(told, keyword, Filter(uris=("b",), metadata={"lang": "en"})) == ""
    assert await found(told, keyword, Filter(uris=("' OR true --",))) == ""
    assert await found(told, keyword, Filter()) == "abcdefgh"


_LEAVES: list[tuple[Filter, set[str]]] = [
    *((by(metadata), set(expected)) for metadata, expected in CASES[:8] + CASES[12:20] + CASES[-6:]),
    (Filter(("a", "b", "nowhere")), {"a", "b"}),
    (Filter(prefix="c"), {"c"}),
    (Filter(prefix="%"), set()),
    (Filter(), set(METADATA)),
]


def combined(random: Random, depth: int) -> tuple[Filter, set[str]]:
    """A random filter, and the documents that pass it."""
    if depth == 0 or random.random() < 0.2:
        return random.choice(_LEAVES)
    (one, passing), (other, others) = combined(random, depth - 1), combined(random, depth - 1)
    match random.choice("&|~"):
        case "&":
            return one & other, passing & others
        case "|":
            return one | other, passing | others
        case _:
            return ~one, set(METADATA) - passing


@pytest.fixture(params=[10_000, 3], ids=["all are read", "a part is read"])
def read(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many documents are read for a condition that no index has."""
    monkeypatch.setattr("trueweave.store.postgres.search.document_filter._READ", request.param)
    return int(request.param)


@pytest.mark.usefixtures("few", "read")
async def test_filters_combine_by_not_and_or(told: AsyncTrueweave) -> None:
    random = Random(7)
    for _ in range(60):
        filter, expected = combined(random, 3)
        assert await found(told, Keyword(top_k=50), filter) == "".join(sorted(expected)), filter
        assert {one.uri for one in await told.list_documents(filter=filter)} == expected, filter


@pytest.mark.usefixtures("few", "read")
@pytest.mark.parametrize("method", METHODS, ids=repr)
async def test_every_method_keeps_to_combined_filters(told: AsyncTrueweave, method: Method) -> None:
    english, math = by({"lang": "en"}), by({"tags": "math"})
    for filter, expected in (
        (~english, "bdefgh"),
        (english | math, "abcd"),
        (~(english | math), "efgh"),
        (math & ~Filter(("a",)), "bd"),
        (english | Filter(prefix="h"), "ach"),
        (~Filter(), ""),
    ):
        assert await found(told, method, filter) == expected, filter


async def test_a_negation_that_many_pass_is_a_condition(told: AsyncTrueweave, monkeypatch: pytest.MonkeyPatch) -> None:
    read = told.workspace.read
    assert (await scope(read, ~by({"lang": "en"}))).few is not None
    monkeypatch.setattr("trueweave.store.postgres.search.document_filter.FEW", 3)
    assert (await scope(read, ~by({"lang": "en"}))).few is None
    assert (await scope(read, ~Filter(prefix="a"))).few is None
    assert len((await scope(read, ~Filter())).few or ()) == 0


@pytest.mark.usefixtures("few")
async def test_what_is_replaced_or_removed_is_filtered_as_it_is_now(told: AsyncTrueweave) -> None:
    await told.add_documents([document("a", {"lang": "fr"}), document("i", {"lang": "en"})])
    await told.remove(["c"])
    assert await found(told, Keyword(top_k=50), by({"lang": "en"})) == "i"
    assert await found(told, Naive(top_k=50), by({"lang": "fr"})) == "ab"
    await told.add_documents([document("b", {"year": 1900}), document("j", {"year": "1901.5"})])
    assert await found(told, Keyword(top_k=50), by({"year": Range(1844, 1902)})) == "bj"
    assert await found(told, Keyword(top_k=50), by({"year": Range(1843, 1843)})) == ""


async def test_a_few_and_many_are_found_in_the_same_order(
    told: AsyncTrueweave, monkeypatch: pytest.MonkeyPatch
) -> None:
    for method in METHODS:
        for metadata, _ in (*CASES[:4], ({"year": Range(1843), "date": Range("2024-05")}, "")):
            orders = []
            for few in (2000, 0):
                monkeypatch.setattr("trueweave.store.postgres.search.document_filter.FEW", few)
                evidence = await told.retrieve("common thing", method, filter=by(metadata))
                orders.append(
                    (
                        [(passage.uri, round(passage.score, 3)) for passage in evidence.passages],
                        [(entity.name, entity.description) for entity in evidence.entities],
                        [(relation.description, relation.keywords) for relation in evidence.relations],
                    )
                )
            assert orders[0] == orders[1], (method, metadata)


async def test_a_filter_that_few_of_many_pass_still_finds_them(
    trueweave: AsyncTrueweave, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One in fifty passes, and the nearest do not: what is wanted is found behind all of them."""
    monkeypatch.setattr("trueweave.store.postgres.search.document_filter.FEW", 3)
    near = [Document(f"near {n}", (Chunk("the wanted thing"),), metadata={"kind": "near"}) for n in range(400)]
    far = [Document(f"far {n}", (Chunk(f"a thing far away, {n}"),), metadata={"kind": "far"}) for n in range(8)]
    await trueweave.add_documents([*near, *far])
    for method in (Naive(top_k=5), Keyword(top_k=5)):
        evidence = await trueweave.retrieve("the wanted thing", method, filter=Filter(metadata={"kind": "far"}))
        assert len(evidence.passages) == 5
        assert all(passage.uri.startswith("far") for passage in evidence.passages)


async def test_a_filter_says_nothing_of_another_workspace(told: AsyncTrueweave) -> None:
    other = await AsyncTrueweave.enter(told.database, "other", HashEmbedder())
    await other.add_documents([document("z", {"lang": "en"})])
    assert await found(other, Keyword(), by({"lang": "en"})) == "z"
    assert await found(told, Keyword(top_k=50), by({"lang": "en"})) == "ac"


async def test_a_name_that_only_hidden_documents_write_is_not_told(trueweave: AsyncTrueweave) -> None:
    def said(uri: str, name: str, type_: str, seen: str) -> Document:
        mentions = (Mention(name, type_, f"{name} was there"), Mention("Port", "place"))
        links = (Link(name, "Port", "sails to", source_type=type_),)
        return Document(uri, (Chunk(f"{name} sails.", mentions=mentions, links=links),), metadata={"seen": seen})

    await trueweave.add_documents(
        [
            said("a", "Ms Gray", "person", "yes"),
            said("b", "Agent Seven", "spy", "no"),
            said("c", "Agent Seven", "spy", "no"),
        ]
    )
    await trueweave.rules.merge(NameKey("Ms Gray", "person"), NameKey("Agent Seven", "spy"))
    [hub] = [entity for entity in await trueweave.graph.entities() if entity.name == "Agent Seven"]
    assert hub.aliases == ("Ms Gray",)
    for method in (Local(), Global(), Subgraph(similarity_threshold=-1)):
        evidence = await trueweave.retrieve("Who sails to Port?", method, filter=Filter(metadata={"seen": "yes"}))
        assert {entity.name for entity in evidence.entities} == {"Ms Gray", "Port"}
        assert evidence.relations
        for hidden in ("Agent Seven", "spy"):
            assert hidden not in repr((evidence.entities, evidence.relations, evidence.paths))


async def test_a_document_of_many_numbers_does_not_hide_others(
    trueweave: AsyncTrueweave, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trueweave.store.postgres.search.document_filter.FEW", 3)
    await trueweave.add_documents([document("a", {"n": list(range(100))}), document("b", {"n": 200})])
    assert await found(trueweave, Keyword(top_k=50), by({"n": Range(0, 300)})) == "ab"


async def test_a_range_is_looked_up_in_its_index(told: AsyncTrueweave, url: str) -> None:
    """Also under row-level security, where most comparisons of numbers use none."""
    await told.add_documents(document(f"n{n}", {"year": n}) for n in range(3000))
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("ANALYZE trueweave.ordered_facet")
    async with told.workspace.transaction() as tx:
        cursor = await tx.connection.execute(
            "EXPLAIN SELECT document FROM ordered_facet WHERE key = md5(E'year\\x01number')::uuid"
            " AND place BETWEEN place_of(10) AND place_of(20) AND value BETWEEN 10 AND 20"
            " ORDER BY place, document LIMIT 9"
        )
        plan = "\n".join(line for (line,) in await cursor.fetchall())
    assert re.search(r"Index Cond: .*key.*place >=.*place <=", plan), plan


async def test_what_a_filter_looks_for_is_computed_once(told: AsyncTrueweave) -> None:
    """A regression: the facets of a condition were computed for each vector that the search came upon."""
    await told.add_documents(document(f"n{n}", {"lot": n % 10}) for n in range(300))
    shape = FilterShape(by_ids=False, conditions=(ConditionShape(has_values=True, ranges=0),))
    async with told.workspace.transaction() as tx:
        space = await vectors.space(tx)
        assert space
        query = search.near("chunk", VectorLayout(space, (), ()), told.workspace.id, 10, shape).decode()
        vector = vectors.half((await HashEmbedder().embed(["common thing"], "query"))[0])
        params = {"vectors": [vector], "facet_0": '{"lot": [1, 2, 3]}'}
        cursor = await tx.connection.execute(f"EXPLAIN (ANALYZE) {query}".encode(), params)
        plan = "\n".join(line for (line,) in await cursor.fetchall())
    computed = re.findall(r"ProjectSet .*loops=(\d+)", plan)
    assert computed, plan
    assert set(computed) == {"1"}, plan


async def test_documents_that_many_pass_are_not_looked_at_one_by_one(
    told: AsyncTrueweave, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trueweave.store.postgres.search.document_filter.FEW", 20)
    await told.add_documents(document(f"n{n}", {"lot": n % 10}) for n in range(300))
    listed: list[int] = []

    async def read(query: bytes, params: Mapping[str, object] | None) -> list[Row]:
        async with told.workspace.transaction() as tx:
            rows = await (await tx.connection.execute(query, params)).fetchall()
        listed.append(len(rows))
        return rows

    assert (await scope(read, by({"lot": [1, 2, 3]}))).few is None
    assert len((await scope(read, by({"lot": ["none", "en"], "lang": "en"}))).few or ()) == 0
    assert listed == [1, 0]


@pytest.mark.usefixtures("few")
async def test_numbers_of_entities_and_relations_are_those_of_the_documents_that_pass(
    trueweave: AsyncTrueweave,
) -> None:
    random = Random(7)
    names = [f"Name {n}" for n in range(6)]

    def said(n: int) -> Document:
        told = random.sample(names, 4)
        mentions = tuple(Mention(name, "", f"{name} in {n}", emphasis=random.randint(1, 9)) for name in told)
        ends = [(told[0], told[1]), (told[2], told[3]), (told[0], told[1])]
        links = tuple(Link(s, t, f"{s} to {t} in {n}", strength=random.randint(1, 9)) for s, t in ends)
        return Document(f"{n}", (Chunk(" and ".join(told), mentions=mentions, links=links),), metadata={"n": n % 2})

    documents = [said(n) for n in range(12)]
    await trueweave.add_documents(documents)
    alone = await AsyncTrueweave.enter(trueweave.database, "alone", HashEmbedder())
    await alone.add_documents(one for one in documents if one.metadata["n"])

    def numbers(evidence: Evidence) -> tuple[dict[str, object], dict[tuple[str, str], object]]:
        return (
            {one.name: (one.count, one.emphasis, one.degree) for one in evidence.entities},
            {(one.source_name, one.target_name): (one.weight, one.count, one.emphasis) for one in evidence.relations},
        )

    for method in (Local(graph_top_k=50), Global(graph_top_k=50), Subgraph(similarity_threshold=-1)):
        found = numbers(await trueweave.retrieve("name", method, filter=by({"n": 1})))
        assert found == numbers(await alone.retrieve("name", method)), method
        assert all(found)
