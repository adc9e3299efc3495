"""Embedding models known by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.text import Text

from trueweave.cli.render.tables import TextTable, table

if TYPE_CHECKING:
    from trueweave.models.catalogue import HubModel
    from trueweave.models.hub import ModelFiles


def model_table(found: Mapping[HubModel, ModelFiles | None], in_use: str) -> TextTable:
    """Models, one a line: what they are, and whether they are on this machine."""
    made = table("model", ">dimensions", ">tokens", "languages", "licence", "")
    for model, files in found.items():
        here = (
            "here, in use" if files and model.name == in_use else "here" if files else "in use" * (model.name == in_use)
        )
        made.add_row(
            model.name, f"{model.dimensions:,}", f"{model.most_tokens:,}", model.languages, model.licence, here
        )
    return made


def download_line(model: HubModel, files: ModelFiles) -> Text:
    """What was downloaded: how much, of which commit, and the checksum of the model itself."""
    checksum = dict(files.files)[model.model].checksum
    kind = "SHA-256" if len(checksum) == 64 else "SHA-1"
    return Text(
        f"local/{model.name}: {megabytes(files.size)} of {model.repository} at {files.commit[:7]}, checked: {kind} "
        f"{checksum[:12]}…"
    )


def megabytes(size: float) -> str:
    return f"{size / 1e6:,.1f} MB"
