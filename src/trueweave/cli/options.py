"""The options and arguments that commands share."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

DatabaseUrl = Annotated[
    str | None,
    typer.Option(help="The PostgreSQL database. Default: the one in the settings.", metavar="URL"),
]
Workspace = Annotated[
    str | None,
    typer.Option("--workspace", "-w", help="The workspace. Default: the one in the settings.", metavar="NAME"),
]
MetricsPort = Annotated[
    int | None,
    typer.Option(min=1, max=65535, help="The port for Prometheus metrics, on the address metrics_host."),
]
LogFormat = Annotated[
    Literal["text", "json"] | None,
    typer.Option(help="The log format on stderr: text, or json for one object per line. Default: as in the settings."),
]
Json = Annotated[bool, typer.Option("--json", help="Answer with one JSON object.")]
EntityName = Annotated[
    str,
    typer.Argument(
        metavar="NAME", help="A name of the entity, NAME::TYPE if several have that name, or its id or a prefix of it."
    ),
]
EntityType = Annotated[str, typer.Option("--type", metavar="TYPE", help="Only entities of this type.")]
Limit = Annotated[int, typer.Option(min=1, help="How many to show.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
All = Annotated[bool, typer.Option("--all", help="List every file that was skipped or could not be read.")]
DocumentPaths = Annotated[
    list[str],
    typer.Argument(metavar="PATH", help='Files, folders, patterns in quotes ("notes/**/*.md"), or uris of documents.'),
]
Paths = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH",
        help='Files, folders, patterns in quotes ("notes/**/*.md"), addresses (https://…), - for stdin.',
    ),
]
Readers = Annotated[
    str | None,
    typer.Option(
        "--readers",
        metavar="GROUPS",
        help='The groups that can read the documents, as in legal,hr; "" for everybody. Documents that state their own '
        "readers have those. Default: unchanged, or as `trueweave access` says.",
    ),
]
Date = Annotated[
    str | None,
    typer.Option(
        "--date",
        metavar="DATE",
        help="The date of the documents, as in 2024-05-31, except of those that state their own.",
    ),
]
AsGroups = Annotated[
    list[str] | None,
    typer.Option(
        "--as-group",
        metavar="GROUP",
        help="Show only what somebody in this group can read; may be repeated. Default: all documents.",
    ),
]
AsOf = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="TIME",
        help="Show what was known then, if the workspace keeps history: a date (to its end), a time, or how long "
        "ago, as 2026-05-01, 2026-05-01T14:30 or 7d.",
    ),
]
Secrets = Annotated[
    list[str],
    typer.Option(
        "--secret",
        metavar="NAME=VARIABLE",
        help="A credential for the addresses, such as token, and the environment variable that holds it.",
    ),
]
Uri = Annotated[str | None, typer.Option(metavar="URI", help="The uri of the document on stdin.")]
FollowLinks = Annotated[
    bool,
    typer.Option("--follow-links", help="Follow symbolic links in folders, even to targets outside."),
]
NoIgnore = Annotated[
    bool,
    typer.Option(
        "--no-ignore", help="Also read files that .gitignore or .trueweaveignore excludes, and keys and secrets."
    ),
]
Extractor = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="How entities and relations are extracted: auto, llm, nlp, capitals, or your own. Default: as in the "
        "settings.",
    ),
]
Refresh = Annotated[
    bool,
    typer.Option(
        "--refresh",
        help="Process unchanged documents again if they were extracted with an earlier extractor or prompt.",
    ),
]
Model = Annotated[
    str | None, typer.Option(metavar="PROVIDER/MODEL", help="The language model. Default: the one in the settings.")
]
Budget = Annotated[
    str | None,
    typer.Option(
        metavar="AMOUNT",
        help='The budget of this run: 2.00 is money, "500k tokens" is tokens. `trueweave budget` covers all runs.',
    ),
]
