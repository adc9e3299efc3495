"""Runs `trueweave` in a real pseudo-terminal and draws what a person sees there, as docs/terminal/*.svg.

A PostgreSQL, a model server that answers from a script, and a folder of notes are made for it and thrown away.
"""

from __future__ import annotations

import fcntl
import io
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from trueweave.store.embedded import EmbeddedServer
from trueweave.testing.model_server import Asked

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "terminal"
_FONT = re.compile(r"^ *@font-face \{.*?^ *\}\n", re.DOTALL | re.MULTILINE)  # Rich loads one from another host
WIDTH, HEIGHT = 92, 40
PATIENCE = 120  # seconds
MODEL = "openai/gpt-test"
_STEP = re.compile(r"\x1b\[(\d*)([AK])|\x1b\[\?25[lh]|[\r\n]|\x1b\[[\d;]*m|[^\x1b\r\n]+")


def reply(asked: Asked) -> str:
    """What the model server says: the capitalised words of the last line are people who know each other."""
    if asked.schema and "city" in json.dumps(asked.schema):
        return '{"city": "Paris", "year": 1924}'
    if asked.messages[0].content.startswith("You rewrite"):
        return "Who wrote to whom about engine 8?"
    if asked.schema is None:
        return answered(asked.messages[-1].content)
    if "low_level" in json.dumps(asked.schema):
        return '{"low_level": ["Ada Lovelace", "engine"], "high_level": ["letters about engines"]}'
    words = list(dict.fromkeys(re.findall(r"\b[A-Z][a-z]+ [A-Z][a-z]+\b", asked.messages[-1].content)))
    entities = [{"name": word, "type": "person", "description": "", "emphasis": 5} for word in words]
    return json.dumps({"entities": entities, "relations": []})


def answered(text: str) -> str:
    """An answer to the question at the end of a text: most of it is in the passages, one sentence is not."""
    if "colour" in text.rpartition("Question: ")[2]:
        return "[0] The letters do not say which colour the engine had."
    if not (found := re.search(r"\[(\d+)\] Letter (\d+)\n[^<]*?((\w+ \w+) wrote to (\w+ \w+) about engine)", text)):
        return "A guess: Ada Lovelace wrote to Charles Babbage about the engine."
    mark, letter, quote, first, second = found.groups()
    return (
        f'{first} wrote to {second} about engine {letter} [{mark} "{quote} {letter}"]. Both had heard of it '
        f"from others [{mark}]. The engine was never built."
    )


class Screen:
    """As much of a terminal as rich makes use of: lines, colours, going up and wiping a line."""

    def __init__(self) -> None:
        self._lines = [""]
        self._row = 0

    def feed(self, data: str) -> None:
        for step in _STEP.finditer(data):
            text = step.group()
            if text == "\n":
                self._row += 1
                self._lines += [""] * (self._row + 1 - len(self._lines))
            elif step.group(2) == "A":
                self._row = max(0, self._row - int(step.group(1) or 1))
            elif step.group(2) == "K":
                self._lines[self._row] = ""
            elif text != "\r" and not text.startswith("\x1b[?"):
                self._lines[self._row] += text

    def shown(self) -> str:
        return "\n".join(self._lines).rstrip()


@dataclass(frozen=True)
class Shot:
    """A command, and the lines that a person types there, each when a pattern has shown."""

    command: str
    says: Sequence[tuple[str, str]] = ()


def run(shot: Shot, folder: Path, env: Mapping[str, str]) -> str:
    """What is on the screen at the end. A command that fails ends the program."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        program = str(Path(sys.executable).with_name("trueweave"))
        os.execve("/bin/sh", ["sh", "-c", f"exec {program} {shot.command.removeprefix('trueweave ')}"], env)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, WIDTH, 0, 0))
    screen, began, says = Screen(), time.monotonic(), list(shot.says)
    while time.monotonic() - began < PATIENCE:
        if select.select([terminal], [], [], 0.02)[0]:
            try:
                screen.feed(os.read(terminal, 65536).decode(errors="replace"))
            except OSError:  # all that was written has been read, and the other side is closed
                break
        if says and re.search(says[0][0], screen.shown()):
            os.write(terminal, says.pop(0)[1].encode())
    else:
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    if code := os.waitstatus_to_exitcode(status):
        raise SystemExit(f"{shot.command} ended with {code}:\n{screen.shown()}")
    return screen.shown()


def draw(name: str, shots: Sequence[Shot], folder: Path, env: Mapping[str, str]) -> None:
    """Run some commands one after the other, and draw what they showed in one picture."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    for shot in shots:
        console.print(Text(f"$ {shot.command}", style="bold"))
        console.print(Text.from_ansi(run(shot, folder, env)), "")
    PICTURES.mkdir(parents=True, exist_ok=True)
    print(console.export_text(clear=False))
    svg = _FONT.sub("", console.export_svg(title="trueweave"))
    (PICTURES / f"{name}.svg").write_text(svg, "utf-8")


@contextmanager
def model_server(*arguments: str) -> Iterator[str]:
    command = [sys.executable, "-m", "trueweave.testing.model_server", "--script", "capture_terminal:reply", *arguments]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "tools")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def notes(folder: Path) -> None:
    """Forty notes."""
    people = ("Ada Lovelace", "Charles Babbage", "Mary Somerville", "Luigi Menabrea", "John Herschel")
    (folder / "notes").mkdir()
    for n in range(40):
        first, second = people[n % 5], people[(n * 2 + 1) % 5]
        text = f"# Letter {n}\n\n{first} wrote to {second} about engine {n}.\n"
        (folder / "notes" / f"letter-{n:02d}.md").write_text(text * 3, "utf-8")


def settings(folder: Path, **values: object) -> None:
    """Write trueweave.toml."""
    lines = [f"{name} = {json.dumps(value)}" for name, value in values.items() if name != "prices"]
    prices = values.get("prices")
    if isinstance(prices, dict):
        lines += ["[prices]", *(f'"{model}" = {price}' for model, price in prices.items())]
    (folder / "trueweave.toml").write_text("\n".join(lines) + "\n", "utf-8")


def main(wanted: Sequence[str]) -> None:
    with tempfile.TemporaryDirectory() as made:
        root = Path(made)
        root.chmod(0o755)  # the server may run as a user of its own
        server = EmbeddedServer(root / "server", {"fsync": "off"})
        try:
            _scenes(server.start(), root, wanted)
        finally:
            server.stop()


def _scenes(url: str, root: Path, wanted: Sequence[str]) -> None:
    folder = root / "work"
    folder.mkdir()
    notes(folder)
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("TRUEWEAVE_", "OPENAI_"))}
    env = {**clean, "TRUEWEAVE_DATABASE_URL": url, "TERM": "xterm-256color"}

    def scene(name: str, *shots: Shot) -> None:
        if not wanted or name in wanted:
            draw(name, shots, folder, env)

    with model_server() as model_url:
        urls = {"model_url": model_url, "embedding_model": "openai/embed", "embedding_url": model_url}
        prices = {MODEL: [0.5, 2.0], "openai/embed": [0.0, 0.0]}
        settings(folder, model=MODEL, **urls, extractor="capitals", prices=prices, workspace="questions")
        scene(
            "look",
            Shot("trueweave init"),
            Shot("trueweave add notes --yes"),
            Shot('trueweave entity "ada lovelace" --passages 1'),
            Shot('trueweave path "Mary Somerville" "Ada Lovelace"'),
        )
        ends = (
            (r"quits\.\S*\n(\x1b\S*)?>", "Who wrote to whom about engine 7?\n"),
            (r"1 call,[^>]*\n\S*>", "And about the next one?\n"),
            (r"2 calls,[^>]*\n\S*>", "\x04"),
        )
        scene("chat", Shot("trueweave init"), Shot("trueweave add notes --yes"), Shot("trueweave chat", says=ends))


if __name__ == "__main__":
    main(sys.argv[1:])
