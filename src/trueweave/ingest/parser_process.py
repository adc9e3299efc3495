"""The process in which one file is parsed: `parser_process.py parser path limits ocr tesseract picture_model`.

It prints one JSON object: the document, or its problem. It runs as a script, with empty packages instead of those with
Trueweave's public names and its loaders, because importing them would take longer than parsing most files.
"""

from __future__ import annotations

import base64
import json
import os
import resource
import signal
import sys
from dataclasses import asdict, astuple
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, TracebackType
from zipfile import ZipFile, is_zipfile

_EXTRA = {
    **dict.fromkeys(("docx", "openpyxl", "oxmsg", "pdfplumber", "pptx", "pypdfium2", "striprtf"), "documents"),
    "PIL": "ocr",  # it is the first that images miss
    **dict.fromkeys(("trafilatura", "warcio"), "web"),
}
_MIB = 2**20
_SMALL = 16 * _MIB  # what archives may always unpack to, however small they are
_LATE = 5  # seconds to report that a page took too long
_SPARE = 64 * _MIB  # reserve memory to report that there was too little


def main(
    parser: str, path: Path, limits: dict[str, int], ocr: tuple[str, str], picture_model: str, answer: int
) -> None:
    """Print the result of a parser for a file. `ocr` is the setting, empty for a parser that does without, and the path
    of Tesseract; `picture_model` is the model that pictures are read for, if any."""
    module, function = parser.split(":")
    _import(module)
    confine(limits["memory"], limits["ocr_memory"])
    _limit_time(limits)
    unpacked = check_archive(path, limits)
    draft = import_module("trueweave.text.text_builder").TextBuilder(limits["text"], picture_model)
    read, given = getattr(import_module(module), function), []
    if ocr[0]:
        begin = partial(_begin_page, limits, answer)
        make = import_module("trueweave.ingest.parsers.ocr").recogniser
        given.append(make(*ocr, begin, limits["pages"], limits["page_seconds"]))
    title = read(path, draft, *given)
    for recogniser in given:
        recogniser.report(draft)
    source = draft.source(str(path), title)
    pictures = [{**asdict(one), "data": base64.b64encode(one.data).decode()} for one in source.pictures]
    document = {
        "title": source.title,
        "text": source.text,
        "places": list(map(astuple, source.places)),
        "pictures": pictures,
    }
    _say(answer, document | {"notes": source.notes, "metadata": source.metadata, "unpacked": unpacked})


def _import(name: str) -> None:
    """Import a parser before the process is confined, so that Python can store its bytecode: installers such as uv
    store none, and compiling takes longer than parsing most files. What a parser imports later is named in its
    `IMPORTED_LATER`, and imported here only if it has no bytecode yet."""
    module = import_module(name)
    for later in getattr(module, "IMPORTED_LATER", ()):
        found = find_spec(later)
        cached = Path(found.cached) if found and found.cached else None
        if cached and not cached.exists() and os.access(cached.parents[1], os.W_OK) and not sys.dont_write_bytecode:
            import_module(later)
    sys.dont_write_bytecode = True


def check_archive(path: Path, limits: dict[str, int]) -> int:
    """The unpacked size of an archive. Too large an archive is refused; other files pass."""
    if not is_zipfile(path):
        return 0
    with ZipFile(path) as archive:
        sizes = [entry.file_size for entry in archive.infolist()]
    most = min(limits["unpacked"], max(limits["ratio"] * path.stat().st_size, _SMALL))
    if len(sizes) > limits["entries"]:
        raise import_module("trueweave.core.errors").UnreadableFile(
            f"there are {len(sizes):,} files packed in it, which is too many"
        )
    if sum(sizes) > most:
        raise import_module("trueweave.core.errors").UnreadableFile(
            f"it would unpack to {sum(sizes) // _MIB:,} MiB, which is too much for a file of its size"
        )
    return sum(sizes)


def confine(memory: int, most_memory: int) -> None:
    """Limit the memory of this process, which may be raised to `most_memory`, and let it write no files."""
    resource.setrlimit(resource.RLIMIT_AS, (memory, most_memory + _SPARE))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def use_reserve() -> None:
    """Raise the limit on memory to its maximum, to report an error."""
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def give_time(cpu_seconds: int, wall_seconds: int) -> None:
    """Limit the time from now on."""
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    used = resource.getrusage(resource.RUSAGE_SELF)
    until = int(used.ru_utime + used.ru_stime) + cpu_seconds + 1
    resource.setrlimit(resource.RLIMIT_CPU, (until if most == resource.RLIM_INFINITY else min(until, most), most))
    signal.alarm(wall_seconds)  # if the parent has exited by then


def _limit_time(limits: dict[str, int]) -> None:
    most = limits["cpu_seconds"] + limits["pages"] * limits["page_seconds"]
    resource.setrlimit(resource.RLIMIT_CPU, (limits["cpu_seconds"], most + 1))
    signal.alarm(limits["wall_seconds"])


def _begin_page(limits: dict[str, int], answer: int) -> None:
    """Give time and memory for a page that is read by OCR, and tell the parent by a blank before the JSON."""
    give_time(limits["page_seconds"], limits["page_seconds"] + _LATE)
    resource.setrlimit(resource.RLIMIT_AS, (limits["ocr_memory"], limits["ocr_memory"] + _SPARE))
    os.write(answer, b" ")


def problem(error: BaseException, limits: dict[str, int]) -> str:
    if isinstance(error, MemoryError):
        return f"its parser needs more than {limits['memory'] // _MIB:,} MiB of memory; split it, or save it as text"
    if isinstance(error, ModuleNotFoundError) and error.name and (extra := _EXTRA.get(error.name.partition(".")[0])):
        return f'reading it needs {error.name}, which is not installed; run: pip install "trueweave[{extra}]"'
    if isinstance(error, RecursionError):
        return "it is nested too deeply; save it again, or as text"
    if isinstance(error, import_module("trueweave.core.errors").InvalidDocument):
        return str(error)
    return (
        f"it is damaged or has another format ({type(error).__name__}: {str(error)[:200]}); save it again, or as text"
    )


def _say(answer: int, what: dict[str, object]) -> None:
    with os.fdopen(answer, "w", encoding="utf-8") as file:
        json.dump(what, file, ensure_ascii=False)


def make_light() -> None:
    """Replace packages that import much by empty ones, so that their modules can be imported alone."""
    folder = Path(__file__).parents[1]
    for name, path in (("trueweave", folder), ("trueweave.ingest.loading", folder / "ingest" / "loading")):
        package = ModuleType(name)
        package.__path__ = [str(path)]
        sys.modules[name] = package


def _run() -> None:
    make_light()
    answer = os.dup(1)
    os.dup2(2, 1)  # parsers may print
    parser, path, limits = sys.argv[1], Path(sys.argv[2]), json.loads(sys.argv[3])
    setting, tesseract, picture_model = sys.argv[4:7]

    def report(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        use_reserve()
        _say(answer, {"problem": problem(error, limits), "no_text": kind.__name__ == "NoTextFound"})

    sys.excepthook = report
    main(parser, path, limits, (setting, tesseract), picture_model, answer)


if __name__ == "__main__":
    _run()
