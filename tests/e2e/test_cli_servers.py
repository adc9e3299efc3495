"""`trueweave migrate`, `server` and `workspace move` with several PostgreSQL servers."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.e2e.conftest import Trueweave, answer
from trueweave.testing import Databases


@pytest.fixture
def east(databases: Databases, environment: dict[str, str], tmp_path: Path) -> Iterator[str]:
    """Another database, which the settings call east. Its address is in the environment."""
    url = databases.make()
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("DROP SCHEMA trueweave CASCADE")
    environment["EAST_URL"] = url
    (tmp_path / "trueweave.toml").write_text('[server_urls]\neast = "EAST_URL"\n')
    yield url
    databases.drop(url)


def test_a_server_is_joined_weighed_and_a_workspace_moved_there(trueweave: Trueweave, east: str) -> None:
    assert "put others under [server_urls] first" in trueweave("db", "servers", "list").stdout
    lacking = answer(trueweave("migrate", "--check", "--json", code=1))
    assert lacking["missing"] == []
    assert lacking["servers"]["east"][0] == "0001_workspaces"
    applied = trueweave("migrate").stdout
    assert applied.count("is up to date.") == 1
    assert "Applied " in applied
    assert answer(trueweave("migrate", "--json")) == {"applied": [], "servers": {"east": []}}

    trueweave("init", "--workspace", "acme")
    trueweave(
        "add", "-", "--uri", "letter", "--workspace", "acme", stdin="Ada Lovelace wrote to Charles Babbage in London."
    )
    assert "home" in trueweave("workspace", "list").stdout
    said = trueweave("workspace", "move", "acme", "--to", "east").stdout
    assert said.startswith("acme is on east, with the same digest, ")
    moved = answer(trueweave("workspace", "list", "--json"))["workspaces"]
    assert [(one["name"], one["server"]) for one in moved] == [("acme", "east")]
    assert answer(trueweave("status", "--workspace", "acme", "--json"))["documents"] == 1
    assert "server east" in trueweave("doctor", "--workspace", "acme").stdout
    told = trueweave("workspace", "move", "acme", "--to", "east", code=1).stderr
    assert "error: workspace 'acme' is already on the server east." in told
    assert (
        "there is no server 'west' in the settings. Available: home, east."
        in trueweave("workspace", "move", "acme", "--to", "west", code=1).stderr
    )

    assert "east takes no new workspaces." in trueweave("db", "servers", "weigh", "east", "0").stdout
    listed = {one["name"]: one for one in answer(trueweave("db", "servers", "list", "--json"))["servers"]}
    assert (listed["east"]["workspaces"], listed["east"]["weight"], listed["home"]["workspaces"]) == (1, 0, 0)
    assert "takes no new workspaces" in trueweave("db", "servers", "list").stdout
    assert "acme was dropped, with its 1 document." in trueweave("workspace", "drop", "acme", "--yes").stdout
    with psycopg.connect(east) as owner:
        assert owner.execute("SELECT count(*) FROM trueweave.document").fetchone() == (0,)


def test_an_address_that_is_not_in_the_environment_is_named(
    trueweave: Trueweave, east: str, environment: dict[str, str]
) -> None:
    del environment["EAST_URL"]
    said = trueweave("status", code=1).stderr
    assert "takes the address of server east from the environment variable EAST_URL" in said
    assert east not in said
