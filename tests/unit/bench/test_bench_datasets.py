"""Sets of questions in every form that they come in, and what is said of files that are wrong."""

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from trueweave.bench import datasets
from trueweave.bench.types import Dataset, DatasetPassage
from trueweave.errors import ConfigError, UnreadableFile

PAIRS = {
    "_id": "q1",
    "type": "bridge",
    "question": "Where was the founder of Acme born?",
    "answer": "Oslo",
    "context": [["Acme", ["Ada founded it. ", " It is old."]], ["Ada", ["Born in Oslo."]], ["Bob", ["No matter."]]],
    "supporting_facts": [["Acme", 0], ["Ada", 0]],
}
MARKED = {
    "id": "3hop1__1_2_3",
    "question": "Who?",
    "answer": "Ada",
    "answer_aliases": ["Ada L."],
    "answerable": True,
    "paragraphs": [
        {"idx": 0, "title": "Acme", "paragraph_text": "Ada founded it.", "is_supporting": True},
        {"idx": 1, "title": "Acme", "paragraph_text": "It makes anvils.", "is_supporting": False},
    ],
}


def write(path: Path, rows: Iterable[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(row) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def passages(dataset: Dataset) -> list[DatasetPassage]:
    assert dataset.passages is not None
    return list(dataset.passages)


def supporting(dataset: Dataset) -> list[list[str]]:
    """The texts of the supporting passages of each question."""
    texts = {passage.id: passage.text for passage in passages(dataset)}
    return [[texts[id_] for id_ in question.supporting] for question in dataset.questions]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A set as a folder of benchmark data has them."""
    asked = [
        {"id": "a", "question": "A?", "answers": ["x"], "supporting": ["p1"], "hops": 2, "split": "dev"},
        {"id": "b", "question": "B?", "supporting": ["p1", "p2"], "type": "bridge", "gold_complete": True},
        {"id": "c", "question": "C?", "supporting": ["p1"], "gold_complete": False},
        {"id": "d", "question": "D?", "supporting": ["p1"], "source": "who/AMOR:x.json"},
        {"id": "e", "question": "E?", "supporting": []},
    ]
    made = tmp_path / "bench" / "some"
    write(made / "questions.jsonl.gz", asked)
    write(made / "corpus.jsonl.gz", [{"id": "p1", "title": "One", "text": "1"}, {"id": "p2", "text": "2"}])
    write(made / "openie.jsonl.gz", [])
    return made


def test_a_set_in_the_folder_of_benchmark_data_goes_by_its_name(folder: Path) -> None:
    found = datasets.find("some", folder.parent)
    assert [question.id for question in found.questions] == ["a", "b"]
    assert [question.kind for question in found.questions] == ["2 hops", "bridge"]
    assert found.questions[0].answers == ("x",)
    assert [passage.whole for passage in passages(found)] == ["One\n1", "2"]
    assert passages(found) == passages(found), "passages can be gone through twice"
    assert found.said == folder / "openie.jsonl.gz"
    assert found.notes == (
        "1 of the questions are left out: not all of their supporting passages are known",
        "1 of the questions are left out: they come from a collection of easy ones (AMOR)",
        "1 of the questions are left out: neither supporting passages nor evidence are known",
    )


def test_a_split_leaves_the_others_out(folder: Path) -> None:
    assert [question.id for question in datasets.find("some", folder.parent, "dev").questions] == ["a"]


def test_a_limit_takes_questions_and_leaves_all_passages(folder: Path) -> None:
    found = datasets.limited(datasets.find(str(folder)), 1)
    assert len(found.questions) == 1
    assert len(passages(found)) == 2


def test_what_is_in_no_folder_is_told_with_what_there_is(folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"there is no set other in .*There are some\. You can also"):
        datasets.find("other", folder.parent)
    with pytest.raises(ConfigError, match=r"there is no set \.\./bench"):
        datasets.find("../bench", folder)
    with pytest.raises(ConfigError, match="set bench_data in"):
        datasets.find("other")
    with pytest.raises(ConfigError, match="is not a set of questions"):
        datasets.find(str(folder.parent))


def test_musique_marks_its_paragraphs(tmp_path: Path) -> None:
    unanswerable = {**MARKED, "id": "2hop__9", "answerable": False}
    found = datasets.find(str(write(tmp_path / "musique_dev.jsonl", [MARKED, unanswerable])))
    [question] = found.questions
    assert (found.name, question.kind, question.answers) == ("musique_dev", "3 hops", ("Ada", "Ada L."))
    assert [passage.title for passage in passages(found)] == ["Acme", "Acme"]
    assert supporting(found) == [["Ada founded it."]]
    assert found.notes == ("1 of the questions are left out: they have no answer",)


@pytest.mark.parametrize(
    "row",
    [
        PAIRS,
        {
            **PAIRS,
            "context": {"title": ["Acme", "Ada"], "sentences": [["Ada founded it.", "It is old."], ["Born in Oslo."]]},
            "supporting_facts": {"title": ["Acme", "Ada"], "sent_id": [0, 0]},
        },
    ],
)
def test_hotpotqa_and_twowiki_name_their_paragraphs(tmp_path: Path, row: dict[str, Any]) -> None:
    path = tmp_path / "dev.json"
    path.write_text(json.dumps([row, {**row, "_id": "q2"}], indent=1))
    found = datasets.find(str(path))
    assert [question.id for question in found.questions] == ["q1", "q2"]
    assert supporting(found)[0] == ["Ada founded it. It is old.", "Born in Oslo."]
    assert found.questions[0].kind == "bridge"
    # The paragraphs of the second question are those of the first.
    assert len({passage.id for passage in passages(found)}) == len(passages(found))


def test_a_large_array_is_read_in_blocks(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    filler = "x" * 300_000
    path.write_text(json.dumps([{**PAIRS, "_id": str(n), "filler": filler} for n in range(8)]))
    assert len(datasets.find(str(path)).questions) == 8


def test_popqa_names_an_article(tmp_path: Path) -> None:
    path = tmp_path / "popQA.tsv"
    cells = ["7", "Ada", "occupation", '["poet", "writer"]', "What was Ada?", "Ada (poet)"]
    path.write_text("id\tsubj\tprop\tpossible_answers\tquestion\ts_wiki_title\n" + "\t".join(_quoted(cells)) + "\n")
    [question] = datasets.find(str(path)).questions
    assert question.supporting == {"Ada (poet)": 1}
    assert (question.answers, question.kind) == (("poet", "writer"), "occupation")


def _quoted(cells: list[str]) -> list[str]:
    return ['"' + cell.replace('"', '""') + '"' for cell in cells]


def test_beir_has_grades_and_splits(tmp_path: Path) -> None:
    folder = tmp_path / "scifact"
    write(folder / "corpus.jsonl", [{"_id": "d1", "title": "T", "text": "t"}, {"_id": "d2", "title": "", "text": "u"}])
    write(folder / "queries.jsonl", [{"_id": "q1", "text": "One?"}, {"_id": "q2", "text": "Two?"}])
    (folder / "qrels").mkdir()
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t1\nq2\td2\t0\n")
    (folder / "qrels" / "train.tsv").write_text("query-id\tcorpus-id\tscore\nq2\td2\t1\n")
    [question] = datasets.find(str(folder)).questions
    assert (question.id, question.supporting) == ("q1", {"d1": 2, "d2": 1})
    assert [question.id for question in datasets.find(str(folder), split="train").questions] == ["q2"]
    with pytest.raises(ConfigError, match=r"no judgements of the split dev; there are test, train"):
        datasets.find(str(folder), split="dev")
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\thigh\n")
    with pytest.raises(UnreadableFile, match=r"test\.tsv, line 2: it must have"):
        datasets.find(str(folder))


def test_questions_of_ones_own_are_about_documents_that_are_there(tmp_path: Path) -> None:
    path = write(
        tmp_path / "mine.jsonl",
        [
            {"question": "Who?", "supporting": ["a.md"]},
            {"id": 2, "question": "Why?", "supporting": "b.md", "answer": "So"},
        ],
    )
    found = datasets.find(str(path))
    assert found.passages is None
    assert [question.id for question in found.questions] == ["line 1", "2"]
    assert [(list(q.supporting), q.answers) for q in found.questions] == [(["a.md"], ()), (["b.md"], ("So",))]


def test_evidence_will_do_where_no_document_is_named(tmp_path: Path) -> None:
    path = write(
        tmp_path / "novel_questions.json",
        [{"id": "n1", "question": "Which?", "question_type": "Fact Retrieval", "evidence": ["One.", "Two."]}],
    )
    [question] = datasets.find(str(path)).questions
    assert (question.supporting, question.evidence, question.kind) == ({}, "One. Two.", "Fact Retrieval")


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (['{"question": "Who?", "supporting": ["a"]}', "{nonsense"], r"line 2: .*Fix that line, and run"),
        (['{"question": "Who?", "supporting": ["a"]}', "[]"], "line 2: it is not a JSON object"),
        (['{"question": "Who?", "supporting": ["a"]}', '{"supporting": ["a"]}'], 'line 2: it has no "question"'),
        (['{"question": "Who?", "supporting": []}'], 'line 1: "supporting" names no document'),
        (['{"question": "Who?", "supporting": [["a"]]}'], 'line 1: "supporting" is not a text'),
        (['{"question": "W\\u0000?", "supporting": ["a"]}'], 'line 1: "question" contains a NUL'),
        (['{"text": "Who?"}'], "line 1: its format is unknown"),
        (
            ['{"id": 1, "question": "A", "supporting": ["a"]}', '{"id": 1, "question": "B", "supporting": ["a"]}'],
            "id 1",
        ),
        (['[{"question": "Who?", "supporting": ["a"]}, {"question":'], "item 2: "),
        ([], "is empty"),
    ],
)
def test_a_file_that_is_wrong_says_where_and_what_to_do(tmp_path: Path, lines: list[str], problem: str) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(lines))
    with pytest.raises(UnreadableFile, match=problem):
        datasets.find(str(path))


def test_a_paragraph_of_another_form_is_told_with_its_item(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match='line 1: "context" must be pairs'):
        datasets.find(str(write(tmp_path / "odd.jsonl", [{**PAIRS, "context": ["Acme"]}])))


def test_a_packed_file_that_is_cut_off_is_told(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"question": "Who?", "supporting": ["a"]}\n' * 1000)[:-40])
    with pytest.raises(UnreadableFile, match="cannot be unpacked"):
        datasets.find(str(path))
