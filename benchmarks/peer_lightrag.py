"""LightRAG on the same PostgreSQL, with a model that answers at once: what Trueweave's own cost is held against.

The driver lies in a folder beside the project, or where TRUEWEAVE_PEERS says. LightRAG gets a virtualenv of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from psycopg.conninfo import conninfo_to_dict

DRIVER = Path(os.environ.get("TRUEWEAVE_PEERS", Path(__file__).parents[2] / "shared" / "peers")) / "lightrag_driver.py"
PACKAGES = ("lightrag-hku==1.5.7", "asyncpg==0.32.0", "pgvector==0.5.1", "numpy==2.4.6")
QUESTIONS = Path(__file__).parent / "peer_questions.py"
_PATIENCE = 30  # seconds in which it must end when it is told to
TABLES = "litellm==1.108.4"  # its wheel carries the table of tiktoken's o200k, which otherwise comes from the network


class PeerMissing(Exception):
    """There is no peer to measure; the message says why."""


class PeerFailed(Exception):
    """The peer was there, but did not do its work."""


@dataclass(frozen=True, slots=True)
class Peer:
    """An installed LightRAG."""

    python: Path
    tokens: Path


def prepare(folder: Path) -> Peer:
    """LightRAG in `folder`, installed there unless it is already."""
    if not DRIVER.is_file():
        raise PeerMissing(f"no driver for LightRAG at {DRIVER}: set TRUEWEAVE_PEERS to the folder that holds it")
    folder = folder.absolute()
    peer = Peer(folder / "venv" / "bin" / "python", folder / "tokens")
    # The mark is written last, so that an attempt that was broken off counts for nothing.
    mark, wanted = folder / "installed", "\n".join((*PACKAGES, TABLES))
    if not mark.exists() or mark.read_text() != wanted:
        folder.mkdir(parents=True, exist_ok=True)
        _do(sys.executable, "-m", "venv", "--clear", folder / "venv")
        _do(peer.python, "-m", "pip", "install", "--quiet", *PACKAGES)
        with tempfile.TemporaryDirectory(dir=folder) as wheels:
            _do(peer.python, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", wheels, TABLES)
            for wheel in Path(wheels).glob("*.whl"):
                _unpack(wheel, peer.tokens)
        mark.write_text(wanted)
    return peer


def run(peer: Peer, url: str, documents: int, chunks_each: int, *, insert: bool = True) -> dict[str, Any]:
    """The driver's figures for so many documents in the database at `url`.

    At the end it asks a few questions. Without `insert` it asks only these, of what is there already.
    """
    settings = ("--graph", "PGTableGraphStorage", "--queries", "1", *(() if insert else ("--no-insert",)))
    size = str(documents * chunks_each), "--cpd", str(chunks_each)
    with tempfile.TemporaryDirectory() as work:
        command = (peer.python, DRIVER.absolute(), *size, "--dir", work, *settings, "--pg", json.dumps(_address(url)))
        done = subprocess.run(command, env=environment(peer), capture_output=True, text=True, check=False)
    if done.returncode:
        raise PeerFailed(f"LightRAG broke off:\n{_end(done.stderr)}")
    figures: dict[str, Any] = json.loads(done.stdout)
    if figures["status"] != {"processed": documents}:
        raise PeerFailed(f"LightRAG was given {documents} documents, and says of them: {figures['status']}.")
    return figures


class Asked(NamedTuple):
    """What some questions took: milliseconds for each, and the characters of each context."""

    milliseconds: list[float]
    characters: list[int]


class Questions:
    """A LightRAG that answers questions from what is in its database, in a process of its own."""

    def __init__(self, process: subprocess.Popen[str], errors: Path) -> None:
        self._process = process
        self._errors = errors

    def ask(self, mode: str, questions: Sequence[str]) -> Asked:
        """Put questions one after the other, in one of LightRAG's modes."""
        asked, answers = self._process.stdin, self._process.stdout
        assert asked
        assert answers
        try:
            print(json.dumps({"mode": mode, "questions": questions}), file=asked, flush=True)
        except BrokenPipeError:
            line = ""
        else:
            line = answers.readline()
        if not line:
            raise PeerFailed(f"LightRAG broke off:\n{_end(self._errors.read_text())}")
        answer = json.loads(line)
        return Asked(answer["ms"], answer["characters"])


@contextmanager
def questions(peer: Peer, url: str) -> Iterator[Questions]:
    """Questions to what `run` has put into the database at `url`."""
    with tempfile.TemporaryDirectory() as work:
        errors = Path(work, "errors")
        settings = environment(peer) | _address(url)
        command = (peer.python, QUESTIONS, work)
        pipe = subprocess.PIPE
        with (
            errors.open("w") as said,
            subprocess.Popen(
                command, env=settings, cwd=work, stdin=pipe, stdout=pipe, stderr=said, text=True
            ) as process,
        ):
            try:
                yield Questions(process, errors)
            finally:
                if process.stdin:
                    process.stdin.close()  # which is how it is told that there are no more
                try:
                    process.wait(_PATIENCE)
                except subprocess.TimeoutExpired:
                    process.kill()


def environment(peer: Peer) -> dict[str, str]:
    """Nothing else of our environment: LightRAG takes hundreds of settings from there."""
    return {"PATH": os.environ["PATH"], "TIKTOKEN_CACHE_DIR": str(peer.tokens)}


def _address(url: str) -> dict[str, str]:
    """Where the database is, under the names that LightRAG gives to that."""
    names = {"host": "HOST", "port": "PORT", "user": "USER", "password": "PASSWORD", "dbname": "DATABASE"}
    parts = conninfo_to_dict(url)
    return {f"POSTGRES_{theirs}": str(parts[ours]) for ours, theirs in names.items()}


def _unpack(wheel: Path, tokens: Path) -> None:
    tokens.mkdir(exist_ok=True)
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if "/litellm_core_utils/tokenizers/" in name and not name.endswith("/"):
                (tokens / Path(name).name).write_bytes(archive.read(name))


def _do(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        what = " ".join(map(str, command))
        raise PeerMissing(f"LightRAG could not be installed. `{what}` said:\n{_end(done.stderr)}")


def _end(said: str) -> str:
    return "\n".join(said.splitlines()[-15:])
