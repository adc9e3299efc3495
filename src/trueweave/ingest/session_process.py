"""The process in which many documents are parsed one after the other: `session_process.py limits`.

Each line of its input is a task: a JSON object with a parser and what it reads. For each document it prints a line with
a JSON object, followed by the bytes of the attachments that the object names; after each task an object with `end`, or
with a `problem`. Starting a process takes longer than parsing a hundred mails.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
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


def _documents(task: dict[str, Any], limits: dict[str, int], begin: Callable[[], None]) -> Iterator[ParsedFile]:
    """The documents of a task; `begin` gives time for the next."""
    module, function = task["parser"].split(":")
    make = partial(import_module("trueweave.text.text_builder").TextBuilder, limits["text"])
    begin()
    for document in getattr(import_module(module), function)(task, make):
        yield document
        begin()


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
        parser_process.use_reserve()
        _say(answer, {"problem": parser_process.problem(error, limits)})
        answer.flush()

    sys.excepthook = report
    parser_process.confine(limits["memory"], limits["memory"])
    begin = partial(parser_process.give_time, limits["cpu_seconds"], limits["wall_seconds"])
    for line in sys.stdin.buffer:
        try:
            for document in _documents(json.loads(line), limits, begin):
                _write(answer, document)
                answer.flush()
            _say(answer, {"end": True})
        except refusals as error:
            _say(answer, {"problem": str(error), "end": True})
        answer.flush()
        signal.alarm(0)


if __name__ == "__main__":
    _run()
