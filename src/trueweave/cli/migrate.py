"""`trueweave migrate`: makes the schema of a database, or brings it up to date."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType

from trueweave.cli.options import Json
from trueweave.cli.render.console import spinner
from trueweave.cli.render.lines import count, indented, next_step
from trueweave.cli.reply import replying
from trueweave.cli.session import load_settings, owner

if TYPE_CHECKING:
    from trueweave.config import Settings

OwnerUrl = Annotated[
    str | None,
    typer.Option("--database-url", help="The database, with the user who owns the schema.", metavar="URL"),
]
Check = Annotated[bool, typer.Option("--check", help="Change nothing; exit with 1 if a migration is missing.")]


def migrate(owner_url: OwnerUrl = None, check: Check = False, json: Json = False) -> None:
    """Make Trueweave's schema in the database, or bring it up to date.

    To be run after an upgrade of Trueweave, by the owner of the schema: the user of --database-url, or of
    owner_database_url, direct_database_url or database_url in the settings. No other command but `init` changes the
    schema of a database that has an address; they refuse to work in one that is outdated.

    Stop workers of the older version first where a migration is marked as breaking. Beside all others they go on.
    """
    from trueweave.store.postgres.connections import location
    from trueweave.store.postgres.migrate import missing

    with replying(json) as reply:
        settings = load_settings()
        url, is_direct = owner(settings, owner_url)
        where = location(url)
        if check:
            found = asyncio.run(missing(url, said_to_be_direct=is_direct))
            lacking = [f"The database at {where} lacks {count(len(found), 'migration')}:", *map(_line, found)]
            reply(
                {"missing": found},
                *([*lacking, next_step("trueweave migrate")] if found else [_up_to_date(where)]),
            )
            raise typer.Exit(1 if found else 0)
        applied = apply_migrations(settings, owner_url)
        done = [f"Applied {count(len(applied), 'migration')} to the database at {where}:", *map(_line, applied)]
        reply({"applied": applied}, *(done if applied else [_up_to_date(where)]))


def apply_migrations(settings: Settings, owner_url: str | None = None) -> list[str]:
    """Apply the migrations that are missing; their names."""
    from trueweave.store.postgres.migrate import migrate as apply

    url, is_direct = owner(settings, owner_url)
    with spinner("Migrating …"):
        return asyncio.run(apply(url, said_to_be_direct=is_direct))


def _line(name: str) -> RenderableType:
    from trueweave.store.postgres.schema import migrations

    [kind] = ["additive" if one.additive else "breaking" for one in migrations() if one.name == name]
    return indented(f"{name} ({kind})")


def _up_to_date(where: str) -> str:
    return f"The schema of the database at {where} is up to date."
