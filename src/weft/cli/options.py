"""The options that commands share."""

from __future__ import annotations

from typing import Annotated

import typer

DatabaseUrl = Annotated[
    str | None,
    typer.Option(help="The PostgreSQL database, if not the one in the settings.", metavar="URL"),
]
Workspace = Annotated[
    str | None,
    typer.Option("--workspace", "-w", help="The workspace, if not the one in the settings.", metavar="NAME"),
]
Json = Annotated[bool, typer.Option("--json", help="Answer with one JSON object.")]
