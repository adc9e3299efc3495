"""Downloads the files of a known embedding model with a progress bar, before a command starts."""

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
    """Download the embedding model of the settings, if it is a local/ model and not on this machine yet.

    Raises ModelFilesMissing if that is impossible. If model_folder is set, nothing is downloaded: opening the model
    reports missing files.
    """
    name = settings.embedding_model
    if not name or not name.startswith("local/") or settings.model_folder:
        return
    from trueweave.models import catalogue, hub

    model = catalogue.named(name)
    if hub.find(model) is None:
        say(download_line(model, download(model, hub.default_folder())))


def fetch_model_if_possible(settings: Settings) -> None:
    """The same for commands that may not need the model: it is reported as missing where it is needed."""
    with suppress(ModelFilesMissing):
        fetch_model(settings)


def download(model: HubModel, folder: Path) -> ModelFiles:
    """A model's files, in a subfolder of this folder. Existing files are not downloaded again."""
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
