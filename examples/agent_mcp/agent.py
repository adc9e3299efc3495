"""An agent that answers by the tools of `trueweave mcp`, over the official client of the Model Context Protocol.

    python agent_mcp/agent.py

It has no language model: the function `decide` chooses the next call from what was done so far. Replace it by a model
that is given the tools and their results.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

from mcp import Client, StdioServerParameters, stdio_client

from trueweave import Trueweave
from trueweave.demo import DOCUMENTS

QUESTION = "Where did the woman who ground the Gull Stack lens learn her trade?"

Call = tuple[str, dict[str, Any]]


def decide(done: list[tuple[Call, Any]]) -> Call | None:
    """The next call: a search along the graph, then the path between two names; None at the end."""
    match len(done):
        case 0:
            return "search", {"text": QUESTION, "method": "weave", "limit": 3}
        case 1:
            return "path", {"start": "Gull Stack", "end": "Ferrin"}
    return None


async def main() -> None:
    with Trueweave() as trueweave:
        trueweave.add(DOCUMENTS)  # only what is new or has changed
    # The client passes on few variables by itself, and settings may be in others.
    server = StdioServerParameters(command=sys.executable, args=["-m", "trueweave", "mcp"], env=dict(os.environ))
    async with Client(stdio_client(server)) as client:
        tools = (await client.list_tools()).tools
        print(f"{len(tools)} tools: {', '.join(tool.name for tool in tools)}")
        done: list[tuple[Call, Any]] = []
        while call := decide(done):
            result = await client.call_tool(*call)
            if result.is_error:
                raise SystemExit(f"{call[0]} failed: {result.content}")
            done.append((call, result.structured_content))
            print(f"{call[0]}({', '.join(map(str, call[1].values()))})")
    (_, found), (_, path) = done
    for passage in found["passages"]:
        print(f"  {passage['uri'].rpartition('documents/')[2]}")
    print(" > ".join(path["names"]))


asyncio.run(main())
