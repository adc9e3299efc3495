"""`trueweave bench saved`: the runs that are stored in a workspace."""

from __future__ import annotations

from dataclasses import asdict

from trueweave.cli.render.tables import table
from trueweave.cli.session import CommandSession, workspace_command

_MOST_LISTED = 200  # runs


@workspace_command
def saved(session: CommandSession) -> None:
    """List the runs that are stored in the workspace."""
    found = session(lambda trueweave: trueweave.bench.runs(_MOST_LISTED))
    made = table("run", "made", "set", ">questions", "best", ">score")
    for one in found:
        best = one.methods[0]
        score = f"{100 * best.scores[one.leading].mean:.1f} {one.leading}"
        made.add_row(str(one.id), f"{one.made:%Y-%m-%d %H:%M}", one.name, f"{one.questions:,}", best.name, score)
    none = "No run is stored here. `trueweave bench questions.jsonl` makes one."
    session.reply({"runs": [asdict(one) for one in found]}, made if found else none)
