"""Rules about names, and suggestions of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rich.console import RenderableType
from rich.text import Text

from trueweave.cli.render.lines import count, indented, next_step, short_id, warning
from trueweave.cli.render.tables import TextTable, table
from trueweave.core.graph import Rule, SuggestedName, Suggestion
from trueweave.core.record import NameKey


def name_key(text: str) -> NameKey:
    """A name and its type from NAME or NAME::TYPE."""
    return NameKey.from_typed(text)


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
