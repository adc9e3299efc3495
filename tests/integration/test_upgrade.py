"""A database of an older version, with documents in it, is migrated and goes on as if it had been made today.

Beside the migrations that there are since, it gets one that only these tests have: it changes a table and its rows, as
real ones do.
"""

from pathlib import Path
from uuid import UUID

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from tests.integration.test_schema import with_more
from trueweave import AsyncTrueweave, Chunk, Document, Link, Mention
from trueweave.core.errors import SchemaOutdated
from trueweave.core.settings import Settings
from trueweave.retrieval.methods import Keyword, Naive
from trueweave.store.postgres.connections import PostgresConnection
from trueweave.store.postgres.db import Database
from trueweave.store.postgres.schema import upgrades
from trueweave.store.postgres.schema.migrate import migrate, missing
from trueweave.store.postgres.schema.schema import migration
from trueweave.testing import HashEmbedder
from trueweave.testing.schema import dump_schema

SCHEMA_FILE = Path(__file__).parents[2] / "docs" / "reference" / "schema.sql"
OLD = Path(__file__).with_name("upgrade.sql")  # written by tools/write_upgrade_fixture.py

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


@pytest.fixture
def old_url(url: str) -> str:
    """A database as an older version left it."""
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("DROP SCHEMA trueweave CASCADE")
        owner.execute("SET check_function_bodies = off")  # as pg_dump has it: functions come before tables
        owner.execute(OLD.read_text("utf-8"))
    return url


@pytest.fixture
def _next_version(monkeypatch: pytest.MonkeyPatch) -> None:
    with_more(monkeypatch, NEXT)


@pytest.mark.usefixtures("_next_version")
async def test_an_old_database_is_refused_until_it_is_migrated(old_url: str) -> None:
    with pytest.raises(SchemaOutdated, match="Run `trueweave migrate`"):
        await Database(old_url).open()
    lacking = await missing(old_url)
    assert lacking[-1] == NEXT.name
    assert await migrate(old_url) == lacking
    async with Database(old_url):
        pass


@pytest.mark.usefixtures("_next_version")
async def test_its_documents_are_found_and_the_index_is_exact(old_url: str) -> None:
    await migrate(old_url)
    async with AsyncTrueweave.open(old_url, "village", HashEmbedder(8), settings=SETTINGS, make=True) as village:
        assert (await village.status()).waiting_names  # as another one of their descriptions may be chosen now
        await village.maintenance.retry()
        assert not (await village.status()).waiting_names
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
    async with AsyncTrueweave.open(old_url, "large", HashEmbedder(8), settings=SETTINGS, make=True) as large:
        assert (await large.status()).documents == 6
        await large.maintenance.retry()  # works what waits
        assert (await large.status()).documents == 7
        assert (await large.maintenance.verify()).exact


async def test_its_tables_are_those_of_a_new_database(old_url: str) -> None:
    await migrate(old_url)
    with psycopg.connect(old_url, autocommit=True) as owner:
        owner.execute("SET search_path = trueweave, public")
        # Those of its embedding space are made when a workspace takes it.
        for (name,) in owner.execute("SELECT tablename FROM pg_tables WHERE tablename LIKE 'vector_1_%'").fetchall():
            owner.execute(SQL("DROP TABLE {}").format(Identifier(name)))
    assert dump_schema(old_url) == SCHEMA_FILE.read_text("utf-8")


async def test_weights_and_types_that_were_not_kept_before_are_worked_out_from_the_documents(url: str) -> None:
    def document(n: int, keywords: tuple[str, ...], emphasis: int) -> Document:
        mentions = Mention("Ada", "Person", f"said {n}", emphasis), Mention("Ben", "person", "", 2)
        link = Link("Ada", "Ben", f"told {n}", keywords, 2.5, emphasis)
        return Document(f"{n}", (Chunk(f"Ada and Ben {n}.", mentions=mentions, links=(link,)),))

    words = ("Helps", "friend"), ("friend", "helps"), ("helps",), ()
    async with AsyncTrueweave.open(url, "village", settings=SETTINGS, make=True) as village:
        await village.add_documents(document(n, words[n % 4], 1 + n % 9) for n in range(20))
        assert [one.type for one in await village.graph.relations(*await _ids(village))] == ["helps"]
        right = await village.maintenance.digest()
        async with village.workspace.transaction() as tx:
            await tx.execute("DELETE FROM phrase_count WHERE kind = 't'")
            await tx.execute("UPDATE phrase_count SET weight = 0")
            await tx.execute("UPDATE relation SET type = '', description = ''")
            await tx.execute("UPDATE entity SET description = ''")
        async with await PostgresConnection.connect(url) as owner:
            await owner.execute("SET search_path = trueweave, public")
            await upgrades.run(owner, "0013_relation_types")
        await village.maintenance.retry()
        assert await village.maintenance.digest() == right
        assert (await village.maintenance.verify()).exact


async def _ids(trueweave: AsyncTrueweave) -> list[UUID]:
    return [entity.id for entity in await trueweave.graph.entities()]
