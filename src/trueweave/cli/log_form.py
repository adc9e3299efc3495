"""The log format of long-running commands: text for people, or only JSON."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING

import typer

from trueweave.cli.render.console import err
from trueweave.core.errors import TrueweaveError

if TYPE_CHECKING:
    from trueweave.core.settings import Settings

_log = logging.getLogger("trueweave.server.command")


def with_operations(settings: Settings, metrics_port: int | None, log_format: str | None) -> Settings:
    """The settings, overridden by the options of the command."""
    given = {"metrics_port": metrics_port, "log_format": log_format}
    return settings.given({name: value for name, value in given.items() if value is not None})


@contextmanager
def logged(settings: Settings) -> Iterator[None]:
    """With log_format = "json", stderr is one JSON object per line inside this context: messages for people are
    omitted, and the error that ends the command is logged."""
    if settings.log_format == "text":
        yield
        return
    from trueweave.server.logs import log_to_stderr

    log_to_stderr("json")
    logging.captureWarnings(True)
    logging.getLogger("trueweave.ingest").setLevel(logging.INFO)
    sys.excepthook = _log_bug
    was_quiet, err.quiet = err.quiet, True
    try:
        yield
    except TrueweaveError as error:
        _log.error("%s", error, extra={"event": "command.failed"})
        raise typer.Exit(1) from error
    finally:
        err.quiet = was_quiet
        logging.captureWarnings(False)


def _log_bug(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    _log.critical("ended by a bug", exc_info=(kind, error, trace), extra={"event": "command.bug"})
