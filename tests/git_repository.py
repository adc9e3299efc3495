"""A Git repository that dulwich's server offers on loopback."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from wsgiref.simple_server import WSGIServer, make_server

from dulwich import porcelain
from dulwich.objects import Blob, Commit, Tree
from dulwich.repo import Repo
from dulwich.server import BackendRepo, DictBackend
from dulwich.web import WSGIRequestHandlerLogger, make_wsgi_chain

AUTHOR = b"Ada <ada@example.org>"


class _QuietHandler(WSGIRequestHandlerLogger):
    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""

    def log_request(self, *args: object) -> None:
        """Print nothing."""


class Repository:
    """A repository with a working copy, which dulwich's server offers."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self.url = url

    def commit(self, files: Mapping[str, str | None]) -> None:
        """Write these files, or delete those without a text, and commit."""
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if text is None:
                path.unlink()
            else:
                path.write_text(text)
        porcelain.add(str(self.folder), [str(self.folder / name) for name in files])
        porcelain.commit(str(self.folder), b"change", author=AUTHOR, committer=AUTHOR)

    def commit_tree(self, entries: list[tuple[bytes, int, bytes]]) -> None:
        """Commit a folder with these entries, which no program would write: name, mode and hash."""
        tree = self.tree(entries)
        with Repo(str(self.folder)) as repo:
            commit = Commit()
            commit.tree = tree
            commit.author = commit.committer = AUTHOR
            commit.author_time = commit.commit_time = 0
            commit.author_timezone = commit.commit_timezone = 0
            commit.message = b"hostile"
            repo.object_store.add_object(commit)
            repo.refs[b"refs/heads/master"] = commit.id  # type: ignore[index]

    def tree(self, entries: list[tuple[bytes, int, bytes]]) -> bytes:
        """The hash of a folder with these entries."""
        with Repo(str(self.folder)) as repo:
            tree = Tree()
            for name, mode, sha in entries:
                tree.add(name, mode, sha)  # type: ignore[arg-type]
            repo.object_store.add_object(tree)
            return tree.id

    def blob(self, data: bytes) -> bytes:
        with Repo(str(self.folder)) as repo:
            blob = Blob.from_string(data)
            repo.object_store.add_object(blob)
            return blob.id


@contextmanager
def git_server(folder: Path) -> Iterator[Repository]:
    """A new repository in this folder, until the end."""
    folder.mkdir()
    with Repo.init(str(folder), default_branch=b"master") as repo:
        offered: dict[str, BackendRepo] = {"/project.git": repo}
        server = make_server(
            "127.0.0.1",
            0,
            make_wsgi_chain(DictBackend(offered)),
            handler_class=_QuietHandler,
            server_class=WSGIServer,
        )
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield Repository(folder, f"git+http://127.0.0.1:{server.server_port}/project.git")
        finally:
            server.shutdown()
            thread.join()
            server.server_close()
