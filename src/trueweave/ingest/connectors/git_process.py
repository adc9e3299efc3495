"""The process that downloads a Git repository and lists its files: a task comes as JSON on standard input, and each
file goes out as a line of JSON. See trueweave.ingest.connectors.git."""

from __future__ import annotations

import base64
import json
import resource
import signal
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from ipaddress import ip_network
from types import SimpleNamespace
from typing import Any

from dulwich.client import AbstractHttpGitClient
from dulwich.errors import GitProtocolError, HangupException, NotGitRepository
from dulwich.objects import Blob, Commit, Tag, Tree
from dulwich.repo import Repo

from trueweave.core.connectors import ConnectorContext
from trueweave.core.errors import TrueweaveError
from trueweave.ingest.connectors.http import HttpFetcher

_DEEPEST = 100


class _Problem(Exception):
    """Why the repository cannot be read."""


class _Client(AbstractHttpGitClient):
    """A client that connects to checked addresses only, and downloads a limited number of bytes."""

    def __init__(self, url: str, http: HttpFetcher, headers: dict[str, str], most: int) -> None:
        super().__init__(url, quiet=True)
        self._http = http
        self._headers = headers
        self._left = most

    def _http_request(
        self,
        url: str,
        headers: dict[str, str] | None = None,
        data: bytes | Iterator[bytes] | None = None,
        raise_for_status: bool = True,
    ) -> Any:
        body = data if data is None or isinstance(data, bytes) else b"".join(data)
        stack = ExitStack()
        method = "GET" if body is None else "POST"
        response, content = stack.enter_context(
            self._http.request(method, url, {**self._headers, **(headers or {})}, body)
        )
        if raise_for_status and response.status != 200:
            stack.close()
            access = " It needs a token, or another one" if response.status in (401, 403) else ""
            raise _Problem(f"the server answers with status {response.status}.{access}".removesuffix("."))
        found = SimpleNamespace(
            status=response.status,
            headers=response.headers,
            content_type=response.headers.get("content-type"),
            redirect_location=response.url if response.url != url else "",
            close=stack.close,
        )
        return found, self._reader(content)

    def _reader(self, content: Iterator[bytes]) -> Callable[[int], bytes]:
        kept = bytearray()

        def read(size: int = -1) -> bytes:
            while size < 0 or len(kept) < size:
                piece = next(content, None)
                if piece is None:
                    break
                self._left -= len(piece)
                if self._left < 0:
                    raise _Problem("it is larger than what may be downloaded")
                kept.extend(piece)
            taken = bytes(kept) if size < 0 else bytes(kept[:size])
            del kept[: len(taken)]
            return taken

        return read


def _say(what: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(what) + "\n")


def _downloaded(task: dict[str, Any]) -> tuple[Repo, bytes]:
    """The repository with one commit, and its hash."""
    context = ConnectorContext(
        networks=tuple(map(ip_network, task["networks"])), max_bytes=2**62, seconds=task["limits"]["seconds"]
    )
    headers: dict[str, str] = {}
    if task["token"]:
        login = base64.b64encode(f"{task['user'] or 'git'}:{task['token']}".encode()).decode()
        headers["authorization"] = f"Basic {login}"
    repository = Repo.init_bare(task["repository"])
    client = _Client(task["url"], HttpFetcher(context), headers, task["limits"]["download"])
    wanted: list[Any] = []

    def determine(refs: Any, depth: int | None = None) -> list[Any]:
        wanted[:] = [_chosen(refs, task["ref"])]
        return wanted

    client.fetch("", repository, determine_wants=determine, depth=1)
    return repository, wanted[0]


def _chosen(refs: Any, ref: str) -> Any:
    """The hash of a branch or tag, or of the default branch."""
    names = [b"HEAD"] if not ref else [prefix + ref.encode() for prefix in (b"refs/heads/", b"refs/tags/")]
    for name in names:
        if found := refs.get(name):
            return found
    raise _Problem(f"it has no branch or tag {ref!r}" if ref else "it has no commits")


def _local(task: dict[str, Any]) -> tuple[Repo, bytes]:
    repository = Repo(task["repository"])
    return repository, _chosen(repository.get_refs(), task["ref"])


def _list(repository: Repo, commit: Any, inside: str, most: int, most_folders: int) -> None:
    """Print all files of a commit, folder by folder."""
    store = repository.object_store
    found: Any = store[commit]
    while isinstance(found, Tag):
        found = store[found.object[1]]
    if not isinstance(found, Commit):
        raise _Problem("the tag is of no commit")
    waiting: list[tuple[str, Any, int]] = [("", found.tree, 0)]
    folders = 0
    while waiting:
        prefix, id_, depth = waiting.pop()
        folders += 1
        if folders > most_folders or depth > _DEEPEST:
            raise _Problem("its folders are too many, or nested too deeply")
        tree = store[id_]
        if not isinstance(tree, Tree):
            raise _Problem("a folder is no folder")
        for entry in tree.items():
            name = _plain_name(entry.path)
            if name is None:
                _say({"path": f"{prefix}{entry.path!r}", "skipped": "names that are not valid for a file"})
                continue
            path = f"{prefix}{name}"
            is_inside = not inside or path == inside or path.startswith(f"{inside}/")
            if stat.S_ISDIR(entry.mode) and (is_inside or inside.startswith(f"{path}/")):
                if name.startswith("."):
                    continue
                waiting.append((f"{path}/", entry.sha, depth + 1))
            elif is_inside and not stat.S_ISDIR(entry.mode):
                _say_file(store, path, name, entry, most)


def _say_file(store: Any, path: str, name: str, entry: Any, most: int) -> None:
    if not stat.S_ISREG(entry.mode):
        _say({"path": path, "skipped": "a link, or another repository"})
    elif name.startswith("."):
        _say({"path": path, "skipped": "hidden"})
    else:
        blob = store[entry.sha]
        if not isinstance(blob, Blob) or blob.raw_length() > most:
            _say({"path": path, "skipped": f"larger than {most:,} bytes"})
        else:
            _say({"path": path, "sha": entry.sha.decode()})


def _plain_name(name: bytes) -> str | None:
    """The name of an entry; None if it could lead out of its folder, or is not text."""
    try:
        plain = name.decode()
    except UnicodeDecodeError:
        return None
    return None if plain in ("", ".", "..") or "/" in plain or "\\" in plain or not plain.isprintable() else plain


def main() -> None:
    """Download and list, within the limits of the task."""
    task = json.load(sys.stdin)
    limits = task["limits"]
    resource.setrlimit(resource.RLIMIT_AS, (limits["memory"], limits["memory"]))
    resource.setrlimit(resource.RLIMIT_FSIZE, (limits["download"] * 2, limits["download"] * 2))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.alarm(limits["seconds"])
    try:
        repository, commit = _local(task) if task["url"].startswith("file:") else _downloaded(task)
        _list(repository, commit, task["inside"], task["max_bytes"], limits["folders"])
    except (_Problem, TrueweaveError, GitProtocolError, HangupException, NotGitRepository) as error:
        reason = str(error) or "there is no Git repository"
        _say({"problem": reason.removesuffix(".")})
        return
    except (KeyError, ValueError, AssertionError, MemoryError, OSError) as error:
        _say({"problem": f"it is damaged, or too large to be read ({type(error).__name__})"})
        return
    _say({"end": True})


if __name__ == "__main__":
    main()
