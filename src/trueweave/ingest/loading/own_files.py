"""Trueweave's own files: its settings, its output, and the data of its PostgreSQL. They are never documents."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trueweave.core.settings import FILE

OWN = "Trueweave's own"
POSTGRESQL = "the data of a PostgreSQL server"
BENCH = "trueweave-bench"  # the default output of `trueweave bench`
GENERATOR = '<meta name="generator" content="Trueweave">'  # in each page that Trueweave writes


@dataclass(frozen=True, slots=True)
class OwnFolders:
    """Folders that Trueweave keeps its files in."""

    paths: frozenset[Path] = frozenset()

    @classmethod
    def of(cls, *paths: Path | None) -> OwnFolders:
        """These folders, with symbolic links resolved."""
        return cls(frozenset(Path(os.path.realpath(path)) for path in paths if path))

    def reason(self, folder: Path) -> str:
        """Why a folder is not entered, if it is one of them."""
        is_own = folder.name == BENCH or (self.paths and Path(os.path.realpath(folder)) in self.paths)
        return OWN if is_own else ""


NO_FOLDERS = OwnFolders()


def is_own_name(name: str) -> bool:
    """Whether a file of this name is one of the settings."""
    return name in (FILE, f"{FILE}.part")


def is_own_page(start: bytes) -> bool:
    """Whether a file that begins like this is a page that Trueweave wrote."""
    return GENERATOR.encode() in start[:2000]


def is_cluster(folder: Path, folders: Sequence[str], files: Sequence[str]) -> bool:
    """Whether a folder with these folders and files is that of a database cluster, or of the bundled PostgreSQL, which
    keeps its password there."""
    beside = "data" in folders and {"lock", "password"} <= {*files}
    return "PG_VERSION" in files or (beside and os.path.exists(folder / "data" / "PG_VERSION"))  # noqa: PTH110
