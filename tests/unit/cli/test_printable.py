"""Nothing that is printed steers the terminal, whatever is in it and however it is cut into pieces."""

import io
import json
import logging
import sys
import unicodedata

import pytest
from rich.progress import Progress, TextColumn
from rich.text import Text

from trueweave.cli.render.console import SafeConsole, make_stderr_safe
from trueweave.cli.render.printable import escaped, printable
from trueweave.cli.render.tables import table
from trueweave.cli.render.writer import Writer

HOSTILE = "a\x1b[41m\x1b]0;title\x07b\x9b2Jc\u202egnp.exe\u2066d\x7f\udcff\x08e"
SHOWN = "a�[41m�]0;title�b�2Jc�gnp.exe�d���e"


def console(*, is_terminal: bool) -> tuple[SafeConsole, io.StringIO]:
    file = io.StringIO()
    return SafeConsole(file=file, width=60, force_terminal=is_terminal, color_system=None, markup=False), file


def test_a_character_that_steers_is_shown_as_one_that_stands_for_it() -> None:
    assert printable(HOSTILE) == SHOWN
    assert printable("one\ttwo\nthree\r\nfour\x0bfive") == "one\ttwo\nthree \nfour five"


@pytest.mark.parametrize("kept", ["naïve — “quoted” … ✓", "مرحبا بالعالم", "שלום", "\u200f\u200e\u200d", "東京 🗼"])
def test_what_people_write_stays_as_it_is(kept: str) -> None:
    assert printable(kept) == kept


def test_no_character_of_unicode_that_controls_gets_through() -> None:
    everything = "".join(map(chr, range(sys.maxunicode + 1)))
    left = printable(everything)
    assert {c for c in left if unicodedata.category(c) in ("Cc", "Cs")} == {"\n", "\t"}
    assert not {c for c in left if unicodedata.bidirectional(c) in ("LRE", "RLE", "LRO", "RLO", "PDF")}


def test_json_says_the_same_with_escapes() -> None:
    said = {"uri": HOSTILE, "line": "\u2028", "ok": "naïve"}
    text = escaped(json.dumps(said, ensure_ascii=False))
    assert json.loads(text) == said
    assert printable(text) == text
    assert "naïve" in text


@pytest.mark.parametrize("is_terminal", [True, False])
def test_all_that_a_console_prints_is_safe(is_terminal: bool) -> None:
    safe, file = console(is_terminal=is_terminal)
    made = table("name", "~description")
    made.add_row(HOSTILE, HOSTILE)
    for part in (HOSTILE, Text(HOSTILE), made):
        safe.print(part)
    assert printable(file.getvalue()) == file.getvalue()
    assert "a�[41m" in file.getvalue()


def test_a_progress_bar_is_safe() -> None:
    safe, file = console(is_terminal=True)
    with Progress(TextColumn("{task.description}", markup=False), console=safe) as bar:
        bar.add_task(HOSTILE, total=1)
    assert "\x1b]0;" not in file.getvalue()
    assert "\u202e" not in file.getvalue()
    assert "a�[41m" in file.getvalue()


@pytest.mark.parametrize("is_terminal", [True, False])
@pytest.mark.parametrize("size", [1, 2, 5])
def test_a_sequence_that_comes_in_pieces_is_no_sequence(size: int, is_terminal: bool) -> None:
    safe, file = console(is_terminal=is_terminal)
    writer = Writer(safe)
    said = "An answer \x1b]0;title\x07 with \x1b[2J an escape.\r\nEnd."
    for start in range(0, len(said), size):
        writer.write(said[start : start + size])
    writer.end()
    assert printable(file.getvalue()) == file.getvalue()
    assert "�]0;title�" in file.getvalue()


def test_log_lines_and_tracebacks_are_safe(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
    make_stderr_safe()
    logging.getLogger("server").warning("it said %s", HOSTILE)
    try:
        raise ValueError(HOSTILE)
    except ValueError as error:
        sys.excepthook(type(error), error, error.__traceback__)
    shown = capsys.readouterr().err
    assert printable(shown) == shown
    assert f"it said {SHOWN}" in shown
    assert f"ValueError: {SHOWN}" in shown
