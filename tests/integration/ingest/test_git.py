"""Documents from Git repositories: the index follows a branch, and a hostile repository does no harm."""

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from ipaddress import ip_network
from pathlib import Path

import pytest
from dulwich import porcelain

from tests.git_repository import AUTHOR, Repository, git_server
from tests.web_site import Answer, web_site
from trueweave import AsyncTrueweave, Event, Settings
from trueweave.errors import ConfigError, RemovalNotConfirmed, SourceUnavailable
from trueweave.events import Skipped
from trueweave.extend import Connector, ConnectorContext, Database
from trueweave.ingest.connectors import open_connector
from trueweave.ingest.connectors.git import Git, RepositoryLimits
from trueweave.testing import HashEmbedder
from trueweave.testing.connectors import ConnectorContract, RemoteTexts

LOOPBACK = (ip_network("127.0.0.0/8"),)


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[Repository]:
    with git_server(tmp_path / "project") as made:
        yield made


@pytest.fixture
async def index(database: Database) -> AsyncIterator[AsyncTrueweave]:
    settings = Settings.model_validate({"extractor": "capitals", "source_networks": ["127.0.0.0/8"], "source_pause": 0})
    async with aclosing(await AsyncTrueweave.enter(database, "git", HashEmbedder(), settings=settings)) as opened:
        yield opened


async def texts(index: AsyncTrueweave) -> dict[str, str]:
    return {document.uri: "".join(chunk.text for chunk in document.chunks) async for document in index.documents()}


class InRepository:
    """Texts in a repository on this machine."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def put(self, name: str, text: str) -> None:
        self._repository.commit({f"{name}.md": text})

    def delete(self, name: str) -> None:
        self._repository.commit({f"{name}.md": None})

    def open(self) -> Connector:
        return open_connector(f"git+file://{self._repository.folder}", ConnectorContext())


class TestGit(ConnectorContract):
    @pytest.fixture
    def remote(self, repository: Repository) -> RemoteTexts:
        return InRepository(repository)


async def test_the_index_follows_a_branch(index: AsyncTrueweave, repository: Repository) -> None:
    files: dict[str, str | None] = {f"docs/{n}.md": f"Ada Lovelace wrote file {n}." for n in range(8)}
    repository.commit({**files, "data/rows.csv": "id,text\n1,Grace Hopper\n2,Alan Turing\n", "logo.bin": "no text"})
    heard: list[Event] = []
    assert (await index.sync(repository.url, listener=heard.append)).new == 10
    assert (await texts(index))[f"{repository.url}/docs/3.md"] == "Ada Lovelace wrote file 3."
    assert (await texts(index))[f"{repository.url}/data/rows.csv#2"] == "Alan Turing"
    assert [one.path for one in heard if isinstance(one, Skipped)] == [f"{repository.url}/logo.bin"]

    again = await index.sync(repository.url)
    assert (again.new, again.unchanged) == (0, 9)

    repository.commit({"docs/3.md": "Grace Hopper wrote file 3.", "data/rows.csv": "id,text\n1,Grace Hopper\n"})
    changed = await index.sync(repository.url)
    assert (changed.new, changed.removed) == (1, 1)  # the row that was deleted is removed
    assert (await texts(index))[f"{repository.url}/docs/3.md"] == "Grace Hopper wrote file 3."

    repository.commit({f"docs/{n}.md": None for n in range(4)})
    with pytest.raises(RemovalNotConfirmed, match="4 of the 9 documents"):
        await index.sync(repository.url)
    assert (await index.sync(repository.url, confirmed=True)).removed == 4


async def test_a_folder_a_tag_and_a_missing_branch(index: AsyncTrueweave, repository: Repository) -> None:
    repository.commit({"docs/a.md": "Ada Lovelace wrote it.", "b.md": "Alan Turing wrote it."})
    porcelain.tag_create(str(repository.folder), b"v1", annotated=True, message=b"one", author=AUTHOR)
    repository.commit({"docs/a.md": "Grace Hopper wrote it."})
    await index.add(f"{repository.url}@v1#subdirectory=docs")
    assert await texts(index) == {f"{repository.url}@v1/docs/a.md": "Ada Lovelace wrote it."}
    with pytest.raises(SourceUnavailable, match="no branch or tag 'v2'"):
        await index.add(f"{repository.url}@v2")
    with pytest.raises(ConfigError, match="unknown option 'folder'"):
        await index.add(f"{repository.url}#folder=docs")
    with pytest.raises(SourceUnavailable, match="status 404"):
        await index.add(repository.url.replace("project", "other"))
    assert len(await texts(index)) == 1


async def test_names_links_and_sizes_of_a_hostile_repository_do_no_harm(
    index: AsyncTrueweave, repository: Repository, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.md"
    text = repository.blob(b"Ada Lovelace wrote it.")
    link = repository.blob(str(outside).encode())
    repository.commit_tree(
        [
            (b"..", 0o100644, text),
            (b"../outside.md", 0o100644, text),
            (b"a\\..\\b.md", 0o100644, text),
            (b"\xff.md", 0o100644, text),
            (b"id_rsa", 0o100644, text),
            (b"good.md", 0o100644, text),
            (b"link.md", 0o120000, link),
            (b"module", 0o160000, b"1" * 40),
        ]
    )
    heard: list[Event] = []
    await index.sync(repository.url, listener=heard.append)
    assert await texts(index) == {f"{repository.url}/good.md": "Ada Lovelace wrote it."}
    assert sorted(one.reason.partition(";")[0] for one in heard if isinstance(one, Skipped)) == [
        "a link, or another repository",
        "a link, or another repository",
        "named like a key or secret",
        *["names that are not valid for a file"] * 4,
    ]
    assert not outside.exists()


def refused(connector: Git, why: str) -> None:
    with pytest.raises(SourceUnavailable, match=why):
        list(connector.items())
    connector.close()


def test_a_repository_that_is_too_large_is_refused(repository: Repository) -> None:
    repository.commit({"a.md": "Ada", "large.md": "x" * 200_000})
    context = ConnectorContext(networks=LOOPBACK, max_bytes=100_000)
    few = Git(repository.url, context)
    assert [one.reason for one in few.items() if isinstance(one, Skipped)] == ["larger than 100,000 bytes"]
    few.close()
    refused(Git(repository.url, context, RepositoryLimits(download=100)), "larger than what may be downloaded")
    repository.commit_tree([(b"bomb.md", 0o100644, repository.blob(b"\x00" * 300 * 2**20))])
    too_large = "too large to be read|takes more than 300 MiB"
    refused(Git(repository.url, context, RepositoryLimits(memory=300 * 2**20)), too_large)


def test_a_repository_with_too_many_or_too_deep_folders_is_refused(repository: Repository) -> None:
    """A few objects are any number of folders if they contain each other more than once."""
    context = ConnectorContext(networks=LOOPBACK)
    within, deep = repository.tree([]), repository.tree([(b"a.md", 0o100644, repository.blob(b"Ada"))])
    for _ in range(4):
        within = repository.tree([(b"%d" % n, 0o040000, within) for n in range(10)])
    for _ in range(101):
        deep = repository.tree([(b"f", 0o040000, deep)])
    for tree in (within, deep):
        repository.commit_tree([(b"folder", 0o040000, tree)])
        limits = RepositoryLimits(folders=10_000)
        refused(Git(repository.url, context, limits), "its folders are too many, or nested too deeply")


def test_a_redirect_to_a_private_address_is_not_followed() -> None:
    path = "/project.git/info/refs?service=git-upload-pack"
    with web_site() as site, web_site("127.0.0.2") as private:
        site.pages[path] = Answer(status=302, headers={"location": f"{private.url}{path}"})
        context = ConnectorContext(networks=(ip_network("127.0.0.1"),))
        refused(Git(f"git+{site.url}/project.git", context), r"127\.0\.0\.2, which is private or reserved")
        assert [path for path, _ in site.taken()] == [path]
        assert private.connections == 0


def test_private_addresses_are_not_asked_for_a_repository(repository: Repository) -> None:
    connector = Git(repository.url, ConnectorContext())
    with pytest.raises(SourceUnavailable, match="private or reserved"):
        list(connector.items())
    connector.close()
