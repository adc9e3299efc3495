"""Starting the server."""

import logging
import signal

import pytest

from trueweave import Settings
from trueweave.server import app, logs
from trueweave.server.listening import bind
from trueweave.server.run import run


def test_ctrl_c_before_the_server_handles_it_stops_it_without_an_error(
    url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    create = app.create_app

    def interrupted(*args: object, **options: object) -> object:
        signal.raise_signal(signal.SIGINT)
        return create(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(app, "create_app", interrupted)
    monkeypatch.setattr(logs, "log_to_stderr", lambda _: None)
    [socket] = bind("127.0.0.1", 0)
    with socket, pytest.raises(KeyboardInterrupt):
        run(Settings(database_url=url), [socket], authenticated=True, works=False)
    assert [one for one in caplog.records if one.levelno >= logging.ERROR] == []
