"""`trueweave rules`: merge, split and rename entities, and correct facts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from getpass import getuser
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from trueweave.cli.render.console import spinner
from trueweave.cli.render.lines import count, indented, next_step, short_id, warning
from trueweave.cli.render.tables import TextTable, table
from trueweave.cli.session import CommandSession, workspace_command
from trueweave.core.errors import RuleError
from trueweave.core.graph import Rule, SuggestedName, Suggestion
from trueweave.core.record import Link, Mention, NameKey

if TYPE_CHECKING:
    from trueweave.engine.rules import AsyncRulesGroup
    from trueweave.engine.trueweave import AsyncTrueweave

app = typer.Typer(
    no_args_is_help=True,
    help="""Merge, split and rename entities, and correct facts.

    A name is written as documents write it, and means every entity of that name, now and later. Its type after two
    colons means that one alone: "Ada Lovelace::person". `trueweave entities` shows both. A name that has two colons in
    itself ends in two more: "std::vector::".

    Rules also apply to documents that are added later. A later rule overrides an earlier one.
    """,
)
NAME = "NAME::TYPE"
Name = Annotated[NameKey, typer.Argument(parser=NameKey.from_typed, metavar=NAME, help="A name of the entity.")]
Names = Annotated[list[NameKey], typer.Argument(parser=NameKey.from_typed, metavar=NAME, help="The names.")]


@app.command("list")
@workspace_command
def list_(session: CommandSession) -> None:
    """List all rules, the oldest first."""
    rules = session(lambda trueweave: trueweave.rules.all())
    session.reply({"rules": rules}, rule_table(rules) if rules else "There are no rules.")


@app.command()
@workspace_command
def merge(session: CommandSession, names: Names) -> None:
    """Merge these names into one entity."""
    _make(session, lambda rules: rules.merge(*names), lambda rule: f"{fact_text(rule)} are one entity now.")


@app.command()
@workspace_command
def split(session: CommandSession, names: Names) -> None:
    """Make these names an entity of their own.

    From now on they are one entity, apart from all other names, however similar.
    """
    _make(session, lambda rules: rules.split(*names), lambda rule: f"{fact_text(rule)}: a separate entity from now on.")


@app.command()
@workspace_command
def rename(
    session: CommandSession,
    name: Name,
    label: Annotated[str, typer.Argument(help="What to call it.")],
) -> None:
    """Rename the entity of this name to LABEL."""
    _make(
        session, lambda rules: rules.rename(name, label), lambda rule: f"{fact_text(rule)} is called {rule.label} now."
    )


Target = Annotated[
    NameKey | None,
    typer.Option(
        "--to", parser=NameKey.from_typed, metavar=NAME, help="Apply to the relation from NAME to this entity instead."
    ),
]
By = Annotated[str, typer.Option("--by", help="The author of the rule. Default: the user of this machine.")]


@app.command()
@workspace_command
def retype(
    session: CommandSession,
    name: Name,
    type_: Annotated[str, typer.Argument(metavar="TYPE", help="Its type.")],
    to: Target = None,
    by: By = "",
) -> None:
    """Change the type of the entity of this name, or of one of its relations."""
    _make(
        session,
        lambda rules: rules.retype(name, type_, target=to, by=by or _user()),
        lambda rule: f"{fact_text(rule)} is of type {rule.label} now.",
    )


@app.command()
@workspace_command
def describe(
    session: CommandSession,
    name: Name,
    text: Annotated[str, typer.Argument(help="The description.")],
    to: Target = None,
    by: By = "",
) -> None:
    """Replace the description of the entity of this name, or of one of its relations."""
    _make(
        session,
        lambda rules: rules.describe(name, text, target=to, by=by or _user()),
        lambda rule: f"{fact_text(rule)} now has your description.",
    )


@app.command()
@workspace_command
def suppress(
    session: CommandSession,
    name: Name,
    to: Target = None,
    by: By = "",
) -> None:
    """Hide the entity of this name, or one of its relations, from the graph.

    No fact about it is used in an answer or a report. The texts that mention it are not changed.
    """
    _make(
        session,
        lambda rules: rules.suppress(name, target=to, by=by or _user()),
        lambda rule: f"{fact_text(rule)} is suppressed now.",
    )


@app.command()
@workspace_command
def add(
    session: CommandSession,
    name: Name,
    text: Annotated[str, typer.Argument(help="What is so.")],
    to: Target = None,
    type_: Annotated[str, typer.Option("--type", help="The type of the relation.")] = "",
    by: By = "",
) -> None:
    """Add an entity, or a relation with --to, that no document states.

    It is stated in a separate document, which answers can cite.
    """
    if type_ and to is None:
        raise typer.BadParameter("only a relation has one: name the target with --to.", param_hint="--type")
    words = (type_,) if type_ else ()
    fact: Link | Mention = Mention(name.name, name.type, text)
    if to:
        fact = Link(name.name, to.name, text, words, source_type=name.type, target_type=to.type)
    rule = session(lambda trueweave: trueweave.rules.add(fact, by=by or _user()))
    session.reply({"rule": rule}, f"Added: {rule.label}", undo_line(rule))


@app.command()
@workspace_command
def undo(
    session: CommandSession,
    rule: Annotated[str, typer.Argument(metavar="ID", help="The rule's id, or a prefix of it.")],
) -> None:
    """Undo a rule, as if it had never been made."""

    async def find_and_undo(trueweave: AsyncTrueweave) -> Rule:
        found = [known for known in await trueweave.rules.all() if rule and str(known.id).startswith(rule.lower())]
        if len(found) != 1:
            problem = f"{len(found)} rules begin" if found else "no rule begins"
            raise RuleError(f"{problem} with {rule!r}. `trueweave rules list` shows all rules.")
        await trueweave.rules.undo(found[0].id)
        return found[0]

    undone = session(find_and_undo)
    session.reply({"undone": undone}, f"Undone: {undone.kind} {fact_text(undone)}.")


def _user() -> str:
    """The user of this machine: the author of a rule unless another is named."""
    try:
        return getuser()
    except (KeyError, OSError):  # a user without a name, as in some containers
        return ""


def _make(
    session: CommandSession, by: Callable[[AsyncRulesGroup], Awaitable[Rule]], told: Callable[[Rule], str]
) -> None:
    """Make a rule, and say what it does, which of its names documents mention, and how to take it back."""

    async def added(trueweave: AsyncTrueweave) -> AddedRule:
        rule = await by(trueweave.rules)
        return AddedRule(rule, await trueweave.rules.mentioned(rule.names))

    made = session(added)
    session.reply(made.as_json(), told(made.rule), *rule_notes(made))


Which = Annotated[
    list[str],
    typer.Argument(metavar="ID|N", help="Suggestions by id, by a prefix of it, or by their number in the last list."),
]


@app.command()
@workspace_command
def suggest(
    session: CommandSession,
    threshold: Annotated[
        int | None,
        typer.Option(
            min=70, max=100, metavar="PERCENT", help="The minimum similarity. Default: that of the resolution."
        ),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=9999, help="How many pairs to show.")] = 20,
    auto: Annotated[
        int | None,
        typer.Option(min=70, max=100, metavar="PERCENT", help="Accept all pairs with a higher similarity than this."),
    ] = None,
    rejected: Annotated[bool, typer.Option("--rejected", help="Show the pairs that were rejected.")] = False,
) -> None:
    """List similar names that may be one entity, with passages of both.

    Nothing is merged until you accept it. Rejected suggestions are not listed again.
    """
    with spinner("comparing names"):
        if auto is not None:
            above = auto
            rules = session(lambda trueweave: trueweave.rules.accept_above(above))
            session.reply({"rules": rules}, *accepted_lines(rules))
            return
        found = session(lambda trueweave: trueweave.rules.suggestions(threshold, limit=limit, rejected=rejected))
    session.reply({"suggestions": found}, *suggestion_lines(found))


@app.command()
@workspace_command
def accept(session: CommandSession, which: Which) -> None:
    """Accept suggestions: the names of each become one entity, by a merge rule."""
    rules = session(lambda trueweave: trueweave.rules.accept(*which))
    session.reply({"rules": rules}, *accepted_lines(rules))


@app.command()
@workspace_command
def reject(session: CommandSession, which: Which) -> None:
    """Reject suggestions: their names stay separate, and are not suggested again."""
    pairs = session(lambda trueweave: trueweave.rules.reject(*which))
    session.reply({"rejected": pairs}, *(f"{names_text(pair)}: not suggested again." for pair in pairs))


def names_text(names: Iterable[NameKey]) -> str:
    """Names for a sentence."""
    return " and ".join(name.typed for name in names)


@dataclass(frozen=True)
class AddedRule:
    """A rule, and for each of its names those that documents mention now."""

    rule: Rule
    matched: dict[NameKey, tuple[NameKey, ...]]

    @property
    def unknown(self) -> list[NameKey]:
        """Names that no document mentions: misspelt, perhaps."""
        return [name for name, found in self.matched.items() if not found]

    def as_json(self) -> dict[str, object]:
        matched = [{"name": name, "matched": found} for name, found in self.matched.items()]
        return {"rule": self.rule, "names": matched, "unknown": self.unknown}


def rule_notes(added: AddedRule) -> list[Text]:
    """Which names of a rule documents mention, which they do not, and how to take the rule back."""
    found = [name for matched in added.matched.values() for name in matched]
    notes = [Text(f"In the documents now: {', '.join(map(_with_type, found))}.")] if found else []
    if added.unknown:
        waiting = ", ".join(name.typed for name in added.unknown)
        notes.append(warning(f"No document mentions {waiting} yet, written just so; the rule waits for one."))
    return [*notes, undo_line(added.rule)]


def undo_line(rule: Rule) -> Text:
    """How to take a rule back."""
    return next_step(f"trueweave rules undo {short_id(rule.id)}", heading="To take it back")


def fact_text(rule: Rule) -> str:
    """What a rule is about: its names, or a relation."""
    about = names_text(rule.names)
    return f"{about} -> {rule.target.typed}" if rule.target else about


def _with_type(name: NameKey) -> str:
    return f"{name.name} ({name.type or 'no type'})"


def rule_table(rules: list[Rule]) -> TextTable:
    """Rules, one a line."""
    made = table("id", "rule", "about", "~says", "by", "on")
    for rule in rules:
        on = f"{rule.made:%Y-%m-%d}" if rule.made else ""
        made.add_row(short_id(rule.id), rule.kind, fact_text(rule), rule.label, rule.by, on)
    return made


def accepted_lines(rules: list[Rule]) -> Iterator[RenderableType]:
    """What accepted suggestions have become, and how to take the last one back."""
    for rule in rules:
        yield f"{names_text(rule.names)} are one entity now. Rule {short_id(rule.id)}."
    if rules:
        yield next_step(f"trueweave rules undo {short_id(rules[-1].id)}", heading="To take it back")
    else:
        yield "No names are that alike."


def suggestion_lines(found: list[Suggestion]) -> Iterator[RenderableType]:
    """Pairs of names, each with passages that mention them."""
    for one in found:
        yield f"{one.number}  {short_id(one.id)}  {_side(one.one)}  |  {_side(one.other)}  {one.score:.1f} % alike"
        for side in (one.one, one.other):
            for passage in side.passages:
                yield indented(f"{passage.title or passage.uri}: {passage.text}")
    if found:
        first = short_id(found[0].id)
        yield next_step(f"trueweave rules accept {first}", "or reject; several at once will do")
    else:
        yield "There is nothing to suggest."


def _side(name: SuggestedName) -> str:
    return f"{name.name.typed} ({count(name.mentions, 'mention')})"
