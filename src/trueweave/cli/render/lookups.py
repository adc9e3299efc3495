"""Printing lookup results: documents, entities, relations and paths."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

from rich.console import RenderableType
from rich.text import Text

from trueweave.cli.render.dates import local_time
from trueweave.cli.render.evidence import copies_line, description, excerpt, relation_table
from trueweave.cli.render.lines import count, decimal, heading, indented, next_step, one_line, short_id, warning
from trueweave.cli.render.tables import TextTable, pairs, table

if TYPE_CHECKING:
    from trueweave.core.evidence import DocumentDetails, EntityDetails, EntityPath, Hits, Passage, PathStep
    from trueweave.core.graph import Entity, Relation
    from trueweave.core.jobs import DocumentInfo

T = TypeVar("T")

NOTHING_YET = next_step("trueweave add PATH", "there are none yet")
NONE_PASSES = "Nothing in the documents that pass the filter."
_LONGEST = 1000  # characters of a description
_SHORT = 320  # characters of a chunk, or of a description on a path
_WORDS = {"vectors": "meaning", "words": "the words of names"}


def entity_hits(found: Hits[Entity]) -> tuple[dict[str, object], RenderableType, Text]:
    """Entities that match a text, as JSON and as a table, and how they were searched for."""
    some = [one.item for one in found.items]
    return _hits("entities", found), entity_table(some) if some else "No entity fits.", _found_by(found)


def relation_hits(found: Hits[Relation]) -> tuple[dict[str, object], RenderableType, Text]:
    """Relations that match a text, likewise."""
    some = [one.item for one in found.items]
    return _hits("relations", found), relation_table(some) if some else "No relation fits.", _found_by(found)


def _hits(what: str, found: Hits[T]) -> dict[str, object]:
    return {
        what: [one.item for one in found.items],
        "scores": [one.score for one in found.items],
        "by": found.by,
    }


def _found_by(found: Hits[T]) -> Text:
    return Text(f"found by {' and '.join(_WORDS[one] for one in found.by)}", style="dim")


def entity_table(found: Sequence[Entity]) -> TextTable:
    """Entities with their other spellings, and their descriptions from documents."""
    rows = ((one.name, one.type, f"{one.count:,}", f"{one.degree:,}", _aliases(one), _described(one)) for one in found)
    return table("name", "type", ">mentions", ">relations", "~also written", "~description", rows=rows)


def _aliases(one: Entity) -> str:
    return ", ".join(alias for alias in one.aliases if alias != one.name)


def _described(one: Entity) -> str:
    return "; ".join(one.description.splitlines())


def entity_lines(found: EntityDetails) -> list[RenderableType]:
    """An entity with its relations, and passages that mention it."""
    one = found.entity
    facts = {
        "type": one.type or "none",
        **({"also written": also} if (also := _aliases(one)) else {}),
        "mentions": f"{one.count:,}",
        "relations": f"{one.degree:,}",
        "id": short_id(one.id),
    }
    text: list[RenderableType] = [Text(one_line(one.name), style="bold"), pairs(facts)]
    if described := one.summary or one.description:
        text += ["", *(indented(one_line(line, _LONGEST)) for line in described.splitlines())]
    if found.relations:
        text += ["", heading("Relations", len(found.relations), one.degree), _relations_of(one, found.relations)]
    if found.passages:
        text += ["", heading("Passages", len(found.passages)), *_passages(found.passages, one.name)]
    typed = f"{one.name}::" if "::" in one.name else one.name
    return [*text, "", next_step(f"trueweave neighbours {shlex.quote(typed)}", "shows what is around it")]


def _relations_of(one: Entity, found: Sequence[Relation]) -> TextTable:
    """Relations from the point of view of one end."""
    typed = any(relation.type for relation in found)
    made = table("", "with", *(["type"] if typed else []), ">weight", "~description")
    for relation in found:
        leaves = relation.source == one.id
        other = relation.target_name if leaves else relation.source_name
        arrow = ("→" if leaves else "←") if relation.directed else ""
        types = [relation.type] if typed else []
        made.add_row(arrow, other, *types, decimal(relation.weight), description(relation))
    return made


def _passages(found: Sequence[Passage], about: str) -> Iterable[RenderableType]:
    for passage in found:
        yield Text(one_line(passage.source), style="cyan")
        yield from copies_line(passage)
        yield indented(excerpt(passage.text, about))


def document_list(
    found: list[DocumentInfo], there: int, limit: int, *, with_notes: bool, narrowed: bool = False, off: bool = False
) -> list[RenderableType]:
    """Documents with their titles and sizes, or with their notes, and how to see more."""
    if not there:
        return ["No document is switched off."] if off else [NOTHING_YET]
    if not found:
        return ["No document fits." if narrowed else "No document has a note."]
    more: list[RenderableType] = []
    if len(found) == limit < there:
        more = [warning(f"There may be more: --after {shlex.quote(found[-1].uri)} shows what follows.")]
    if with_notes:
        named = (part for one in found for part in (Text(one.uri, style="bold"), *map(indented, one.notes)))
        return [*named, *more]
    columns = ["document", "~title", ">chunks", "added"]
    rows = [[one.uri, one.title, f"{one.chunks:,}", local_time(one.added)] for one in found]
    if any(one.readers for one in found):
        columns.append("readers")
        rows = [[*row, ", ".join(one.readers) or "everybody"] for row, one in zip(rows, found, strict=True)]
    return [table(*columns, rows=rows), *more]


def document_lines(found: DocumentDetails, first: int) -> list[RenderableType]:
    """A document with the entities it mentions and some of its chunks."""
    facts = {"title": one_line(found.title)} if found.title else {}
    facts |= {"added": local_time(found.added), "chunks": f"{found.chunks:,}"}
    if found.readers:
        facts["read by"] = ", ".join(found.readers)
    facts |= {
        key: one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), _LONGEST)
        for key, value in found.metadata.items()
    }
    text: list[RenderableType] = [Text(found.uri, style="bold"), pairs(facts)]
    text += [warning(note) for note in found.notes]
    if found.entities:
        text += ["", heading("Mentions most", len(found.entities)), _mentioned(found)]
    if found.passages:
        text += ["", heading("Chunks", len(found.passages), found.chunks), *_chunks(found, first)]
    following = first + len(found.passages)
    if following < found.chunks:
        text += [
            "",
            next_step(f"trueweave document {shlex.quote(found.uri)} --first {following}", "shows the next chunks"),
        ]
    return text


def _mentioned(found: DocumentDetails) -> TextTable:
    rows = (
        (one.name, one.type, f"{here:,.0f}", f"{one.count:,}", one.summary or _described(one))
        for one, here in ((each.item, each.score) for each in found.entities)
    )
    return table("name", "type", ">here", ">in all", "~description", rows=rows)


def _chunks(found: DocumentDetails, first: int) -> Iterable[RenderableType]:
    for number, passage in enumerate(found.passages, first):
        place = passage.source_of(passage.start, passage.end).removeprefix(found.title or found.uri).lstrip(", ")
        where = f"characters {passage.start:,} to {passage.end:,}"
        yield Text.assemble((f"{number}  ", "cyan"), (", ".join(filter(None, (one_line(place), where))), "dim"))
        yield indented(one_line(passage.text, _SHORT))


def path_lines(found: EntityPath) -> list[RenderableType]:
    """A path, step by step, with the passages that state each relation."""
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
    told = [indented(one_line(described, _SHORT))] if (described := description(one)) else []
    parts: list[RenderableType] = [head, *told]
    for passage in step.passages:
        parts.append(Text(f"  {one_line(passage.source)}", style="cyan"))
        parts.append(indented(excerpt(passage.text, f"{one.source_name} {one.target_name}"), 4))
    return parts
