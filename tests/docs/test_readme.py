"""The README does what it says, word for word."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import run

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
COSTS = (ROOT / "docs" / "explanation" / "costs.md").read_text("utf-8")


def blocks(page: str, language: str) -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    return [text for kind, text in found if kind == language]


LETTER = "# A letter\n\nAda Lovelace, the Countess of Lovelace, wrote to Charles Babbage from London.\n"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder to work in, with a folder of notes."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "letter.md").write_text(LETTER, "utf-8")
    return tmp_path


def test_the_commands(url: str, notes: Path) -> None:
    environment = {**os.environ, "TRUEWEAVE_DATABASE_URL": url, "COLUMNS": "200"}
    commands = [
        line for block in blocks(README, "")[:1] for line in block.splitlines() if line.startswith("trueweave ")
    ]
    assert len(commands) == 3
    for command in commands:
        run(notes, environment, "-m", *shlex.split(command, comments=True))


def test_one_string_is_changed(url: str, notes: Path) -> None:
    """What is shown for a server does the same in a database, whose address is the one string."""
    code, moved = blocks(README, "python")
    filled = code.replace("Trueweave()", f"Trueweave({url!r}, 'acme', make=True)")
    first = subprocess.run([sys.executable, "-c", filled], cwd=notes, capture_output=True, text=True, check=True)
    assert "notes/letter.md # A letter" in first.stdout
    here = moved.replace('"http://127.0.0.1:8000"', repr(url))
    assert here != moved
    done = subprocess.run([sys.executable, "-c", here], cwd=notes, capture_output=True, text=True, check=True)
    assert "wrote to Charles Babbage" in done.stdout


DECIMAL = re.compile(r"(?<![\d.-])\d+\.\d+(?![\d.]*\.\d|%)")  # 0.1.0 and Apache-2.0 are no figures


def results(name: str) -> Any:
    return json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text("utf-8"))


def prose(page: str) -> str:
    """A page without blocks of code, tags, comments and the targets of links."""
    text = re.sub(r"^```.*?^```", "", page, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"<!--.*?-->|<[^>]+>", "", text, flags=re.DOTALL)
    return " ".join(re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text).split())


def _share(counts: tuple[int, int]) -> str:
    return f"{100 * counts[0] / counts[1]:.1f}"


def _recall(method: str) -> list[str]:
    found = results("embedders")["bge-small-en-v1.5 test"]
    return [f"{found[name][method]['recall@5'][0]}" for name in ("musique", "twowiki", "hotpotqa")]


def _figures() -> dict[str, list[str]]:
    """Sentences of the README, with # for each figure, and the figures of the results."""
    rules, ingest = results("citations")["rules"]["held_back_3"], results("ingest")["a"]
    folders = results("small_folders")["bge-small-en-v1.5"]["halves"]["held_back"]["methods"]
    behind = sorted(-one["methods"]["fuse"]["weave_ahead"][0] for one in results("quality")["prose"].values())
    return {
        "rules catch # % of false sentences and wrongly flag # %": [
            _share(rules["false caught"]["all"]),
            _share(rules["honest doubted"]["all"]),
        ],
        "A delete from 100,000 documents takes # × as long as from 1,000": [f"{results('index')['c']['ratio']}"],
        "ingest is **#** × as fast as LightRAG 1.5.7 on short documents and **#** ×": [
            f"{ingest[length]['ratio']['trueweave']}" for length in ("one_chunk", "twenty_chunks")
        ],
        "in small folders, `fuse` found # % of the passages, `weave` # %": [
            f"{folders[method]['recall@5']}" for method in ("fuse", "weave")
        ],
        "weave #, # and # per cent, vectors #, # and #": [*_recall("weave"), *_recall("naive")],
        "`weave` finds # to # points less than `fuse`": [f"{points:.1f}" for points in behind],
    }


def test_every_figure_of_the_readme_is_in_its_results() -> None:
    shown = prose(README)
    for sentence, figures in _figures().items():
        pattern = re.escape(sentence).replace(r"\#", r"([\d.]+)")
        assert (found := re.search(pattern, shown)), f"the README no longer says {sentence!r}"
        assert list(found.groups()) == figures, sentence
    known = [figure for figures in _figures().values() for figure in figures]
    assert sorted(DECIMAL.findall(shown)) == sorted(known), "each figure needs its results in this test"


def test_every_figure_of_the_page_on_costs_is_in_the_results_of_its_section() -> None:
    sections = re.split(r"^## ", COSTS, flags=re.MULTILINE)
    measured = [(re.search(r"results/(\w+)\.json", section), section) for section in sections]
    assert [found[1] for found, _ in measured if found] == ["index", "ingest", "graph_vectors", "communities"]
    for found, section in measured:
        figures = {float(figure) for figure in DECIMAL.findall(section.replace(",", ""))}
        text = json.dumps(results(found[1])) if found else ""
        known = {float(number) for number in re.findall(r"\d+(?:\.\d+)?", text)}
        known |= {round(number, 1) for number in known}
        assert figures <= known, f"{section.splitlines()[0]}: {figures - known}"


def test_the_readme_is_short() -> None:
    words = [word for word in prose(README).split() if re.search(r"\w", word)]
    assert len(words) <= 650
