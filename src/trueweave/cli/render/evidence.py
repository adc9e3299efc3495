"""Printing evidence: passages, entities, relations, paths, and how they were found."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from trueweave.cli.render.lines import count, decimal, heading, indented, one_line
from trueweave.cli.render.tables import TextTable, table

if TYPE_CHECKING:
    from uuid import UUID

    from trueweave.core.evidence import Connection, Evidence, Passage, Path, Report, Trace
    from trueweave.core.graph import Entity, Relation

_EXCERPT = 320  # characters of a passage
_NAMED = 3  # other places of the same text
_MOST = 10  # of entities, relations and paths; --json has all
_LONGEST = 60  # characters of a source
_HEADING = re.compile(r"^#{1,6}[ \t].*\n*", re.MULTILINE)  # the source already names them


def evidence_lines(evidence: Evidence, question: str) -> list[RenderableType]:
    """Everything that was found and how, with an excerpt of each passage instead of the whole."""
    parts: list[RenderableType] = [*text_lines(evidence, question)]
    if evidence.entities:
        parts += ["", _headed("Entities", len(evidence.entities)), described_entities(evidence.entities[:_MOST])]
    if evidence.relations:
        parts += ["", _headed("Relations", len(evidence.relations)), relation_table(evidence.relations[:_MOST])]
    if evidence.paths:
        parts += ["", _headed("Paths", len(evidence.paths)), *(_path(one) for one in evidence.paths[:_MOST])]
    return [*parts, *trace_lines(evidence.trace)]


def text_lines(evidence: Evidence, question: str) -> list[RenderableType]:
    """Reports, if there are any, and passages."""
    parts = passage_lines(evidence.passages, question, evidence.connections)
    if not evidence.reports:
        return parts
    numbers = {passage.id: number for number, passage in enumerate(evidence.passages, 1)}
    told = [part for report in evidence.reports[:_MOST] for part in ("", *_report(report, numbers, question))]
    headings = _headed("Reports", len(evidence.reports)), heading("Passages", len(evidence.passages))
    return [headings[0], *told, "", headings[1], "", *parts]


def _report(report: Report, numbers: Mapping[UUID, int], question: str) -> list[RenderableType]:
    marks = "".join(f" [{numbers[id_]}]" for id_ in report.passages if id_ in numbers)
    head = Text.assemble((one_line(report.title), "bold"), (marks, "cyan"), (f"  {report.score:.3f}", "dim"))
    return [head, indented(excerpt(report.text, question))]


def passage_lines(
    found: Sequence[Passage], question: str, connections: Sequence[Connection] = ()
) -> list[RenderableType]:
    """Numbered passages, each with its score, its source, the entities that led to it and the part that best matches
    the question."""
    parts: list[RenderableType] = []
    for number, passage in enumerate(found, 1):
        parts += [
            *([""] if parts else []),
            Text.assemble(
                (f"[{number}] ", "cyan"),
                (one_line(passage.source), "bold"),
                *day(passage),
                (f"  {passage.score:.3f}", "dim"),
            ),
            *copies_line(passage),
            *_connections_line([one for one in connections if one.passage == passage.id]),
            indented(excerpt(passage.text, question)),
        ]
    return parts


def _connections_line(connections: Sequence[Connection]) -> list[RenderableType]:
    """A line with the entities that led to a passage, and the neighbours found with them, if any."""
    if not connections:
        return []
    told = []
    for one in connections[:_NAMED]:
        beside = f" (beside {', '.join(one.neighbours[:_NAMED])})" if one.neighbours else ""
        told.append(one_line(f"{one.entity}{beside}", _LONGEST))
    return [indented(f"found by {'; '.join(told)}")]


def day(passage: Passage) -> list[tuple[str, str]]:
    """The date of a passage beside its source, if it has one."""
    return [(f"  {passage.day}", "dim")] if passage.date else []


def copies_line(passage: Passage) -> list[RenderableType]:
    """A line that says where else a text occurs, if it does."""
    if not passage.copies:
        return []
    named = [one_line(one.source, _LONGEST) for one in passage.also[:_NAMED]]
    more = passage.copies - len(named)
    return [indented(f"also in {'; '.join(named)}{f' and {more:,} more' if more else ''}")]


def trace_lines(found: Trace) -> list[RenderableType]:
    """How evidence was found, step by step."""
    made = table("step", "~searched for", ">found", ">ms", ">SQL", "~best")
    for step in found.steps:
        took = f"{1000 * step.seconds:,.1f}" if step.seconds else ""
        best = "; ".join(f"{one_line(one.item, _LONGEST)} {one.score:.2f}" for one in step.best)
        statements = f"{step.statements:,}" if step.statements else ""
        made.add_row(step.what, step.searched, f"{step.found:,}", took, statements, best)
    took = f"{1000 * found.seconds:,.0f} ms, {count(found.statements, 'statement')}"
    return ["", Text.assemble(("How it was found", "bold"), (f"  {took}", "dim")), made]


def excerpt(text: str, question: str) -> str:
    """A short excerpt of a passage, from the sentence with most of the question's words."""
    from trueweave.text import sentences, words

    text = _HEADING.sub("", text) or text
    wanted = words.content(question)
    starts = [start for start, _ in sentences.split(text)] or [0]
    ends = [*starts[1:], len(text)]
    best = max(zip(starts, ends, strict=True), key=lambda span: len(wanted & words.content(text[slice(*span)])))
    last = len(text) - _EXCERPT
    start = best[0] if best[0] <= last else max((s for s in starts if s <= max(last, 0)), default=0)
    part = one_line(text[start:], _EXCERPT)
    return f"… {part}" if text[:start].strip() else part


def _headed(what: str, number: int) -> Text:
    return heading(what, min(number, _MOST), number, more="; --json has all")


def described_entities(found: Sequence[Entity]) -> TextTable:
    """Entities with their summaries or, if they have none, descriptions."""
    rows = ((one.name, one.type, f"{one.count:,}", f"{one.degree:,}", one.summary or one.description) for one in found)
    return table("name", "type", ">mentions", ">relations", "~description", rows=rows)


def relation_table(found: Sequence[Relation]) -> TextTable:
    """Relations with their ends and descriptions. There is a column for types if any relation has one."""
    typed = any(one.type for one in found)
    rows = (
        (one.source_name, one.target_name, *([one.type] if typed else []), decimal(one.weight), description(one))
        for one in found
    )
    return table("from", "to", *(["type"] if typed else []), ">weight", "~description", rows=rows)


def description(one: Relation) -> str:
    """The description of a relation, on one line."""
    lines = [line if line.endswith((".", "!", "?", "。")) else f"{line};" for line in one.description.splitlines()]
    return one_line(one.summary or " ".join(lines).removesuffix(";") or ", ".join(one.keywords), 1000)


def _path(found: Path) -> RenderableType:
    return indented(" - ".join(map(one_line, found.names)))
