"""What pages show for commands is what these print."""

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

import pytest

from tests.commands import run_command
from tests.docs.pages import ROOT, blocks, run
from tests.docs.transcripts import Session, check, matches, steps, terminal
from tests.e2e.conftest import model_server
from trueweave.cli.demo.folder import DemoFolder
from trueweave.demo import DOCUMENTS
from trueweave.store.embedded import EmbeddedServer
from trueweave.testing import Databases

DOCS = ROOT / "docs"
CLEAN = {name: value for name, value in os.environ.items() if not name.upper().startswith(("TRUEWEAVE_", "OPENAI_"))}

# Pages whose commands run in the folder of the demo, and how many commands they have at least. Each has a copy of the
# folder, but those that need a server share one.
SERVED = {"how-to/server.md": 2, "how-to/http-api.md": 5, "how-to/openai-clients.md": 4, "how-to/operations.md": 1}
ADDING = {
    "how-to/adding-documents.md": 8,
    "how-to/follow-a-folder.md": 4,
    "how-to/file-formats.md": 5,
    "how-to/your-own-entities.md": 3,
    "how-to/communities.md": 2,
}
IN_THE_DEMO = {
    "how-to/scans-and-tables.md": 2,
    "how-to/budgets.md": 5,
    "how-to/ollama.md": 1,
    "how-to/filtering.md": 3,
    "how-to/chat.md": 1,
    "how-to/workers.md": 1,
    "how-to/tenants.md": 8,
    "how-to/databases.md": 1,
    "how-to/upgrade.md": 1,
    "how-to/benchmarking.md": 2,
    "how-to/bring-your-own.md": 1,
    "how-to/chroma.md": 1,
    "how-to/embedding.md": 1,
    "how-to/looking-things-up.md": 1,
    "how-to/models.md": 1,
    "how-to/moving.md": 1,
    "how-to/names.md": 3,
    "how-to/neo4j.md": 1,
    "how-to/pictures.md": 1,
    "how-to/servers.md": 1,
    "how-to/stores.md": 1,
    "how-to/write-a-method.md": 1,
    "how-to/write-a-loader.md": 2,
    "how-to/write-a-verifier.md": 1,
    "how-to/write-a-connector.md": 1,
}


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

    def run(self, databases: Databases, place: Path, pages: Iterable[tuple[str, int]]) -> None:
        """Run the commands of these pages in a copy."""
        url, folder = databases.make(like=self.url), place / "trueweave-demo"
        shutil.copytree(self.folder, folder)
        address = urlsplit(url)
        names = {f"{address.hostname}:{address.port}{address.path}": "db.example/trueweave"}
        environment = {**CLEAN, "TRUEWEAVE_DATABASE_URL": url, "XDG_CACHE_HOME": str(place / "cache")}
        session = Session(folder, environment, names)
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


def test_programs(by_words: Built, databases: Databases, tmp_path: Path) -> None:
    url, folder = databases.make(like=by_words.url), tmp_path / "demo"
    shutil.copytree(by_words.folder, folder)
    environment = {**CLEAN, "TRUEWEAVE_DATABASE_URL": url}
    for page, printed in {"your-own-entities": "London\n", "filtering": "2\n"}.items():
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
