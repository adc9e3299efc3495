"""`trueweave sweep`: delete what is no longer needed."""

from __future__ import annotations

from dataclasses import asdict

from trueweave.cli.render.lines import count
from trueweave.cli.session import CommandSession, workspace_command


@workspace_command
def sweep(session: CommandSession) -> None:
    """Delete what is no longer needed.

    This deletes names that no document mentions, replies and lists that are older than the settings allow, and
    leftovers of removed documents and killed processes. `trueweave worker` does this automatically, except for the
    names: deleting those blocks writers, so do it when the system is quiet.
    """
    swept = session(lambda trueweave: trueweave.maintenance.sweep())
    kinds = (
        (swept.names, "name", "forgotten"),
        (swept.replies, "reply", "kept no longer"),
        (swept.changes, "change", "kept no longer"),
        (swept.calls, "call", "summed up by day"),
        (swept.documents, "removed document", "erased"),
        (swept.spaces, "former embedding space", "cleared"),
        (swept.workspaces, "workspace", "left by killed processes dropped"),
    )
    said = [f"{count(number, what)} {how}." for number, what, how in kinds if number]
    session.reply(asdict(swept), *(said or ["There was nothing to delete."]))
