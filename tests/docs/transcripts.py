"""Commands on a page of the documentation together with what they print, run again and compared.

In a block of the language `console`, a line that begins with `$ ` is a command, and the lines up to the next one are
what it prints on a terminal of 80 columns. Blocks without such a line are not run. A line with nothing but `…` stands
for output that the page leaves out. Seconds, dates of this decade, ids, keys and positions of copies differ from run to
run, and so do the places at which lines are broken: they are not compared. An id that a command printed can be used in
a later command, and `twk_…` is the key that was printed last.

`TRUEWEAVE_WRITE_TRANSCRIPTS=1 pytest tests/docs/test_transcripts.py` writes into the pages what commands print now.
"""

import os
import re
import shlex
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.commands import PROGRAM, invoke
from tests.servers import free_port, wait_for_url
from trueweave.cli.render import console as consoles

WIDTH = 80
IS_WRITING = os.environ.get("TRUEWEAVE_WRITE_TRANSCRIPTS") == "1"
_BLOCK = re.compile(r"^```console\n(?P<body>.*?)^```$", re.DOTALL | re.MULTILINE)
_ID = re.compile(r"\btwk_[\w-]+|\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\b(?=[a-f]*\d)[0-9a-f]{8,64}\b")
_KEY = re.compile(r"\btwk_[\w-]+")
_VARYING = re.compile(
    r"\b1[789]\d{8}\b|\b\d[\d,]*(\.\d+)? (ms|s)\b|\b20[2-9]\d-\d\d-\d\d(T[\d:.+Z]*| \d\d:\d\d)?"
    r"|\b\d\d [A-Z][a-z]{2} \d\d:\d\d\b|\btw-[\w…]+\.localhost:\d+|#code=[\w…-]+|\b\d+\.\d\ds\b|^\d\d:\d\d:\d\d\b"
    r"|\bup to date +\d+$",  # a position counts transactions, of which a busy machine takes fewer
    re.MULTILINE,
)
_MILLISECONDS = re.compile(r"^(\w+(?: +\d+\.\d\*?)+) +\d+$", re.MULTILINE)  # the last column of a row of scores
# Into how many calls texts are divided for embedding depends on how far a worker is.
_EMBEDDING_CALLS = re.compile(r"^((?:embed +\S+|all) +)\d+", re.MULTILINE)
_LEFT_OUT = "…"
_ADDRESS = "127.0.0.1:8000"
_HERE_DOCUMENT = re.compile(r"<<'(\w+)'$")


@dataclass(frozen=True)
class Step:
    """A command of a page, as it is written there, and what it prints."""

    written: str
    printed: str

    @property
    def command(self) -> str:
        return self.written.removeprefix("$ ").rstrip("\n")


@dataclass
class Session:
    """A shell in which the commands of a page are run one after the other."""

    folder: Path
    environment: dict[str, str]
    names: Mapping[str, str] = field(default_factory=dict)  # what a page writes in the place of a path of this machine
    addresses: Mapping[str, str] = field(default_factory=dict)  # of other systems on a page, and where they are here
    before: Mapping[int, Callable[[], object]] = field(default_factory=dict)  # what happens before the n-th command
    _ids: dict[str, str] = field(default_factory=dict)
    _port: int = field(default_factory=free_port)
    _servers: ExitStack = field(default_factory=ExitStack)
    _said: str = ""
    _key: str = ""
    _number: int = 0

    @property
    def url(self) -> str:
        """The address of the server that `trueweave serve` starts."""
        return f"http://127.0.0.1:{self._port}"

    def run(self, step: Step) -> str:
        """What the command prints, in the words of the page."""
        command = step.command.replace("\\\n", "").replace(_ADDRESS, f"127.0.0.1:{self._port}")
        for shown, real in self._ids.items():
            command = command.replace(shown, real)
        command = command.replace("twk_…", self._key)
        for shown, real in self.addresses.items():
            command = command.replace(shown, real)
        self._number += 1
        self.before.get(self._number, lambda: None)()
        printed = self._printed(command).replace(f"127.0.0.1:{self._port}", _ADDRESS)
        for shown, real in self.addresses.items():
            printed = printed.replace(real, shown)
        for real, shown in self.names.items():
            printed = printed.replace(real, shown)
        self._key = next(iter(_KEY.findall(printed)), self._key)
        self._ids.update(zip(_ID.findall(step.printed), _ID.findall(printed), strict=False))
        return printed

    def close(self) -> None:
        self._servers.close()

    def _printed(self, command: str) -> str:
        match shlex.split(command, comments=True):
            case ["pip", "install", *_]:
                return ""
            case ["cd", to]:
                self.folder = self.folder / to
                return ""
            case ["export", given]:
                name, _, value = given.partition("=")
                self.environment[name] = value
                return ""
            case ["trueweave", "serve", *options]:
                return self._serve(options)
            case ["trueweave", "worker" | "ui", *_] as words:
                return self._stopped(words[1:])
            case ["printf", lines, "|", "trueweave", *words]:
                typed = lines.replace("\\n", "\n")
                return invoke(*words, folder=self.folder, environment=self.environment, stdin=typed).output
            case ["trueweave", *words] if _is_alone(command):
                return invoke(*words, folder=self.folder, environment=self.environment).output
        here = {**self.environment, "PATH": f"{PROGRAM.parent}:{self.environment['PATH']}"}
        return subprocess.run(["sh", "-c", command], cwd=self.folder, env=here, stdout=-1, stderr=-2, text=True).stdout

    def _serve(self, options: list[str]) -> str:
        """Start a server, which runs until the end; what it says when it starts."""
        log = self.folder.parent / "server.log"
        if not log.exists():
            command = [str(PROGRAM), "serve", "--port", str(self._port), *options]
            with log.open("w") as file:
                process = subprocess.Popen(command, cwd=self.folder, env=self.environment, stderr=file)
            self._servers.callback(process.wait, 30)
            self._servers.callback(process.terminate)
            wait_for_url(f"http://127.0.0.1:{self._port}/healthz")
            lines = log.read_text("utf-8").splitlines(keepends=True)
            self._said = "".join(line for line in lines if " INFO " not in line)
        return self._said

    def _stopped(self, words: list[str]) -> str:
        """What a command prints that runs until Ctrl-C, which comes when it answers."""
        port = free_port()
        environment = {**self.environment, "TRUEWEAVE_METRICS_PORT": str(port)}
        log = self.folder.parent / f"{words[0]}.log"
        with log.open("w") as file:
            command = [str(PROGRAM), *words]
            process = subprocess.Popen(command, cwd=self.folder, env=environment, stdout=file, stderr=file)
            if words[0] == "worker":
                wait_for_url(f"http://127.0.0.1:{port}/readyz")
            while "#code=" not in log.read_text("utf-8") and words[0] == "ui":
                assert process.poll() is None, log.read_text("utf-8")
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            process.wait(60)
        return "".join(line for line in log.read_text("utf-8").splitlines(keepends=True) if " INFO " not in line)


def _is_alone(command: str) -> bool:
    """Whether a shell would do nothing but start the program."""
    words = shlex.shlex(command, posix=True, punctuation_chars="|<>&;")
    words.whitespace_split = True
    return "$" not in command and not any({*word} <= {*"|<>&;"} for word in words)


def steps(body: str) -> list[Step]:
    """The commands of a block with what they print; none if no line begins with `$ `."""
    found: list[Step] = []
    lines = iter(body.splitlines(keepends=True))
    for line in lines:
        if line.startswith("$ "):
            found.append(Step("".join(_whole(line, lines)), ""))
        elif found:
            found[-1] = Step(found[-1].written, found[-1].printed + line)
    return found


def _whole(line: str, lines: Iterator[str]) -> Iterator[str]:
    """The lines of a command: those that a backslash continues, and those of a here-document."""
    yield line
    if ends := _HERE_DOCUMENT.search(line.rstrip("\n")):
        for more in lines:
            yield more
            if more.rstrip("\n") == ends[1]:
                return
    while line.endswith("\\\n"):
        line = next(lines)
        yield line


def check(page: Path, session: Session) -> int:
    """Run all commands of a page and compare what they print; how many there were."""
    number, wrong = 0, list[str]()

    def again(block: re.Match[str]) -> str:
        nonlocal number
        written = ""
        for step in (found := steps(block["body"])):
            printed = _broken(session.run(step))
            fits = matches(step.printed, printed)
            if not fits:
                wrong.append(f"{step.written}{printed}")
            written += step.written + (step.printed if fits else printed)
        number += len(found)
        return f"```console\n{written or block['body']}```"

    text = _BLOCK.sub(again, page.read_text("utf-8"))
    if IS_WRITING:
        page.write_text(text, "utf-8")
    assert not wrong or IS_WRITING, f"{page.name} does not show what is printed now:\n" + "\n".join(wrong)
    return number


def matches(shown: str, printed: str) -> bool:
    """Whether a page shows what is printed."""
    parts = [re.escape(_compared(part)) for part in re.split(rf"^{_LEFT_OUT}$", shown, flags=re.MULTILINE)]
    return bool(re.fullmatch(" ?.*?".join(parts) if len(parts) > 1 else parts[0], _compared(printed)))


def _compared(text: str) -> str:
    text = _EMBEDDING_CALLS.sub(r"\1 VARYING", _MILLISECONDS.sub(r"\1 VARYING", text))
    return " ".join(_VARYING.sub("VARYING", _ID.sub("ID", text)).split())


def _broken(text: str) -> str:
    """The text in lines of 80 columns, each broken between words, as a terminal shows what goes to stderr."""
    lines = [
        line if len(line) <= WIDTH else textwrap.fill(line, WIDTH, break_on_hyphens=False, break_long_words=False)
        for line in text.splitlines()
    ]
    return "".join(f"{line.rstrip()}\n" for line in lines)


@contextmanager
def terminal() -> Iterator[None]:
    """Let commands in this process print to stdout as on a terminal of 80 columns without colours."""
    with pytest.MonkeyPatch.context() as patch:
        for console in (consoles.out, consoles.err):
            patch.setattr(console, "_width", WIDTH)
            patch.setattr(console, "_color_system", None)
        patch.setattr(consoles.out, "_force_terminal", True)
        patch.setattr(sys.stdout, "isatty", lambda: False)
        yield
