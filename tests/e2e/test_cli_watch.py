"""`trueweave sync FOLDER --watch` follows a folder until it is stopped."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.commands import PROGRAM
from tests.e2e.conftest import Trueweave, answer

READY = "Ctrl-C stops it."


class Watcher:
    """The command, and what it prints."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def until(self, words: str) -> str:
        """What it prints up to the line with these words."""
        assert self.process.stdout
        lines: list[str] = []
        for line in self.process.stdout:
            lines.append(line)
            if words in line:
                return "".join(lines)
        raise AssertionError(f"it ended without {words!r}: {''.join(lines)}")


@contextmanager
def watching(folder: Path, environment: dict[str, str]) -> Iterator[Watcher]:
    command = [str(PROGRAM), "sync", "notes", "--watch"]
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            yield Watcher(process)
        finally:
            process.kill()


def test_a_watched_folder_is_followed(trueweave: Trueweave, environment: dict[str, str], tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for n in range(10):
        (notes / f"a{n}.md").write_text(f"Ada Lovelace wrote to Grace Hopper about {n}.")
    trueweave("init")
    with watching(tmp_path, environment) as watcher:
        watcher.until(READY)
        for n in range(40):  # a burst is one change
            (notes / f"{n}.md").write_text(f"Alan Turing wrote note {n}.")
        (notes / ".hidden.md").write_text("Not read.")
        (notes / "a0.md").unlink()
        printed = watcher.until(READY)
        assert "49 documents read, 40 new or changed" in printed
        assert "Removed 1 document" in printed
        away = notes.rename(tmp_path / "elsewhere")
        watcher.until("does not exist. Its documents are kept.")
        away.rename(notes)
        assert "Up to date: 49 documents" in watcher.until(READY)
        watcher.process.send_signal(signal.SIGINT)
        assert "trueweave sync notes --watch" in watcher.until("To continue")
        assert watcher.process.wait(60) == 130
    for path in notes.glob("1*.md"):
        path.unlink()
    with watching(tmp_path, environment) as watcher:
        watcher.until("11 of the 49 documents of notes are no longer there. Nothing was removed")
        assert watcher.process.wait(60) == 1
    assert len(answer(trueweave("documents", "--limit", "100", "--json"))["documents"]) == 49
