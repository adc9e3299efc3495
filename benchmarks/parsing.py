"""How well and how fast pages of PDFs are read, beside pypdfium2 alone and Tesseract alone.

    python benchmarks/parsing.py            # all 30 pages: five minutes; writes benchmarks/results/parsing.json
    python benchmarks/parsing.py --smoke    # a page of each kind; writes nothing

The pages are those of tests/data/pages.txt: text, scans (with noise, turned by 0.4 degrees), two columns that the file
has row by row, and ruled tables. For each reader and kind, in a process of its own:

- `characters`: the per cent of the characters that are right, 100 x (1 - edit distance / length), white space aside;
- `cells`: the per cent of the cells of tables that stand in their row and column, separated by bars or tabs;
- `seconds_a_page`: of the wall clock, with starting the process and loading the models, divided by the pages;
- `peak_mb`: the most memory of the process that reads: of Trueweave its parser process, of Tesseract the command, both
  looked at every 10 ms.

Tesseract reads each page as an image of 200 dpi. The last line printed is one JSON object with all figures.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import psutil
import pypdfium2  # type: ignore[import-untyped]
from peak import peak_mb
from rapidfuzz.distance import Levenshtein

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.pages import KINDS, Kind, SamplePage, sample_pages, write_sample
from trueweave.ingest.loading import documents

Figures = dict[str, Any]
RESULTS = Path(__file__).parent / "results" / "parsing.json"
DPI = 200


def by_trueweave(path: Path) -> str:
    [source] = documents.pdf().load(path, path.name)
    return str(getattr(source, "text", ""))


def by_pdfium(path: Path) -> str:
    return "\n".join(page.get_textpage().get_text_bounded() for page in pypdfium2.PdfDocument(path))


def by_tesseract(path: Path) -> str:
    read = []
    for page in pypdfium2.PdfDocument(path):
        image = page.render(scale=DPI / 72, rev_byteorder=True).to_numpy()[:, :, :3]
        picture = f"P6 {image.shape[1]} {image.shape[0]} 255\n".encode() + image.tobytes()
        command = ["tesseract", "stdin", "stdout", "--dpi", str(DPI)]
        env = {**os.environ, "OMP_THREAD_LIMIT": "1"}  # as Trueweave calls it
        done = subprocess.run(command, input=picture, capture_output=True, check=True, env=env)
        read.append(done.stdout.decode())
    return "\n".join(read)


READERS = {"trueweave": by_trueweave, "pypdfium2": by_pdfium, "tesseract": by_tesseract}


def read_here(reader: str, path: Path) -> None:
    """Print what a reader reads, and the most memory that it took."""
    done, most = threading.Event(), [0]

    def watch() -> None:
        while not done.wait(0.01):
            for child in psutil.Process().children():
                with contextlib.suppress(psutil.NoSuchProcess):
                    most.append(child.memory_info().rss)

    watcher = threading.Thread(target=watch)
    watcher.start()
    began = time.perf_counter()
    text = READERS[reader](path)
    seconds = time.perf_counter() - began
    done.set()
    watcher.join()
    print(json.dumps({"text": text, "seconds": seconds, "mb": max(most) / 2**20 or peak_mb()}))


def measured(reader: str, kind: Kind, pages: list[SamplePage], folder: Path) -> Figures:
    path = write_sample(folder / f"{kind}.pdf", pages)
    command = [sys.executable, __file__, "--read", reader, str(path)]
    said = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    figures: Figures = {
        "characters": round(100 * right_characters(said["text"], " ".join(page.expected for page in pages)), 1),
        "seconds_a_page": round(said["seconds"] / len(pages), 2),
        "peak_mb": round(said["mb"]),
    }
    if kind == "table":
        figures["cells"] = round(100 * right_cells(said["text"], pages), 1)
    return figures


def right_characters(text: str, expected: str) -> float:
    bare, wanted = ("".join(one.replace("|", "").split()) for one in (text, expected))
    return max(1 - int(Levenshtein.distance(bare, wanted)) / len(wanted), 0.0)


def right_cells(text: str, pages: list[SamplePage]) -> float:
    lines = [[str(cell).strip() for cell in re.split(r"\||\t", line)] for line in text.splitlines()]
    rows = [row for page in pages for row in page.rows]
    best = [max(sum(a == b for a, b in zip(line, row, strict=False)) for line in lines) for row in rows]
    return sum(best) / sum(map(len, rows))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--read", nargs=2, metavar=("READER", "FILE"))
    given = parser.parse_args()
    if given.read:
        read_here(given.read[0], Path(given.read[1]))
        return
    readers = [reader for reader in READERS if reader != "tesseract" or shutil.which("tesseract")]
    figures: Figures = {}
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            pages = sample_pages(kind)[: 1 if given.smoke else None]
            figures[kind] = {"pages": len(pages)}
            for reader in readers:
                figures[kind][reader] = measured(reader, kind, pages, Path(folder))
                print(kind, reader, figures[kind][reader], flush=True)
    for kind in KINDS:
        assert figures[kind]["trueweave"]["characters"] > 95, figures
    assert figures["table"]["trueweave"]["cells"] == 100, figures
    if not given.smoke:
        RESULTS.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
