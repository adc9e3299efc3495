"""The process in which many documents are parsed one after the other: `session_process.py limits`.

Each line of its input is a task: a JSON object with a parser and what it reads. For each document it prints a line with
a JSON object, followed by the bytes of the attachments that the object names; after each task an object with `end`, or
with a `problem`. Starting a process takes longer than parsing a hundred mails.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType, TracebackType
from typing import IO, TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from trueweave.text.text_builder import TextBuilder


class ParsedFile(NamedTuple):
    """A document that a parser has read: its name in the file, its text and title, the names and contents of its
    attachments, and how many bytes were unpacked for it. With a reason in `skipped`, what is left out on purpose."""

    name: str
    draft: TextBuilder
    title: str
    attachments: tuple[tuple[str, bytes], ...] = ()
    unpacked: int = 0
    skipped: str = ""


def _confine(limits: dict[str, int]) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (limits["memory"], limits["memory"] + limits["spare"]))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _begin(limits: dict[str, int]) -> None:
    """Give time for the next document."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    until = int(used.ru_utime + used.ru_stime) + limits["cpu_seconds"] + 1
    resource.setrlimit(resource.RLIMIT_CPU, (until, resource.RLIM_INFINITY))
    signal.alarm(limits["wall_seconds"])  # if the parent has exited by then


def _documents(task: dict[str, Any], limits: dict[str, int]) -> Iterator[ParsedFile]:
    module, function = task["parser"].split(":")
    make = partial(import_module("trueweave.text.text_builder").TextBuilder, limits["text"])
    _begin(limits)
    for document in getattr(import_module(module), function)(task, make):
        yield document
        _begin(limits)


def _write(answer: IO[bytes], document: ParsedFile) -> None:
    source = document.draft.source("u", document.title)
    said = {
        "name": document.name,
        "title": source.title,
        "text": source.text,
        "metadata": source.metadata,
        "places": [(place.start, place.kind, place.label, place.level, place.offset) for place in source.places],
        "notes": source.notes,
        "attachments": [(name, len(data)) for name, data in document.attachments],
        "unpacked": document.unpacked,
        "skipped": document.skipped,
    }
    _say(answer, said)
    for _, data in document.attachments:
        answer.write(data)


def _say(answer: IO[bytes], what: dict[str, object]) -> None:
    answer.write(json.dumps(what, ensure_ascii=False).encode("utf-8", "replace") + b"\n")


def _run() -> None:
    package = ModuleType("trueweave")
    package.__path__ = [str(Path(__file__).parents[1])]
    sys.modules["trueweave"] = package
    parser_process = import_module("trueweave.ingest.parser_process")
    parser_process.make_light()
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # parsers may print
    limits = json.loads(sys.argv[1])
    refusals = import_module("trueweave.core.errors").InvalidDocument

    def report(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        _say(answer, {"problem": parser_process.problem(error, limits)})
        answer.flush()

    sys.excepthook = report
    _confine(limits)
    for line in sys.stdin.buffer:
        try:
            for document in _documents(json.loads(line), limits):
                _write(answer, document)
                answer.flush()
            _say(answer, {"end": True})
        except refusals as error:
            _say(answer, {"problem": str(error), "end": True})
        answer.flush()
        signal.alarm(0)


if __name__ == "__main__":
    _run()
