"""A sight shows what a caller may read, in one place for all queries."""

import psycopg
import pytest

from trueweave import AsyncTrueweave, Chunk, Document, Filter, Mention
from trueweave.core.evidence import Evidence
from trueweave.errors import InvalidArgument, NotForRestricted
from trueweave.extend import Database
from trueweave.index.settle import settle
from trueweave.store.postgres.search.document_filter import compiled
from trueweave.store.postgres.sight import Sight
from trueweave.testing import HashEmbedder


def said(uri: str, text: str, *names: str, **more: object) -> Document:
    return Document(uri, (Chunk(text, mentions=tuple(map(Mention, names))),), **more)  # type: ignore[arg-type]


@pytest.fixture
async def index(database: Database) -> AsyncTrueweave:
    index = await AsyncTrueweave.enter(database, "test", HashEmbedder(8))
    await index.add_documents(
        [
            said("open", "Ada met Babbage in London", "Ada", "Babbage", metadata={"year": 1833, "k": ["a", True]}),
            said("legal", "Babbage signed a contract with Ada", "Babbage", "contract", readers=("legal", "board")),
            said("hr", "Ada earns as much as Babbage", "Ada", "salary", readers=("hr",), metadata={"year": 1840.5}),
        ]
    )
    return index


def uris(found: Evidence) -> set[str]:
    return {one.uri for one in found.passages}


@pytest.mark.parametrize("method", ["naive", "keyword", "fuse", "walk", "weave", "auto"])
@pytest.mark.parametrize(
    ("groups", "seen"),
    [([], {"open"}), (["x"], {"open"}), (["hr"], {"open", "hr"}), (["board", "hr"], {"open", "hr", "legal"})],
)
async def test_questions_find_what_the_groups_read(
    index: AsyncTrueweave, method: str, groups: list[str], seen: set[str]
) -> None:
    found = await index.acting_as(groups).retrieve("What did Ada and Babbage do?", method)
    assert uris(found) == seen
    assert {one.score for one in found.passages} == {0.0}
    assert found.trace.steps == ()
    assert uris(await index.acting_as(["*"]).retrieve("Ada", method)) == {"open", "hr", "legal"}
    filtered = await index.acting_as(groups).retrieve("Ada", method, filter=Filter(metadata={"year": 1840.5}))
    assert uris(filtered) == seen & {"hr"}
    filtered = await index.acting_as(groups).retrieve("Ada", method, filter=Filter(("hr", "open")))
    assert uris(filtered) == seen & {"hr", "open"}


@pytest.mark.parametrize("method", ["local", "global", "hybrid", "mix", "subgraph", "hipporag", "pathrag", "graphrag"])
async def test_methods_that_read_what_is_made_from_all_documents_are_refused(
    index: AsyncTrueweave, method: str
) -> None:
    with pytest.raises(NotForRestricted, match="not available to callers who may not read all documents"):
        await index.acting_as(["hr"]).retrieve("Ada", method)
    problems = {one.name: one.problem for one in await index.acting_as(["hr"]).methods()}
    assert "you may not read all" in problems[method]
    assert not problems["weave"]


async def test_without_restricted_documents_nothing_is_refused(index: AsyncTrueweave) -> None:
    await index.remove(["legal", "hr"])
    acting = index.acting_as([])
    assert uris(await acting.retrieve("Ada", "mix")) == {"open"}
    assert (await acting.status()).entities == 2
    assert await acting.add_documents([said("more", "Byron wrote", "Byron")]) == 1
    await index.add_documents([said("hr", "Byron earns", "Byron", readers=("hr",))])
    assert uris(await acting.retrieve("Byron", "fuse")) == {"open", "more"}
    with pytest.raises(NotForRestricted):
        await acting.add_documents([said("again", "Byron wrote", "Byron")])
    with pytest.raises(InvalidArgument, match="acts as groups already"):
        acting.acting_as(["hr"])


@pytest.mark.parametrize(
    ("wanted", "passing"),
    [
        (Filter(("open", "hr")), {"open", "hr"}),
        (Filter(metadata={"year": 1833}), {"open"}),
        (Filter(metadata={"year": 1833.0}), {"open"}),
        (Filter(metadata={"year": [1840.5, 1833]}), {"open", "hr"}),
        (Filter(metadata={"k": "a", "year": 1833}), {"open"}),
        (Filter(metadata={"k": True}), {"open"}),
        (Filter(metadata={"k": False}), set()),
        (~Filter(metadata={"year": 1833}), {"legal", "hr"}),
        (Filter(prefix="l") | Filter(prefix="h"), {"legal", "hr"}),
        (Filter(prefix="l") & ~Filter(("legal",)), set()),
    ],
)
async def test_a_sight_with_a_filter_sees_what_passes(index: AsyncTrueweave, wanted: Filter, passing: set[str]) -> None:
    for workspace, seen in (
        (index.workspace, passing),
        (index.workspace.seen(Sight(("legal",))), passing & {"open", "legal"}),
    ):
        async with workspace.filtered(compiled(wanted)).transaction() as tx:
            rows = await (await tx.execute("SELECT uri, current_user FROM document")).fetchall()
        assert {uri for uri, _ in rows} == seen
        assert {role for _, role in rows} <= {"trueweave_caller"}


async def test_a_document_that_is_switched_off_is_not_seen(index: AsyncTrueweave) -> None:
    async with index.workspace.transaction() as tx:
        await tx.execute("UPDATE document SET off = true WHERE uri = 'hr'")
    await settle(index.workspace, HashEmbedder(8))
    assert uris(await index.acting_as(["hr"]).retrieve("Ada", "fuse")) == {"open"}


async def test_groups_with_odd_characters(index: AsyncTrueweave) -> None:
    odd = "a\"b\\c,{d}'%s é"
    await index.add_documents([said("odd", "Ada is odd", "Ada", readers=(odd,))])
    assert uris(await index.acting_as([odd]).retrieve("Ada", "fuse")) == {"open", "odd"}
    async with index.workspace.seen(Sight((odd,))).transaction() as tx:
        assert len(await (await tx.execute("SELECT FROM document")).fetchall()) == 2


async def test_policies_for_callers_do_not_concern_the_working_role(url: str, index: AsyncTrueweave) -> None:
    with psycopg.connect(url) as owner:
        rows = owner.execute(
            "SELECT policyname, roles::text FROM pg_policies WHERE schemaname = 'trueweave' AND roles <> '{public}'"
        ).fetchall()
        assert {(name, roles) for name, roles in rows} == {
            ("reader", "{trueweave_reader}"),
            ("open", "{trueweave_reader}"),
            ("switched_on", "{trueweave_reader}"),
            ("not_former", "{trueweave_reader}"),
            ("caller", "{trueweave_caller}"),
        }
        inherits = "SELECT pg_has_role('trueweave_app', %s, 'USAGE')"
        for role in ("trueweave_caller", "trueweave_reader"):
            assert owner.execute(inherits, (role,)).fetchone() == (False,)
