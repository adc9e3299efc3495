"""Looking things up: entities by name, relations and paths, documents by uri."""

from contextlib import aclosing
from uuid import UUID, uuid4

import pytest

from trueweave import AsyncTrueweave, Chunk, Document, Filter, Link, Mention, NameKey, Place, Settings
from trueweave.errors import AmbiguousName, UnknownDocument, UnknownEntity
from trueweave.extend import Database
from trueweave.store.postgres.view import graph_lookups


def said(text: str, *links: tuple[str, str, int], start: int = 0, **types: str) -> Chunk:
    """A chunk that links names with these strengths."""
    names = dict.fromkeys(name for a, b, _ in links for name in (a, b))
    mentions = tuple(Mention(name, types.get(name.split()[0].lower(), ""), f"{name} is told of") for name in names)
    return Chunk(
        text, start, mentions=mentions, links=tuple(Link(a, b, f"{a} knows {b}", strength=s) for a, b, s in links)
    )


VILLAGE = [
    Document(
        "village/mill.md",
        (
            said(
                "The Miller knows the Smith and the Baker.",
                ("Miller", "Smith", 9),
                ("Miller", "Baker", 2),
                miller="person",
            ),
            said("The Smith knows the Carter.", ("Smith", "Carter", 8), start=100),
            said("The Baker knows the Carter.", ("Baker", "Carter", 9), start=200),
        ),
        "The mill",
        {"year": 1843, "tags": ["old"]},
        (Place(0, "heading", "The mill", 1), Place(100, "heading", "The forge", 2), Place(150, "page", "2")),
    ),
    Document("village/road.md", (said("The Carter knows the Duke.", ("Carter", "Duke", 3)),), "The road"),
    Document("far.md", (said("Zoë Ångström knows the Émigré.", ("Zoë Ångström", "The Émigré", 5)),), "Far away"),
    Document("sky.md", (Chunk("Mercury shines.", mentions=(Mention("Mercury", "planet", "near the sun"),)),)),
    Document("gods.md", (Chunk("Mercury ran.", mentions=(Mention("Mercury", "god", "a messenger"),) * 2),)),
]


@pytest.fixture
async def village(trueweave: AsyncTrueweave) -> AsyncTrueweave:
    await trueweave.add_documents(VILLAGE)
    return trueweave


# --- entities by name -----------------------------------------------------------------------------------


async def test_an_entity_is_told_with_its_relations_and_passages(village: AsyncTrueweave) -> None:
    found = await village.graph.entity("Miller")
    assert (found.entity.name, found.entity.type, found.entity.count, found.entity.degree) == ("Miller", "person", 1, 2)
    assert [(one.source_name, one.target_name, one.weight) for one in found.relations] == [
        ("Miller", "Smith", 9),
        ("Miller", "Baker", 2),
    ]
    assert [(one.uri, one.text) for one in found.passages] == [
        ("village/mill.md", "The Miller knows the Smith and the Baker.")
    ]
    less = await village.graph.entity("Carter", relations=1, passages=2)
    assert (len(less.relations), len(less.passages)) == (1, 2)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("zoe angstrom", "Zoë Ångström"),
        ("ZOË  ÅNGSTRÖM", "Zoë Ångström"),
        ("émigré", "The Émigré"),
        ("the Miller", "Miller"),
    ],
)
async def test_case_accents_and_articles_do_not_matter(village: AsyncTrueweave, written: str, meant: str) -> None:
    assert (await village.graph.entity(written)).entity.name == meant


async def test_an_id_will_do_and_so_will_its_beginning(village: AsyncTrueweave) -> None:
    miller = (await village.graph.entity("Miller")).entity
    for given in (miller.id, str(miller.id), str(miller.id)[:8], str(miller.id)[:13].upper()):
        assert (await village.graph.entity(given)).entity == miller


async def test_a_name_of_several_is_an_error_that_lists_them(village: AsyncTrueweave) -> None:
    with pytest.raises(
        AmbiguousName, match=r"2 entities are called 'mercury': Mercury \(god, .*Mercury \(planet, "
    ) as raised:
        await village.graph.entity("mercury")
    assert raised.value.near == ("Mercury::god", "Mercury::planet")
    assert (await village.graph.entity(NameKey("Mercury", "Planet"))).entity.description == "near the sun"


async def test_an_unknown_name_is_an_error_that_suggests_others(village: AsyncTrueweave) -> None:
    with pytest.raises(UnknownEntity, match=r"no document mentions 'Millar'\. Near it: Miller::person") as raised:
        await village.graph.entity("Millar")
    assert raised.value.near[0] == "Miller::person"
    with pytest.raises(UnknownEntity, match="'Mercury' of type 'car'"):
        await village.graph.entity(NameKey("Mercury", "car"))
    for missing in (uuid4(), "ffffffff", "", "x' OR true --"):
        with pytest.raises(UnknownEntity):
            await village.graph.entity(missing)


async def test_names_are_suggested_from_all_pages(village: AsyncTrueweave, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_lookups, "NAMES_AT_ONCE", 2)
    with pytest.raises(UnknownEntity) as raised:
        await village.graph.relations("Milller")
    assert raised.value.near[0] == "Miller::person"
    with pytest.raises(UnknownDocument, match=r"Near it: village/mill\.md"):
        await village.document("vilage/mil.md")


# --- searches -------------------------------------------------------------------------------------------


async def test_entities_are_searched_by_meaning_and_words_and_it_says_so(village: AsyncTrueweave) -> None:
    found = await village.graph.search_entities("angstrom")
    assert found.by == ("vectors", "words")
    assert found.items[0].item.name == "Zoë Ångström"
    only = await village.graph.search_entities("mercury", type="PLANET")
    assert [one.item.type for one in only.items] == ["planet"]
    assert len((await village.graph.search_entities("miller smith baker", 2)).items) == 2


async def test_without_an_embedder_words_decide(village: AsyncTrueweave, database: Database) -> None:
    async with aclosing(await AsyncTrueweave.enter(database, "test", settings=Settings(embedding_model=None))) as plain:
        found = await plain.graph.search_entities("Zoe Duke")
        assert found.by == ("words",)
        assert [(one.item.name, one.score) for one in found.items] == [("Duke", 0.5), ("Zoë Ångström", 0.5)]
        assert [one.item.name for one in (await plain.graph.search_entities("mil")).items] == ["Miller"]
        for nothing in ("%", "_", "", "iller", "'; DROP TABLE trueweave.name; --"):
            assert (await plain.graph.search_entities(nothing)).items == ()
        relations = await plain.graph.search_relations("who knows the duke")
        assert relations.by == ("words",)
        assert relations.items[0].item.target_name == "Duke"


async def test_a_search_keeps_to_its_filter(village: AsyncTrueweave) -> None:
    old = Filter(metadata={"year": 1843})
    names = {one.item.name for one in (await village.graph.search_entities("carter duke", filter=old)).items}
    assert "Carter" in names
    assert "Duke" not in names
    relations = (await village.graph.search_relations("carter duke", filter=old)).items
    assert relations
    assert all(one.item.target_name != "Duke" for one in relations)


async def test_entities_and_relations_are_listed(village: AsyncTrueweave) -> None:
    assert [one.name for one in await village.graph.entities(1)] == ["Carter"]
    assert {one.type for one in await village.graph.entities(type="God")} == {"god"}
    heaviest = await village.graph.relations(limit=2)
    assert [one.weight for one in heaviest] == [9, 9]
    assert {one.target_name for one in await village.graph.relations("duke")} == {"Duke"}


# --- around, and between ----------------------------------------------------------------------------------


async def test_entities_of_a_passage_with_as_many_relations_are_in_the_order_of_their_names(
    trueweave: AsyncTrueweave,
) -> None:
    names = ["Farrier", "Alderman", "Escort", "Carter", "Baker", "Duke"]
    chunk = Chunk("Six walk by.", mentions=tuple(Mention(name, "person") for name in names))
    await trueweave.add_documents([Document("walk.md", (chunk,))])
    [passage] = (await trueweave.retrieve("walk", "keyword")).passages
    drawn = await trueweave.graph.subgraph(chunks=[passage.id])
    assert [one.name for one in drawn.nodes] == sorted(names)


async def test_neighbours_are_found_by_name(village: AsyncTrueweave) -> None:
    assert {one.name for one in await village.graph.neighbours("Miller")} == {"Smith", "Baker"}
    assert {one.name for one in await village.graph.neighbours("Miller", hops=2)} == {"Smith", "Baker", "Carter"}


async def test_a_path_is_the_strongest_of_the_shortest_with_what_states_it(village: AsyncTrueweave) -> None:
    found = await village.graph.path("Miller", "Duke")
    assert found
    assert [one.name for one in found.entities] == ["Miller", "Smith", "Carter", "Duke"]
    assert [step.relation.weight for step in found.steps] == [9, 8, 3]
    assert all(step.forward for step in found.steps)
    assert [step.passages[0].text for step in found.steps] == [
        "The Miller knows the Smith and the Baker.",
        "The Smith knows the Carter.",
        "The Carter knows the Duke.",
    ]
    back = await village.graph.path("duke", "miller")
    assert back
    assert [one.name for one in back.entities] == ["Duke", "Carter", "Smith", "Miller"]
    assert not any(step.forward for step in back.steps)


async def test_where_no_path_leads_there_is_none(village: AsyncTrueweave) -> None:
    assert await village.graph.path("Miller", "Duke", longest=2) is None
    assert await village.graph.path("Miller", "Zoë Ångström") is None
    here = await village.graph.path("Miller", "Miller")
    assert here
    assert (len(here.entities), here.steps) == (1, ())
    with pytest.raises(UnknownEntity):
        await village.graph.path("Miller", "Nobody At All")


async def test_a_hub_does_not_hide_a_path(trueweave: AsyncTrueweave, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a hub the heaviest relations are followed, and from both ends: a light one is found from its other end."""
    hub = [said(f"Hub and {n}", ("Hub", f"Spoke {n:03d}", 9)) for n in range(120)]
    hub.append(said("Hub and the one", ("Hub", "Wanted", 1), ("Wanted", "Behind", 1)))
    await trueweave.add_documents([Document(f"{n}", (one,)) for n, one in enumerate(hub)])
    found = await trueweave.graph.path("Hub", "Behind")
    assert found
    assert [one.name for one in found.entities] == ["Hub", "Wanted", "Behind"]
    monkeypatch.setattr(graph_lookups, "_WIDEST", 1)
    assert await trueweave.graph.path("Spoke 001", "Spoke 100")


# --- documents --------------------------------------------------------------------------------------------


async def test_a_document_is_told_with_its_chunks_places_and_entities(village: AsyncTrueweave) -> None:
    found = await village.document("village/mill.md")
    assert (found.title, found.metadata, found.chunks, found.notes) == ("The mill", VILLAGE[0].metadata, 3, ())
    assert [(one.start, one.source) for one in found.passages] == [
        (0, "The mill"),
        (100, "The mill, The forge"),
        (200, "The mill, page 2"),
    ]
    assert [(one.item.name, one.score) for one in found.entities] == [
        ("Baker", 2),
        ("Carter", 2),
        ("Smith", 2),
        ("Miller", 1),
    ]
    part = await village.document("village/mill.md", first=1, chunks=1, entities=2)
    assert [one.start for one in part.passages] == [100]
    assert len(part.entities) == 2
    for place, starts in {1: [0, 100, 200], 100: [100, 200], 199: [100, 200], 5000: [200]}.items():
        read = await village.document("village/mill.md", start=place)
        assert [one.start for one in read.passages] == starts
    following = await village.document("village/mill.md", start=100, first=1)
    assert [one.start for one in following.passages] == [200]


async def test_a_text_that_another_document_has_is_shown_as_this_ones_own(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents([Document(uri, (Chunk("The very same."),)) for uri in ("a", "b", "c")])
    for uri in ("a", "b", "c"):
        assert [one.uri for one in (await trueweave.document(uri)).passages] == [uri]


async def test_an_unknown_document_is_an_error_that_suggests_others(village: AsyncTrueweave) -> None:
    with pytest.raises(
        UnknownDocument, match=r"there is no document 'vilage/mill\.md'\. Near it: village/mill\.md"
    ) as raised:
        await village.document("vilage/mill.md")
    assert "village/mill.md" in raised.value.near


async def test_documents_are_listed_page_by_page_and_under_a_filter(village: AsyncTrueweave) -> None:
    everything = [one.uri for one in await village.list_documents()]
    assert everything == sorted(one.uri for one in VILLAGE)
    first = await village.list_documents(2)
    assert [one.uri for one in (*first, *await village.list_documents(after=first[-1].uri))] == everything
    old = await village.list_documents(filter=Filter(metadata={"year": 1843}))
    assert [one.uri for one in old] == ["village/mill.md"]
    assert await village.list_documents(filter=Filter(uris=("nowhere",))) == []
    assert [one.uri for one in await village.list_documents(prefix="village/mi")] == ["village/mill.md"]
    assert await village.list_documents(prefix="village/%") == await village.list_documents(prefix="illage") == []


async def test_what_is_looked_up_is_of_this_workspace_alone(village: AsyncTrueweave) -> None:
    other = await AsyncTrueweave.enter(village.database, "other", settings=Settings(embedding_model=None))
    miller = (await village.graph.entity("Miller")).entity
    for missing in ("Miller", miller.id, str(miller.id)[:8]):
        with pytest.raises(UnknownEntity) as raised:
            await other.graph.entity(missing)
        assert raised.value.near == ()
    with pytest.raises(UnknownDocument) as told:
        await other.document("village/mill.md")
    assert told.value.near == ()
    assert (await other.graph.search_entities("miller")).items == ()
    assert (await other.graph.search_relations("miller")).items == ()
    assert await other.graph.relations() == []
    assert await other.graph.relations(miller.id) == []
    assert await other.graph.neighbours(miller.id) == []
    assert await other.list_documents() == []
    assert await other.graph.path(miller.id, UUID(int=1)) is None
