"""Readers are stored with a document, kept by its later versions, and changed without processing it again."""

from typing import Any

import pytest

from trueweave import AsyncTrueweave, Chunk, Document, Mention, Settings, Source
from trueweave.core.record import ResolutionSettings
from trueweave.errors import ConfigError, InvalidDocument
from trueweave.extend import Database, Workspace
from trueweave.store.postgres.record import record, resolution
from trueweave.store.postgres.record.sources import submit


def said(uri: str, text: str = "Ada met Babbage.", **more: Any) -> Document:
    return Document(uri, (Chunk(text, mentions=(Mention("Ada"),)),), **more)


async def readers(workspace: Workspace) -> dict[str, list[tuple[bool, list[str]]]]:
    """Of each version of each document whether it is current, and its readers; checked against their facets."""
    async with workspace.transaction() as tx:
        rows = await (
            await tx.execute(
                "SELECT d.uri, d.current, d.readers, ARRAY(SELECT facet FROM facet WHERE document = d.id ORDER BY 1)"
                "   = ARRAY(SELECT reader_facets(d.readers) UNION SELECT facets(d.metadata) ORDER BY 1)"
                " FROM document d ORDER BY d.uri, d.current"
            )
        ).fetchall()
    assert all(is_consistent for *_, is_consistent in rows)
    found: dict[str, list[tuple[bool, list[str]]]] = {}
    for uri, current, groups, _ in rows:
        found.setdefault(uri, []).append((current, groups))
    return found


async def rule(workspace: Workspace, prefix: str, *groups: str) -> None:
    async with workspace.transaction() as tx:
        await tx.execute(
            "INSERT INTO access_rule (prefix, readers) VALUES (%(p)s, %(r)s)", {"p": prefix, "r": [*groups]}
        )
        await tx.execute("SELECT keep_readers(ARRAY(SELECT id FROM document))")


@pytest.fixture
async def index(database: Database) -> AsyncTrueweave:
    return await AsyncTrueweave.enter(database, "test", settings=Settings(extractor="capitals", embedding_model=None))


async def test_readers_are_those_given_or_those_of_the_longest_rule(index: AsyncTrueweave) -> None:
    await rule(index.workspace, "hr/", "hr")
    await index.add_documents(
        [
            said("a"),
            said("b", readers=("legal", "board", "legal")),
            said("hr/c"),
            said("hr/d", readers=()),
            said("hr/x/e"),
        ]
    )
    expected = {"a": [], "b": ["board", "legal"], "hr/c": ["hr"], "hr/d": [], "hr/x/e": ["hr"]}
    assert await readers(index.workspace) == {uri: [(True, groups)] for uri, groups in expected.items()}
    await rule(index.workspace, "hr/x", "x", "y")
    assert (await readers(index.workspace))["hr/x/e"] == [(True, ["x", "y"])]
    kept = {one.uri: one.readers async for page in record.read(index.workspace) for one in page}
    assert kept == {"a": None, "b": ("board", "legal"), "hr/c": ("hr",), "hr/d": (), "hr/x/e": ("x", "y")}


async def test_a_new_version_keeps_the_readers_unless_others_are_given(index: AsyncTrueweave) -> None:
    await index.add_documents([said("a", readers=("hr",), metadata={"k": 1})])
    await index.add_documents([said("a", "Ada wrote.")])
    assert await readers(index.workspace) == {"a": [(True, ["hr"])]}
    await index.add_documents([said("a", "Ada wrote again.", readers=("legal",))])
    assert await readers(index.workspace) == {"a": [(True, ["legal"])]}
    await index.add_documents([said("a", "Ada wrote again.", readers=())])  # unchanged: the version stays
    assert await readers(index.workspace) == {"a": [(True, [])]}
    await index.remove(["a"])
    await index.add_documents([said("a", "Ada wrote again.")])
    assert await readers(index.workspace) == {"a": [(True, [])]}


async def test_a_removed_document_that_returns_has_no_readers_of_before(index: AsyncTrueweave) -> None:
    await index.add_documents([said("a", readers=("hr",))])
    await index.remove(["a"])
    await index.add_documents([said("a", "another text")])
    assert await readers(index.workspace) == {"a": [(True, [])]}


async def test_readers_of_an_unchanged_document_change_without_processing_it(index: AsyncTrueweave) -> None:
    source = Source("a", "Ada Lovelace met Charles Babbage.", readers=("hr",))
    assert (await index.add(source)).new == 1
    before = (await index.list_documents())[0].added
    assert (await index.add(Source("a", source.text, readers=("legal",)))).new == 0
    assert await readers(index.workspace) == {"a": [(True, ["legal"])]}
    assert (await index.add(Source("a", source.text))).new == 0  # none given: it keeps them
    assert await readers(index.workspace) == {"a": [(True, ["legal"])]}
    assert (await index.add(Source("a", source.text, readers=()))).new == 0
    assert await readers(index.workspace) == {"a": [(True, [])]}
    assert (await index.list_documents())[0].added == before


async def test_readers_given_while_a_document_waits_or_is_processed_are_those_it_gets(index: AsyncTrueweave) -> None:
    recipe = (await index._core.models()).recipe().packed()
    source = Source("a", "Ada Lovelace met Charles Babbage.", readers=("hr",))
    handed = await submit(index.workspace, [source], recipe)
    again = await submit(index.workspace, [Source("a", source.text, readers=("legal",))], recipe)
    assert (len(handed.queued), len(again.queued)) == (1, 0)
    await index.add()
    assert await readers(index.workspace) == {"a": [(True, ["legal"])]}
    async with index.workspace.transaction() as tx:
        assert await (await tx.execute("SELECT count(*) FROM source")).fetchone() == (0,)


async def test_readers_and_fuzzy_resolution_exclude_each_other(index: AsyncTrueweave, database: Database) -> None:
    await index.add_documents([said("a", readers=("hr",))])
    with pytest.raises(ConfigError, match="cannot have fuzzy resolution, because some of its documents have readers"):
        await resolution.change_settings(index.workspace, ResolutionSettings("fuzzy"))
    fuzzy = await AsyncTrueweave.enter(
        database, "fuzzy", settings=Settings(extractor="capitals", embedding_model=None, resolution="fuzzy")
    )
    await fuzzy.add_documents([said("a"), said("b", readers=())])
    for act in (fuzzy.add_documents([said("c", readers=("hr",))]), fuzzy.add(Source("d", "Ada.", readers=("hr",)))):
        with pytest.raises(ConfigError, match="cannot have readers in a workspace with fuzzy resolution"):
            await act
    assert set(await readers(fuzzy.workspace)) == {"a", "b"}


@pytest.mark.parametrize("groups", [("*",), ("",), (" a",), ("x" * 201,), ("a\x00",), "hr"])
def test_impossible_groups_are_refused(groups: Any) -> None:
    with pytest.raises(InvalidDocument):
        Document("a", (), readers=groups)
    with pytest.raises(InvalidDocument):
        Source("a", "text", readers=groups)
