"""The folder of the demo: an ordinary project with a trueweave.toml, documents, and a PostgreSQL of its own."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from trueweave.core.errors import ConfigError
from trueweave.core.settings import FILE, Settings, settings_of_file
from trueweave.demo import DOCUMENTS, MODEL, QUESTIONS
from trueweave.store.embedded import EmbeddedServer, default_directory

WORKSPACE = "demo"
_DATABASE = "postgresql"
_REPORTS = "trueweave-bench"  # of `trueweave bench`, if it ran there
_MARK = "# The settings of `trueweave demo`."
_SETTINGS = f"""{_MARK} Commands that run in this folder use them.
workspace = "{WORKSPACE}"
data_directory = "{_DATABASE}"
extractor = "capitals"
embedding_model = "demo/{MODEL}"
"""


def default_folder() -> Path:
    """Where the demo is unless a folder is given: beside the data of the bundled PostgreSQL."""
    return default_directory().with_name("trueweave-demo")


@dataclass(frozen=True)
class DemoFolder:
    """The folder, which may not exist yet, or be incomplete because a process was killed."""

    path: Path

    @property
    def documents(self) -> Path:
        return self.path / DOCUMENTS.name

    @property
    def server(self) -> EmbeddedServer:
        return EmbeddedServer(self.path / _DATABASE)

    @property
    def exists(self) -> bool:
        return self.path.is_dir() and any(self.path.iterdir())

    def make(self) -> Settings:
        """Write the settings and the documents, replacing what was changed there; returns the settings."""
        self._check_own()
        self.path.mkdir(parents=True, exist_ok=True)
        self.path.chmod(0o755)  # the server may run as another user, who must be able to enter
        (self.path / FILE).write_text(_SETTINGS, encoding="utf-8")
        shutil.copytree(DOCUMENTS, self.documents, dirs_exist_ok=True, copy_function=shutil.copyfile)
        shutil.copyfile(QUESTIONS, self.path / QUESTIONS.name)
        return settings_of_file(self.path / FILE)

    def remove(self) -> bool:
        """Stop the server and delete what the demo has made; False if the folder has other files. They stay, and so do
        the settings, which show that the folder is the demo's."""
        self._check_own()
        self.server.stop()
        for name in (_DATABASE, DOCUMENTS.name, _REPORTS):
            if (self.path / name).exists():
                shutil.rmtree(self.path / name)
        (self.path / QUESTIONS.name).unlink(missing_ok=True)
        if {file.name for file in self.path.iterdir()} != {FILE}:
            return False
        (self.path / FILE).unlink()
        self.path.rmdir()
        return True

    @contextmanager
    def locked(self, purpose: Literal["acts", "ui"], *, shared: bool = False, wait: bool = True) -> Iterator[None]:
        """Hold a lock of the folder, which is a file beside it. BlockingIOError if it is taken, unless `wait`."""
        file = self.path.with_name(f"{self.path.name}.{purpose}.lock")
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a") as handle:
            how = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
            fcntl.flock(handle, how if wait else how | fcntl.LOCK_NB)
            yield

    def _check_own(self) -> None:
        """Raise an error if this is a folder with files that are not the demo's."""
        if not self.exists:
            return
        file = self.path / FILE
        if not (file.is_file() and file.read_text(encoding="utf-8").startswith(_MARK)):
            raise ConfigError(f"{self.path} has files that are not of the demo. Give another folder with --folder.")


def short(path: Path) -> str:
    """A path with ~ for the home folder."""
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 (works without a home folder)
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) and path != home else str(path)
