"""What large inputs take until they are in the queue: seconds, memory, and what is read again after an interruption.

    python benchmarks/large_files.py            # 15 minutes, 5 GB of disk; writes benchmarks/results/large_files.json
    python benchmarks/large_files.py --smoke    # 200 documents or a five-hundredth of the size; writes nothing
    python benchmarks/large_files.py --only pdf,git --size 0.1

1 GB of JSON lines, a PDF of 5,000 pages, a mailbox of 100,000 mails, and a Git repository of 100,000 files. Each is
read and queued by a process of its own, into a new database, and not indexed:

- `seconds` of the wall clock, and `cpu_seconds` of the processes that read, without PostgreSQL;
- `client_mb` and `parser_mb`: the most memory of the process that reads and queues, and of any process that it starts:
  they parse PDFs and mails, and list the repository; `tenth` has both for a tenth of the input;
- `interrupted`, on that tenth: a run is killed with SIGKILL once half of the documents are queued (of the PDF, at half
  of its seconds), and run again: how many documents were in the queue, how many are read again, and the seconds;
- `indexed`: the seconds to index a sample, by capitals and without vectors, until it can be searched.

The last line printed is one JSON object with all figures.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import psutil
from dulwich.objects import Blob, Commit, Tree
from dulwich.repo import Repo
from peak import peak_mb
from served import served
from watch import Server

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.pages import sample_pages
from tests.scanned import PdfPage, write_pdf
from trueweave import AsyncTrueweave, Settings
from trueweave.core.events import Event, Found
from trueweave.store.postgres.schema.migrate import migrate

Figures = dict[str, Any]
RESULTS = Path(__file__).parent / "results" / "large_files.json"
NAMES = ("Ada Lovelace", "Grace Hopper", "Charles Babbage", "Mary Somerville", "Luigi Menabrea", "Augustus De Morgan")
ROW = 2000  # characters
FOLDER = 1000  # files


@dataclass(frozen=True)
class Kind:
    """An input: how it is written with a number of documents (of a PDF, pages), that number, and the sample's."""

    write: Callable[[Path, int], str]
    size: int
    sample: int


def texts(length: int, seed: int = 7) -> Iterator[str]:
    """Texts of about this length, all of them different."""
    chance = random.Random(seed)
    words = ["".join(chance.choices("abcdefghijklmnoprstuvw", k=chance.randint(2, 9))) for _ in range(5000)]
    sentences = []
    for _ in range(2000):
        some = chance.choices(words, k=12)
        some[chance.randrange(12)] = chance.choice(NAMES)
        sentences.append(" ".join(some).capitalize() + ".")
    each = len(" ".join(sentences)) / len(sentences)
    for n in count(1):
        yield f"This is text {n}. " + " ".join(chance.choices(sentences, k=round(length / each)))


def write_json_lines(path: Path, size: int) -> str:
    path = path.with_suffix(".jsonl")
    with path.open("w") as file:
        for n, text in zip(range(size), texts(ROW), strict=False):
            file.write(f'{{"id": "{n}", "title": "Row {n}", "text": "{text}"}}\n')
    return str(path)


def write_pages(path: Path, size: int) -> str:
    """Pages of 45 lines, with a header and a footer; every tenth has a ruled table."""
    tables = sample_pages("table")
    pages = []
    for n, text in zip(range(size), texts(45 * 80), strict=False):
        page = PdfPage().text(60, 40, "Annual report", 9).text(280, 820, f"Page {n + 1} of {size}", 9)
        if n % 10 == 9:
            page = tables[n // 10 % len(tables)].drawn()
        else:
            page.text(60, 80, f"Section {n + 1}", 18).lines(60, 110, [text[i : i + 80] for i in range(0, 45 * 80, 80)])
        pages.append(page)
    return str(write_pdf(path.with_suffix(".pdf"), pages))


def write_mails(path: Path, size: int) -> str:
    path = path.with_suffix(".mbox")
    with path.open("w") as file:
        for n, text in zip(range(size), texts(ROW), strict=False):
            file.write(
                "From ada@example.org Wed Nov 18 10:00:00 2026\nFrom: Ada Lovelace <ada@example.org>\n"
                f"To: Grace Hopper <grace@example.org>\nSubject: Mail {n}\nMessage-ID: <{n}@example.org>\n"
                f"Date: Wed, 18 Nov 2026 10:00:00 +0100\n\n{text}\n\n"
            )
    return str(path)


def write_repository(path: Path, size: int) -> str:
    """A bare repository, with 1,000 files in a folder."""
    repo = Repo.init_bare(str(path), mkdir=True)
    root = Tree()
    written: list[tuple[Any, None]] = []
    folder = Tree()
    for n, text in zip(range(size), texts(500), strict=False):
        blob = Blob.from_string(f"# File {n}\n\n{text}\n".encode())
        folder.add(b"%06d.md" % n, 0o100644, blob.id)
        written.append((blob, None))
        if n % FOLDER == FOLDER - 1 or n == size - 1:
            root.add(b"%03d" % (n // FOLDER), 0o040000, folder.id)
            written.append((folder, None))
            folder = Tree()
    commit = Commit()
    commit.tree = root.id
    commit.author = commit.committer = b"Ada <ada@example.org>"
    commit.author_time = commit.commit_time = commit.author_timezone = commit.commit_timezone = 0
    commit.message = b"all files"
    repo.object_store.add_objects([*written, (root, None), (commit, None)])
    repo.refs[b"HEAD"] = commit.id  # type: ignore[index]
    repo.close()
    return f"git+file://{path}"


KINDS = {
    "json_lines": Kind(write_json_lines, 500_000, 2000),
    "pdf": Kind(write_pages, 5000, 500),
    "mails": Kind(write_mails, 100_000, 2000),
    "git": Kind(write_repository, 100_000, 2000),
}


# --- the process that reads ---------------------------------------------------------------------------


async def add(what: str, url: str, *, queue_only: bool, kill_at: int) -> Figures:
    """Read and queue, or index. Once `kill_at` documents are queued, the process kills itself."""
    settings = Settings.model_validate({"database_url": url, "extractor": "capitals", "source_max_items": 10**6})
    batches: list[int] = []  # the first has what is unchanged at an address, and was not read

    def listener(event: Event) -> None:
        if isinstance(event, Found):
            batches.append(event.new + event.unchanged)
            if kill_at and sum(batches[1:]) >= kill_at:
                os.kill(os.getpid(), signal.SIGKILL)

    with parsers_watched() as most:
        async with AsyncTrueweave.open(settings=settings) as trueweave:
            began = time.perf_counter()
            added = await trueweave._add([what], listener, prune=False, queue_only=queue_only)  # noqa: SLF001
            seconds = time.perf_counter() - began
            queued, status = await trueweave.maintenance.ingest_progress(), await trueweave.status()
    if added.unreadable or added.refused or added.failed:
        raise RuntimeError(f"not all of {what} was read: {added}")
    times = os.times()
    return {
        "seconds": round(seconds, 1),
        "cpu_seconds": round(sum(times[:4]), 1),
        "client_mb": round(peak_mb()),
        "parser_mb": round(max(most) / 2**20),
        "read": sum(batches[1:]),
        "queued": queued.waiting,
        "chunks": status.chunks,
    }


@contextmanager
def parsers_watched() -> Iterator[list[int]]:
    """The memory of the processes that this one starts, looked at every 20 ms."""
    done, most = threading.Event(), [0]

    def watch() -> None:
        while not done.wait(0.02):
            for child in psutil.Process().children():
                with suppress(psutil.NoSuchProcess):
                    most[0] = max(most[0], child.memory_info().rss)

    watcher = threading.Thread(target=watch)
    watcher.start()
    yield most
    done.set()
    watcher.join()


# --- the benchmark ------------------------------------------------------------------------------------


class Runs:
    """Runs over inputs, each in a process."""

    def __init__(self, folder: Path, server: Server) -> None:
        self._folder = folder
        self._server = server
        self._names = count(1)

    def measure(self, name: str, size: float) -> Figures:
        """All figures of one kind."""
        kind = KINDS[name]
        number = max(200, int(kind.size * size))
        what = kind.write(self._folder / name, number)
        figures: Figures = {"documents": 1 if name == "pdf" else number, "megabytes": self._megabytes(name)}
        with self._database() as url:
            figures |= run(what, url)
        what, tenth = kind.write(self._folder / f"{name}-tenth", number // 10), number // 10
        with self._database() as url:
            short = run(what, url)
            figures["tenth"] = {one: short[one] for one in ("client_mb", "parser_mb")}
        with self._database() as url:
            queued = interrupted(what, url, tenth // 2, short["seconds"] / 2 if name == "pdf" else 0)
            again = run(what, url)
            documents = 1 if name == "pdf" else tenth
            figures["interrupted"] = {
                "documents": documents,
                "queued": queued,
                "read_again": again["read"] - (documents - queued),
                "seconds": short["seconds"],
                "seconds_resumed": again["seconds"],
            }
        with self._database() as url:
            sample = min(kind.sample, number)
            indexed = run(kind.write(self._folder / f"{name}-sample", sample), url, index=True)
            figures["indexed"] = {"sample": sample, "seconds": indexed["seconds"], "chunks": indexed["chunks"]}
        return {key: value for key, value in figures.items() if key not in ("read", "chunks", "queued")}

    def _megabytes(self, name: str) -> int:
        files = (path for path in self._folder.rglob("*") if path.is_file() and name in str(path))
        return round(sum(path.stat().st_size for path in files) / 10**6)

    @contextmanager
    def _database(self) -> Iterator[str]:
        with self._server.database(f"large_{next(self._names)}") as url:
            asyncio.run(migrate(url))
            yield url


def run(what: str, url: str, *, index: bool = False) -> Figures:
    done = subprocess.run(_command(what, url, index=index), stdout=subprocess.PIPE, check=True)
    figures: Figures = json.loads(done.stdout)
    return figures


def interrupted(what: str, url: str, kill_at: int, seconds: float) -> int:
    """How many documents a run had queued when it was killed: at a number of documents, or after some seconds."""
    with subprocess.Popen(_command(what, url, kill_at=0 if seconds else kill_at)) as process:
        try:
            code = process.wait(seconds or None)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
    assert code == -signal.SIGKILL, code
    return asyncio.run(_queued(url))


async def _queued(url: str) -> int:
    async with AsyncTrueweave.open(settings=Settings.model_validate({"database_url": url})) as trueweave:
        return (await trueweave.maintenance.ingest_progress()).waiting


def _command(what: str, url: str, *, index: bool = False, kill_at: int = 0) -> list[str]:
    return [sys.executable, __file__, "--run", what, url, "index" if index else "queue", str(kill_at)]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--only", default=",".join(KINDS))
    parser.add_argument("--size", type=float, default=1.0)
    parser.add_argument("--run", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run:
        what, url, how, kill_at = given.run
        print(json.dumps(asyncio.run(add(what, url, queue_only=how == "queue", kill_at=int(kill_at)))))
        return
    size, figures = 0.002 if given.smoke else given.size, {}
    with tempfile.TemporaryDirectory() as place, served(Path(place)) as server:
        runs = Runs(Path(place), Server(server.url, server.directory))
        for name in given.only.split(","):
            figures[name] = runs.measure(name, size)
            print(name, figures[name], flush=True)
            if size == 1:
                stored = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
                RESULTS.write_text(json.dumps({**stored, name: figures[name]}, indent=1) + "\n", "utf-8")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
