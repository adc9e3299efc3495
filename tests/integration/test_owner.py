"""A database whose owner is nobody special, as on a managed server: no superuser, bound by row-level security too."""

from collections.abc import Iterator
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from tests.integration.test_settle import document
from trueweave import AsyncTrueweave
from trueweave.store.postgres import vectors
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


@pytest.mark.usefixtures("databases")  # somebody else's database made the role before
async def test_an_ordinary_owner_can_do_everything(owned_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "MOST_IN_COMMON", 5)
    assert await AsyncTrueweave.migrate(owned_url)
    async with (
        AsyncTrueweave.open(owned_url, "one", HashEmbedder()) as one,
        AsyncTrueweave.open(owned_url, "two") as two,
    ):
        await one.add_documents(document(f"{n}", f"Name {chr(65 + n)}") for n in range(10))
        await two.add_documents([document("a", "Ada")])
        await one.change_space(HashEmbedder(16))
        await one.remove(["3"])
        async with one.workspace.transaction() as tx:
            found = await tx.execute("SELECT chunk FROM search_text('some text', 20, 1.2, 0.75, NULL)")
            assert found.rowcount == 9
        assert (await one.verify()).exact
        assert (await two.verify()).exact
        await one.drop()
        assert (await two.status()).documents == 1
