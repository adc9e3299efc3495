"""Where known names occur: a function of names and texts, whatever came first."""

from collections.abc import Mapping

from trueweave import AsyncTrueweave, Chunk, Document, Mention

Found = dict[str, dict[str, tuple[int, int, bool]]]


def document(uri: str, text: str, *names: str, title: str = "") -> Document:
    return Document(uri, (Chunk(text, mentions=tuple(map(Mention, names))),), title=title)


async def occurrences(trueweave: AsyncTrueweave) -> Found:
    """By document: each phrase with how often it occurs, how often outside the title, and whether it is the subject."""
    query = """
        SELECT d.uri, p.key, o.count, o.inside, o.defines FROM occurrence o
        JOIN chunk c ON c.id = o.chunk JOIN document d ON d.id = c.document AND d.visible
        LEFT JOIN phrase p ON p.id = o.phrase ORDER BY 1, 2"""
    found: Found = {}
    async with trueweave.workspace.transaction() as tx:
        for uri, phrase, times, inside, defines in await (await tx.execute(query)).fetchall():
            found.setdefault(uri, {})[phrase] = (times, inside, defines)
    return found


async def counts(trueweave: AsyncTrueweave) -> Mapping[str, int]:
    async with trueweave.workspace.transaction() as tx:
        return dict(await (await tx.execute("SELECT key, chunks FROM phrase")).fetchall())


async def test_a_name_that_arrives_finds_itself_in_texts_already_there(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents([document("a", "We met Ada Byron in Oxford.")])
    assert await occurrences(trueweave) == {}
    await trueweave.add_documents([document("b", "Nothing here.", "Ada Byron", "Oxford")])
    assert await occurrences(trueweave) == {"a": {"ada byron": (1, 1, True), "oxford": (1, 1, False)}}
    assert await counts(trueweave) == {"ada byron": 1, "oxford": 1}


async def test_a_longer_name_takes_the_place_of_one_inside_it_and_gives_it_back(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents([document("a", "They sail to York Harbour.", "York")])
    await trueweave.add_documents([document("b", "Elsewhere.", "York Harbour")])
    assert list((await occurrences(trueweave))["a"]) == ["york harbour"]
    await trueweave.remove(["b"])
    assert list((await occurrences(trueweave))["a"]) == ["york"]
    assert await counts(trueweave) == {"york": 1}


async def test_a_name_that_nobody_mentions_any_more_takes_its_occurrences_along(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents([document("a", "About Ada.", "Ada"), document("b", "Ada again, and Ada.")])
    assert (await counts(trueweave))["ada"] == 2
    await trueweave.remove(["a"])
    assert await occurrences(trueweave) == {}
    assert await counts(trueweave) == {}


async def test_the_title_says_what_a_first_chunk_is_about(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents([document("a", "Mercury\nIt is near the Sun.", "Mercury", "Sun", title="Mercury")])
    assert await occurrences(trueweave) == {"a": {"mercury": (1, 0, True), "sun": (1, 1, False)}}


async def test_a_name_that_arrives_finds_the_texts_that_it_stands_over(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents([document("a", "It is near us.", title="Mercury")])
    await trueweave.add_documents([document("b", "Elsewhere.", "Mercury")])
    assert await occurrences(trueweave) == {"a": {"mercury": (1, 0, True)}}
    await trueweave.remove(["b"])
    assert await occurrences(trueweave) == {}


async def test_another_title_over_the_same_text_is_noticed(trueweave: AsyncTrueweave) -> None:
    text = "It is near the Sun, says Ada."
    await trueweave.add_documents([document("a", text, "Mercury", "Venus", "Sun", title="Mercury")])
    await trueweave.add_documents([document("a", text, "Mercury", "Venus", "Sun", title="Venus")])
    assert (await occurrences(trueweave))["a"] == {"sun": (1, 1, False), "venus": (1, 0, True)}


async def test_two_workspaces_do_not_find_each_others_names(trueweave: AsyncTrueweave) -> None:
    other = await AsyncTrueweave.enter(trueweave.database, "other")
    await trueweave.add_documents([document("a", "Ada is here.", "Ada")])
    await other.add_documents([document("a", "Ada is here too."), document("b", "Bob", "Bob")])
    assert set(await counts(other)) == {"bob"}
    await other.maintenance.drop()
    assert await counts(trueweave) == {"ada": 1}


async def test_it_ends_as_if_built_from_scratch(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents([document("a", "Ada Byron met Ada in New York.", "Ada")])
    await trueweave.add_documents(
        [document("b", "New York Times", "New York", "Ada Byron", title="The New York Times")]
    )
    await trueweave.add_documents([document("c", "York", "York", "New York Times")])
    await trueweave.remove(["b"])
    await trueweave.add_documents([document("a", "Byron met Ada in New York Times Square.", "Byron", "Times Square")])
    assert (await trueweave.maintenance.verify()).exact
    assert await occurrences(trueweave)
