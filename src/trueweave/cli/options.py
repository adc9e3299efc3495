"""The options and arguments that commands share."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

DatabaseUrl = Annotated[
    str | None,
    typer.Option(help="The PostgreSQL database, if not the one in the settings.", metavar="URL"),
]
Workspace = Annotated[
    str | None,
    typer.Option("--workspace", "-w", help="The workspace, if not the one in the settings.", metavar="NAME"),
]
MetricsPort = Annotated[
    int | None,
    typer.Option(min=1, max=65535, help="The port to tell metrics on, for Prometheus; metrics_host is its address."),
]
LogFormat = Annotated[
    Literal["text", "json"] | None,
    typer.Option(help="How it logs to stderr, if not as in the settings: text, or JSON alone, an object a line."),
]
Json = Annotated[bool, typer.Option("--json", help="Answer with one JSON object.")]
EntityName = Annotated[
    str,
    typer.Argument(
        metavar="NAME", help="A name of the entity, NAME::TYPE where several have it, or its id or how that begins."
    ),
]
EntityType = Annotated[str, typer.Option("--type", metavar="TYPE", help="Only entities of this type.")]
Limit = Annotated[int, typer.Option(min=1, help="How many to show.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
All = Annotated[bool, typer.Option("--all", help="Name every file that was skipped or could not be read.")]
Paths = Annotated[
    list[str], typer.Argument(metavar="PATH", help='Files, folders, patterns in quotes ("notes/**/*.md"), - for stdin.')
]
Uri = Annotated[str | None, typer.Option(metavar="URI", help="What to call the document that comes on stdin.")]
FollowLinks = Annotated[
    bool,
    typer.Option("--follow-links", help="Follow links in folders, also out of them."),
]
NoIgnore = Annotated[
    bool,
    typer.Option("--no-ignore", help="Also read what .gitignore or .trueweaveignore names, and keys and secrets."),
]
Extractor = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="How entities and relations are found, if not as in the settings: auto, llm, nlp, capitals, or your own.",
    ),
]
Refresh = Annotated[
    bool,
    typer.Option("--refresh", help="Work unchanged documents again that an earlier extractor or prompt made."),
]
Model = Annotated[
    str | None, typer.Option(metavar="PROVIDER/MODEL", help="The language model, if not the one in the settings.")
]
Budget = Annotated[
    str | None,
    typer.Option(
        metavar="AMOUNT",
        help='What this run may spend: 2.00 is money, "500k tokens" are tokens. `trueweave budget` is for all runs.',
    ),
]
