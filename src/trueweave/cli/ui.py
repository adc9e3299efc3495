"""`trueweave ui`: the web UI on this machine."""

from __future__ import annotations

import json
import logging
import signal
import sys
import time
import webbrowser
from collections.abc import Iterator
from contextlib import closing, contextmanager
from getpass import getuser
from html import escape
from http import HTTPStatus
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from trueweave.cli.log_form import logged
from trueweave.cli.options import DatabaseUrl
from trueweave.cli.render.console import say, say_unbroken
from trueweave.cli.reply import replying
from trueweave.cli.session import bundled, in_database, load_settings, start

if TYPE_CHECKING:
    from trueweave.core.settings import Settings

_HOST = "127.0.0.1"
_PATIENCE = 30.0  # seconds
_PAUSE = 0.1


def ui(
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on; 0 chooses a free one.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Whether to open the browser.")] = True,
    database_url: DatabaseUrl = None,
) -> None:
    """Start the web UI on this machine, with a server, a worker and the database, and open it in the browser.

    Without a URL, the bundled PostgreSQL is started, and created if needed. The browser opens the workspace of the
    settings if it exists, and logs in with a code that is valid once: other users of this machine can reach the port,
    but get no access.
    """
    with replying(False, runs_until_stopped=True):
        serve_ui(load_settings(database_url), port, browser=browser)


def serve_ui(settings: Settings, port: int = 0, *, browser: bool, page: str | None = None) -> None:
    """Serve the web UI until it is stopped. The browser is led to this page of it, or else to the workspace of the
    settings if it exists."""
    from trueweave.server.run import check_installed

    with _stopped_by_sigterm():
        check_installed()
        if not settings.database_url:
            start(bundled(settings), make=True)
        with logged(settings):
            _serve(settings, port, page, browser=browser)


def _serve(settings: Settings, port: int, page: str | None, *, browser: bool) -> None:
    from trueweave.core.errors import ConfigError
    from trueweave.server.listening import bind
    from trueweave.server.local_login import LocalLogin
    from trueweave.server.routes.ui import is_built
    from trueweave.server.run import run
    from trueweave.server.tracing import sent_traces

    if not is_built():
        raise ConfigError("the web UI is not built. Run `make web` in the source tree, or install a wheel.")
    logging.getLogger("trueweave.server.requests").setLevel(logging.WARNING)  # its user needs no line for each request
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)  # nor one for each request that the browser abandons
    # This fails here, and not in the browser, if the database is unusable.
    exists = in_database(lambda opened: opened.find_workspace(settings.workspace, make=False), settings)
    sockets = bind(_HOST, port)
    local = LocalLogin(getuser())
    chosen = sockets[0].getsockname()[1]
    address = local.address(chosen, page or (f"/{settings.workspace}/ask" if exists else "/"))
    with _page_to(address) as file, sent_traces("trueweave-server"):

        def announce() -> None:
            if not _is_ready(chosen, local.host):
                return
            say_unbroken(f"The web UI is at {address.partition('login')[0]}")
            say("Ctrl-C stops it. To log in, open this address within ten minutes; it works once:")
            say_unbroken(address)
            if browser and not webbrowser.open(file.as_uri()):
                say("No browser could be opened: open the address above.")

        run(settings, sockets, authenticated=True, works=True, local=local, started=announce)


def _is_ready(port: int, host: str) -> bool:
    """Wait until the server is ready; false if it stops first."""
    while True:
        try:
            with closing(HTTPConnection(_HOST, port, timeout=_PATIENCE)) as connection:
                connection.request("GET", "/readyz", headers={"Host": f"{host}:{port}"})
                response = connection.getresponse()
                body = response.read()
        except OSError:
            return False  # it listens before this is called, so it has stopped
        if response.status == HTTPStatus.OK:
            return True
        if json.loads(body)["code"] == "stopping":
            return False
        time.sleep(_PAUSE)


@contextmanager
def _stopped_by_sigterm() -> Iterator[None]:
    """Have SIGTERM end the command like an exception does, so that what it made is removed. The server, while it runs,
    handles the signal itself, and raises it again once it has stopped."""
    before = signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _page_to(address: str) -> Iterator[Path]:
    """A page that leads to an address, in a folder that only this user can read. The address itself would be visible to
    all users as an argument of the browser. The page is removed at the end."""
    with TemporaryDirectory(prefix="trueweave-") as folder:
        page = Path(folder) / "open.html"
        page.touch(0o600)
        page.write_text(
            f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={escape(address)}">
<title>Trueweave</title>
<p><a href="{escape(address)}">Open Trueweave</a></p>
</html>
""",
            "utf-8",
        )
        yield page
