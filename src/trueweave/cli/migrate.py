"""`trueweave migrate`: create the schema of a database, or bring it up to date."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType

from trueweave.cli.options import Json
from trueweave.cli.render.console import spinner
from trueweave.cli.render.lines import count, indented, next_step
from trueweave.cli.reply import replying
from trueweave.cli.session import load_settings, owners

if TYPE_CHECKING:
    from trueweave.core.settings import Settings
    from trueweave.store.postgres.cluster.moving import OwnerAddress

OwnerUrl = Annotated[
    str | None,
    typer.Option("--database-url", help="The database, with the user who owns the schema.", metavar="URL"),
]
Check = Annotated[bool, typer.Option("--check", help="Change nothing; exit with 1 if a migration is missing.")]


def migrate(owner_url: OwnerUrl = None, check: Check = False, json: Json = False) -> None:
    """Create Trueweave's schema in the database, or bring it up to date.

    Run this after an upgrade of Trueweave, as the owner of the schema: the user of --database-url, or of
    owner_database_url, direct_database_url or database_url in the settings. Apart from `init`, no other command changes
    the schema of a database given by its address; all refuse an outdated schema.

    If the settings name more servers, all of them are migrated, and new ones are joined to this database as their home;
    with --database-url, only that database is migrated.

    Before a migration that is marked as breaking, stop workers of the older version. They can keep running during all
    others.
    """
    from trueweave.store.postgres.schema.migrate import missing

    with replying(json) as reply:
        settings = load_settings()
        servers = _databases(settings, owner_url)
        if check:
            found = {
                name: asyncio.run(missing(one.url, said_to_be_direct=one.said_to_be_direct))
                for name, one in servers.items()
            }
            parts = _told("The database at {where} lacks {number}:", found, servers)
            is_lacking = any(found.values())
            reply(_answer("missing", found), *parts, *([next_step("trueweave migrate")] if is_lacking else []))
            raise typer.Exit(1 if is_lacking else 0)
        applied = apply_migrations(settings, owner_url)
        parts = _told("Applied {number} to the database at {where}:", applied, servers)
        reply(_answer("applied", applied), *parts)


def apply_migrations(settings: Settings, owner_url: str | None = None) -> dict[str, list[str]]:
    """Apply the missing migrations on all servers; returns their names by server."""
    from trueweave.store.postgres.cluster.joining import migrate_servers

    servers = _databases(settings, owner_url)
    with spinner("Migrating …"):
        return asyncio.run(migrate_servers(servers))


def _databases(settings: Settings, owner_url: str | None) -> dict[str, OwnerAddress]:
    """The databases to migrate: all, unless one is given."""
    found = owners(settings, owner_url)
    return {"home": found["home"]} if owner_url else found


def _answer(what: str, found: dict[str, list[str]]) -> dict[str, object]:
    others = {name: names for name, names in found.items() if name != "home"}
    return {what: found["home"], **({"servers": others} if others else {})}


def _told(heading: str, found: dict[str, list[str]], servers: dict[str, OwnerAddress]) -> list[RenderableType]:
    """The missing or applied migrations of each database."""
    from trueweave.store.postgres.connections import location

    parts: list[RenderableType] = []
    for name, names in found.items():
        where = location(servers[name].url)
        up_to_date = f"The schema of the database at {where} is up to date."
        told = heading.format(where=where, number=count(len(names), "migration")) if names else up_to_date
        parts += [told, *map(_line, names)]
    return parts


def _line(name: str) -> RenderableType:
    from trueweave.store.postgres.schema.schema import migrations

    [kind] = ["additive" if one.additive else "breaking" for one in migrations() if one.name == name]
    return indented(f"{name} ({kind})")
