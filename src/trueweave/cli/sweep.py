"""`trueweave sweep`: delete what is no longer needed."""

from __future__ import annotations

from dataclasses import asdict

from trueweave.cli.options import DatabaseUrl, Json, Workspace
from trueweave.cli.render.lines import count
from trueweave.cli.reply import replying
from trueweave.cli.session import in_workspace, load_settings


def sweep(workspace: Workspace = None, database_url: DatabaseUrl = None, json: Json = False) -> None:
    """Delete what is no longer needed.

    Deleted are names that no document mentions, replies and lists that have been kept as long as the settings say, and
    what removed documents and killed processes left behind. `trueweave worker` does this by itself, except for the
    names: deleting those blocks writers, so it is best done when little else runs.
    """
    with replying(json) as reply:
        settings = load_settings(database_url, workspace)
        swept = in_workspace(lambda trueweave: trueweave.maintenance.sweep(), settings)
        kinds = (
            (swept.names, "name", "forgotten"),
            (swept.replies, "reply", "kept no longer"),
            (swept.changes, "change", "kept no longer"),
            (swept.calls, "call", "summed up by day"),
            (swept.documents, "removed document", "erased"),
            (swept.spaces, "former embedding space", "cleared"),
            (swept.workspaces, "workspace", "dropped that a killed process left"),
        )
        said = [f"{count(number, what)} {how}." for number, what, how in kinds if number]
        reply(asdict(swept), *(said or ["There was nothing to delete."]))
