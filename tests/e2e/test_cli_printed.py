"""What commands print, in this process: nothing in documents, names or messages steers the terminal that it goes to."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from trueweave.cli import app
from trueweave.cli.render.printable import printable

EVIL = "\x1b[41m\x1b]0;owned\x07\x9b2J\u202e"
SHOWN = "�[41m�]0;owned��2J�"
NAMES = ("Ada Lovelace", "Charles Babbage", "Mary Somerville")


class _Refusing(BaseHTTPRequestHandler):
    """A model server whose every reply is an error that would steer a terminal."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        said = json.dumps({"error": {"message": f"no such model {EVIL}"}}).encode()
        self.send_response(404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def model_url() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), _Refusing)
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    serving.join()
    server.server_close()


@pytest.fixture
def folder(tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace whose documents have such characters in all that they say."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRUEWEAVE_DATABASE_URL", url)
    monkeypatch.setenv("COLUMNS", "200")
    names = [f"{name} {EVIL}" for name in NAMES]
    said = [
        {
            "uri": f"notes/{EVIL}{n}",
            "title": f"Title {EVIL}",
            "text": f"{names[n]} wrote to {names[n - 1]} about the engine. {EVIL}",
            "entities": [{"name": name, "type": f"person{EVIL}", "description": f"Wrote {EVIL}"} for name in names],
            "triples": [[names[n], f"wrote to {EVIL}", names[n - 1]]],
        }
        for n in range(3)
    ]
    (tmp_path / "said.jsonl").write_text("\n".join(map(json.dumps, said)), "utf-8")
    files = tmp_path / "files"
    files.mkdir()
    for n in range(2):
        (files / f"good{n} {EVIL}.md").write_text(
            f"# Heading {EVIL}\n\nAda Lovelace met {EVIL} Charles Babbage.", "utf-8"
        )
    (files / f"bad {EVIL}.pdf").write_bytes(b"no PDF")
    (files / f"other {EVIL}.{EVIL}").write_text("x")
    return tmp_path


COMMANDS = (
    ["init"],
    ["add", "said.jsonl"],
    ["estimate", "files"],
    ["add", "files"],
    ["add", f"files/bad {EVIL}.pdf"],
    ["add", f"missing {EVIL}"],
    ["status"],
    ["status", "--failed"],
    ["entities"],
    ["ask", "Ada Lovelace engine", "--method", "keyword"],
    ["ask", "Ada Lovelace engine", "--method", "keyword", "--show-evidence"],
    ["ask", "Ada Lovelace engine", "--method", "keyword", "--context-only"],
    ["ask", f"zzz {EVIL}", "--method", "keyword"],
    ["ask", "Ada", "--method", f"none {EVIL}"],
    ["compare", "Ada Lovelace engine", "--methods", "keyword,naive", "--show-evidence"],
    ["rules", "merge", f"Ada Lovelace {EVIL}", f"Nobody {EVIL}"],
    ["rules", "rename", f"Ada Lovelace {EVIL}", f"Ada {EVIL}"],
    ["rules", "list"],
    ["rules", "undo", f"{EVIL}"],
    ["rules", "suggest"],
    ["rules", "accept", f"{EVIL}"],
    ["rules", "reject", "1"],
    ["communities", "build"],
    ["communities"],
    ["communities", "tree"],
    ["communities", "changes", "--since", "1d"],
    ["communities", "show", f"{EVIL}"],
    ["workspace", "list"],
    ["status", "--workspace", f"none {EVIL}"],
    ["bench", f"none {EVIL}"],
    ["remove", f"notes/{EVIL}0", f"none {EVIL}"],
    ["doctor"],
)


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    return result


@pytest.mark.parametrize("is_terminal", [True, False])
def test_no_command_lets_what_steers_a_terminal_through(
    folder: Path, monkeypatch: pytest.MonkeyPatch, is_terminal: bool, full: bool
) -> None:
    if is_terminal:
        monkeypatch.setenv("TTY_COMPATIBLE", "1")
        monkeypatch.setenv("NO_COLOR", "1")
    elif not full:
        pytest.skip("a pipe is tried in the full run")
    shown = {" ".join(command): run(*command).output for command in COMMANDS}
    for command, output in shown.items():
        assert not _steering(output), command
    told = [command for command, output in shown.items() if "�" in output]
    assert len(told) >= 12, told  # or else it would show nothing that these come through clean
    assert SHOWN in shown["entities"]


def _steering(output: str) -> set[str]:
    """What is left of such characters; escapes of our own for style and cursor are told apart by what EVIL has."""
    return {mark for mark in ("\x1b[41m", "\x1b]", "\x07", "\x9b", "\u202e") if mark in output}


def test_json_is_json_and_has_all_characters_as_escapes(folder: Path) -> None:
    for command in (["init"], ["add", "said.jsonl"]):
        run(*command, "--json")
    output = run("ask", "Ada Lovelace engine", "--method", "keyword", "--json").stdout
    assert printable(output) == output
    passage = json.loads(output)["evidence"]["passages"][0]
    assert passage["title"] == f"Title {EVIL}"
    assert EVIL in passage["text"]


def test_what_a_server_says_in_an_error_does_not_steer_the_terminal(folder: Path, model_url: str) -> None:
    (folder / "trueweave.toml").write_text(f'model = "openai/any"\nmodel_url = "{model_url}"\nmodel_tries = 1\n')
    for command in (["init"], ["add", "said.jsonl"]):
        run(*command)
    for command in (["ask", "Ada Lovelace engine", "--method", "keyword"], ["doctor"]):
        result = run(*command)
        assert result.exit_code == 1
        assert not _steering(result.output)
        assert "no such model �[41m" in result.output
