"""Documents from a query of a real PostgreSQL server."""

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, closing
from ipaddress import ip_network
from pathlib import Path
from urllib.parse import quote_plus, urlsplit

import psycopg
import pytest

from trueweave import AsyncTrueweave, Settings
from trueweave.errors import ConfigError, SourceUnavailable
from trueweave.events import Skipped, Unreadable
from trueweave.extend import Connector, ConnectorContext, Database, Item
from trueweave.ingest.connectors import open_connector
from trueweave.testing import HashEmbedder
from trueweave.testing.connectors import ConnectorContract, RemoteTexts

LOOPBACK = (ip_network("127.0.0.0/8"),)


class Articles:
    """Rows of a table in a schema of its own."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.password = parts.password or ""
        self.base = f"postgresql://{parts.username}@{parts.hostname}:{parts.port}{parts.path}?sslmode=disable"
        self.address = f"{self.base}&table=shop.article"
        self.connection = psycopg.connect(url, autocommit=True)
        self.connection.execute(
            "CREATE SCHEMA shop; CREATE TABLE shop.article (id text, title text, body text, price numeric, tags text[])"
        )

    def put(self, name: str, text: str) -> None:
        self.delete(name)
        row = (name, f"About {name}", text, "9.50", ["a", "b"])
        self.connection.execute("INSERT INTO shop.article VALUES (%s, %s, %s, %s, %s)", row)

    def delete(self, name: str) -> None:
        self.connection.execute("DELETE FROM shop.article WHERE id = %s", (name,))

    def query(self, text: str) -> str:
        """The address of a query."""
        return f"{self.base}&query={quote_plus(text)}"

    def open(self, address: str = "", max_bytes: int = 2**20) -> Connector:
        context = ConnectorContext({"password": self.password}, LOOPBACK, max_bytes=max_bytes)
        return open_connector(address or self.address, context)


@pytest.fixture
def articles(url: str) -> Iterator[Articles]:
    made = Articles(url)
    yield made
    made.connection.close()


class TestPostgresQuery(ConnectorContract):
    @pytest.fixture
    def remote(self, articles: Articles) -> RemoteTexts:
        return articles


@pytest.fixture
async def index(
    database: Database, articles: Articles, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[AsyncTrueweave]:
    monkeypatch.setenv("SHOP_PASSWORD", articles.password)
    settings = Settings.model_validate({"extractor": "capitals", "source_networks": ["127.0.0.0/8"]})
    async with aclosing(await AsyncTrueweave.enter(database, "sql", HashEmbedder(), settings=settings)) as opened:
        yield opened


SECRETS = {"password": "SHOP_PASSWORD"}


async def test_the_index_follows_a_table(index: AsyncTrueweave, articles: Articles) -> None:
    for n in range(6):
        articles.put(str(n), f"Ada Lovelace wrote article {n}.")
    assert (await index.sync(articles.address, secrets=SECRETS)).new == 6
    again = await index.sync(articles.address, secrets=SECRETS)
    assert (again.new, again.unchanged) == (0, 6)
    articles.put("3", "Grace Hopper wrote article 3.")
    articles.delete("5")
    changed = await index.sync(articles.address, secrets=SECRETS)
    assert (changed.new, changed.unchanged, changed.removed) == (1, 4, 1)
    found = await index.document(articles.base.partition("?")[0] + "/shop.article#3")
    assert found.title == "About 3"
    assert found.metadata == {"price": 9.5, "tags": ["a", "b"]}
    assert [passage.text for passage in found.passages] == ["Grace Hopper wrote article 3."]


def test_a_stated_version_decides_and_rows_without_a_text_are_lines(articles: Articles, tmp_path: Path) -> None:
    address = articles.query(
        "SELECT 7 AS id, now()::date AS day, NULL AS nothing, 'x' AS version, '{\"a\": [1]}'::jsonb AS more;"
    )
    with closing(articles.open(address)) as connector:
        [item] = connector.items()
        assert isinstance(item, Item)
        assert item.version == "x"
        fetched = connector.fetch(item, tmp_path, "")
        assert fetched is not None
        assert "id: 7\\nday: 20" in fetched.path.read_text()
        assert 'more: {\\"a\\": [1]}' in fetched.path.read_text()


def test_rows_are_fetched_in_one_snapshot_and_in_any_order(articles: Articles, tmp_path: Path) -> None:
    for n in range(1200):
        articles.put(f"{n:04}", f"Text {n}.")
    with closing(articles.open()) as connector:
        items = [one for one in connector.items() if isinstance(one, Item)]
        assert len(items) == 1200
        articles.delete("1100")
        for wanted in (3, 1100, 2):
            fetched = connector.fetch(items[wanted], tmp_path, "")
            assert fetched is not None
            assert f"Text {wanted}." in fetched.path.read_text()


def test_a_query_cannot_write_or_run_on(articles: Articles) -> None:
    articles.put("one", "Text.")
    hostile = [
        ("SELECT 1 AS id) AS q; DELETE FROM shop.article; SELECT * FROM (SELECT 1 AS id", "multiple commands"),
        ("WITH gone AS (DELETE FROM shop.article RETURNING id) SELECT id FROM gone", "data-modifying|read-only"),
        ("SELECT setval('shop.numbers', 7) AS id", "read-only"),
        ("SELECT pg_sleep(9)::text AS id", "statement timeout"),
        ("SELECT nothing FROM nowhere", "does not exist"),
    ]
    articles.connection.execute("CREATE SEQUENCE shop.numbers")
    for query, why in hostile:
        context = ConnectorContext({"password": articles.password}, LOOPBACK, seconds=1)
        with (
            closing(open_connector(articles.query(query), context)) as connector,
            pytest.raises(SourceUnavailable, match=why),
        ):
            list(connector.items())
    [count] = articles.connection.execute("SELECT count(*) FROM shop.article").fetchone() or [0]
    assert count == 1


def test_rows_that_are_too_large_or_have_no_id_of_their_own_are_reported(articles: Articles) -> None:
    query = "VALUES ('a', repeat('x', 5000)), ('b', ''), ('b', ''), (NULL, '')"
    with closing(articles.open(articles.query(f"SELECT * FROM ({query}) AS v (id, text)"), 1000)) as connector:
        found = list(connector.items())
    assert [type(one) for one in found] == [Skipped, Item, Unreadable, Unreadable]


def test_addresses_that_do_not_work_are_refused(articles: Articles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", articles.password)
    context = ConnectorContext({}, LOOPBACK)
    with (
        closing(open_connector(articles.address, context)) as connector,
        pytest.raises(SourceUnavailable, match="password"),
    ):
        list(connector.items())  # the password of the environment is for another server
    secure = articles.address.replace("sslmode=disable", "name=a")
    context = ConnectorContext({"password": articles.password}, LOOPBACK)
    with closing(open_connector(secure, context)) as connector, pytest.raises(SourceUnavailable, match="SSL"):
        list(connector.items())
    private = ConnectorContext({"password": articles.password})
    with (
        closing(open_connector(articles.address, private)) as connector,
        pytest.raises(ConfigError, match="private or reserved"),
    ):
        list(connector.items())
    with (
        closing(articles.open(articles.query("SELECT 1 AS number"))) as connector,
        pytest.raises(ConfigError, match="no column 'id'"),
    ):
        list(connector.items())
    for wrong in (
        "postgresql://h/d",
        "postgresql://h/d?query=a&table=b",
        "postgresql://h/d?table=a&x=1",
        "postgresql://h/d?table=a&sslmode=prefer",
    ):
        with pytest.raises(ConfigError):
            open_connector(wrong, ConnectorContext())
