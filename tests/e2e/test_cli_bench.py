"""`trueweave bench`: questions that are generated and measured."""

import json
from pathlib import Path

import pytest

from tests.e2e.conftest import Trueweave, answer, model_server
from trueweave.cli.render import console as consoles

PEOPLE = ("Ada Lund", "Olaf Berg", "Rosa Quint", "Emil Hart", "Ines Falk", "Karl Noor", "Lena Moss", "Otto Wick")
TOWNS = ("Bergen", "Oslo", "Rome", "Paris", "Lisbon", "Vienna", "Prague", "Dublin")
FIRMS = ("Acme", "Borealis", "Corvex", "Dynamo", "Elmira", "Fjordline", "Granite", "Helios")


@pytest.fixture
def filled(trueweave: Trueweave, tmp_path: Path) -> Path:
    """A folder with a document on the birth of each person, and one on a firm."""
    folder = tmp_path / "notes"
    folder.mkdir()
    for person, town, firm in zip(PEOPLE, TOWNS, FIRMS, strict=True):
        (folder / f"{town}.md").write_text(f"The clerk wrote it down. {person} was born in the rainy town of {town}.")
        (folder / f"{firm}.md").write_text(f"The paper had it. {person} founded the hat factory {firm}.")
    (tmp_path / "trueweave.toml").write_text('extractor = "capitals"\n')
    trueweave("init")
    trueweave("add", "notes")
    return tmp_path


def rows(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def test_questions_are_generated_and_measured(
    trueweave: Trueweave, filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for console in (consoles.out, consoles.err):
        monkeypatch.setattr(console, "_width", 80)
    done = trueweave("bench", "generate", "--number", "10", "--out", "own.jsonl")
    assert "5 questions that need two documents" in done.stdout
    assert "Next: trueweave bench own.jsonl" in done.stdout
    assert len(rows(filled / "own.jsonl")) == 10
    measured = trueweave("bench", "own.jsonl", "--methods", "keyword")
    assert "of the supporting passages in its first five" in " ".join(measured.stdout.split())
    again = trueweave("bench", "generate", "--out", "own.jsonl", code=1)
    assert "own.jsonl already exists. Remove it, or give --out another file." in again.stderr
    other = answer(trueweave("bench", "generate", "--number", "4", "--out", "other.jsonl", "--seed", "3", "--json"))
    assert (other["questions"], other["kinds"]) == (4, {"two documents": 2, "one document": 2})


def test_a_model_writes_questions_within_a_budget_and_is_not_paid_twice(
    trueweave: Trueweave, filled: Path, environment: dict[str, str]
) -> None:
    options = ("bench", "generate", "--with-model", "--number", "12", "--per-document", "1", "--json")
    none = trueweave(*options, "--out", "none.jsonl", code=1)
    assert "--with-model needs a language model" in none.stderr
    with model_server("--script", "tests.e2e.bench_model:reply") as url:
        environment |= {"TRUEWEAVE_MODEL": "vllm/writer", "TRUEWEAVE_MODEL_URL": url}
        short = trueweave(*options, "--out", "short.jsonl", "--budget", "4000 tokens", code=1)
        assert "To continue: trueweave bench generate" in " ".join(short.stderr.split())
        assert not (filled / "short.jsonl").exists()
        made = answer(trueweave(*options, "--out", "own.jsonl"))
        assert made["kinds"]["two documents"] == 6
        assert set(made["dropped"]) <= {"a quote is not word for word in its passage"}
        paid = made["receipt"]
        assert [one["stage"] for one in paid] == ["question"]
        again = answer(trueweave(*options, "--out", "again.jsonl"))
        assert again["receipt"] == []
    found = rows(filled / "own.jsonl")
    assert found == rows(filled / "again.jsonl")
    for row in found:
        assert isinstance(row["supporting"], list)
        for one in row["supporting"]:
            assert one["quote"] in (filled / one["uri"]).read_text("utf-8")


def test_settings_are_varied_and_a_model_is_paid_once(
    trueweave: Trueweave, filled: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for console in (consoles.out, consoles.err):
        monkeypatch.setattr(console, "_width", 80)
    trueweave("bench", "generate", "--number", "6", "--out", "own.jsonl")
    (filled / "trueweave.toml").write_text('extractor = "llm"\n')
    command = ("bench", "own.jsonl", "--vary", "max_chunk_size=100,200", "--vary", "method=keyword")
    with model_server("--script", "tests.e2e.bench_model:reply") as url:
        environment |= {"TRUEWEAVE_MODEL": "vllm/writer", "TRUEWEAVE_MODEL_URL": url}
        short = trueweave(*command, "--budget", "3000 tokens", code=1)
        assert "budget" in short.stderr
        measured = answer(trueweave(*command, "--json"))
        spent = trueweave("receipt").stdout
        again = answer(trueweave(*command, "--json"))
        assert trueweave("receipt").stdout == spent
    assert "extract" in spent
    assert [one["name"] for one in measured["indexes"]] == ["max_chunk_size=100", "max_chunk_size=200"]
    assert all(one["tokens"] == 0 for one in again["indexes"])
    assert [one["name"] for one in answer(trueweave("bench", "saved", "--json"))["runs"]] == ["own", "own"]
    (filled / "trueweave.toml").write_text('extractor = "capitals"\n')
    shown = trueweave(*command).stdout
    assert "keyword with max_chunk_size=100" in shown
    assert "built in" in shown
    assert "The index of the best takes" in " ".join(shown.split())
    both = trueweave(*command, "--methods", "keyword", code=1)
    assert "both name the methods" in both.stderr


def test_answers_are_judged_within_a_budget_and_verdicts_are_cached(
    trueweave: Trueweave, filled: Path, environment: dict[str, str]
) -> None:
    lines = [
        {"question": f"In which town was {person} born?", "supporting": [f"notes/{town}.md"], "answers": [town]}
        for person, town in zip(PEOPLE, TOWNS, strict=True)
    ]
    (filled / "own.jsonl").write_text("\n".join(map(json.dumps, lines)))
    alone = trueweave("bench", "own.jsonl", "--judge", code=1)
    assert "--judge is about answers. Give --answers, too." in alone.stderr
    command = ("bench", "own.jsonl", "--methods", "keyword", "--answers", "--judge")
    with model_server("--script", "tests.e2e.bench_model:reply") as url:
        environment |= {"TRUEWEAVE_MODEL": "vllm/writer", "TRUEWEAVE_MODEL_URL": url}
        short = trueweave(*command, "--budget", "9000 tokens", code=1)
        assert "budget" in short.stderr
        measured = answer(trueweave(*command, "--json"))
        spent = trueweave("receipt").stdout
        trueweave(*command)
        assert trueweave("receipt").stdout == spent
    assert "judge" in spent
    [one] = measured["methods"]
    assert one["scores"]["correct"]["mean"] == one["scores"]["exact match"]["mean"] > 0
    assert one["scores"]["supported"]["mean"] == 1.0
    assert measured["under"]["judge"] == "vllm/writer"
    assert "You judge an answer to a question" in (filled / measured["report"]).read_text("utf-8")


def test_a_set_with_its_own_entities_is_not_varied(trueweave: Trueweave, tmp_path: Path) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "corpus.jsonl").write_text(json.dumps({"id": "p1", "title": "Acme", "text": "Ada Lund founded Acme."}))
    (folder / "questions.jsonl").write_text(
        json.dumps({"id": "q1", "question": "Who founded Acme?", "supporting": ["p1"]})
    )
    (folder / "openie.jsonl").write_text(json.dumps({"passage_id": "p1", "entities": ["Acme"], "triples": []}))
    trueweave("init")
    refused = trueweave("bench", "small", "--vary", "max_chunk_size=64", code=1)
    assert "small comes with its entities. Set extractor" in " ".join(refused.stderr.split())
