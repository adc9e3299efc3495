"""A database whose owner is nobody special, as on a managed server: no superuser, bound by row-level security too; and
applications whose user is not the owner."""

from collections.abc import Iterator
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from psycopg.errors import InsufficientPrivilege

from tests.integration.index.test_settle import document
from trueweave import AsyncTrueweave, Settings, Source
from trueweave.errors import DatabaseError, SchemaOutdated
from trueweave.store.postgres.vectors import vectors
from trueweave.testing import HashEmbedder

PASSWORD = "for-this-test-only"


@pytest.fixture
def owned_url(server_url: str) -> Iterator[str]:
    """A new database that an ordinary role owns. The administrator does what only one can:
    lets it work as trueweave_app, which another database made before, and brings pgvector.
    """
    with psycopg.connect(server_url, autocommit=True) as admin:
        admin.execute("DROP DATABASE IF EXISTS trueweave_test_owned WITH (FORCE)")
        admin.execute("DROP ROLE IF EXISTS trueweave_test_owner")
        admin.execute(f"CREATE ROLE trueweave_test_owner LOGIN PASSWORD '{PASSWORD}'")
        admin.execute("GRANT trueweave_app TO trueweave_test_owner")
        admin.execute("CREATE DATABASE trueweave_test_owned OWNER trueweave_test_owner")
        place = urlsplit(server_url)
        with psycopg.connect(urlunsplit(place._replace(path="/trueweave_test_owned")), autocommit=True) as inside:
            inside.execute("CREATE EXTENSION vector")
        address = place.netloc.rpartition("@")[2]
        yield urlunsplit(
            place._replace(netloc=f"trueweave_test_owner:{PASSWORD}@{address}", path="/trueweave_test_owned")
        )
        admin.execute("DROP DATABASE trueweave_test_owned WITH (FORCE)")
        admin.execute("DROP ROLE trueweave_test_owner")


@pytest.fixture
def application_url(server_url: str, owned_url: str) -> Iterator[str]:
    """The same database for a role that may log in, and nothing else."""
    with psycopg.connect(server_url, autocommit=True) as admin:
        admin.execute("DROP ROLE IF EXISTS trueweave_test_application")
        admin.execute(f"CREATE ROLE trueweave_test_application LOGIN PASSWORD '{PASSWORD}'")
        yield owned_url.replace("trueweave_test_owner:", "trueweave_test_application:")
        admin.execute("DROP ROLE trueweave_test_application")


@pytest.mark.usefixtures("databases")
async def test_an_application_needs_no_right_but_the_role(
    server_url: str, owned_url: str, application_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "MOST_IN_COMMON", 5)
    settings = Settings(
        database_url=application_url, owner_database_url=owned_url, workspace="one", extractor="capitals"
    )
    with pytest.raises(SchemaOutdated, match="no schema of Trueweave"):
        await opened(settings)
    with pytest.raises(DatabaseError, match=r"may not change the schema.*permission denied.*owner_database_url"):
        await AsyncTrueweave.migrate(application_url)
    assert await AsyncTrueweave.migrate(settings=settings)
    with psycopg.connect(server_url, autocommit=True) as admin:
        for grant in ("SELECT 1", "GRANT trueweave_app TO trueweave_test_application WITH INHERIT FALSE"):
            admin.execute(grant)
            with pytest.raises(DatabaseError, match='GRANT trueweave_app TO "trueweave_test_application" WITH INHERIT'):
                await opened(settings)
        admin.execute("GRANT trueweave_app TO trueweave_test_application WITH INHERIT TRUE")
    async with AsyncTrueweave.open(settings=settings, embedder=HashEmbedder()) as one:
        await one.add(Source("note", "Ada Lovelace met Charles Babbage in London."))
        await one.add_documents(document(f"{n}", f"Name {chr(65 + n)}") for n in range(10))
        await one.maintenance.change_space(HashEmbedder(16))
        await one.communities.find()
        assert (await one.retrieve("Whom did Ada meet?")).passages
        assert (await one.maintenance.verify()).exact
        await one.maintenance.drop()
    with psycopg.connect(application_url, autocommit=True) as application, pytest.raises(InsufficientPrivilege):
        application.execute("CREATE TABLE trueweave.mine ()")


async def opened(settings: Settings) -> None:
    async with AsyncTrueweave.open(settings=settings):
        pass


@pytest.mark.usefixtures("databases")  # somebody else's database made the role before
async def test_an_ordinary_owner_can_do_everything(owned_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "MOST_IN_COMMON", 5)
    assert await AsyncTrueweave.migrate(owned_url)
    async with (
        AsyncTrueweave.open(owned_url, "one", HashEmbedder(), make=True) as one,
        AsyncTrueweave.open(owned_url, "two", make=True) as two,
    ):
        await one.add_documents(document(f"{n}", f"Name {chr(65 + n)}") for n in range(10))
        await two.add_documents([document("a", "Ada")])
        await one.maintenance.change_space(HashEmbedder(16))
        await one.remove(["3"])
        async with one.workspace.transaction() as tx:
            found = await tx.execute("SELECT chunk FROM search_text('some text', 20, 1.2, 0.75, NULL)")
            assert found.rowcount == 9
        assert (await one.maintenance.verify()).exact
        assert (await two.maintenance.verify()).exact
        await one.maintenance.drop()
        assert (await two.status()).documents == 1
