"""What pages show for commands is what these print."""

import json
import os
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

import pytest
from neo4j import GraphDatabase

from tests.commands import run_command
from tests.docs.pages import ROOT, blocks, run
from tests.docs.transcripts import Session, check, matches, steps, terminal
from tests.e2e.conftest import model_server
from tests.web_site import Answer, web_site
from trueweave.cli.demo.folder import DemoFolder
from trueweave.demo import DOCUMENTS
from trueweave.retrieval.methods import registry
from trueweave.server.routes import ui
from trueweave.store.embedded import EmbeddedServer
from trueweave.testing import Databases

DOCS = ROOT / "docs"
CLEAN = {name: value for name, value in os.environ.items() if not name.upper().startswith(("TRUEWEAVE_", "OPENAI_"))}

# Pages whose commands run in the folder of the demo, and how many commands they have at least. Each has a copy of the
# folder, but those that need a server share one.
SERVED = {
    "how-to/log-in.md": 4,
    "how-to/server.md": 2,
    "how-to/http-api.md": 5,
    "how-to/openai-clients.md": 4,
    "how-to/operations.md": 1,
    "how-to/client.md": 5,
}
ADDING = {
    "how-to/adding-documents.md": 8,
    "how-to/follow-a-folder.md": 4,
    "how-to/file-formats.md": 5,
    "how-to/your-own-entities.md": 3,
    "how-to/communities.md": 2,
    "how-to/find-contradictions.md": 4,
    "how-to/watches.md": 7,
}
IN_THE_DEMO = {
    "how-to/access-rights.md": 5,
    "how-to/prove-erasure.md": 4,
    "how-to/scans-and-tables.md": 2,
    "how-to/budgets.md": 5,
    "how-to/ollama.md": 2,
    "how-to/filtering.md": 3,
    "how-to/history.md": 4,
    "how-to/chat.md": 1,
    "how-to/workers.md": 2,
    "how-to/mcp.md": 2,
    "how-to/frameworks.md": 3,
    "how-to/tenants.md": 8,
    "how-to/databases.md": 1,
    "how-to/upgrade.md": 1,
    "how-to/benchmarking.md": 2,
    "how-to/bring-your-own.md": 1,
    "how-to/chroma.md": 3,
    "how-to/embedding.md": 1,
    "how-to/looking-things-up.md": 1,
    "how-to/models.md": 1,
    "how-to/moving.md": 1,
    "how-to/names.md": 3,
    "how-to/pictures.md": 1,
    "how-to/servers.md": 1,
    "how-to/standbys.md": 2,
}
EXTENDING = {"how-to/write-a-loader.md": 3, "how-to/write-a-connector.md": 2, "how-to/write-a-method.md": 1}
_DATABASE = "postgresql://app:password@db.example/trueweave"
_NEO4J = "neo4j://user:password@host:7687/neo4j"


def _named(pages: Iterable[tuple[str, int]]) -> str:
    return "-".join(Path(page).stem for page, _ in pages)


@pytest.fixture(autouse=True)
def _terminal() -> Iterator[None]:
    with terminal():
        yield


@dataclass(frozen=True)
class Built:
    """The folder of the demo, and a database with its documents."""

    folder: Path
    url: str

    @classmethod
    def make(cls, folder: Path, url: str, *, is_embedded: bool = True) -> Self:
        DemoFolder(folder).make()
        if not is_embedded:
            settings = (folder / "trueweave.toml").read_text("utf-8").splitlines()
            kept = [line for line in settings if not line.startswith("embedding_model")]
            (folder / "trueweave.toml").write_text("\n".join(kept), "utf-8")
        for words in (("init",), ("add", "documents")):
            run_command(*words, folder=folder, environment={**CLEAN, "TRUEWEAVE_DATABASE_URL": url})
        return cls(folder, url)

    def run(
        self,
        databases: Databases,
        place: Path,
        pages: Iterable[tuple[str, int]],
        addresses: Mapping[str, str] | None = None,
    ) -> None:
        """Run the commands of these pages in a copy, with servers here at the addresses of other systems."""
        url, folder = databases.make(like=self.url), place / "trueweave-demo"
        shutil.copytree(self.folder, folder)
        address = urlsplit(url)
        names = {
            f"{address.hostname}:{address.port}{address.path}": "db.example/trueweave",
            sys.executable: "/home/ada/.venv/bin/python",
            str(place): "/home/ada",
        }
        environment = {**CLEAN, "TRUEWEAVE_DATABASE_URL": url, "XDG_CACHE_HOME": str(place / "cache")}
        session = Session(folder, environment, names, {_DATABASE: url, **(addresses or {})})
        try:
            for page, number in pages:
                assert check(DOCS / page, session) >= number
        finally:
            session.close()
            databases.drop(url)


@pytest.fixture(scope="module")
def built(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    """With the vectors that come with the demo."""
    url = databases.make()
    yield Built.make(tmp_path_factory.mktemp("built"), url)
    databases.drop(url)


@pytest.fixture(scope="module")
def by_words(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    """Without vectors, so that other documents can be added without a model."""
    url = databases.make()
    yield Built.make(tmp_path_factory.mktemp("words"), url, is_embedded=False)
    databases.drop(url)


@pytest.mark.parametrize("pages", [*([one] for one in IN_THE_DEMO.items()), SERVED.items()], ids=_named)
def test_commands_in_the_folder_of_the_demo(
    pages: Iterable[tuple[str, int]], built: Built, databases: Databases, tmp_path: Path
) -> None:
    built.run(databases, tmp_path, pages)


@pytest.mark.parametrize("page", ADDING)
def test_commands_that_add_documents(page: str, by_words: Built, databases: Databases, tmp_path: Path) -> None:
    by_words.run(databases, tmp_path, [(page, ADDING[page])])


def test_a_copy_in_neo4j(built: Built, databases: Databases, tmp_path: Path, neo4j_url: str) -> None:
    page = "how-to/neo4j.md"
    built.run(databases, tmp_path, [(page, 3)], {_NEO4J: neo4j_url})
    copies, *queries = blocks((DOCS / page).read_text("utf-8"), "cypher")
    address = urlsplit(neo4j_url)
    login = (address.username or "", address.password or "")
    with GraphDatabase.driver(f"bolt://{address.hostname}:{address.port}", auth=login) as driver:
        assert driver.execute_query(copies).records
        for query in queries:
            driver.execute_query(query.replace("Ada Lovelace", "Gull Stack"))


@pytest.mark.skipif(not ui.is_built(), reason="The web UI is not built here: run `make web`.")
def test_the_web_ui(built: Built, databases: Databases, tmp_path: Path) -> None:
    built.run(databases, tmp_path, [("how-to/web-ui.md", 1)])


@pytest.mark.nightly
def test_a_bulk_load(built: Built, databases: Databases, tmp_path: Path) -> None:
    """On Ray, which takes long to start."""
    built.run(databases, tmp_path, [("how-to/bulk.md", 2)])


@pytest.fixture(scope="module")
def model_url() -> Iterator[str]:
    """A model server that answers as on the pages."""
    with model_server("--script", "tests.docs.model:reply") as found:
        yield found


def test_a_model(databases: Databases, tmp_path: Path, model_url: str) -> None:
    folder, url = tmp_path / "harbour", databases.make()
    shutil.copytree(DOCUMENTS, folder / "papers")
    environment = {**CLEAN, "TRUEWEAVE_DATABASE_URL": url, "TRUEWEAVE_MODEL_URL": model_url}
    environment |= {"TRUEWEAVE_EMBEDDING_MODEL": "vllm/bge-small", "TRUEWEAVE_EMBEDDING_URL": model_url}
    for words in (("init",), ("add", "papers")):
        run_command(*words, folder=folder, environment=environment)
    session = Session(folder, environment)
    assert check(DOCS / "start/give-it-a-model.md", session) >= 6
    assert check(DOCS / "how-to/write-a-verifier.md", session) == 1
    assert check(DOCS / "how-to/record-answers.md", session) == 6
    databases.drop(url)


def test_the_tutorial() -> None:
    """With a PostgreSQL of its own, and the vectors of the demo in the place of the model that has made them."""
    with tempfile.TemporaryDirectory(prefix="trueweave-") as place:
        Path(place).chmod(0o755)  # the server may run as a user of its own
        data, folder = Path(place, "data"), Path(place, "harbour")
        folder.mkdir()
        shutil.copytree(DOCUMENTS, folder / "papers")
        environment = {
            **CLEAN,
            "TRUEWEAVE_DATA_DIRECTORY": str(data),
            "TRUEWEAVE_EMBEDDING_MODEL": "demo/bge-small-en-v1.5",
        }
        names = {str(data): "~/.local/share/trueweave", "demo/bge-small": "local/bge-small"}
        session = Session(folder, environment, names)
        try:
            assert check(DOCS / "start/your-own-documents.md", session) >= 10
        finally:
            session.close()
            EmbeddedServer(data).stop()


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The package of the pages on writing a loader, a connector and a method, installed as its entry points say."""
    made, groups = tmp_path / "packages", dict[str, list[str]]()
    (made / "my_package").mkdir(parents=True)
    for page in EXTENDING:
        text = (DOCS / page).read_text("utf-8")
        [points] = [tomllib.loads(block)["project"]["entry-points"] for block in blocks(text, "toml")]
        for group, entries in points.items():
            for name, place in entries.items():
                module, _, what = place.partition(":")
                [code] = [block for block in blocks(text, "python") if f"class {what}" in block]
                (made / f"{module.replace('.', '/')}.py").write_text(code, "utf-8")
                # Sites of tests have no certificate.
                groups.setdefault(group, []).extend(f"{one} = {place}" for one in {name, name.replace("https", "http")})
    information = made / "my_package-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n", "utf-8")
    listed = "\n".join("\n".join((f"[{group}]", *lines)) for group, lines in groups.items())
    (information / "entry_points.txt").write_text(listed, "utf-8")
    monkeypatch.syspath_prepend(made)
    registry._methods.cache_clear()
    yield
    registry._methods.cache_clear()
    for name in [one for one in sys.modules if one.partition(".")[0] == "my_package"]:
        del sys.modules[name]


@pytest.mark.usefixtures("package")
def test_commands_with_a_package(
    by_words: Built, databases: Databases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(CLEAN, "TRUEWEAVE_SOURCE_NETWORKS", '["127.0.0.0/8"]')
    with web_site() as site:
        pages = [{"name": name, "revision": 1, "author": "Ruth Oddie"} for name in ("gauge", "lamp")]
        site.pages["/pages.json"] = Answer(json.dumps(pages).encode())
        site.page("/gauge", "# Tide gauge\n\nThe tide gauge of the Inner Mole is wound on Mondays.")
        site.page("/lamp", "# Lamp\n\nThe lamp of Gull Stack is cleaned on Fridays.")
        by_words.run(databases, tmp_path, EXTENDING.items(), {"https://wiki.example": site.url})


def test_the_store_of_the_page_passes_its_suite(databases: Databases, server_url: str, tmp_path: Path) -> None:
    page = DOCS / "how-to/stores.md"
    [suite] = [block for block in blocks(page.read_text("utf-8"), "python") if "class TestMyGraph" in block]
    (tmp_path / "test_my_graph.py").write_text(suite, "utf-8")
    store = "from tests.contract.in_memory import MemoryGraph as MyGraph, load as copy_graph\n"
    (tmp_path / "my_package.py").write_text(store, "utf-8")
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n", "utf-8"
    )
    environment = {**CLEAN, "TEST_SERVER_URL": server_url, "PYTHONPATH": f"{ROOT}:{tmp_path}"}
    assert check(page, Session(tmp_path, environment)) == 1


def test_programs(by_words: Built, databases: Databases, tmp_path: Path) -> None:
    url, folder = databases.make(like=by_words.url), tmp_path / "demo"
    shutil.copytree(by_words.folder, folder)
    environment = {**CLEAN, "TRUEWEAVE_DATABASE_URL": url}
    told = "[] finds 0 mails\n['archive'] finds 2 mails\n"
    past = "42 documents then, 41 now\n"
    pages = {"your-own-entities": "London\n", "filtering": "2\n", "access-rights": told, "history": past}
    pages["find-contradictions"] = ""  # the setting is empty there
    for page, printed in pages.items():
        [code] = blocks((DOCS / f"how-to/{page}.md").read_text("utf-8"), "python")
        assert run(folder, environment, "-c", code) == printed
    databases.drop(url)


def test_a_page_that_shows_something_else_is_noticed() -> None:
    [step] = steps("$ trueweave verify\nExact: 40 documents, 2 ms.\n")
    assert step.command == "trueweave verify"
    assert matches(step.printed, "Exact: 40\ndocuments, 31 ms.")
    assert not matches(step.printed, "Exact: 41 documents, 2 ms.")
    assert matches("Exact\n…\nEnd\n", "Exact\nmore\nEnd\n")
    assert not matches("Exact\n…\nEnd\n", "Exact\nmore\n")
