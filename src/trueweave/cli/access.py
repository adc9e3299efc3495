"""`trueweave access`: who can read which documents."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from trueweave.cli.render.lines import count, next_step
from trueweave.cli.render.tables import TextTable, table
from trueweave.cli.session import CommandSession, workspace_command
from trueweave.core.errors import ConfigError

if TYPE_CHECKING:
    from rich.text import Text

    from trueweave.core.access import AccessRule

app = typer.Typer(
    no_args_is_help=True,
    help="""Say which groups can read which documents.

    A rule is for all documents whose uris begin with PREFIX, now and later, unless readers were given with them
    (--readers, or `readers` in front matter). The rule with the longest prefix applies; without a rule, everybody in
    the workspace can read a document. Groups are those of keys (`trueweave keys create --groups`) and of tokens.
    """,
)

Prefix = Annotated[str, typer.Argument(metavar="PREFIX", help='How uris begin, such as hr/ or "hr/**".')]


@app.command("set")
@workspace_command
def set_(
    session: CommandSession,
    prefix: Prefix,
    groups: Annotated[list[str] | None, typer.Argument(metavar="GROUP", help="The groups that can read them.")] = None,
    everybody: Annotated[
        bool, typer.Option("--everybody", help="Everybody can read them, whatever a rule with a shorter prefix says.")
    ] = False,
) -> None:
    """Let only these groups read the documents whose uris begin with PREFIX.

    This applies at once, and no model is called.
    """
    if bool(groups) == everybody:
        raise ConfigError("name the groups that can read these documents, or pass --everybody.")
    changed = session(lambda trueweave: trueweave.access.set(prefix, groups or []))
    who = f"Only {_listed(groups)}" if groups else "Everybody"
    session.reply(
        {"prefix": prefix.removesuffix("**"), "readers": sorted({*(groups or ())}), "changed": changed},
        f"{who} can read {_documents(prefix)}. {count(changed, 'document')} {_have(changed)} other readers now.",
        _key_for(groups) if groups else "",
    )


def _key_for(groups: list[str]) -> Text:
    return next_step(f"trueweave keys create NAME --groups {shlex.quote(','.join(groups))}", "makes a key for them")


@app.command("list")
@workspace_command
def list_(session: CommandSession) -> None:
    """List the access rules."""
    rules = session(lambda trueweave: trueweave.access.all())
    none = next_step("trueweave access set PREFIX GROUP", "there is no rule yet")
    session.reply({"rules": rules}, _table(rules) if rules else none)


@app.command()
@workspace_command
def remove(session: CommandSession, prefix: Prefix) -> None:
    """Remove the rule for PREFIX.

    Its documents have the readers of the rule with the next shorter prefix; without one, everybody can read them.
    """
    changed = session(lambda trueweave: trueweave.access.remove(prefix))
    session.reply(
        {"removed": prefix.removesuffix("**"), "changed": changed},
        f"Removed. {count(changed, 'document')} {_have(changed)} other readers now.",
    )


def _documents(prefix: str) -> str:
    start = prefix.removesuffix("**")
    return f"documents whose uris begin with {start}" if start else "all documents"


def _have(documents: int) -> str:
    return "has" if documents == 1 else "have"


def _listed(groups: Sequence[str]) -> str:
    *most, last = sorted({*groups})
    return f"{', '.join(most)} and {last}" if most else last


def _table(rules: Sequence[AccessRule]) -> TextTable:
    made = table("prefix", "~readers", styles=("cyan",))
    for one in rules:
        made.add_row(one.prefix or '""', ", ".join(one.readers) or "everybody")
    return made
