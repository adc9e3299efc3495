"""The tools `remember`, `recall` and `forget`."""

from __future__ import annotations

from trueweave.engine.trueweave import AsyncTrueweave
from trueweave.mcp.arguments import ForgetArguments, RecallArguments, RememberArguments, moment
from trueweave.mcp.questions import quoted
from trueweave.mcp.reply import ToolReply, counted
from trueweave.mcp.results import ForgottenOutput, RememberedOutput


async def remember(trueweave: AsyncTrueweave, asked: RememberArguments) -> ToolReply:
    """Store a text or a conversation."""
    uri = await trueweave.remember(
        asked.text, by=asked.by, source=asked.source, date=moment(asked.date), conversation=asked.conversation
    )
    told = f"Stored as {uri}. It can be found once it has been indexed, usually within seconds."
    return ToolReply(RememberedOutput(uri=uri), told)


async def recall(trueweave: AsyncTrueweave, asked: RecallArguments) -> ToolReply:
    """The memories that match a text."""
    found = await trueweave.recall(asked.text, asked.limit, by=asked.by, since=moment(asked.since))
    return quoted(found, "Nothing like this is remembered. `search` looks in all documents.")


async def forget(trueweave: AsyncTrueweave, asked: ForgetArguments) -> ToolReply:
    """Remove memories."""
    forgotten = await trueweave.forget(*asked.uris)
    return ToolReply(ForgottenOutput(forgotten=forgotten), f"{counted(forgotten, 'memory', 'memories')} removed.")
