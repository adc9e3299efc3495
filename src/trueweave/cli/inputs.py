"""Sorts the paths on the command line: documents with their entities, documents to be processed, or stdin."""

from __future__ import annotations

import glob
import os
import re
import sys
import tomllib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trueweave.core.errors import ConfigError, UnreadableFile
from trueweave.text.uris import is_address

if TYPE_CHECKING:
    from trueweave.core.record import Source

_LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
_SAID = ("entities", "triples", "relations", "chunks")
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")


@dataclass(frozen=True)
class Inputs:
    """Files whose entities are `given`, and files, folders, patterns and texts to be processed."""

    given: tuple[Path, ...]
    files: tuple[str | Source, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        """The files, folders and patterns to be processed."""
        return tuple(one for one in self.files if isinstance(one, str))


def toml_value(text: str) -> Any:
    """The value that a text is in TOML. What is not TOML is a text."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def named_secrets(given: Sequence[str]) -> dict[str, str]:
    """The environment variable of each secret, from arguments such as token=MY_TOKEN."""
    found: dict[str, str] = {}
    for one in given:
        name, equals, variable = one.partition("=")
        if not (name and equals and _VARIABLE.fullmatch(variable)):
            raise ConfigError(
                f"--secret takes NAME=VARIABLE, the name of an environment variable and not the secret itself; "
                f"{name!r} is given without one. For example: --secret token=MY_TOKEN"
            )
        found[name] = variable
    return found


def named_groups(given: str | None) -> list[str] | None:
    """The groups of --readers; None if it is not given."""
    from trueweave.core.record import split_groups

    return None if given is None else split_groups(given)


def sort_out(paths: Sequence[str], uri: str | None = None, said: Path | None = None) -> Inputs:
    """The paths by kind. With `said`, all are JSON lines files whose entities are in that other file.

    A missing path is an error before anything is done.
    """
    if uri and "-" not in paths:
        raise ConfigError("--uri names the document on stdin; give - as the path, or omit --uri.")
    for path in paths:
        if path != "-" and not is_address(path) and not os.path.lexists(path) and not glob.has_magic(path):
            raise ConfigError(f"{path} does not exist. Check the path.")
    given = [path for path in paths if path != "-" and (said or _has_entities(Path(path)))]
    if said and (others := [path for path in paths if not path.endswith(_LINES)]):
        raise ConfigError(f"--said needs JSON lines files, and {others[0]} is not one.")
    files = [_stdin(uri) if path == "-" else path for path in paths if path not in given]
    return Inputs(tuple(map(Path, given)), tuple(files))


def _has_entities(path: Path) -> bool:
    """Whether the first row of a readable file includes entities, so that no model is needed."""
    from trueweave.ingest.json_lines import lines, parsed

    if not path.name.endswith(_LINES) or not path.is_file():
        return False
    with suppress(UnreadableFile):  # the reader reports the error
        for _, line in lines(path):
            with suppress(UnreadableFile):
                return any(key in parsed(line) for key in _SAID)
    return False


def _stdin(uri: str | None) -> Source:
    from trueweave.ingest.loading import from_stream

    if not uri:
        raise ConfigError("a document on stdin needs a name. For example: trueweave add - --uri notes/today")
    return from_stream(sys.stdin.buffer, uri)
