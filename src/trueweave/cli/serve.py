"""`trueweave serve`: the server."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Annotated

import typer

from trueweave.cli.log_form import logged, with_operations
from trueweave.cli.options import DatabaseUrl, LogFormat, MetricsPort
from trueweave.cli.render.console import say
from trueweave.cli.render.lines import next_step, warning
from trueweave.cli.reply import replying
from trueweave.cli.session import in_database, load_settings

if TYPE_CHECKING:
    from trueweave.core.settings import Settings

_log = logging.getLogger("trueweave.server.command")


def serve(
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port to listen on.")] = 8000,
    no_auth: Annotated[
        bool, typer.Option("--no-auth", help="Run without authentication for this machine, until a key is created.")
    ] = False,
    worker: Annotated[bool, typer.Option("--worker/--no-worker", help="Whether to also run a worker.")] = True,
    metrics_port: MetricsPort = None,
    log_format: LogFormat = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Serve all workspaces of the database over HTTP, until Ctrl-C or SIGTERM.

    Callers authenticate with a key from `trueweave keys create`, or with a token of the provider that oidc_issuer
    names. Requests without either get 401.
    """
    from trueweave.server.run import check_installed

    with replying(False, runs_until_stopped=True):
        check_installed()
        settings = with_operations(load_settings(database_url), metrics_port, log_format)
        with logged(settings):
            _serve(settings, host, port, no_auth=no_auth, works=worker)


def _serve(settings: Settings, host: str, port: int, *, no_auth: bool, works: bool) -> None:
    from trueweave.server.listening import bind
    from trueweave.server.run import check_no_auth, run
    from trueweave.server.tracing import sent_traces
    from trueweave.store.postgres.access import api_keys

    has_keys = in_database(api_keys.any_valid, settings)
    if no_auth:
        check_no_auth(settings, host, has_keys=has_keys)
    sockets = bind(host, port)
    place = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    say(f"Serving {place}. API documentation: {place}/docs")
    if no_auth:
        _warn(
            settings,
            "server.no_auth",
            "Every program on this machine has full access without a key (--no-auth). Do not put a proxy in front "
            "of it.",
            "creates a key and turns authentication on",
        )
    elif not has_keys and settings.oidc_issuer is None:
        _warn(
            settings,
            "server.no_keys",
            "There is no valid key: every request gets 401.",
            "creates a key, which works immediately",
        )
    if not works:
        say(next_step("trueweave worker", "processes added documents; this server does not"))
    with sent_traces("trueweave-server"):
        run(settings, sockets, authenticated=not no_auth, works=works)


def _warn(settings: Settings, event: str, message: str, effect: str) -> None:
    """Print a warning about access and how to create a key."""
    if settings.log_format == "json":
        _log.warning(message, extra={"event": event})
    say(warning(message), next_step("trueweave keys create NAME --scope admin", effect))
