"""`trueweave init`: prepare a database and a workspace."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from trueweave.cli.migrate import apply_migrations
from trueweave.cli.options import DatabaseUrl, Json, Workspace
from trueweave.cli.render.lines import next_step, path_from_here
from trueweave.cli.render.tables import pairs
from trueweave.cli.reply import replying
from trueweave.cli.session import bundled, in_workspace, load_settings, make_workspace, place, start

if TYPE_CHECKING:
    from trueweave.core.settings import Settings


def init(workspace: Workspace = None, database_url: DatabaseUrl = None, json: Json = False) -> None:
    """Set up the database and a workspace, and write trueweave.toml.

    Without a URL, the bundled PostgreSQL is started. Without --workspace, the folder gets its own workspace, named
    after it. If the extra `local` is installed and no embedding model is set, a default is set, which is downloaded on
    first use. An existing trueweave.toml is not changed.
    """
    from trueweave.core.settings import FILE, find_file, workspace_name, write_file

    with replying(json) as reply:
        settings = load_settings(database_url, workspace)
        if not settings.owner_address:
            start(bundled(settings), make=True)
        applied = apply_migrations(settings)["home"]
        file = find_file()
        written = file is None
        if file is None:
            file = Path.cwd() / FILE
            is_named = "workspace" in settings.model_fields_set
            name = settings.workspace if is_named else make_workspace(settings, workspace_name(file.parent))
            write_file(file, database_url=database_url, workspace=name, embedding_model=_default_model(settings))
            settings = load_settings(database_url, name)
        found = in_workspace(lambda trueweave: trueweave.status(), settings, make=True)
        lasting = load_settings() == settings
        models = _in_force(settings)
        reply(
            {
                "workspace": settings.workspace,
                "database": place(settings),
                "file": file,
                "written": written,
                "migrations": applied,
                **{name.replace(" ", "_"): value for name, value in models.items()},
            },
            f"Workspace {settings.workspace} is ready in {place(settings)}.",
            f"Wrote {path_from_here(file)}" if written else f"{path_from_here(file)} exists and was not changed.",
            *([] if lasting else ["Its settings differ: pass these options to every command, or change the file."]),
            pairs(models),
            *_model_advice(settings),
            next_step(
                "trueweave status" if found.documents else "trueweave add PATH", "" if lasting else "with these options"
            ),
        )


def _default_model(settings: Settings) -> str | None:
    """The embedding model to set if there is none: one that can be used here, or None."""
    if settings.embedding_model:
        return None
    from trueweave.models import catalogue, hub

    model = catalogue.named(catalogue.DEFAULT)
    return f"local/{model.name}" if hub.is_within_reach(model, settings.model_folder) else None


def _in_force(settings: Settings) -> dict[str, str]:
    from trueweave.engine import model_settings

    chosen = model_settings.recipe(settings)
    return {
        "extractor": chosen.extractor,
        "model": chosen.model or "none",
        "embedding model": settings.embedding_model or "none",
    }


def _model_advice(settings: Settings) -> list[Text]:
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
