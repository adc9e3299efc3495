"""Parses many documents in one process, which is started again if one of them makes it crash.

A parser is a function `read(task, make)`, named as `package.module:function`, that yields documents: see `ParsedFile`.
The limits are those of other parsers, for each document.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict
from itertools import islice
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar

from trueweave.core.errors import UnreadableFile
from trueweave.core.record import Json, Place
from trueweave.ingest import reading_limits, session_process
from trueweave.ingest.parsing import BYTES_PER_CHARACTER, ParserLimits, killed, late

_MIB = 2**20
_PATIENCE = 0.5  # seconds between checks whether reading was stopped
_LONGEST_SUFFIX = 12
_AHEAD = 32  # tasks that the process gets before it has answered

T = TypeVar("T")


class Attachment(NamedTuple):
    """A file that came with a document, under the name that its sender gave it, and in a file of another name."""

    name: str
    path: Path


class SessionDocument(NamedTuple):
    """A document of a session, under its name in the file; or, with a reason in `skipped`, what is left out."""

    name: str
    title: str
    text: str
    metadata: dict[str, Json]
    places: tuple[Place, ...]
    notes: tuple[str, ...]
    attachments: tuple[Attachment, ...]
    skipped: str


class ParserSession:
    """A process that parses one document after the other. It starts with the first, and ends with `close`."""

    def __init__(self, limits: ParserLimits) -> None:
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._rest = bytearray()
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._files = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process, and delete the attachments that are left."""
        self._stop()
        if self._folder:
            self._folder.cleanup()
            self._folder = None

    def _stop(self) -> None:
        self._rest.clear()
        if self._process:
            process, self._process = self._process, None
            process.kill()
            with process:  # closes its pipes, and waits
                pass

    def documents(self, parser: str, task: dict[str, Json]) -> Iterator[SessionDocument]:
        """The documents that a parser finds, one at a time. Attachments are in files, which the caller may delete.
        UnreadableFile, with the reason alone, if they cannot be parsed."""
        self._send(parser, task)
        yield from self._answers()

    def each(
        self, parser: str, tasks: Iterable[T], described: Callable[[T], dict[str, Json]]
    ) -> Iterator[tuple[T, list[SessionDocument] | UnreadableFile]]:
        """Each task with its documents, or with the error. The process gets tasks ahead, so that it need not wait for
        the caller; nothing else may use this session meanwhile."""
        waiting: deque[T] = deque()
        coming = iter(tasks)
        while True:
            for task in islice(coming, _AHEAD) if len(waiting) < _AHEAD else ():
                waiting.append(task)
                self._send(parser, described(task))
            if not waiting:
                return
            task = waiting.popleft()
            try:
                yield task, [*self._answers()]
            except UnreadableFile as error:
                if self._process is None:  # it has ended, and the other tasks with it
                    for one in waiting:
                        self._send(parser, described(one))
                yield task, error

    def _send(self, parser: str, task: dict[str, Json]) -> None:
        process = self._started()
        assert process.stdin
        with suppress(BrokenPipeError):  # it has ended; what it answers says so
            process.stdin.write(json.dumps({"parser": parser, **task}).encode() + b"\n")
            process.stdin.flush()

    def _answers(self) -> Iterator[SessionDocument]:
        """The documents of the next task."""
        process = self._started()
        is_done = False
        try:
            while not is_done:
                said = self._said(process)
                is_done = "end" in said
                if "problem" in said:
                    raise UnreadableFile(said["problem"])
                if is_done:
                    break
                reading_limits.current().unpack(said["unpacked"])
                yield self._document(process, said)
        finally:
            if not is_done:  # what it still says belongs to this task
                self._stop()

    def _document(self, process: subprocess.Popen[bytes], said: dict[str, Any]) -> SessionDocument:
        attachments = []
        for name, size in said["attachments"]:
            suffix = PurePosixPath(name).suffix
            is_plain = suffix[1:].isalnum() and suffix.isascii() and len(suffix) <= _LONGEST_SUFFIX
            path = self._new_file(suffix.lower() if is_plain else "")
            with path.open("wb") as file:
                while size:
                    piece = self._bytes(process, min(size, _MIB))
                    file.write(piece)
                    size -= len(piece)
            attachments.append(Attachment(name, path))
        return SessionDocument(
            said["name"],
            said["title"],
            said["text"],
            said["metadata"],
            tuple(Place(*place) for place in said["places"]),
            tuple(said["notes"]),
            tuple(attachments),
            said["skipped"],
        )

    def _new_file(self, suffix: str) -> Path:
        self._folder = self._folder or tempfile.TemporaryDirectory(prefix="trueweave-", ignore_cleanup_errors=True)
        self._files += 1
        return Path(self._folder.name, f"attachment-{self._files}{suffix}")

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            script = [sys.executable, "-P", "-s", "-B", session_process.__file__]
            self._process = subprocess.Popen(
                [*script, json.dumps(asdict(self._limits))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONUTF8": "1"},
            )
        return self._process

    def _said(self, process: subprocess.Popen[bytes]) -> dict[str, Any]:
        """The next line of the process."""
        deadline, looked_at = time.monotonic() + self._limits.wall_seconds, 0
        while (end := self._rest.find(b"\n", looked_at)) < 0:
            looked_at = len(self._rest)
            if looked_at > self._limits.text * BYTES_PER_CHARACTER + _MIB:
                raise UnreadableFile("its parser returns too much text; split the file")
            self._receive(process, deadline)
        line = bytes(self._rest[:end])
        del self._rest[: end + 1]
        said: dict[str, Any] = json.loads(line)
        return said

    def _bytes(self, process: subprocess.Popen[bytes], size: int) -> bytes:
        deadline = time.monotonic() + self._limits.wall_seconds
        while len(self._rest) < size:
            self._receive(process, deadline)
        data = bytes(self._rest[:size])
        del self._rest[:size]
        return data

    def _receive(self, process: subprocess.Popen[bytes], deadline: float) -> None:
        """Wait for output of the process."""
        assert process.stdout
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while (left := deadline - time.monotonic()) > 0:
                reading_limits.current().check()
                if selector.select(min(left, _PATIENCE)):
                    data = os.read(process.stdout.fileno(), _MIB)
                    if not data:
                        raise UnreadableFile(self._ended(process))
                    self._rest += data
                    return
        raise UnreadableFile(late(self._limits))

    def _ended(self, process: subprocess.Popen[bytes]) -> str:
        code = process.wait()
        return killed(signal.Signals(-code), self._limits) if code < 0 else "its parser stopped early; save it again"
