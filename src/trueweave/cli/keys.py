"""`trueweave keys`: create, list and revoke keys of the server."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from trueweave.cli.inputs import named_groups
from trueweave.cli.options import DatabaseUrl, Json
from trueweave.cli.render.dates import local_time
from trueweave.cli.render.lines import next_step
from trueweave.cli.render.tables import TextTable, table
from trueweave.cli.reply import replying
from trueweave.cli.session import in_database, load_settings

if TYPE_CHECKING:
    from trueweave.store.postgres.access.api_keys import ApiKeyInfo, MadeKey
    from trueweave.store.postgres.db import Database

app = typer.Typer(
    no_args_is_help=True,
    help="""Make, list and revoke keys of the server.

    To replace a key, make another, give it to whoever uses the old one, and revoke that: both are valid meanwhile.
    """,
)

KeyScopeName = Literal["read", "write", "admin"]

_PAGE = 1000


@app.command()
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The owner or the purpose of the key.")],
    scope: Annotated[
        KeyScopeName,
        typer.Option(help="read; write adds documents and rules; admin adds keys, budgets and workspaces."),
    ] = "read",
    workspace: Annotated[
        list[str] | None,
        typer.Option("--workspace", "-w", help="A workspace that the key is valid for; may be repeated. Default: all."),
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(
            metavar="GROUPS",
            help='The groups that the key reads as, as in legal,hr; "*" reads all documents. Default: none, so it '
            "reads documents without readers.",
        ),
    ] = None,
    days: Annotated[int | None, typer.Option(min=1, max=3650, help="Days until the key expires.")] = None,
    max_tokens_per_day: Annotated[
        int | None, typer.Option(min=0, help="Maximum tokens per day (UTC) for requests with this key.")
    ] = None,
    max_spend_per_day: Annotated[
        str | None, typer.Option(metavar="PRICE", help="Maximum spend per day (UTC), such as 2.50.")
    ] = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Create a key, and print it. It is shown only once: only a hash is stored."""
    from trueweave.engine.core import found_workspace
    from trueweave.store.postgres.access import api_keys

    async def make(opened: Database) -> MadeKey:
        ids = [(await found_workspace(opened, one)).workspace.id for one in workspace] if workspace else None
        expires = datetime.now(UTC) + timedelta(days=days) if days else None
        return await api_keys.make(opened, name, scope, ids, expires, limits, groups_given)

    with replying(json) as reply:
        groups_given = named_groups(groups) or []
        limits = api_keys.KeyLimits(max_tokens_per_day, _price(max_spend_per_day))
        made = in_database(make, load_settings(database_url))
        reply(
            {
                "prefix": made.prefix,
                "key": made.token,
                "name": name,
                "scope": scope,
                "workspaces": workspace,
                "groups": sorted({*groups_given}),
            },
            f"The key for {name}, shown only once:",
            made.token,
            next_step(f"trueweave keys revoke {made.prefix}", "revokes it"),
        )


def _price(given: str | None) -> Decimal | None:
    from trueweave.core.errors import ConfigError

    try:
        price = None if given is None else Decimal(given)
    except InvalidOperation:
        price = Decimal(-1)
    if price is not None and not (price.is_finite() and price >= 0):
        raise ConfigError(f"{given} is not an amount of money. Write --max-spend-per-day as a number, as in 2.50.")
    return price


@app.command("list")
def list_(database_url: DatabaseUrl = None, json: Json = False) -> None:
    """List all keys, without their secrets."""
    from trueweave.store.postgres.access import api_keys

    async def look(opened: Database) -> list[ApiKeyInfo]:
        found: list[ApiKeyInfo] = []
        while page := await api_keys.listed(
            opened, _PAGE, after=(found[-1].created, found[-1].prefix) if found else None
        ):
            found += page
        return found

    with replying(json) as reply:
        found = in_database(look, load_settings(database_url))
        none = next_step("trueweave keys create NAME", "there is none yet")
        reply({"keys": found}, _key_table(found) if found else none)


@app.command()
def revoke(
    prefix: Annotated[str, typer.Argument(metavar="PREFIX", help="The prefix of the key, as listed.")],
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Revoke a key. Within seconds, servers refuse it, and browsers that logged in with it are logged out."""
    from trueweave.core.errors import ConfigError
    from trueweave.store.postgres.access import api_keys

    given = prefix.removeprefix("twk_").partition("_")[0]
    with replying(json) as reply:
        if not in_database(lambda opened: api_keys.revoke(opened, given), load_settings(database_url)):
            raise ConfigError(f"there is no key {given}. `trueweave keys list` shows all.")
        reply({"revoked": given}, f"The key {given} is revoked.")


def _key_table(found: Sequence[ApiKeyInfo]) -> TextTable:
    """Keys, one a line."""
    made = table(
        "prefix",
        "name",
        "scope",
        "~workspaces",
        "~groups",
        "made",
        "last used",
        "browsers",
        "a day",
        "state",
        styles=("cyan",),
    )
    for one in found:
        workspaces = "all" if one.workspaces is None else ", ".join(one.workspaces) or "none that is there"
        used = str(one.last_used) if one.last_used else "never"
        made.add_row(
            one.prefix,
            one.name,
            one.scope,
            workspaces,
            ", ".join(one.groups) or "none",
            local_time(one.created),
            used,
            _sessions(one),
            _limits(one),
            _state(one),
        )
    return made


def _sessions(one: ApiKeyInfo) -> str:
    """How many browsers are logged in with a key, and when one of them was last used."""
    if one.sessions_last_used is None:
        return "none"
    return f"{one.sessions}, last used {local_time(one.sessions_last_used)}"


def _limits(one: ApiKeyInfo) -> str:
    """What was used today of what may be used in a day."""
    told = []
    if one.max_tokens_per_day is not None:
        told.append(f"{one.tokens_today:,} of {one.max_tokens_per_day:,} tokens")
    if one.max_spend_per_day is not None:
        told.append(f"{one.spend_today.normalize():f} of {one.max_spend_per_day.normalize():f} in money")
    return ", ".join(told) or "as for all"


def _state(one: ApiKeyInfo) -> str:
    if one.revoked:
        return f"revoked {local_time(one.revoked)}"
    if one.expires is None:
        return "valid"
    return f"{'expired' if one.expires < datetime.now(UTC) else 'valid until'} {local_time(one.expires)}"
