"""`trueweave import` and `trueweave export`: moving in from other systems, and out."""

import json
from pathlib import Path

import pytest

from tests.e2e.conftest import Trueweave, answer
from tests.unit.formats.test_importing import write_graphrag, write_lightrag


@pytest.fixture
def ready(trueweave: Trueweave) -> Trueweave:
    trueweave("init")
    return trueweave


def test_graphrag_is_imported_and_what_does_not_carry_over_is_told(ready: Trueweave, tmp_path: Path) -> None:
    write_graphrag(tmp_path / "ragtest" / "output")
    done = ready("import", "ragtest")
    assert done.stderr.startswith("Reading ragtest as the output of GraphRAG: it has output/entities.parquet and ")
    assert "1 entity and 1 relation have no text that is there" in done.stderr
    assert "stated in documents of their own, graphrag:ragtest#without-text-…" in done.stderr
    assert done.stdout.startswith("4 documents read, 4 new or changed.\n")
    again = answer(ready("import", "ragtest", "--reports", "--json"))
    assert (again["format"], again["documents"], again["new"], len(again["notes"])) == ("graphrag", 5, 1, 1)
    assert answer(ready("sync", ".", "--yes", "--json"))["removed"] == [], "it is not of the folder"
    (tmp_path / "further").mkdir()
    away = ready("remove", "graphrag:ragtest", "--json", folder=tmp_path / "further")
    assert answer(away) == {"removed": 5, "missing": []}


def test_lightrag_is_imported(ready: Trueweave, tmp_path: Path) -> None:
    (tmp_path / "rag_storage").mkdir()
    write_lightrag(tmp_path / "rag_storage")
    done = ready("import", "rag_storage", "--format", "lightrag")
    assert done.stdout.startswith("2 documents read, 2 new or changed.\n")
    assert "Ada" in ready("entities").stdout


def test_rows_that_are_refused_are_named_and_the_others_come_in(ready: Trueweave, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("source,relation,target\nAda,lived in,London\nAda,met,\n")
    done = ready("import", "t.csv", code=1)
    assert "1 document read, 1 new or changed." in done.stdout
    assert "t.csv, line 3: it has no subject or no object" in done.stdout
    assert "Reading t.csv as a table of triples: its name ends in .csv." in done.stderr


def test_a_workspace_moves_by_its_documents(ready: Trueweave, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("Ada,lived in,London\nAda,met,Byron\n")
    ready("import", "t.csv")
    assert ready("export", "all.jsonl").stdout == "Wrote all.jsonl: 1 document.\n"
    second = tmp_path / "second"
    second.mkdir()
    ready("init", folder=second)
    moved = answer(ready("import", "../all.jsonl", "--json", folder=second))
    assert (moved["format"], moved["documents"], moved["new"]) == ("jsonl", 1, 1)
    ready("export", "one.json")
    ready("export", "two.json", folder=second)
    one, two = (json.loads(file.read_text("utf-8")) for file in (tmp_path / "one.json", second / "two.json"))
    for kind, columns in {
        "entities": ("name", "mentions"),
        "relations": ("source_name", "target_name", "weight"),
    }.items():
        was, now = (sorted([row[column] for column in columns] for row in graph[kind]) for graph in (one, two))
        assert was == now
    assert len(one["relations"]) == 2


def test_what_is_no_format_is_refused(ready: Trueweave, tmp_path: Path) -> None:
    (tmp_path / "x.bin").touch()
    assert "x.bin has none of the extensions" in ready("import", "x.bin", code=1).stderr
    assert "nowhere does not exist" in ready("import", "nowhere", code=1).stderr
    assert "has no kv_store_text_chunks.json" in ready("import", ".", "--format", "lightrag", code=1).stderr
