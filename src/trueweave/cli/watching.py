"""Waits for changes in folders: `trueweave sync FOLDER --watch`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from trueweave.core.errors import ConfigError

_QUIET = 500  # milliseconds without a change after which a burst is over
_LONGEST_BURST = 10_000  # milliseconds after which changes are taken although more are made
_LOOK = 1000  # milliseconds between looks whether the folders are there


def are_there(folders: Sequence[str]) -> bool:
    """Whether all folders exist."""
    from trueweave.ingest.loading import is_folder

    return all(map(is_folder, folders))


def changes(folders: Sequence[str], tell: Callable[[str], None]) -> Iterator[None]:
    """Yields at once, and whenever something has changed in the folders since; many changes at once count as one. While
    a folder is missing, it waits. What changes while the caller is busy counts for the next time, and the pause between
    two is at least as long as the caller was busy. Hidden files do not count. Ctrl-C raises KeyboardInterrupt."""
    try:
        watchfiles = import_module("watchfiles")
    except ModuleNotFoundError as error:
        raise ConfigError(
            'watching folders needs watchfiles, which is not installed. Run: pip install "trueweave[watch]".'
        ) from error
    while True:
        _wait_for(folders, tell)
        for _ in _changes_while_there(watchfiles, folders):
            began = time.monotonic()
            yield
            time.sleep(min(time.monotonic() - began, _LONGEST_BURST / 1000))


def _wait_for(folders: Sequence[str], tell: Callable[[str], None]) -> None:
    """Wait until all folders are there."""
    missing = [one for one in folders if not are_there([one])]
    if missing:
        tell(f"{missing[0]} does not exist. Its documents are kept. Waiting until it is there …")
    while not are_there(folders):
        time.sleep(_LOOK / 1000)


def _changes_while_there(watchfiles: Any, folders: Sequence[str]) -> Iterator[None]:
    """Yields once the folders are watched, and after each burst of changes, until one of them is missing."""
    tops = [Path(one).absolute() for one in folders]

    def counts(_: object, path: str) -> bool:
        inside = next((Path(path).relative_to(top) for top in tops if Path(path).is_relative_to(top)), Path(path))
        return not any(part.startswith(".") for part in inside.parts)

    # An empty set after a timeout shows that it watches: what changes from then on is not lost.
    options = {"watch_filter": counts, "debounce": _LONGEST_BURST, "step": _QUIET, "rust_timeout": _LOOK}
    is_first = True
    for found in watchfiles.watch(*tops, yield_on_timeout=True, raise_interrupt=True, **options):
        if not are_there(folders):
            return
        if found or is_first:
            yield
        is_first = False
