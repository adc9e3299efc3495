"""`trueweave rules` and `trueweave resolution`: which names are one entity, and who says so."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from trueweave.cli.options import DatabaseUrl, Json, Workspace
from trueweave.cli.output import marked, next_step, pairs, replying, table
from trueweave.cli.session import in_workspace, load_settings
from trueweave.cli.tables import Table
from trueweave.errors import RuleError
from trueweave.types import NameKey, Resolution, ResolutionSettings, Rule, Sameness

if TYPE_CHECKING:
    from trueweave.engine import AsyncTrueweave

SHORT = 8  # characters of a rule's id that are shown; any that tell it from the others will do

app = typer.Typer(
    no_args_is_help=True,
    help="""Say which names are one entity, and what it is called.

    A name is written as documents write it, and means every entity of that name, now and later. Its type after two
    colons means that one alone: "Ada Lovelace::person". `trueweave entities` shows both. A name that has two colons in
    itself ends in two more: "std::vector::".

    Rules hold for documents to come as well. A later rule outweighs an earlier one.
    """,
)


def name_key(text: str) -> NameKey:
    """A name and its type from NAME or NAME::TYPE."""
    name, colons, type_ = text.rpartition("::")
    return NameKey(name, type_) if colons else NameKey(text)


def written(key: NameKey) -> str:
    """NAME or NAME::TYPE, as `name_key` takes it."""
    return f"{key.name}::{key.type}" if key.type or "::" in key.name else key.name


NAME = "NAME::TYPE"
Name = Annotated[NameKey, typer.Argument(parser=name_key, metavar=NAME, help="A name of the entity.")]
Names = Annotated[list[NameKey], typer.Argument(parser=name_key, metavar=NAME, help="The names.")]


@app.command("list")
def list_(workspace: Workspace = None, database_url: DatabaseUrl = None, json: Json = False) -> None:
    """Show all rules, the oldest first."""
    with replying(json) as reply:
        rules = in_workspace(lambda trueweave: trueweave.rules(), load_settings(database_url, workspace))
        reply({"rules": rules}, _table(rules) if rules else "There are no rules.")


@app.command()
def merge(names: Names, workspace: Workspace = None, database_url: DatabaseUrl = None, json: Json = False) -> None:
    """Let these names be one entity."""
    with replying(json) as reply:
        settings = load_settings(database_url, workspace)
        laid = in_workspace(lambda trueweave: _add_rule(trueweave, trueweave.merge(*names)), settings)
        reply(laid.as_json(), f"{listed(laid.rule.names)} are one entity now.", *_notes(laid))


@app.command()
def split(names: Names, workspace: Workspace = None, database_url: DatabaseUrl = None, json: Json = False) -> None:
    """Let these names be an entity of their own.

    They are one from now on, apart from all other names that they are alike to.
    """
    with replying(json) as reply:
        settings = load_settings(database_url, workspace)
        laid = in_workspace(lambda trueweave: _add_rule(trueweave, trueweave.split(*names)), settings)
        reply(laid.as_json(), f"{listed(laid.rule.names)}: an entity apart from now on.", *_notes(laid))


@app.command()
def rename(
    name: Name,
    label: Annotated[str, typer.Argument(help="What to call it.")],
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Let the entity of this name be called LABEL."""
    with replying(json) as reply:
        settings = load_settings(database_url, workspace)
        laid = in_workspace(lambda trueweave: _add_rule(trueweave, trueweave.rename(name, label)), settings)
        reply(laid.as_json(), f"{listed(laid.rule.names)} is called {laid.rule.label} now.", *_notes(laid))


@app.command()
def undo(
    rule: Annotated[str, typer.Argument(metavar="ID", help="The rule's id, or how it begins.")],
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Take a rule back, as if it had never been."""

    async def find_and_undo(trueweave: AsyncTrueweave) -> Rule:
        found = [known for known in await trueweave.rules() if rule and str(known.id).startswith(rule.lower())]
        if len(found) != 1:
            problem = f"{len(found)} rules begin" if found else "no rule begins"
            raise RuleError(f"{problem} with {rule!r}. `trueweave rules list` shows all rules.")
        await trueweave.undo(found[0].id)
        return found[0]

    with replying(json) as reply:
        undone = in_workspace(find_and_undo, load_settings(database_url, workspace))
        reply({"undone": undone}, f"Undone: {undone.kind} {listed(undone.names)}.")


def resolution(
    mode: Annotated[
        Resolution | None,
        typer.Argument(
            help="exact: names are one that are equal but for case, accents, punctuation, spacing and legal forms "
            "(Inc, GmbH); fuzzy: alike ones are; off: none are."
        ),
    ] = None,
    threshold: Annotated[
        int | None,
        typer.Option(
            min=70,
            max=100,
            metavar="PERCENT",
            help="How alike names must be if fuzzy, or to be suggested: 70 (loose) to 100.",
        ),
    ] = None,
    same: Annotated[
        Sameness | None, typer.Option(help="What must agree for two names to be one: name and type, or the name alone.")
    ] = None,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Show or change what makes two names one entity.

    A change resolves all names of the workspace anew.
    """

    async def show_or_change(trueweave: AsyncTrueweave) -> ResolutionSettings:
        now = await trueweave.resolution()
        wanted = ResolutionSettings(mode or now.mode, threshold or now.threshold, same or now.same)
        if wanted != now:
            await trueweave.change_resolution(wanted)
        return wanted

    with replying(json) as reply:
        found = in_workspace(show_or_change, load_settings(database_url, workspace))
        reply(asdict(found), pairs(asdict(found)))


@dataclass(frozen=True)
class _LaidDown:
    """A rule, and for each of its names those that documents mention now."""

    rule: Rule
    matched: dict[NameKey, tuple[NameKey, ...]]

    @property
    def unknown(self) -> list[NameKey]:
        """Names that no document mentions: a slip of the pen, perhaps."""
        return [name for name, found in self.matched.items() if not found]

    def as_json(self) -> dict[str, object]:
        matched = [{"name": name, "matched": found} for name, found in self.matched.items()]
        return {"rule": self.rule, "names": matched, "unknown": self.unknown}


async def _add_rule(trueweave: AsyncTrueweave, laying: Awaitable[Rule]) -> _LaidDown:
    rule = await laying
    return _LaidDown(rule, await trueweave.mentioned(rule.names))


def listed(names: Iterable[NameKey]) -> str:
    """Names for a sentence."""
    return " and ".join(map(written, names))


def _notes(laid: _LaidDown) -> list[Text]:
    found = [name for matched in laid.matched.values() for name in matched]
    notes = [Text(f"In the documents now: {', '.join(map(_with_type, found))}.")] if found else []
    if laid.unknown:
        waiting = ", ".join(map(written, laid.unknown))
        notes.append(marked(f"No document mentions {waiting} yet, written just so; the rule waits for one."))
    return [*notes, next_step(f"trueweave rules undo {str(laid.rule.id)[:SHORT]}", heading="To take it back")]


def _with_type(name: NameKey) -> str:
    return f"{name.name} ({name.type or 'no type'})"


def _table(rules: list[Rule]) -> Table:
    made = table("id", "rule", "names", "label")
    for rule in rules:
        made.add_row(str(rule.id)[:SHORT], rule.kind, listed(rule.names), rule.label)
    return made
