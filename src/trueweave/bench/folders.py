"""Sets in folders: passages, and questions with their supporting passages, or BEIR's corpus and judgements."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trueweave.bench.reading import Row, first_of, rows
from trueweave.bench.types import Dataset, DatasetPassage, Question
from trueweave.core.errors import ConfigError, UnreadableFile

_KINDS = ("kind", "type", "question_type")
_CORPUS = ("corpus.jsonl", "corpus_gold_only.jsonl", "chunks.jsonl")


@dataclass(frozen=True, slots=True)
class Corpus:
    """The passages in a file, read again by each iteration."""

    path: Path

    def __iter__(self) -> Iterator[DatasetPassage]:
        for row in rows(self.path):
            yield DatasetPassage(row.text("id", "_id"), row.text("text"), str(row.get("title", "")))


def is_folder_of_questions(folder: Path) -> bool:
    """Whether a folder has passages, and questions with their supporting passages."""
    return bool(first_of(folder, *_CORPUS) and first_of(folder, "questions.jsonl"))


def is_beir(folder: Path) -> bool:
    """Whether a folder has the files of a BEIR set."""
    return bool(first_of(folder, "corpus.jsonl") and first_of(folder, "queries.jsonl") and (folder / "qrels").is_dir())


def read_folder(folder: Path, split: str = "") -> Dataset:
    """The set in a folder with corpus and questions. Questions that are known to be easy, or to have incomplete
    supporting passages, are left out."""
    corpus, asked = _both(folder, "questions.jsonl")
    questions, left_out = [], defaultdict[str, int](int)
    for row in rows(asked):
        if reason := _reason_to_leave_out(row, split):
            left_out[reason] += 1
        else:
            questions.append(question(row))
    notes = tuple(f"{number:,} of the questions are left out: {reason}" for reason, number in left_out.items())
    return Dataset(folder.name, tuple(questions), Corpus(corpus), first_of(folder, "openie.jsonl"), notes)


def _both(folder: Path, questions: str) -> tuple[Path, Path]:
    corpus, asked = first_of(folder, *_CORPUS), first_of(folder, questions)
    if corpus is None or asked is None:
        raise ConfigError(f"{folder} needs {_CORPUS[0]} and {questions}; .gz is also accepted.")
    return corpus, asked


def _reason_to_leave_out(row: Row, split: str) -> str:
    if split and row.get("split") != split:
        return f"they are not of the split {split}"
    if row.get("gold_complete") is False:
        return "not all of their supporting passages are known"
    if "AMOR" in str(row.get("source", "")):
        return "they come from a collection of easy ones (AMOR)"
    is_known = row.quoted("supporting") or row.texts("evidence")
    return "" if is_known else "neither supporting passages nor evidence are known"


def question(row: Row) -> Question:
    """The question in a row with id, question, supporting or evidence and, if they are known, answers, hops or type,
    and split."""
    supporting = row.quoted("supporting")
    return Question(
        row.text("id") if "id" in row else f"{row.unit} {row.number}",
        row.text("question"),
        dict.fromkeys((uri for uri, _ in supporting), 1),
        row.texts("answers") or row.texts("answer"),
        kind(row.values),
        str(row.get("split", "")),
        " ".join(row.texts("evidence")),
        quotes=tuple(one for one in supporting if one[1]),
    )


def kind(values: Any) -> str:
    """The kind of a question: the number of hops that its answer takes, or its type."""
    hops = values.get("hops")
    return f"{hops} hops" if hops else str(next(filter(None, map(values.get, _KINDS)), ""))


def read_beir(folder: Path, split: str = "") -> Dataset:
    """The set in a folder in BEIR's format: the questions with judged passages, in one split."""
    corpus, asked = _both(folder, "queries.jsonl")
    judged = _judgements(_qrels(folder, split))
    questions = [
        Question(id_, row.text("text"), judged[id_]) for row in rows(asked) if (id_ := row.text("_id", "id")) in judged
    ]
    return Dataset(folder.name, tuple(questions), Corpus(corpus))


def _qrels(folder: Path, split: str) -> Path:
    found = {path.stem: path for path in sorted((folder / "qrels").glob("*.tsv"))}
    wanted = split or next((name for name in ("test", "dev") if name in found), next(iter(found), "test"))
    if wanted not in found:
        has = f"there are {', '.join(found)}" if found else "there are none"
        raise ConfigError(
            f"{folder / 'qrels'} has no judgements of the split {wanted}; {has}. Choose one with --split."
        )
    return found[wanted]


def _judgements(path: Path) -> dict[str, dict[str, int]]:
    """For each question, its relevant passages and their grades."""
    judged: defaultdict[str, dict[str, int]] = defaultdict(dict)
    with path.open(encoding="utf-8", newline="") as file:
        for number, cells in enumerate(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE), 1):
            if not cells or (number == 1 and not cells[-1].lstrip("-").isdigit()):
                continue  # the header
            try:
                asked, *_, passage, grade = cells
                if int(grade) > 0:
                    judged[asked][passage] = int(grade)
            except ValueError:
                raise UnreadableFile(
                    f"{path}, line {number}: it must have a question's id, a passage's id and an integer, separated "
                    "by tabs. Fix that line, and run the command again."
                ) from None
    return judged
