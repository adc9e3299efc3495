"""Files of a Git repository: `git+https://example.org/project.git`, at a branch or tag `@main`, in a folder
`#subdirectory=docs`; or a repository on this machine, `git+file:///srv/project`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING
from urllib.parse import parse_qs, unquote, urlsplit

from trueweave.core.connectors import ConnectorContext, Fetched, Item
from trueweave.core.errors import ConfigError, ItemGone, SourceUnavailable, UnreadableFile
from trueweave.core.events import Skipped, Unreadable

if TYPE_CHECKING:
    from dulwich.repo import Repo

_GIB, _MIB = 2**30, 2**20
_PROCESS = "trueweave.ingest.connectors.git_process"  # needs the extra, so it is not imported here
_PASSED_ON = ("SSL_CERT_FILE", "SSL_CERT_DIR")


@dataclass(frozen=True)
class RepositoryLimits:
    """The limits for one repository: bytes that are downloaded, memory, seconds, and folders of the commit."""

    download: int = _GIB
    memory: int = 2 * _GIB
    seconds: int = 900
    folders: int = 200_000


_LIMITS = RepositoryLimits()


class Git:
    """The files of one commit. It is downloaded without its history, by a process with limits: objects of a hostile
    repository may unpack to any size."""

    is_complete = True

    def __init__(self, address: str, context: ConnectorContext, limits: RepositoryLimits = _LIMITS) -> None:
        try:
            import_module("dulwich.client")
        except ModuleNotFoundError as error:
            raise ConfigError(
                f"reading Git repositories needs {error.name}, which is not installed. Run: "
                'pip install "trueweave[git]".'
            ) from error
        context.check_secrets("token", "user")
        parts = urlsplit(address.removeprefix("git+"))
        options = parse_qs(parts.fragment, strict_parsing=True) if parts.fragment else {}
        if unknown := sorted(options.keys() - {"subdirectory"}):
            raise ConfigError(
                f"{address} has an unknown option {unknown[0]!r}. Git addresses take #subdirectory=FOLDER."
            )
        path, at, ref = parts.path.rpartition("@")
        self._ref = ref if at else ""
        self._uri = parts._replace(fragment="").geturl()
        self._url = parts._replace(path=path if at else parts.path, fragment="").geturl()
        self._inside = options.get("subdirectory", [""])[0].strip("/")
        self._context = context
        self._limits = limits
        self._temporary = tempfile.TemporaryDirectory(prefix="trueweave-git-", ignore_cleanup_errors=True)
        is_local = parts.scheme == "file"
        self._repository = Path(unquote(parts.path if not at else path)) if is_local else Path(self._temporary.name)
        self._opened: Repo | None = None

    def close(self) -> None:
        if self._opened:
            self._opened.close()
        self._temporary.cleanup()

    def items(self) -> Iterator[Item | Unreadable | Skipped]:
        task = {
            "url": self._url,
            "ref": self._ref,
            "inside": self._inside,
            "repository": str(self._repository),
            "user": self._context.secret("user") or "",
            "token": self._context.secret("token") or "",
            "networks": [str(one) for one in self._context.networks],
            "max_bytes": self._context.max_bytes,
            "limits": asdict(self._limits),
        }
        with subprocess.Popen(
            [sys.executable, "-P", "-m", _PROCESS],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={
                "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
                "PYTHONUTF8": "1",
                "HOME": self._temporary.name,
                **{name: os.environ[name] for name in _PASSED_ON if name in os.environ},
            },
        ) as process:
            assert process.stdin
            assert process.stdout
            try:
                process.stdin.write(json.dumps(task).encode())
                process.stdin.close()
                yield from self._listed(process.stdout)
            finally:
                process.kill()

    def _listed(self, lines: IO[bytes]) -> Iterator[Item | Unreadable | Skipped]:
        for line in lines:
            said = json.loads(line)
            if "end" in said:
                return
            if "problem" in said:
                raise SourceUnavailable(f"{self._uri} cannot be read: {said['problem']}.")
            uri = f"git+{self._uri}/{said['path']}"
            if "skipped" in said:
                yield Skipped(uri, said["skipped"])
            else:
                yield Item(uri, said["sha"], {"path": said["path"]})
        raise SourceUnavailable(
            f"{self._uri} cannot be read: it takes more than {self._limits.memory // _MIB:,} MiB of memory or "
            f"{self._limits.seconds} s."
        )

    def fetch(self, item: Item, folder: Path, validator: str) -> Fetched | None:
        from dulwich.errors import MissingCommitError, NotGitRepository
        from dulwich.repo import Repo

        path = folder / PurePosixPath(str(item.metadata["path"])).name
        try:
            self._opened = self._opened or Repo(str(self._repository))  # once: it reads its indexes
            path.write_bytes(self._opened.object_store[item.version.encode()].as_raw_string())  # type: ignore[index]
        except KeyError as error:
            raise ItemGone(f"{item.uri} is no longer in the repository.") from error
        except (MissingCommitError, NotGitRepository) as error:
            raise UnreadableFile(f"{item.uri} cannot be read: {error}.") from error
        return Fetched(path)
