"""`trueweave init`: prepare a database and a workspace."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from trueweave.cli.add import add
from trueweave.cli.init_questions import NO_MODEL, InitChoices, ask_for
from trueweave.cli.migrate import apply_migrations
from trueweave.cli.options import Json, Workspace
from trueweave.cli.render.lines import next_step, path_from_here
from trueweave.cli.render.tables import pairs
from trueweave.cli.reply import CommandReply, replying
from trueweave.cli.session import bundled, in_workspace, load_settings, make_workspace, place, start

if TYPE_CHECKING:
    from trueweave.core.settings import Settings


Documents = Annotated[
    Path | None,
    typer.Option(metavar="PATH", exists=True, help="A folder or a file to add at once. Default: none yet."),
]
InitModel = Annotated[
    str | None,
    typer.Option("--model", metavar="PROVIDER/MODEL", help="The language model, or none. Default: none."),
]
InitDatabase = Annotated[
    str | None, typer.Option("--database-url", metavar="URL", help="The PostgreSQL database. Default: the bundled one.")
]
Unasked = Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing, and take the defaults.")]


def init(
    documents: Documents = None,
    model: InitModel = None,
    database_url: InitDatabase = None,
    workspace: Workspace = None,
    yes: Unasked = False,
    json: Json = False,
) -> None:
    """Set up the database and a workspace, and write trueweave.toml.

    On a terminal it asks which documents, which language model and which database, except for those that are given as
    an option or in the environment. Models are those of a running Ollama, and those of providers whose key is in the
    environment. If the extra `local` is installed and no embedding model is set, a default is set, which is downloaded
    on first use.

    Without --workspace, the folder gets its own workspace, named after it. An existing trueweave.toml is not changed,
    and then nothing is asked.
    """
    from trueweave.core.settings import find_file

    with replying(json) as reply:
        choices = InitChoices(documents, model, database_url)
        if sys.stdin.isatty() and not yes and not json and find_file() is None:
            settings = load_settings(database_url, workspace)
            choices = ask_for(choices, has_model=bool(settings.chat_models), has_database=bool(settings.owner_address))
        _set_up(reply, choices, workspace)
    if choices.documents:
        add(paths=[str(choices.documents)], workspace=workspace, database_url=choices.database_url, json=json)


def _set_up(reply: CommandReply, choices: InitChoices, workspace: str | None) -> None:
    from trueweave.core.settings import FILE, find_file, workspace_name, write_file

    model, database_url = None if choices.model == NO_MODEL else choices.model, choices.database_url
    settings = load_settings(database_url, workspace, model=model)
    if not settings.owner_address:
        start(bundled(settings), make=True)
    applied = apply_migrations(settings)["home"]
    file = find_file()
    written = file is None
    if file is None:
        file = Path.cwd() / FILE
        is_named = "workspace" in settings.model_fields_set
        name = settings.workspace if is_named else make_workspace(settings, workspace_name(file.parent))
        embedding_model = _default_model(settings)
        write_file(file, database_url=database_url, workspace=name, model=model, embedding_model=embedding_model)
        settings = load_settings(database_url, name, model=model)
    found = in_workspace(lambda trueweave: trueweave.status(), settings, make=True)
    lasting = load_settings() == settings
    models = _in_force(settings)
    step = "trueweave status" if found.documents else "trueweave add PATH"
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
        *_model_advice(settings, is_chosen=choices.model is not None),
        *([] if choices.documents else [next_step(step, "" if lasting else "with these options")]),
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


def _model_advice(settings: Settings, *, is_chosen: bool) -> list[Text]:
    """What to do for a better index. Nothing is advised against a choice that was made."""
    advice = []
    if not is_chosen and not settings.model_for("extract"):
        advice.append(
            Text(
                "Names are recognised by capitalisation. A language model also finds types, descriptions and the kinds "
                'of relations: set one in trueweave.toml, as in model = "ollama/llama3.1:8b".'
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
