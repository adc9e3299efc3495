"""`trueweave serve`: the server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from trueweave.cli.options import DatabaseUrl, MetricsPort
from trueweave.cli.render.console import say
from trueweave.cli.render.lines import next_step, warning
from trueweave.cli.reply import replying
from trueweave.cli.session import in_database, load_settings

if TYPE_CHECKING:
    from trueweave.store.postgres.db import Database


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
    database_url: DatabaseUrl = None,
) -> None:
    """Serve all workspaces of the database over HTTP, until Ctrl-C or SIGTERM.

    Callers show a key, which `trueweave keys create` makes, or a token of the provider that oidc_issuer names. As long
    as there is neither, everybody on this machine may do everything, and the server listens on no other address than
    one of this machine alone.
    """
    from trueweave.server.run import check_address, check_installed, run
    from trueweave.server.tracing import sent_traces
    from trueweave.store.postgres import api_keys

    with replying(False):
        check_installed()
        settings = load_settings(database_url)
        if metrics_port:
            settings = settings.given({"metrics_port": metrics_port})

        async def has_keys(opened: Database) -> bool:
            return await api_keys.any_valid(opened)

        takes_tokens = settings.oidc_issuer is not None
        authenticated = not no_auth and (in_database(has_keys, settings) or takes_tokens)
        check_address(host, authenticated=authenticated)
        place = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        say(f"Serving {place}, described by {place}/v1/openapi.json.")
        if not authenticated:
            why = "--no-auth was given" if no_auth else "there is no key yet"
            say(
                warning(f"Everybody on this machine may do everything: {why}."),
                next_step("trueweave keys create NAME --scope admin", "makes a key; then start this again"),
            )
        if not worker:
            say(next_step("trueweave worker", "works documents that are added; this server does not"))
        with sent_traces("trueweave-server"):
            run(settings, host, port, authenticated=authenticated, works=worker)
