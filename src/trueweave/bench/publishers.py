"""Sets in the formats of their publishers: each question comes with paragraphs, some of which support its answer.

MuSiQue (and any set in its format) marks the supporting paragraphs; HotpotQA and 2WikiMultihopQA name their titles. The
passages of such a set are the paragraphs of all its questions, without duplicates. PopQA has no paragraphs: it names an
article.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from trueweave.bench.folders import kind
from trueweave.bench.reading import Row, rows
from trueweave.bench.types import Dataset, DatasetPassage, Question
from trueweave.core.errors import UnreadableFile
from trueweave.text.names import key

_HOPS = re.compile(r"(\d)hop")
_MOST_CELL = 2**24  # characters

Paragraphs = Callable[[Row], list[tuple[DatasetPassage, bool]]]


@dataclass(frozen=True, slots=True)
class _Pooled:
    """The paragraphs of all questions of a file, without duplicates."""

    path: Path
    paragraphs: Paragraphs

    def __iter__(self) -> Iterator[DatasetPassage]:
        seen: set[str] = set()
        for row in rows(self.path):
            for passage, _ in self.paragraphs(row):
                if passage.id not in seen:
                    seen.add(passage.id)
                    yield passage


def has_marked(row: Row) -> bool:
    """Whether a row has paragraphs that are marked where they support the answer."""
    return "paragraphs" in row and "question" in row


def has_named(row: Row) -> bool:
    """Whether a row has paragraphs, and the titles of those that support the answer."""
    return "context" in row and "supporting_facts" in row


def read(path: Path, first: Row) -> Dataset:
    """The set in a file with this first row."""
    paragraphs = marked if has_marked(first) else named
    questions, unanswerable, unsupported = [], 0, 0
    for row in rows(path):
        if row.get("answerable") is False:
            unanswerable += 1
            continue
        supporting = {passage.id: 1 for passage, supports in paragraphs(row) if supports}
        unsupported += not supporting
        if supporting:
            questions.append(_question(row, supporting))
    notes = [
        f"{number:,} of the questions are left out: {reason}"
        for number, reason in ((unanswerable, "they have no answer"), (unsupported, "no paragraph supports them"))
        if number
    ]
    return Dataset(_name(path), tuple(questions), _Pooled(path, paragraphs), notes=tuple(notes))


def _question(row: Row, supporting: dict[str, int]) -> Question:
    id_ = row.text("id", "_id")
    answers = (row.texts("answer"), row.texts("answer_aliases"), row.texts("answers"), row.texts("possible_answers"))
    hops = _HOPS.match(id_)
    told = f"{hops[1]} hops" if hops else kind(row.values)
    distinct = tuple(dict.fromkeys(one for some in answers for one in some))
    return Question(id_, row.text("question"), supporting, distinct, told)


def marked(row: Row) -> list[tuple[DatasetPassage, bool]]:
    """The paragraphs of a question in MuSiQue's format, and whether each supports the answer."""
    found = []
    for given in row.objects("paragraphs"):
        part = Row(row.path, row.number, given, row.unit)
        passage = _passage(str(part.get("title", "")), part.text("paragraph_text", "text"))
        found.append((passage, bool(part.get("is_supporting"))))
    return found


def named(row: Row) -> list[tuple[DatasetPassage, bool]]:
    """The paragraphs of a question in HotpotQA's format, and whether each supports the answer.

    The context and the supporting facts are lists of pairs or, in some mirrors, two parallel lists.
    """
    context, facts = row.get("context"), row.get("supporting_facts")
    try:
        if isinstance(context, dict):
            context = list(zip(context["title"], context["sentences"], strict=True))
        titles = set(facts["title"]) if isinstance(facts, dict) else {fact[0] for fact in facts}
        found = [(_passage(title, " ".join(s.strip() for s in said)), title in titles) for title, said in context]
    except (TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
        raise row.broken('"context" must be pairs of a title and sentences, "supporting_facts" of titles') from error
    return found


def read_popqa(path: Path) -> Dataset:
    """PopQA's questions, about documents that are already in a workspace. Each is supported by the article that it was
    made from, which is the document with that uri or title."""
    csv.field_size_limit(_MOST_CELL)
    questions = []
    with path.open(encoding="utf-8", newline="") as file:
        for number, cells in enumerate(csv.DictReader(file, delimiter="\t"), 2):
            row = Row(path, number, {name: cell for name, cell in cells.items() if cell and isinstance(name, str)})
            try:
                answers = json.loads(row.text("possible_answers"))
            except ValueError as error:
                raise row.broken(f'"possible_answers" is not a JSON list: {error}') from error
            article = row.text("s_wiki_title", "subj")
            questions.append(
                Question(row.text("id"), row.text("question"), {article: 1}, tuple(answers), str(row.get("prop", "")))
            )
    if not questions:
        raise UnreadableFile(f"{path} has no questions. PopQA's file has a header and a line per question.")
    return Dataset(_name(path), tuple(questions), partial=True)


def _passage(title: str, text: str) -> DatasetPassage:
    """The passage for a paragraph. Equal paragraphs are one passage; different ones may have the same title."""
    return DatasetPassage(f"{title[:200]}#{key(title, text).hex[:12]}", text, title)


def _name(path: Path) -> str:
    return path.name.partition(".")[0]
