"""`trueweave rules`: which names are one entity, what it is called, and corrections of facts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from getpass import getuser
from typing import TYPE_CHECKING, Annotated

import typer

from trueweave.cli.options import DatabaseUrl, Json, Workspace
from trueweave.cli.render.console import spinner
from trueweave.cli.render.rules import (
    AddedRule,
    accepted_lines,
    fact_text,
    name_key,
    names_text,
    rule_notes,
    rule_table,
    suggestion_lines,
    undo_line,
)
from trueweave.cli.reply import replying
from trueweave.cli.session import in_workspace, load_settings
from trueweave.core.errors import RuleError
from trueweave.core.graph import Rule
from trueweave.core.record import Link, Mention, NameKey

if TYPE_CHECKING:
    from trueweave.engine.rules import AsyncRulesGroup
    from trueweave.engine.trueweave import AsyncTrueweave

    _MakeRule = Callable[[Callable[[AsyncRulesGroup], Awaitable[Rule]], Callable[[Rule], str]], None]

app = typer.Typer(
    no_args_is_help=True,
    help="""Say which names are one entity and what it is called, and correct facts.

    A name is written as documents write it, and means every entity of that name, now and later. Its type after two
    colons means that one alone: "Ada Lovelace::person". `trueweave entities` shows both. A name that has two colons in
    itself ends in two more: "std::vector::".

    Rules also apply to documents that are added later. A later rule overrides an earlier one.
    """,
)
NAME = "NAME::TYPE"
Name = Annotated[NameKey, typer.Argument(parser=name_key, metavar=NAME, help="A name of the entity.")]
Names = Annotated[list[NameKey], typer.Argument(parser=name_key, metavar=NAME, help="The names.")]


@app.command("list")
def list_(workspace: Workspace = None, database_url: DatabaseUrl = None, json: Json = False) -> None:
    """Show all rules, the oldest first."""
    with replying(json) as reply:
        rules = in_workspace(lambda trueweave: trueweave.rules.all(), load_settings(database_url, workspace))
        reply({"rules": rules}, rule_table(rules) if rules else "There are no rules.")


@app.command()
def merge(names: Names, workspace: Workspace = None, database_url: DatabaseUrl = None, json: Json = False) -> None:
    """Make these names one entity."""
    with _making(workspace, database_url, json) as make:
        make(lambda rules: rules.merge(*names), lambda rule: f"{fact_text(rule)} are one entity now.")


@app.command()
def split(names: Names, workspace: Workspace = None, database_url: DatabaseUrl = None, json: Json = False) -> None:
    """Make these names an entity of their own.

    They are one entity from now on, apart from all other names, however similar.
    """
    with _making(workspace, database_url, json) as make:
        make(lambda rules: rules.split(*names), lambda rule: f"{fact_text(rule)}: an entity apart from now on.")


@app.command()
def rename(
    name: Name,
    label: Annotated[str, typer.Argument(help="What to call it.")],
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Call the entity of this name LABEL."""
    with _making(workspace, database_url, json) as make:
        make(lambda rules: rules.rename(name, label), lambda rule: f"{fact_text(rule)} is called {rule.label} now.")


Target = Annotated[
    NameKey | None,
    typer.Option("--to", parser=name_key, metavar=NAME, help="Speak of the relation from NAME to this one instead."),
]
By = Annotated[str, typer.Option("--by", help="Who says so. Without it, the user of this machine.")]


@app.command()
def retype(
    name: Name,
    type_: Annotated[str, typer.Argument(metavar="TYPE", help="Its type.")],
    to: Target = None,
    by: By = "",
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Give the entity of this name, or a relation of it, another type."""
    with _making(workspace, database_url, json) as make:
        make(
            lambda rules: rules.retype(name, type_, target=to, by=by or _user()),
            lambda rule: f"{fact_text(rule)} is of type {rule.label} now.",
        )


@app.command()
def describe(
    name: Name,
    text: Annotated[str, typer.Argument(help="The description.")],
    to: Target = None,
    by: By = "",
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Describe the entity of this name, or a relation of it, in place of what documents say."""
    with _making(workspace, database_url, json) as make:
        make(
            lambda rules: rules.describe(name, text, target=to, by=by or _user()),
            lambda rule: f"{fact_text(rule)} is described by you now.",
        )


@app.command()
def suppress(
    name: Name,
    to: Target = None,
    by: By = "",
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Take the entity of this name, or a relation of it, out of the graph.

    No fact about it reaches an answer or a report. The texts that mention it stay as they are.
    """
    with _making(workspace, database_url, json) as make:
        make(
            lambda rules: rules.suppress(name, target=to, by=by or _user()),
            lambda rule: f"{fact_text(rule)} is suppressed now.",
        )


@app.command()
def add(
    name: Name,
    text: Annotated[str, typer.Argument(help="What is so.")],
    to: Target = None,
    type_: Annotated[str, typer.Option("--type", help="The type of the relation.")] = "",
    by: By = "",
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Add an entity, or a relation with --to, that no document tells of.

    It is stated in a document of its own, which answers can cite.
    """
    if type_ and to is None:
        raise typer.BadParameter("a relation has one: name its other end with --to.", param_hint="--type")
    words = (type_,) if type_ else ()
    fact: Link | Mention = Mention(name.name, name.type, text)
    if to:
        fact = Link(name.name, to.name, text, words, source_type=name.type, target_type=to.type)
    with replying(json) as reply:
        settings = load_settings(database_url, workspace)
        rule = in_workspace(lambda trueweave: trueweave.rules.add(fact, by=by or _user()), settings)
        reply({"rule": rule}, f"Added: {rule.label}", undo_line(rule))


@app.command()
def undo(
    rule: Annotated[str, typer.Argument(metavar="ID", help="The rule's id, or how it begins.")],
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Undo a rule, as if it had never been made."""

    async def find_and_undo(trueweave: AsyncTrueweave) -> Rule:
        found = [known for known in await trueweave.rules.all() if rule and str(known.id).startswith(rule.lower())]
        if len(found) != 1:
            problem = f"{len(found)} rules begin" if found else "no rule begins"
            raise RuleError(f"{problem} with {rule!r}. `trueweave rules list` shows all rules.")
        await trueweave.rules.undo(found[0].id)
        return found[0]

    with replying(json) as reply:
        undone = in_workspace(find_and_undo, load_settings(database_url, workspace))
        reply({"undone": undone}, f"Undone: {undone.kind} {fact_text(undone)}.")


def _user() -> str:
    """The user of this machine, who makes a rule unless another is named."""
    try:
        return getuser()
    except (KeyError, OSError):  # one without a name, as in some containers
        return ""


@contextmanager
def _making(workspace: str | None, database_url: str | None, json: bool) -> Iterator[_MakeRule]:
    """What makes a rule and tells what it does, which of its names documents mention, and how to take it back."""
    with replying(json) as reply:
        settings = load_settings(database_url, workspace)

        def make(by: Callable[[AsyncRulesGroup], Awaitable[Rule]], told: Callable[[Rule], str]) -> None:
            async def added(trueweave: AsyncTrueweave) -> AddedRule:
                rule = await by(trueweave.rules)
                return AddedRule(rule, await trueweave.rules.mentioned(rule.names))

            made = in_workspace(added, settings)
            reply(made.as_json(), told(made.rule), *rule_notes(made))

        yield make


Which = Annotated[
    list[str],
    typer.Argument(
        metavar="ID|N", help="Suggestions by their ids, or how these begin, or by their numbers in the last list."
    ),
]


@app.command()
def suggest(
    threshold: Annotated[
        int | None,
        typer.Option(min=70, max=100, metavar="PERCENT", help="How alike. Without it, as the resolution says."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=9999, help="How many pairs to show.")] = 20,
    auto: Annotated[
        int | None,
        typer.Option(min=70, max=100, metavar="PERCENT", help="Accept all pairs that are more alike than this."),
    ] = None,
    rejected: Annotated[bool, typer.Option("--rejected", help="Show the pairs that were rejected.")] = False,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """List names that are alike and may be one thing, with passages of both.

    Nothing is merged until you accept it. Rejected suggestions are not listed again.
    """
    with replying(json) as reply:
        settings = load_settings(database_url, workspace)
        with spinner("comparing names"):
            if auto is not None:
                above = auto
                rules = in_workspace(lambda trueweave: trueweave.rules.accept_above(above), settings)
                reply({"rules": rules}, *accepted_lines(rules))
                return
            found = in_workspace(
                lambda trueweave: trueweave.rules.suggestions(threshold, limit=limit, rejected=rejected), settings
            )
        reply({"suggestions": found}, *suggestion_lines(found))


@app.command()
def accept(which: Which, workspace: Workspace = None, database_url: DatabaseUrl = None, json: Json = False) -> None:
    """Accept suggestions: the names of each become one entity, by a merge rule."""
    with replying(json) as reply:
        settings = load_settings(database_url, workspace)
        rules = in_workspace(lambda trueweave: trueweave.rules.accept(*which), settings)
        reply({"rules": rules}, *accepted_lines(rules))


@app.command()
def reject(which: Which, workspace: Workspace = None, database_url: DatabaseUrl = None, json: Json = False) -> None:
    """Reject suggestions: their names stay apart, and are not suggested again."""
    with replying(json) as reply:
        settings = load_settings(database_url, workspace)
        pairs = in_workspace(lambda trueweave: trueweave.rules.reject(*which), settings)
        reply({"rejected": pairs}, *(f"{names_text(pair)}: not suggested again." for pair in pairs))
