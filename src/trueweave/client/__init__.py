"""AsyncClient: one workspace of a server, with the calls and types of AsyncTrueweave."""

from trueweave.client.client import AsyncClient

__all__ = ["AsyncClient"]
