"""Serve until killed. The first line on standard output is the URL."""

from __future__ import annotations

import argparse
import asyncio
import importlib
from collections.abc import Sequence
from pathlib import Path

from trueweave.testing.model_server import Fault, ModelServer, Script, Trouble, smallest


def main() -> None:
    asyncio.run(_run(described()))


def described(arguments: Sequence[str] | None = None) -> ModelServer:
    """The server that a command line describes, by default that of this process."""
    parser = argparse.ArgumentParser(prog="python -m trueweave.testing.model_server", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1; any free one by default")
    parser.add_argument("--log", type=Path, help="file that each call is appended to when it begins and when it ends")
    parser.add_argument("--script", default="", metavar="MODULE:FUNCTION", help="what replies; the smallest by default")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds that each reply takes")
    parser.add_argument("--fault", action="append", default=[], metavar="NAME:SHARE", help="such as rate-limit:0.1")
    parser.add_argument("--pause", type=float, default=0.05, help="seconds between the bytes of a slow reply")
    parser.add_argument("--seed", type=int, default=0, help="of what goes wrong")
    given = parser.parse_args(arguments)
    faults = dict(fault.split(":", 1) for fault in given.fault)
    shares = {Fault(name): float(share) for name, share in faults.items()}
    trouble = Trouble(share=shares, pause=given.pause, seed=given.seed)
    script: Script = smallest
    if given.script:
        module, _, function = given.script.partition(":")
        script = getattr(importlib.import_module(module), function)
    return ModelServer(script, trouble=trouble, delay=given.delay, log=given.log, port=given.port)


async def _run(server: ModelServer) -> None:
    async with server:
        print(server.url, flush=True)
        await server.serve()


if __name__ == "__main__":
    main()
