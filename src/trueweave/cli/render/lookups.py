"""What was looked up, for people to read: an entity, a document, relations and paths."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from trueweave.cli.render.dates import local_time
from trueweave.cli.render.evidence import copies_line, excerpt
from trueweave.cli.render.lines import count, decimal, indented, next_step, one_line, short_id, warning
from trueweave.cli.render.tables import TextTable, pairs, table

if TYPE_CHECKING:
    from trueweave.core.evidence import DocumentDetails, EntityDetails, EntityPath, Hits, Passage, PathStep
    from trueweave.core.graph import Entity, Relation

_LONGEST = 1000  # characters of a description
_SHORT = 320  # characters of a description on a path
_WORDS = {"vectors": "meaning", "words": "the words of names"}


def found_by(found: Hits[object]) -> Text:
    """A dim line that says how something was looked for."""
    return Text(f"found by {' and '.join(_WORDS[one] for one in found.by)}", style="dim")


def heading(what: str, shown: int, there: int | None = None) -> list[RenderableType]:
    """A heading with how many there are, and how many of them are shown."""
    there = shown if there is None else there
    more = f"  {there:,}" if shown >= there else f"  {there:,}, the first {shown:,} of them"
    return ["", Text.assemble((what, "bold"), (more, "dim"))]


def relation_table(found: Sequence[Relation]) -> TextTable:
    """Relations with their ends, and what is said of them."""
    typed = any(one.type for one in found)
    made = table("from", "to", *(["type"] if typed else []), ">weight", "~description")
    for one in found:
        made.add_row(one.source_name, one.target_name, *([one.type] if typed else []), decimal(one.weight), said(one))
    return made


def said(one: Relation) -> str:
    """What is said of a relation, on one line."""
    lines = [line if line.endswith((".", "!", "?", "。")) else f"{line};" for line in one.description.splitlines()]
    return one_line(one.summary or " ".join(lines).removesuffix(";") or ", ".join(one.keywords), _LONGEST)


def entity_lines(found: EntityDetails) -> list[RenderableType]:
    """An entity with its relations, and passages that mention it."""
    one = found.entity
    also = ", ".join(alias for alias in one.aliases if alias != one.name)
    facts = {
        "type": one.type or "none",
        **({"also written": also} if also else {}),
        "mentions": f"{one.count:,}",
        "relations": f"{one.degree:,}",
        "id": short_id(one.id),
    }
    text: list[RenderableType] = [Text(one_line(one.name), style="bold"), pairs(facts)]
    if described := one.summary or one.description:
        text += ["", *(indented(one_line(line, _LONGEST)) for line in described.splitlines())]
    if found.relations:
        text += [*heading("Relations", len(found.relations), one.degree), _relations_of(one, found.relations)]
    if found.passages:
        text += [*heading("Passages", len(found.passages)), *_passages(found.passages, one.name)]
    return [*text, "", next_step(f"trueweave neighbours {_quoted(one)}", "shows what is around it")]


def _relations_of(one: Entity, found: Sequence[Relation]) -> TextTable:
    """Relations as one end sees them."""
    typed = any(relation.type for relation in found)
    made = table("", "with", *(["type"] if typed else []), ">weight", "~description")
    for relation in found:
        leaves = relation.source == one.id
        other = relation.target_name if leaves else relation.source_name
        arrow = ("→" if leaves else "←") if relation.directed else ""
        cells = (arrow, other, *([relation.type] if typed else []))
        made.add_row(*cells, decimal(relation.weight), said(relation))
    return made


def _passages(found: Sequence[Passage], about: str) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for passage in found:
        parts += [
            Text(one_line(passage.source), style="cyan"),
            *copies_line(passage),
            indented(excerpt(passage.text, about)),
        ]
    return parts


def document_lines(found: DocumentDetails, first: int) -> list[RenderableType]:
    """A document with what it mentions and some of its chunks."""
    facts = {"title": one_line(found.title)} if found.title else {}
    facts |= {"added": local_time(found.added), "chunks": f"{found.chunks:,}"}
    facts |= {
        key: one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), _LONGEST)
        for key, value in found.metadata.items()
    }
    text: list[RenderableType] = [Text(found.uri, style="bold"), pairs(facts)]
    text += [warning(note) for note in found.notes]
    if found.entities:
        text += [*heading("Mentions most", len(found.entities)), _mentioned(found)]
    if found.passages:
        text += [*heading("Chunks", len(found.passages), found.chunks), *_chunks(found, first)]
    following = first + len(found.passages)
    if following < found.chunks:
        text += ["", next_step(f"trueweave document {_quote(found.uri)} --first {following}", "shows the next chunks")]
    return text


def _mentioned(found: DocumentDetails) -> TextTable:
    made = table("name", "type", ">here", ">in all", "~description")
    for one in found.entities:
        entity = one.item
        described = entity.summary or "; ".join(entity.description.splitlines())
        made.add_row(entity.name, entity.type, f"{one.score:,.0f}", f"{entity.count:,}", described)
    return made


def _chunks(found: DocumentDetails, first: int) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for number, passage in enumerate(found.passages, first):
        place = passage.source_of(passage.start, passage.end).removeprefix(found.title or found.uri).lstrip(", ")
        where = f"characters {passage.start:,} to {passage.end:,}"
        parts += [
            Text.assemble((f"{number}  ", "cyan"), (", ".join(filter(None, (one_line(place), where))), "dim")),
            indented(one_line(passage.text, 320)),
        ]
    return parts


def path_lines(found: EntityPath) -> list[RenderableType]:
    """A path, step by step, with what states each."""
    names = " - ".join(one_line(one.name) for one in found.entities)
    text: list[RenderableType] = [Text.assemble((names, "bold"), (f"  {count(len(found.steps), 'relation')}", "dim"))]
    for step in found.steps:
        text += ["", *_step(step)]
    return text


def _step(step: PathStep) -> list[RenderableType]:
    one = step.relation
    ends = f"{one_line(one.source_name)} {'→' if one.directed else '–'} {one_line(one.target_name)}"
    told_of = ", ".join(filter(None, (one.type, f"weight {decimal(one.weight)}")))
    head = Text.assemble((ends, "bold"), (f"  {told_of}", "dim"))
    told = [indented(one_line(described, _SHORT))] if (described := said(one)) else []
    parts: list[RenderableType] = [head, *told]
    for passage in step.passages:
        parts.append(Text(f"  {one_line(passage.source)}", style="cyan"))
        parts.append(indented(excerpt(passage.text, f"{one.source_name} {one.target_name}"), 4))
    return parts


def _quoted(one: Entity) -> str:
    return _quote(one.name if "::" not in one.name else f"{one.name}::")


def _quote(text: str) -> str:
    import shlex

    return shlex.quote(text)
