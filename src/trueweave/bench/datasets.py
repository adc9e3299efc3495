"""Sets of questions, by name or by path, in all supported formats."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

from trueweave.bench.folders import is_beir, is_folder_of_questions, question, read_beir, read_folder
from trueweave.bench.publishers import has_marked, has_named, read, read_popqa
from trueweave.bench.reading import Row, rows
from trueweave.bench.types import Dataset, DatasetPassage, Question
from trueweave.core.errors import ConfigError, UnreadableFile

__all__ = ["Dataset", "DatasetPassage", "Question", "find", "limited", "names"]

_OWN = '{"question": "…", "supporting": ["uri of a document"], "answers": ["…"]}'


def find(name: str, bench_data: Path | None = None, split: str = "") -> Dataset:
    """The set at this path, or of this name in the folder of benchmark data; only one split, if one is named."""
    path = Path(name).expanduser()
    if not path.exists():
        path = _named(name, bench_data)
    found = _from_folder(path, split) if path.is_dir() else _from_file(path)
    if split:
        kept = tuple(one for one in found.questions if one.split in ("", split))
        found = replace(found, questions=kept)
    if not found.questions:
        why = "; ".join(found.notes) or "It is empty"
        raise ConfigError(f"{path} has no questions to measure with. {why}.")
    if twice := [id_ for id_, number in Counter(one.id for one in found.questions).items() if number > 1]:
        raise UnreadableFile(f"{path} has two questions with the id {twice[0]}. Give each an id of its own.")
    return found


def names(bench_data: Path | None) -> list[str]:
    """The sets in the folder of benchmark data."""
    if bench_data is None or not bench_data.is_dir():
        return []
    return sorted(path.name for path in bench_data.iterdir() if is_folder_of_questions(path) or is_beir(path))


def limited(dataset: Dataset, questions: int | None) -> Dataset:
    """The set with only its first questions. All passages stay: with fewer, finding the right ones would be easier."""
    return replace(dataset, questions=dataset.questions[:questions])


def _named(name: str, bench_data: Path | None) -> Path:
    if bench_data is None:
        raise ConfigError(
            f"{name} does not exist. Give a file or folder of questions, or set bench_data in trueweave.toml to the "
            "folder that holds your sets."
        )
    path = bench_data / name
    if path.resolve().is_relative_to(bench_data.resolve()) and path.is_dir():
        return path
    has = f"There are {', '.join(found)}" if (found := names(bench_data)) else "There are none"
    raise ConfigError(f"there is no set {name} in {bench_data}. {has}. You can also give a file or folder.")


def _from_folder(folder: Path, split: str) -> Dataset:
    if is_folder_of_questions(folder):
        return read_folder(folder, split)
    if is_beir(folder):
        return read_beir(folder, split)
    raise ConfigError(
        f"{folder} is not a set of questions. It needs corpus.jsonl and questions.jsonl, or corpus.jsonl, "
        "queries.jsonl and qrels/ as in BEIR; .gz is also accepted."
    )


def _from_file(path: Path) -> Dataset:
    if path.suffix == ".tsv":
        return read_popqa(path)
    first = next(rows(path), None)
    if first is None:
        raise UnreadableFile(f"{path} is empty. Each line looks like {_OWN}.")
    if has_marked(first) or has_named(first):
        return read(path, first)
    if "question" not in first or not ("supporting" in first or "evidence" in first):
        raise first.broken(f"its format is unknown. In your own files, each line looks like {_OWN}")
    return Dataset(path.name.partition(".")[0], tuple(map(_own, rows(path))))


def _own(row: Row) -> Question:
    if not (row.quoted("supporting") or row.texts("evidence")):
        raise row.broken('"supporting" names no document, and there is no "evidence"')
    return question(row)
