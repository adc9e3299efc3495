"""`trueweave add`: add documents."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trueweave.cli.ingest_run import IngestRun, agreed, tell
from trueweave.cli.inputs import named_groups, named_secrets, sort_out
from trueweave.cli.options import (
    All,
    Budget,
    Date,
    Extractor,
    FollowLinks,
    Model,
    NoIgnore,
    Paths,
    Readers,
    Refresh,
    Secrets,
    Uri,
    Yes,
)
from trueweave.cli.pricing import is_paid, of_documents, read_budget
from trueweave.cli.render.run_summary import IngestTally
from trueweave.cli.session import CommandSession, workspace_command

if TYPE_CHECKING:
    from trueweave.core.settings import Settings

Prune = Annotated[
    bool, typer.Option("--prune", help="Remove documents whose files no longer exist in the folders that are added.")
]
Said = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", exists=True, dir_okay=False, help="JSON lines with entities and triples for the same ids."
    ),
]


@workspace_command
def add(
    session: CommandSession,
    paths: Paths,
    uri: Uri = None,
    budget: Budget = None,
    extractor: Extractor = None,
    model: Model = None,
    said: Said = None,
    follow_links: FollowLinks = False,
    no_ignore: NoIgnore = False,
    prune: Prune = False,
    show_all: All = False,
    refresh: Refresh = False,
    secret: Secrets = [],  # noqa: B006 (read by Typer)
    readers: Readers = None,
    date: Date = None,
    yes: Yes = False,
) -> None:
    """Add documents: files, folders, patterns, addresses such as https://example.org/about, or text on stdin.

    Each file is a document; so is each line of a .jsonl file and each row of a .csv file. A file is identified by its
    path from the folder of trueweave.toml, a row by that path and its id. Adding a document again replaces it;
    unchanged documents cost nothing. You can resume an interrupted run by running it again.

    If a model costs money, an estimate is shown first, and on a terminal you are asked to confirm it.

    JSON lines may include entities and triples. They are used, and no model is called:

    \b
    {"id": "1", "text": "Ada Lovelace lived in London.",
     "entities": ["Ada Lovelace", {"name": "London", "type": "place"}],
     "triples": [["Ada Lovelace", "lived in", "London"]]}

    In folders, files that .gitignore or .trueweaveignore excludes are skipped, and so are keys and secrets.

    Exits with 0 when everything was added, with 1 when a file could not be read, documents were refused or failed, or
    the run was stopped; all other documents are added. Skipped files do not count.
    """
    session = session.with_workspace_settings(
        extractor=extractor, model=model, follow_links=follow_links, no_ignore=no_ignore
    )
    inputs, secrets = sort_out(paths, uri, said), named_secrets(secret)
    models = of_documents(session.settings) if inputs.files else []
    allowance = read_budget(budget, session.settings, models)
    run = IngestRun(
        session.settings,
        inputs,
        allowance,
        IngestTally(show_all=show_all),
        prune=prune,
        refresh=refresh,
        secrets=secrets,
        readers=named_groups(readers),
        date=date,
    )
    if is_paid(session.settings, models) and not agreed(run, yes):
        raise typer.Exit(1)
    run.fetch_model()
    if inputs.given:
        run.add_given(said)
    if inputs.files:
        run.add_files()
    tell(session.reply, run, _again(paths, uri, budget, session.settings, secret, readers, date, refresh=refresh))


def _again(
    paths: Sequence[str],
    uri: str | None,
    budget: str | None,
    settings: Settings,
    secrets: Sequence[str],
    readers: str | None,
    date: str | None,
    *,
    refresh: bool,
) -> str:
    """The command that continues the run, with the same budget again."""
    switches = {
        "--refresh": refresh,
        "--follow-links": settings.follow_links,
        "--no-ignore": settings.no_ignore,
    }
    words = [
        "trueweave",
        "add",
        *paths,
        *(("--uri", uri) if uri else ()),
        *(name for name, on in switches.items() if on),
        *(word for one in secrets for word in ("--secret", one)),
        *(() if readers is None else ("--readers", readers)),
        *(("--date", date) if date else ()),
    ]
    return f"{shlex.join(words)}{f' --budget {shlex.quote(budget)}' if budget else ''}"
