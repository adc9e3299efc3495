"""A database with documents in it is migrated to a later version and works as before.

The migration is one that only these tests have: it changes a table and its rows, as real ones do.
"""

from itertools import combinations

import psycopg
import pytest

from tests.integration.store.test_schema import with_more
from trueweave import AsyncTrueweave, Chunk, Document, Link, Mention, NameKey, Settings, Source
from trueweave.core.events import ignore
from trueweave.engine.model_settings import recipe
from trueweave.errors import SchemaMismatch, SchemaOutdated
from trueweave.extend import Database
from trueweave.ingest.intake import take_in
from trueweave.methods import Keyword, Naive
from trueweave.store.postgres.schema.migrate import migrate, missing
from trueweave.store.postgres.schema.schema import migration
from trueweave.store.postgres.vectors import vectors
from trueweave.testing import HashEmbedder

NEXT = migration(
    "9001_read",
    """-- breaking
ALTER TABLE document ADD COLUMN read_by text[] NOT NULL DEFAULT '{}';
DO $$
DECLARE
    one record;
BEGIN
    FOR one IN SELECT id FROM workspace LOOP
        PERFORM set_config('trueweave.workspace', one.id::text, true);
        UPDATE document SET read_by = ARRAY[uri], notes = notes || ARRAY['migrated'] WHERE workspace = one.id;
    END LOOP;
END $$;
CREATE INDEX document_read ON document (added, workspace)
""",
)
SETTINGS = Settings(extractor="capitals", embedding_model=None)
FOLK = ("miller", "smith", "reeve", "priest", "widow")


def _document(a: str, b: str) -> Document:
    said = Link(a, b, f"the {a} knows the {b}")
    text = f"The {a} of the village knows the {b}."
    return Document(f"{a}-{b}", (Chunk(text, mentions=(Mention(a), Mention(b)), links=(said,)),))


async def _fill(url: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Two workspaces: one whose vectors share tables with others, one with tables of its own. Their digests."""
    async with Database(url) as database:
        village = await AsyncTrueweave.enter(database, "village", HashEmbedder(8), settings=SETTINGS)
        await village.add_documents(_document(a, b) for a, b in combinations(FOLK, 2))
        stranger = Chunk("The stranger left.", mentions=(Mention("stranger"),))
        await village.add_documents([Document("removed", (stranger,))])
        await village.remove(["removed"])
        await village.rules.merge(NameKey("smith"), NameKey("reeve"))
        await village.communities.find()
        await village.communities.write_reports()
        monkeypatch.setattr(vectors, "MOST_IN_COMMON", 3)
        large = await AsyncTrueweave.enter(database, "large", HashEmbedder(8), settings=SETTINGS)
        await large.add_documents(_document(a, b) for a, b in combinations(FOLK[:4], 2))
        await take_in(large.workspace, [Source("waiting", "Ada met Bob in London.")], recipe(SETTINGS), ignore)
        digests = {"village": await village.maintenance.digest(), "large": await large.maintenance.digest()}
        await village.aclose()
        await large.aclose()
    return digests


async def test_a_database_with_data_is_refused_until_it_is_migrated_and_then_works_as_before(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    digests = await _fill(url, monkeypatch)
    with_more(monkeypatch, NEXT)
    with pytest.raises(SchemaOutdated, match="Run `trueweave migrate`"):
        await Database(url).open()
    assert await missing(url) == [NEXT.name]
    assert await migrate(url) == [NEXT.name]

    async with AsyncTrueweave.open(url, "village", HashEmbedder(8), settings=SETTINGS) as village:
        assert await village.maintenance.digest() == digests["village"]
        assert (await village.maintenance.verify()).exact
        for method in (Keyword(), Naive(top_k=3)):
            found = await village.retrieve("Whom does the miller know?", method)
            assert any("miller" in passage.text for passage in found.passages)
        [community, *_] = await village.communities.select()
        assert await village.communities.report(community.id)
        assert len(await village.rules.all()) == 1
        assert {note for one in await village.list_documents() for note in one.notes} == {"migrated"}
        await village.remove(["miller-smith"])
        assert (await village.maintenance.verify()).exact
    async with AsyncTrueweave.open(url, "large", HashEmbedder(8), settings=SETTINGS) as large:
        assert await large.maintenance.digest() == digests["large"]
        assert (await large.status()).documents == 6
        await large.maintenance.retry()  # processes the document that waits
        assert (await large.status()).documents == 7
        assert (await large.maintenance.verify()).exact


async def test_a_database_from_before_the_baseline_is_refused_and_left_as_it_is(url: str) -> None:
    before = [
        (1, "0001_workspace", False), (2, "0002_record", False), (3, "0003_view", False), (4, "0004_vectors", False),
        (12, "0012_projections", True), (23, "0023_partitions", False), (29, "0029_run_budget", False),
    ]  # fmt: skip
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("DROP SCHEMA trueweave CASCADE; CREATE SCHEMA trueweave; SET search_path = trueweave")
        owner.execute("CREATE TABLE migration (number int PRIMARY KEY, name text NOT NULL, additive bool NOT NULL)")
        owner.execute("GRANT USAGE ON SCHEMA trueweave TO trueweave_app; GRANT SELECT ON migration TO trueweave_app")
        owner.cursor().executemany("INSERT INTO migration VALUES (%s, %s, %s)", before)
    for act in (lambda: migrate(url), lambda: missing(url), Database(url).open):
        with pytest.raises(SchemaMismatch, match=r"made by a development version .* cannot be migrated\. Use another"):
            await act()
    with psycopg.connect(url) as owner:
        tables = owner.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'trueweave'").fetchall()
        assert tables == [("migration",)]
        assert owner.execute("SELECT number, name, additive FROM trueweave.migration").fetchall() == before
