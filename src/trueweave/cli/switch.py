"""`trueweave off` and `trueweave on`: switch documents off without removing them, and on again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from trueweave.cli.options import DocumentPaths
from trueweave.cli.render.lines import count
from trueweave.cli.selection import selected, tell
from trueweave.cli.session import CommandSession, workspace_command

if TYPE_CHECKING:
    from trueweave.engine.trueweave import AsyncTrueweave


@workspace_command
def off(session: CommandSession, paths: DocumentPaths) -> None:
    """Switch documents off: nothing finds or shows them, and they stay stored.

    Paths select documents as for `trueweave remove`. New versions of these documents are stored and stay switched off.
    `trueweave on` switches them on again. Exits with 1 when something is not found; everything else is switched.
    """
    _switch(session, paths, lambda trueweave, uris: trueweave.switch_off(uris), "off")


@workspace_command
def on(session: CommandSession, paths: DocumentPaths) -> None:
    """Switch documents on again that were switched off.

    Their passages are embedded again; nothing is extracted again. Exits with 1 when something is not found; everything
    else is switched.
    """
    _switch(session, paths, lambda trueweave, uris: trueweave.switch_on(uris), "on")


def _switch(
    session: CommandSession,
    paths: list[str],
    act: Callable[[AsyncTrueweave, Sequence[str]], Awaitable[int]],
    way: str,
) -> None:
    selection = selected(session, paths)
    switched = session(lambda trueweave: act(trueweave, selection.uris)) if selection.uris else 0
    tell(session, selection, {"switched": switched}, f"{count(switched, 'document')} switched {way}.")
