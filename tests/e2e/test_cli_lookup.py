"""Commands that look things up, and pictures, as a user has them."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import Trueweave, answer, typed
from trueweave import AsyncTrueweave, Chunk, Document, Link, Mention, Settings
from trueweave.core.record import Json
from trueweave.testing import Databases

LONG = "a person of whom a great deal is told, again and again, in words that no line of a terminal has room for " * 3
CHUNK = Chunk(
    "Ada Lovelace wrote to Charles Babbage. Byron was her father.",
    mentions=(Mention("Ada Lovelace", "person", LONG), Mention("Mercury", "planet"), Mention("<b>Bold</b>", "markup")),
    links=(
        Link("Ada Lovelace", "Charles Babbage", "wrote to", ("letters",), 9),
        Link("Lord Byron", "Ada Lovelace", "is the father of"),
    ),
)
OTHER = Chunk("Mercury ran.", mentions=(Mention("Mercury", "god"),))


@pytest.fixture(scope="module")
def url(databases: Databases) -> Iterator[str]:
    """One database for all that is looked up here."""
    made = databases.make()

    async def fill() -> None:
        async with AsyncTrueweave.open(settings=Settings(database_url=made, workspace="filled")) as index:
            long_name = "notes/a-file-with-quite-a-long-name-in-a-folder-of-its-own.md"
            dated: dict[str, Json] = {"date": "2024-05-05", "year": 1843}
            await index.add_documents([Document("ada.md", (CHUNK,), "Notes", dated), Document(long_name, (OTHER,))])
            await index.communities.find()

    asyncio.run(fill())
    yield made
    databases.drop(made)


@pytest.fixture(autouse=True)
def _settings(tmp_path: Path) -> None:
    (tmp_path / "trueweave.toml").write_text('workspace = "filled"')


COMMANDS = {
    ("documents", "--where", "date:2024-01-01..2024-06-30"): "ada.md",
    ("documents", "--where", "year>=1843", "--where", "year<1844"): "ada.md",
    ("documents", "--where", "year>1843"): "No document fits.",
    ("documents", "--limit", "1"): "There may be more: --after ada.md shows what follows.",
    ("documents", "--after", "ada.md"): "notes/a-file",
    ("document", "ada.md"): "Ada Lovelace wrote to Charles Babbage.",
    ("entities", "--type", "GOD"): "Mercury",
    ("entities", "lovelace"): "found by the words of names",
    ("entities", "nothing like it"): "No entity fits.",
    ("entity", "ada lovelace"): "←  Lord Byron",
    ("entity", "Mercury::god"): "Mercury ran.",
    ("entity", "Mercury", "--where", "year=1843"): "planet",
    ("entity", "Mercury", "--filter", "not year=1843"): "god",
    ("entities", "-d", "notes/**"): "god",
    ("relations", "--filter", "not year=1843"): "Nothing in the documents that pass the filter.",
    ("neighbours", "ada lovelace", "-d", "ada.md"): "Lord Byron",
    ("path", "lord byron", "charles babbage", "--where", "year=1843"): "Ada Lovelace",
    ("relations",): "Ada Lovelace",
    ("relations", "letters"): "Charles Babbage",
    ("neighbours", "Ada Lovelace"): "Lord Byron",
    ("neighbours", "Mercury::god"): "Nothing is related to Mercury::god.",
    ("path", "Lord Byron", "Charles Babbage"): "Lord Byron - Ada Lovelace - Charles Babbage  2 relations",
    ("path", "Lord Byron", "Mercury::god"): "No path of at most 6 relations leads from Lord Byron to Mercury::god.",
}


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_it_is_shown_as_text_and_as_json(trueweave: Trueweave, command: tuple[str, ...]) -> None:
    assert COMMANDS[command] in trueweave(*command).stdout
    assert answer(trueweave(*command, "--json"))


def test_json_has_what_was_found(trueweave: Trueweave) -> None:
    entity = answer(trueweave("entity", "ada lovelace", "--json"))
    assert (entity["entity"]["name"], len(entity["relations"]), len(entity["passages"])) == ("Ada Lovelace", 2, 1)
    path = answer(trueweave("path", "Lord Byron", "Charles Babbage", "--json"))["path"]
    assert [step["forward"] for step in path["steps"]] == [True, True]
    found = answer(trueweave("entities", "lovelace", "--json"))
    assert (found["by"], found["scores"], found["entities"][0]["name"]) == (["words"], [1.0], "Ada Lovelace")


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (("entity", "Mercury"), "2 entities are called 'Mercury'"),
        (("entity", "Ada Lovelase"), "Near it: Ada Lovelace::person"),
        (("document", "eda.md"), "there is no document 'eda.md'. Near it: ada.md"),
        (("documents", "--where", "year"), "'year' is not a condition"),
        (("graph", "show"), "say what to show"),
        (("graph", "show", "Ada Lovelace", "--out", "graph.png"), "graph.png has neither the extension .html nor .svg"),
        (("graph", "show", "Ada Lovelace", "--out", "no/such/folder.svg"), "cannot write no/such/folder.svg"),
        (("graph", "show", "--path", "Lord Byron", "Mercury::god"), "no path of at most 6 relations"),
        (("graph", "show", "--community", "fff"), "no community whose id begins with fff"),
    ],
    ids=str,
)
def test_a_slip_is_told_in_one_line(trueweave: Trueweave, command: tuple[str, ...], problem: str) -> None:
    assert problem in trueweave(*command, code=1).stderr


@pytest.mark.parametrize(
    "command",
    [
        ("entity", "Ada Lovelace"),
        ("entities",),
        ("relations",),
        ("path", "Lord Byron", "Charles Babbage"),
        ("document", "ada.md"),
        ("documents",),
    ],
    ids=" ".join,
)
def test_nothing_is_wider_than_a_terminal(
    tmp_path: Path, environment: dict[str, str], command: tuple[str, ...]
) -> None:
    shown = typed(tmp_path, {**environment, "COLUMNS": "80"}, command, {}, code=0)
    assert max(map(len, shown.replace("\r", "").splitlines())) <= 80, shown


def test_pictures_are_written(trueweave: Trueweave, tmp_path: Path) -> None:
    assert "graph.html: 3 entities, 2 relations." in trueweave("graph", "show", "ada lovelace").stdout
    assert "Charles Babbage" in (tmp_path / "graph.html").read_text("utf-8")
    told = answer(trueweave("graph", "show", "ada lovelace", "--limit", "2", "--out", "a.svg", "--json"))
    assert told["note"].startswith("2 of 3 entities around Ada Lovelace are shown")
    assert (tmp_path / "a.svg").read_text("utf-8").startswith("<svg ")
    trueweave("graph", "show", "--path", "Lord Byron", "Charles Babbage", "-o", "path.html")
    assert '"marked":true' in (tmp_path / "path.html").read_text("utf-8")
    [community] = answer(trueweave("communities", "tree", "--json"))["communities"]
    trueweave("graph", "show", "--community", community["id"][:8], "-o", "c.svg")
    assert "Lord Byron" in (tmp_path / "c.svg").read_text("utf-8")
    assert json.dumps(told)
