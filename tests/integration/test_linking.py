"""Where known names occur: a function of names and texts, whatever came first."""

from collections.abc import Mapping

from weft import AsyncWeft, Chunk, Document, Mention

Found = dict[str, dict[str, tuple[int, int, bool]]]


def document(uri: str, text: str, *names: str, title: str = "") -> Document:
    return Document(uri, (Chunk(text, mentions=tuple(map(Mention, names))),), title=title)


async def occurrences(weft: AsyncWeft) -> Found:
    """By document: each phrase with how often it occurs, how often outside the title, and whether it is the subject."""
    query = """
        SELECT d.uri, p.key, o.times, o.inside, o.defines FROM occurrence o
        JOIN chunk c ON c.id = o.chunk JOIN document d ON d.id = c.document AND d.shown
        LEFT JOIN phrase p ON p.id = o.phrase ORDER BY 1, 2"""
    found: Found = {}
    async with weft.database.transaction(weft.workspace) as tx:
        for uri, phrase, times, inside, defines in await (await tx.execute(query)).fetchall():
            found.setdefault(uri, {})[phrase] = (times, inside, defines)
    return found


async def counts(weft: AsyncWeft) -> Mapping[str, int]:
    async with weft.database.transaction(weft.workspace) as tx:
        return dict(await (await tx.execute("SELECT key, chunks FROM phrase")).fetchall())


async def test_a_name_that_arrives_finds_itself_in_texts_already_there(weft: AsyncWeft) -> None:
    await weft.add_documents([document("a", "We met Ada Byron in Oxford.")])
    assert await occurrences(weft) == {}
    await weft.add_documents([document("b", "Nothing here.", "Ada Byron", "Oxford")])
    assert await occurrences(weft) == {"a": {"ada byron": (1, 1, True), "oxford": (1, 1, False)}}
    assert await counts(weft) == {"ada byron": 1, "oxford": 1}


async def test_a_longer_name_takes_the_place_of_one_inside_it_and_gives_it_back(weft: AsyncWeft) -> None:
    await weft.add_documents([document("a", "They sail to York Harbour.", "York")])
    await weft.add_documents([document("b", "Elsewhere.", "York Harbour")])
    assert list((await occurrences(weft))["a"]) == ["york harbour"]
    await weft.remove(["b"])
    assert list((await occurrences(weft))["a"]) == ["york"]
    assert await counts(weft) == {"york": 1}


async def test_a_name_that_nobody_mentions_any_more_takes_its_occurrences_along(weft: AsyncWeft) -> None:
    await weft.add_documents([document("a", "About Ada.", "Ada"), document("b", "Ada again, and Ada.")])
    assert (await counts(weft))["ada"] == 2
    await weft.remove(["a"])
    assert await occurrences(weft) == {}
    assert await counts(weft) == {}


async def test_the_title_says_what_a_first_chunk_is_about(weft: AsyncWeft) -> None:
    await weft.add_documents([document("a", "Mercury\nIt is near the Sun.", "Mercury", "Sun", title="Mercury")])
    assert await occurrences(weft) == {"a": {"mercury": (1, 0, True), "sun": (1, 1, False)}}


async def test_a_name_that_arrives_finds_the_texts_that_it_stands_over(weft: AsyncWeft) -> None:
    await weft.add_documents([document("a", "It is near us.", title="Mercury")])
    await weft.add_documents([document("b", "Elsewhere.", "Mercury")])
    assert await occurrences(weft) == {"a": {"mercury": (1, 0, True)}}
    await weft.remove(["b"])
    assert await occurrences(weft) == {}


async def test_another_title_over_the_same_text_is_noticed(weft: AsyncWeft) -> None:
    text = "It is near the Sun, says Ada."
    await weft.add_documents([document("a", text, "Mercury", "Venus", "Sun", title="Mercury")])
    await weft.add_documents([document("a", text, "Mercury", "Venus", "Sun", title="Venus")])
    assert (await occurrences(weft))["a"] == {"sun": (1, 1, False), "venus": (1, 0, True)}


async def test_two_workspaces_do_not_find_each_others_names(weft: AsyncWeft) -> None:
    other = await AsyncWeft.enter(weft.database, "other")
    await weft.add_documents([document("a", "Ada is here.", "Ada")])
    await other.add_documents([document("a", "Ada is here too."), document("b", "Bob", "Bob")])
    assert set(await counts(other)) == {"bob"}
    await other.drop()
    assert await counts(weft) == {"ada": 1}


async def test_it_ends_as_if_built_from_scratch(weft: AsyncWeft) -> None:
    await weft.add_documents([document("a", "Ada Byron met Ada in New York.", "Ada")])
    await weft.add_documents([document("b", "New York Times", "New York", "Ada Byron", title="The New York Times")])
    await weft.add_documents([document("c", "York", "York", "New York Times")])
    await weft.remove(["b"])
    await weft.add_documents([document("a", "Byron met Ada in New York Times Square.", "Byron", "Times Square")])
    assert (await weft.verify()).exact
    assert await occurrences(weft)
