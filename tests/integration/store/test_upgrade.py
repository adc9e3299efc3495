"""A database with documents in it is migrated to a later version and works as before.

The migration is one that only these tests have: it changes a table and its rows, as real ones do.
"""

import gzip
import json
import subprocess
from hashlib import sha256
from pathlib import Path

import psycopg
import pytest

from tests.integration.store.test_schema import empty_url as empty_url
from tests.integration.store.test_schema import with_more
from tests.populated import SETTINGS, check_upgraded, populate
from trueweave import AsyncTrueweave
from trueweave.errors import SchemaMismatch, SchemaOutdated
from trueweave.extend import Database
from trueweave.methods import Keyword, Naive, Weave
from trueweave.store.postgres.schema.migrate import migrate, missing
from trueweave.store.postgres.schema.schema import migration, migrations
from trueweave.testing import HashEmbedder
from trueweave.testing.schema import postgres_program

RELEASES = Path(__file__).parents[2] / "data" / "releases"
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


async def test_a_database_with_data_is_refused_until_it_is_migrated_and_then_works_as_before(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    digests = await populate(url)
    with_more(monkeypatch, NEXT)
    with pytest.raises(SchemaOutdated, match="Run `trueweave migrate`"):
        await Database(url).open()
    assert await missing(url) == [NEXT.name]
    assert await migrate(url) == [NEXT.name]
    async with AsyncTrueweave.open(url, "village", HashEmbedder(8), settings=SETTINGS) as village:
        assert {note for one in await village.list_documents() for note in one.notes} == {"migrated"}
    await check_upgraded(url, digests)


def _restore(version: str, url: str) -> None:
    dump = gzip.decompress((RELEASES / f"{version}.sql.gz").read_bytes())
    command = [postgres_program("psql"), "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", f"--dbname={url}"]
    subprocess.run(command, input=dump, stdout=subprocess.DEVNULL, check=True)


@pytest.mark.parametrize("version", sorted(file.stem for file in RELEASES.glob("*.json")))
async def test_a_populated_database_of_a_release_is_migrated_and_exact(version: str, empty_url: str) -> None:
    released = json.loads((RELEASES / f"{version}.json").read_text("utf-8"))
    _restore(version, empty_url)
    assert await migrate(empty_url) == [one.name for one in migrations() if one.name not in released["migrations"]]
    await _check_nothing_is_restricted(empty_url)
    await check_upgraded(empty_url, released["digests"])
    await _check_rights(empty_url)


async def _check_nothing_is_restricted(url: str) -> None:
    """Everybody reads all documents, with all methods."""
    with psycopg.connect(url) as owner:
        columns = "readers, given_readers, off"
        rows = owner.execute(f"SELECT DISTINCT {columns} FROM trueweave.document".encode()).fetchall()
        assert rows == [([], None, False)]
    for name in ("village", "large"):
        async with AsyncTrueweave.open(url, name, HashEmbedder(8), settings=SETTINGS) as index:
            acting = index.acting_as([])
            assert await acting.methods() == await index.methods()
            assert await acting.status() == await index.status()
            assert await acting.maintenance.digest() == await index.maintenance.digest()
            found = await acting.retrieve("Whom does the miller know?", Naive(top_k=3))
            assert found.passages == (await index.retrieve("Whom does the miller know?", Naive(top_k=3))).passages


async def _check_rights(url: str) -> None:
    """The policies of callers apply to tables from before, such as those of vectors."""
    for name in ("village", "large"):
        async with AsyncTrueweave.open(url, name, HashEmbedder(8), settings=SETTINGS) as index:
            uris = {one.uri for one in await index.list_documents()}
            hidden = min(uris)
            assert await index.access.set(hidden, ["some"]) >= 1
            for groups in [], ["some"]:
                for method in (Naive(top_k=100), Keyword(top_k=100), Weave(top_k=100)):
                    found = await index.acting_as(groups).retrieve("Whom does the miller know in the village?", method)
                    shown = {one.uri for one in found.passages}
                    assert shown
                    assert (hidden in shown) <= bool(groups)
                    if isinstance(method, Naive):
                        assert shown == {uri for uri in uris if groups or not uri.startswith(hidden)}


def test_released_migrations_are_never_edited() -> None:
    now = {one.name: sha256(one.sql.encode()).hexdigest() for one in migrations()}
    for file in RELEASES.glob("*.json"):
        released = json.loads(file.read_text("utf-8"))["migrations"]
        assert {name: now.get(name) for name in released} == released, file.name


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
