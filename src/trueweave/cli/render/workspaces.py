"""Workspaces, and advice on their models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from trueweave.cli.render.lines import decimal, next_step
from trueweave.cli.render.models import megabytes
from trueweave.cli.render.tables import TextTable, table

if TYPE_CHECKING:
    from trueweave.core.settings import Settings
    from trueweave.store.postgres.cluster.joining import ServerInfo
    from trueweave.store.postgres.cluster.moving import Moved
    from trueweave.store.postgres.schema.health import WorkspaceInfo as Found


def workspace_table(found: list[Found], current: str, *, servers: bool) -> TextTable:
    """Workspaces, one a line; with `servers`, the one that each is on."""
    made = table("workspace", "made", *(["server"] if servers else []), "")
    for one in found:
        server = [one.server] if servers else []
        made.add_row(one.name, f"{one.created:%Y-%m-%d}", *server, "in the settings" if one.name == current else "")
    return made


def server_table(found: list[ServerInfo]) -> TextTable:
    """Servers, one a line: how much is on each, and how much each is to hold in proportion to others."""
    made = table("server", ">workspaces", ">size", ">weight", "")
    for one in found:
        state = one.problem or ("" if one.weight else "takes no new workspaces")
        made.add_row(one.name, f"{one.workspaces:,}", megabytes(one.bytes), decimal(one.weight), state)
    return made


def moved_lines(moved: Moved) -> list[str]:
    """What moving a workspace took, and what is left to do."""
    size = f"{moved.rows:,} rows, {megabytes(moved.bytes)} in {moved.seconds:.1f} s"
    return [
        f"{moved.workspace} is on {moved.target}, with the same digest, {moved.digest[:12]}…: {size}.",
        f"No read waited for it, and writes for {moved.read_only_seconds:.1f} s.",
        *(
            f"Role {role} read it on {moved.source}, and cannot on {moved.target}: drop it, and make another with "
            f"`trueweave workspace role {moved.workspace}`."
            for role in moved.roles
        ),
    ]


def model_advice(settings: Settings) -> list[Text]:
    """What to do for a better index."""
    advice = []
    if not settings.model_for("extract"):
        advice.append(
            Text(
                "Names are found by rules alone. A language model finds more, and how they relate: set one in "
                'trueweave.toml, as in model = "ollama/llama3.1:8b".'
            )
        )
    if not settings.embedding_model:
        advice.append(
            Text(
                'There will be no vectors. Set embedding_model in trueweave.toml, as in "local/bge-small-en-v1.5" '
                '(pip install "trueweave[local]").'
            )
        )
    if settings.chat_models or settings.embedding_model:
        advice.append(next_step("trueweave doctor", "tries the models", heading="To check"))
    return advice
