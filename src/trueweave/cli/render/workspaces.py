"""Workspaces, and advice on their models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from trueweave.cli.render.lines import next_step
from trueweave.cli.render.tables import TextTable, table

if TYPE_CHECKING:
    from trueweave.config import Settings
    from trueweave.store.postgres.health import WorkspaceInfo as Found


def workspace_table(found: list[Found], current: str) -> TextTable:
    """Workspaces, one a line."""
    made = table("workspace", "made", "")
    for one in found:
        made.add_row(one.name, f"{one.created:%Y-%m-%d}", "in the settings" if one.name == current else "")
    return made


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
