"""The files of an embedding model known by name: downloaded with a progress bar, before a command begins its work."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from rich.text import Text

from trueweave.cli.render.console import say
from trueweave.cli.render.lines import megabytes
from trueweave.core.errors import ModelFilesMissing

if TYPE_CHECKING:
    from pathlib import Path

    from trueweave.core.settings import Settings
    from trueweave.models.catalogue import HubModel
    from trueweave.models.hub import ModelFiles


def fetch_model(settings: Settings) -> None:
    """Download the embedding model that the settings name, if it is one of local/ and not here yet.

    Raises ModelFilesMissing where that cannot be done. With a folder for models, nothing is downloaded: whoever opens
    the model says what is missing there.
    """
    name = settings.embedding_model
    if not name or not name.startswith("local/") or settings.model_folder:
        return
    from trueweave.models import catalogue, hub

    model = catalogue.named(name)
    if hub.find(model) is None:
        say(download_line(model, download(model, hub.default_folder())))


def fetch_model_for_questions(settings: Settings) -> None:
    """The same, where methods may do without a model: one that cannot is told by whoever needs it."""
    with suppress(ModelFilesMissing):
        fetch_model(settings)


def download(model: HubModel, folder: Path) -> ModelFiles:
    """A model's files in a folder of its own inside this one. What is there already is not downloaded again."""
    from trueweave.cli.render.progress_bar import downloading
    from trueweave.models import hub

    with downloading() as told:
        return hub.download(model, folder, told)


def download_line(model: HubModel, files: ModelFiles) -> Text:
    """What was downloaded: how much, of which commit, and the checksum of the model itself."""
    checksum = dict(files.files)[model.model].checksum
    kind = "SHA-256" if len(checksum) == 64 else "SHA-1"
    return Text(
        f"local/{model.name}: {megabytes(files.size)} of {model.repository} at {files.commit[:7]}, checked: {kind} "
        f"{checksum[:12]}…"
    )
