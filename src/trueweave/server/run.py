"""Running the server: when it may run without authentication, and how it stops."""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from importlib.util import find_spec
from socket import socket
from types import FrameType
from typing import TYPE_CHECKING

from trueweave.core.errors import ConfigError
from trueweave.core.settings import Settings

if TYPE_CHECKING:
    from trueweave.server.local_login import LocalLogin

_THREADS = 64
_SWITCH_SECONDS = 0.001


def check_installed() -> None:
    """Raise ConfigError if libraries that the server needs are not installed."""
    needed = {
        "fastapi": "fastapi",
        "httptools": "httptools",
        "fastapi_swagger": "fastapi-swagger",
        "jwt": "pyjwt[crypto]",
        "prometheus_client": "prometheus-client",
        "python_multipart": "python-multipart",
        "uvicorn": "uvicorn",
    }
    if missing := [name for module, name in needed.items() if find_spec(module) is None]:
        raise ConfigError(f'the server needs {" and ".join(missing)}: pip install "trueweave[server]"')


def check_no_auth(settings: Settings, host: str, *, has_keys: bool) -> None:
    """Raise ConfigError if the server must not run without authentication: there are keys or an identity provider, or
    the address is not a loopback address."""
    from trueweave.server.loopback import is_loopback

    if not is_loopback(host):
        raise ConfigError(
            f"--no-auth gives everybody who reaches {host} full access. Start without it and create a key with "
            "`trueweave keys create NAME --scope admin`, or listen on 127.0.0.1."
        )
    if has_keys:
        raise ConfigError("--no-auth is only for a database without keys. Start without it, or revoke all keys.")
    if settings.oidc_issuer is not None:
        raise ConfigError(
            "--no-auth and oidc_issuer exclude each other. Start without --no-auth, or unset oidc_issuer."
        )


def run(
    settings: Settings,
    sockets: list[socket],
    *,
    authenticated: bool,
    works: bool,
    local: LocalLogin | None = None,
    started: Callable[[], None] | None = None,
) -> None:
    """Serve on these bound sockets until a signal arrives. `started` is called in a thread once it answers requests.

    For `drain_seconds` after that, it reports that it is not ready but still answers. Then it accepts no more
    connections, and ends within `shutdown_seconds`: see `Shutdown`. A second signal skips the wait.

    It runs on httptools, and on uvloop if that is installed; the extra `server` includes both.
    """
    with asyncio.Runner(loop_factory=_new_loop) as runner:
        runner.run(_serve(settings, sockets, authenticated=authenticated, works=works, local=local, started=started))


def _new_loop() -> asyncio.AbstractEventLoop:
    if find_spec("uvloop"):
        from uvloop import new_event_loop

        return new_event_loop()
    return asyncio.new_event_loop()


async def _serve(
    settings: Settings,
    sockets: list[socket],
    *,
    authenticated: bool,
    works: bool,
    local: LocalLogin | None,
    started: Callable[[], None] | None,
) -> None:
    import uvicorn

    from trueweave.server.app import create_app
    from trueweave.server.connections import protocol_for
    from trueweave.server.logs import log_to_stderr
    from trueweave.server.metrics_port import metrics_at

    log_to_stderr(settings.log_format)
    app = create_app(settings, authenticated=authenticated, works=works, local=local)
    await asyncio.sleep(0)  # raises if Ctrl-C came before the server handles it, and not in the middle of its start
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,  # the middleware logs requests
        server_header=False,
        http=protocol_for(settings),
        proxy_headers=False,  # callers are identified by key, never by address
        timeout_graceful_shutdown=app.shutdown.grace,  # type: ignore[arg-type]  # a float works, too
        lifespan="on",
    )

    class _Server(uvicorn.Server):
        async def startup(self, sockets: list[socket] | None = None) -> None:
            await super().startup(sockets)
            if started and self.started:
                loop.run_in_executor(None, started)

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            def leave() -> None:
                app.shutdown.enforce()
                super(_Server, self).handle_exit(sig, frame)

            is_first = not app.shutdown.stopping.is_set()
            app.shutdown.stopping.set()  # the worker starts no more jobs, and long-lived streams end
            if is_first and settings.drain_seconds:
                loop.call_soon_threadsafe(loop.call_later, settings.drain_seconds, leave)
            else:
                leave()

    loop = asyncio.get_running_loop()
    # A slow upload or comparison of names occupies a thread while it runs, and other requests need one briefly.
    sys.setswitchinterval(_SWITCH_SECONDS)  # so that the loop waits less for computing threads
    loop.set_default_executor(ThreadPoolExecutor(_THREADS, thread_name_prefix="trueweave"))
    with ExitStack() as listening:
        if settings.metrics_port is not None:
            place = metrics_at(app.metrics, settings.metrics_host, settings.metrics_port, loop)
            listening.enter_context(place)
        # Exclude the program's own objects from garbage collection, which would scan them during a question.
        gc.collect()
        gc.freeze()
        await _Server(config).serve(sockets)
