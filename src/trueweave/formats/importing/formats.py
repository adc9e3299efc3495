"""The formats that can be imported, and how to recognise the format of a file or folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from trueweave.core.errors import ConfigError, UnreadableFile
from trueweave.core.record import Document
from trueweave.text.uris import Naming

Reader = Callable[..., Iterator[Document]]


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its name, a description, and how it is recognised: by files in a folder, or by file extensions."""

    name: str
    what: str
    module: str
    files: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()

    def uri(self, path: Path, naming: Naming) -> str:
        """The beginning of the uris of documents from a path, as in `graphrag:ragtest`.

        It is not a file name, so that syncing a folder does not take them for rows of a missing file, and adding a file
        with the same name does not replace them.
        """
        return f"{self.name}:{naming.uri(path)}"

    def reader(self) -> Reader:
        """The function that reads the format: it takes a path, its uri and a listener. This imports the libraries it
        needs."""
        read: Reader = import_module(f"trueweave.formats.importing.{self.module}").read
        return read


class Guess(NamedTuple):
    """A format, and why it was chosen."""

    format: Format
    why: str


_ALL = (
    Format("graphrag", "the output of GraphRAG", "graphrag", ("entities.parquet", "relationships.parquet")),
    Format("lightrag", "a working directory of LightRAG", "lightrag", ("kv_store_text_chunks.json",)),
    Format("jsonl", "documents of Trueweave", "json_lines", endings=(".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")),
    Format("graphml", "a graph in GraphML", "graphml", endings=(".graphml",)),
    Format("rdf", "RDF", "rdf", endings=(".nt", ".ttl")),
    Format("triples", "a table of triples", "triples", endings=(".csv", ".tsv")),
)
FORMATS = {one.name: one for one in _ALL}


def guess(path: Path) -> Guess:
    """The format of a file or folder, by its extension or by the files in it, and the reason."""
    if not path.exists():
        raise ConfigError(f"{path} does not exist. Check the path.")
    for one in _ALL:
        for folder in (path, path / "output"):  # where GraphRAG writes in a project
            if one.files and all((folder / name).is_file() for name in one.files):
                return Guess(
                    one, f"it has {' and '.join(str((folder / name).relative_to(path)) for name in one.files)}"
                )
        if path.is_file() and path.name.lower().endswith(one.endings or ("\0",)):
            return Guess(one, f"its name ends in {next(end for end in one.endings if path.name.lower().endswith(end))}")
    raise UnreadableFile(_unknown(path))


def _unknown(path: Path) -> str:
    if path.is_dir():
        known = "; ".join(f"{' and '.join(one.files)} for {one.what}" for one in _ALL if one.files)
        return f"{path} has none of the files that identify its format: {known}. Name the folder that has them."
    known = ", ".join(end for one in _ALL for end in one.endings)
    return f"{path} has none of the extensions {known}. Rename it, or say what it is with --format."
