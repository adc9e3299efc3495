"""Parses binary formats, each file in a separate process, so that a file that hangs, crashes or takes too much memory
does no harm.

A parser is a function `read(path, draft) -> title`, named as `package.module:function`; one that reads scanned pages
takes a recogniser as well: see trueweave.ingest.parsers.ocr. The process has an empty environment. Once its parser is
imported, it may not write files, and has limits on memory, time and output. Each page that is read by OCR extends the
limit on time.
"""

from __future__ import annotations

import base64
import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, replace
from math import ceil
from pathlib import Path

from trueweave.core.errors import UnreadableFile
from trueweave.core.record import Picture, Place, Source
from trueweave.ingest import parser_process, reading_limits
from trueweave.ingest.parsers.ocr import NoTextFound
from trueweave.ingest.reading_limits import ReadingLimits
from trueweave.text.text_builder import MOST_TEXT

_GIB, _MIB = 2**30, 2**20
_PICTURES = 64 * _MIB  # of pictures, in base64, and all the rest
BYTES_PER_CHARACTER = 6  # of JSON, at most
_ARENAS = {"MALLOC_ARENA_MAX": "2"}  # without it, each thread of an OCR engine takes 64 MiB of addresses
_LATE = 10  # seconds in which the process reports that a page took too long
_PATIENCE = 0.5  # seconds between checks whether reading was stopped


@dataclass(frozen=True, slots=True)
class ParserLimits:
    """The limits for one file. Sizes are in bytes, except `text`, which is in characters.

    `unpacked`, `ratio` and `entries` apply to zip archives: the unpacked size, its ratio to the size of the file, and
    the number of files. `ocr_memory`, `page_seconds` and `pages` apply to pages that are read by OCR: the memory, the
    seconds for each, and how many are read. A file gets `seconds_per_mib` more for each MiB: a PDF of 5,000 pages is 25
    MiB, and takes 45 s.
    """

    file: int = 512 * _MIB
    memory: int = _GIB
    cpu_seconds: int = 60
    wall_seconds: int = 120
    text: int = MOST_TEXT
    unpacked: int = 512 * _MIB
    ratio: int = 200
    entries: int = 10_000
    ocr_memory: int = 3 * _GIB
    page_seconds: int = 120
    pages: int = 1000
    seconds_per_mib: int = 5


def parse(path: Path, uri: str, parser: str, limits: ParserLimits, ocr: str = "", picture_model: str = "") -> Source:
    """The document in a file, as a parser reads it. `ocr` is the setting, for a parser that reads scanned pages; with a
    `picture_model`, the document has its pictures for that model."""
    size = path.stat().st_size
    limits = _narrowed(limits, size, reading_limits.current())
    if size > limits.file:
        raise _unreadable(path, f"it is larger than {limits.file // _MIB} MiB; split it")
    tesseract = (ocr and shutil.which("tesseract")) or ""
    script = [sys.executable, "-P", "-s", *(["-B"] if sys.dont_write_bytecode else []), parser_process.__file__]
    with subprocess.Popen(
        [*script, parser, str(path), json.dumps(asdict(limits)), ocr, tesseract, picture_model],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONUTF8": "1"} | (_ARENAS if ocr else {}),
    ) as process:
        try:
            said = _output(process, limits)
        except UnreadableFile as error:
            raise _unreadable(path, str(error).removesuffix(".")) from error
        finally:
            process.kill()
    return _source(path, uri, said, process.returncode, limits)


def _narrowed(limits: ParserLimits, size: int, upload: ReadingLimits) -> ParserLimits:
    """The limits of a parser for a file of this size, within those of an upload."""
    upload.check()
    more = size // _MIB * limits.seconds_per_mib
    seconds = ceil(min(upload.seconds_left, limits.wall_seconds + 2 * more))
    return replace(
        limits,
        unpacked=min(limits.unpacked, upload.unpacked_left),
        cpu_seconds=min(limits.cpu_seconds + more, seconds),
        wall_seconds=seconds,
    )


def _output(process: subprocess.Popen[bytes], limits: ParserLimits) -> bytes:
    """The output of the process, within the limits, until it has ended."""
    assert process.stdout
    deadline, upload = time.monotonic() + limits.wall_seconds, reading_limits.current()
    said = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while (left := deadline - time.monotonic()) > 0:
            upload.check()
            if not selector.select(min(left, _PATIENCE)):
                continue
            data = os.read(process.stdout.fileno(), _MIB)
            if data.isspace():  # a page is read by OCR
                deadline = max(deadline, time.monotonic() + limits.page_seconds + _LATE)
            said += data.lstrip() if not said else data
            if len(said) > limits.text * BYTES_PER_CHARACTER + _PICTURES:
                raise UnreadableFile("its parser returns too much text; split the file")
            if not data:
                break
    try:
        process.wait(max(deadline - time.monotonic(), 0))
    except subprocess.TimeoutExpired as error:
        raise UnreadableFile(late(limits)) from error
    return bytes(said)


def _source(path: Path, uri: str, said: bytes, code: int, limits: ParserLimits) -> Source:
    if code < 0:
        raise _unreadable(path, killed(signal.Signals(-code), limits))
    try:
        answer = json.loads(said)
    except ValueError as error:
        raise _unreadable(path, "its parser stopped early; save it again, or as text") from error
    reading_limits.current().unpack(answer.get("unpacked", 0))
    if "problem" in answer:
        unreadable = _unreadable(path, answer["problem"])
        raise (
            NoTextFound(str(unreadable), answer["problem"].removeprefix("it is an "))
            if answer["no_text"]
            else unreadable
        )
    places = tuple(Place(*place) for place in answer["places"])
    pictures = tuple(Picture(**one | {"data": base64.b64decode(one["data"])}) for one in answer["pictures"])
    notes = tuple(answer["notes"])
    return Source(uri, answer["text"], answer["title"], answer["metadata"], places, notes, pictures=pictures)


def killed(by: signal.Signals, limits: ParserLimits) -> str:
    if by == signal.SIGKILL:
        return "its parser was killed, perhaps because the machine ran out of memory; try again, or save it as text"
    if by == signal.SIGXCPU:
        return f"its parser took more than {limits.cpu_seconds} s of computing; save it again, or as text"
    if by == signal.SIGALRM:
        return late(limits)
    return f"its parser crashed ({by.name}); save it again, or as text"


def late(limits: ParserLimits) -> str:
    return f"its parser was not done after {limits.wall_seconds} s; save it again, or as text"


def _unreadable(path: Path, problem: str) -> UnreadableFile:
    return UnreadableFile(f"{path} cannot be read: {problem}.")
