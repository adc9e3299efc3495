"""`trueweave ui`, as a user has it: one command from nothing to a browser that is logged in."""

import re
import signal
import stat
import subprocess
import time
from pathlib import Path

import httpx2
import pytest

from tests.commands import PROGRAM
from tests.e2e.conftest import Trueweave
from trueweave.server.routes import ui

SEEN = """#!/bin/sh
printf '%s' "$1" > "$SEEN/argument"
cp "${1#file://}" "$SEEN/page.html"
stat -c '%a' "${1#file://}" > "$SEEN/mode"
touch "$SEEN/done"
"""


@pytest.fixture
def needs_ui() -> None:
    if not ui.is_built():
        pytest.skip("The web UI is not built here: run `make web`.")


@pytest.mark.skipif(ui.is_built(), reason="The web UI is built here.")
def test_without_the_built_ui_it_says_how_to_build_it(trueweave: Trueweave) -> None:
    trueweave("init")
    assert "Run `make web` in the source tree, or install a wheel." in trueweave("ui", code=1).stderr


@pytest.mark.usefixtures("needs_ui", "trueweave")
def test_the_browser_gets_a_private_page_with_a_code_that_works_once(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    browser = tmp_path / "browser"
    browser.write_text(SEEN)
    browser.chmod(stat.S_IRWXU)
    known = {**environment, "BROWSER": f"{browser} %s", "SEEN": str(tmp_path), "PATH": "/usr/bin:/bin"}
    command = [str(PROGRAM), "ui"]
    with subprocess.Popen(command, cwd=tmp_path, env=known, stderr=subprocess.PIPE, text=True) as process:
        try:
            wait_for(tmp_path / "done", process)
            argument, page = (tmp_path / "argument").read_text(), (tmp_path / "page.html").read_text()
            [address] = re.findall(r'href="([^"]+)"', page)
            origin, _, code = address.partition("/ui/login#code=")
            assert code not in argument
            assert (tmp_path / "mode").read_text().strip() == "600"
            host, port = origin.removeprefix("http://").split(":")
            assert re.fullmatch(r"tw-[0-9a-f]{16}\.localhost", host)
            headers = {"Host": f"{host}:{port}", "Origin": origin, "Sec-Fetch-Site": "same-origin"}
            with httpx2.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=30) as client:
                assert client.get("/ui/login").status_code == 200
                assert client.get("/v1/workspaces").status_code == 401
                opened = client.post("/v1/session", json={"code": code})
                assert opened.status_code == 201, opened.text
                assert client.post("/v1/session", json={"code": code}).status_code == 401
                sent = {"Cookie": opened.headers["set-cookie"].partition(";")[0]}
                assert client.post("/v1/workspaces", json={"name": "first"}, headers=sent).status_code == 201
        finally:
            process.send_signal(signal.SIGTERM)
            _, printed = process.communicate(timeout=60)
    assert address in printed
    assert not Path(argument.removeprefix("file://")).exists()


@pytest.mark.usefixtures("needs_ui")
def test_the_address_is_printed_when_it_answers_and_two_run_side_by_side(
    tmp_path: Path, trueweave: Trueweave, environment: dict[str, str]
) -> None:
    trueweave("init", "--workspace", "harbour", "--yes")

    def started(*options: str) -> "subprocess.Popen[str]":
        command = [str(PROGRAM), "ui", "--no-browser", *options]
        return subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True)

    with started() as first, started() as second:
        try:
            ports = [_port(one) for one in (first, second)]
            assert ports[0] != ports[1]
            for port in ports:
                assert httpx2.get(f"http://127.0.0.1:{port}/readyz", timeout=30).status_code == 200
            with started("--port", ports[0]) as third:
                _, printed = third.communicate(timeout=60)
            assert third.returncode == 1
            assert f"port {ports[0]} of 127.0.0.1 is in use." in printed
        finally:
            first.send_signal(signal.SIGINT)
            second.send_signal(signal.SIGTERM)
            ends = [one.communicate(timeout=60)[1] for one in (first, second)]
    assert (first.returncode, second.returncode) == (130, 143)
    assert ends[0].endswith("Stopped. Unfinished documents are processed when it runs again.\n")
    assert not re.search("Traceback|error", "".join(ends))


def _port(process: "subprocess.Popen[str]") -> str:
    assert process.stderr
    for line in process.stderr:
        if found := re.search(r"http://tw-[0-9a-f]{16}\.localhost:(\d+)/ui/login\?next=/harbour/ask#code=", line):
            return found[1]
    pytest.fail("no address was printed")


def wait_for(file: Path, process: "subprocess.Popen[str]") -> None:
    end = time.monotonic() + 120
    while not file.exists():
        assert process.poll() is None, process.stderr.read() if process.stderr else ""
        assert time.monotonic() < end, f"there is no {file.name}"
        time.sleep(0.1)
