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
    from trueweave.config import Settings
    from trueweave.store.postgres.db import Database

_log = logging.getLogger("trueweave.server.command")


def serve(
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port to listen on.")] = 8000,
    no_auth: Annotated[
        bool, typer.Option("--no-auth", help="Ask nobody for a key. Only on an address of this machine alone.")
    ] = False,
    worker: Annotated[
        bool, typer.Option("--worker/--no-worker", help="Whether it works documents that wait, too.")
    ] = True,
    metrics_port: MetricsPort = None,
    log_format: LogFormat = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Serve all workspaces of the database over HTTP, until Ctrl-C or SIGTERM.

    Callers show a key, which `trueweave keys create` makes, or a token of the provider that oidc_issuer names. As long
    as there is neither, everybody on this machine may do everything, and the server listens on no other address than
    one of this machine alone.
    """
    from trueweave.server.run import check_installed

    with replying(False):
        check_installed()
        settings = with_operations(load_settings(database_url), metrics_port, log_format)
        with logged(settings):
            _serve(settings, host, port, no_auth=no_auth, works=worker)


def _serve(settings: Settings, host: str, port: int, *, no_auth: bool, works: bool) -> None:
    from trueweave.server.run import check_address, run
    from trueweave.server.tracing import sent_traces
    from trueweave.store.postgres import api_keys

    async def has_keys(opened: Database) -> bool:
        return await api_keys.any_valid(opened)

    takes_tokens = settings.oidc_issuer is not None
    authenticated = not no_auth and (in_database(has_keys, settings) or takes_tokens)
    check_address(host, authenticated=authenticated)
    place = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    say(f"Serving {place}, described by {place}/v1/openapi.json.")
    if not authenticated:
        why = "--no-auth was given" if no_auth else "there is no key yet"
        told = f"Everybody on this machine may do everything: {why}."
        if settings.log_format == "json":
            _log.warning(told, extra={"event": "server.open"})
        say(
            warning(told),
            next_step("trueweave keys create NAME --scope admin", "makes a key; then start this again"),
        )
    if not works:
        say(next_step("trueweave worker", "works documents that are added; this server does not"))
    with sent_traces("trueweave-server"):
        run(settings, host, port, authenticated=authenticated, works=works)
