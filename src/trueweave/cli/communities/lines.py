"""Communities and what is written about them, for people to read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from trueweave.cli.render.dates import local_time
from trueweave.cli.render.evidence import described_entities
from trueweave.cli.render.lines import count, heading, indented, next_step, one_line, short_id, warning
from trueweave.cli.render.tables import TextTable, pairs, table

if TYPE_CHECKING:
    from trueweave.core.graph import Community, CommunityReport, Entity, Finding, Hierarchy, RetiredCommunity, Written

_LONGEST = 1000  # characters of what is meant to be a sentence
_STATES: dict[Written, str] = {"written": "written", "stale": "stale", "unwritten": "not yet", "small": "too small"}


def community_title(one: Community) -> str:
    """The title of a community; where none is written, the names of its most related members."""
    more = one.size - len(one.names)
    return one_line(one.title) or one_line(f"{', '.join(one.names)}{f' and {more:,} more' if more else ''}")


def overview_lines(found: Hierarchy, largest: Sequence[Community]) -> list[RenderableType]:
    """The communities as a whole, the largest of them, and what to do now."""
    number = sum(level.communities for level in found.levels)
    how = f"by {found.library}, seed {found.seed}, resolution {found.resolution:g}"
    facts = {
        "found": f"{local_time(found.found)} {how}",
        "modularity": f"{found.modularity:.2f} at level 0, the outermost",
    }
    if found.alone:
        facts["in none"] = f"{count(found.alone, 'entity')} of {found.entities:,}, without any relation"
    text: list[RenderableType] = [f"{count(number, 'community')} on {count(len(found.levels), 'level')}."]
    text += [pairs(facts), "", _levels(found)]
    there = f"  {len(largest):,} of {found.levels[0].communities:,} at level 0"
    largest_of = Text.assemble(("The largest", "bold"), (there, "dim"))
    return [*text, "", largest_of, community_table(largest), "", *_advice(found)]


def _levels(found: Hierarchy) -> TextTable:
    rows = ([f"{number:,}" for number in asdict(one).values()] for one in found.levels)
    return table(">level", ">communities", ">members", ">largest", ">written", ">stale", ">too small", rows=rows)


def _advice(found: Hierarchy) -> list[RenderableType]:
    """What to do now: the most urgent first."""
    missing = sum(max(one.communities - one.small - one.written, 0) for one in found.levels)
    stale = sum(one.stale for one in found.levels)
    if found.behind:
        return [warning("The graph has changed since."), next_step("trueweave communities build", "finds them again")]
    if missing or stale:
        states = (missing, "without a report"), (stale, "with a stale one")
        told = ", ".join(f"{number:,} {what}" for number, what in states if number)
        return [warning(f"{told}."), next_step("trueweave communities build", "writes what is missing")]
    return [
        next_step("trueweave communities show ID", "shows the report of one"),
        next_step("trueweave communities tree", "shows them within each other"),
    ]


def community_table(found: Sequence[Community], *, with_level: bool = False) -> TextTable:
    """Communities, one a line: each with its level where they are of several, or else with how many parts it has."""
    return _lines([(one, community_title(one)) for one in found], with_level=with_level)


def _lines(
    rows: Sequence[tuple[Community | None, str]], *, with_level: bool = False, title: str = "title"
) -> TextTable:
    """A line for each community under these titles. Reports have a column where some are missing."""
    wanting = any(one and one.written in ("stale", "unwritten") for one, _ in rows)
    sizes = (">level", ">entities") if with_level else (">entities", ">parts")
    made = table("id", *sizes, ">rating", *(["report"] if wanting else []), title, styles=("cyan",))
    for one, told in rows:
        cells = _cells(one, with_level=with_level, with_report=wanting) if one else [""] * (5 if wanting else 4)
        made.add_row(*cells, told)
    return made


def _cells(one: Community, *, with_level: bool, with_report: bool) -> list[str]:
    parts = f"{one.parts:,}" if one.parts else ""
    sizes = (f"{one.level}", f"{one.size:,}") if with_level else (f"{one.size:,}", parts)
    rating = "" if one.rating is None else f"{one.rating:.1f}"
    return [short_id(one.id), *sizes, rating, *([_STATES[one.written]] if with_report else [])]


@dataclass(frozen=True)
class Branch:
    """A community with those right within it, as many as were asked for."""

    community: Community
    within: Sequence[Branch]

    def as_json(self) -> dict[str, object]:
        """For programs."""
        return {**asdict(self.community), "within": [one.as_json() for one in self.within]}


def tree_table(branches: Sequence[Branch], more: int = 0) -> TextTable:
    """Communities, each over those within it; and how many `more` there are beside the first."""
    rows = [row for one in branches for row in ((one.community, community_title(one.community)), *_within(one))]
    # A title on a second line would stand across the lines that lead to others.
    return _lines([*rows, *([(None, _and_more(more))] if more else [])], title="~title")


def _within(branch: Branch, before: str = "") -> Iterator[tuple[Community | None, str]]:
    """What is within a community, with lines that lead to it."""
    more = branch.community.parts - len(branch.within) if branch.within else 0
    for n, one in enumerate(branch.within, 1):
        is_last = n == len(branch.within) and not more
        yield one.community, f"{before}{'└── ' if is_last else '├── '}{community_title(one.community)}"
        yield from _within(one, f"{before}{'    ' if is_last else '│   '}")
    if more:
        yield None, f"{before}└── {_and_more(more)}"


def _and_more(number: int) -> str:
    return f"… and {number:,} more (--limit shows more of them)"


@dataclass(frozen=True)
class Page:
    """All that is shown of one community."""

    community: Community
    report: CommunityReport | None
    members: Sequence[Entity]
    parts: Sequence[Community]


def page_lines(found: Page) -> list[RenderableType]:
    """A community with its report, its members and its parts."""
    one = found.community
    text: list[RenderableType] = [Text(community_title(one), style="bold"), pairs(_facts(found))]
    text += _report(found.report) if found.report else [_unwritten(one)]
    text += ["", heading("Members", len(found.members), one.size), described_entities(found.members)]
    if found.parts:
        text += ["", heading("Parts", len(found.parts), one.parts), community_table(found.parts)]
        return [*text, "", next_step(f"trueweave communities tree {short_id(one.id)}", "shows all that is within it")]
    if one.parent:
        return [
            *text,
            "",
            next_step(f"trueweave communities show {short_id(one.parent)}", "shows what it is a part of"),
        ]
    return text


def _facts(found: Page) -> dict[str, str]:
    one, report = found.community, found.report
    facts = {
        "id": str(one.id),
        "level": f"{one.level}, within {short_id(one.parent)}" if one.parent else f"{one.level}, the outermost",
        "size": f"{count(one.size, 'entity')}, {count(one.relations, 'relation')}",
        "since": local_time(one.since) + (f", changed {local_time(one.changed)}" if one.changed > one.since else ""),
    }
    if report and report.made:
        by = f"by {report.author}" if report.author else "without a model: sentences picked out of the documents"
        facts["written"] = f"{local_time(report.made)} {by}"
    return facts


def _report(found: CommunityReport) -> list[RenderableType]:
    text: list[RenderableType] = []
    if found.problem:
        text.append(warning(f"A model was to write this: {one_line(found.problem, _LONGEST)}"))
    if found.stale:
        text.append(warning("This is stale: the community has changed since it was written."))
        text.append(next_step("trueweave communities build", "writes it again"))
    reason = one_line(found.reason, _LONGEST)
    text += ["", Text(found.summary), "", Text(f"Rated {found.rating:.1f} of 10. {reason}".rstrip())]
    if found.findings:
        text += ["", heading("Findings", len(found.findings))]
    for number, one in enumerate(found.findings, 1):
        text += [*([""] if number > 1 else []), *_finding(number, one)]
    return text


def _finding(number: int, one: Finding) -> list[RenderableType]:
    rests_on = (len(one.entities), "entity"), (len(one.relations), "relation"), (len(one.chunks), "passage")
    told = ", ".join(count(many, what) for many, what in rests_on if many)
    rests = Text(f"  rests on {told}", style="dim") if told else warning("  names nothing that it rests on")
    return [
        Text.assemble((f"{number}. ", "cyan"), (one_line(one.summary, _LONGEST), "bold")),
        *([indented(one.text)] if one.text else []),
        rests,
    ]


def _unwritten(one: Community) -> RenderableType:
    if one.written == "small":
        return Text("Too small to be written about.")
    return next_step("trueweave communities build", "nothing is written about it yet")


def change_lines(
    added: Sequence[Community], changed: Sequence[Community], removed: Sequence[RetiredCommunity], limit: int
) -> list[RenderableType]:
    """Communities that were added, changed and removed, so many of each at most."""
    text: list[RenderableType] = []
    for what, some in (("Added", added), ("Changed", changed)):
        if some:
            text += [heading(what, min(limit, len(some)), len(some))]
            text += [community_table(some[:limit], with_level=True), ""]
    if removed:
        text += [heading("Removed", min(limit, len(removed)), len(removed)), _former(removed[:limit]), ""]
    return text


def _former(found: Sequence[RetiredCommunity]) -> TextTable:
    rows = ((short_id(one.id), f"{one.level}", f"{one.size:,}", local_time(one.removed), one.title) for one in found)
    return table("id", ">level", ">entities", "removed", "title", rows=rows)


def no_communities(found: Hierarchy | None) -> list[RenderableType]:
    """What to say where there are no communities: they were not looked for, or there are none."""
    if found is None:
        return ["There are no communities yet.", next_step("trueweave communities build", "finds them")]
    advice = behind_lines(found) or [next_step("trueweave add PATH", "adds documents")]
    return ["There are no communities: no two entities are related.", *advice]


def behind_lines(found: Hierarchy) -> list[RenderableType]:
    """A line that says that the graph has changed since communities were found."""
    if not found.behind:
        return []
    return [warning("The graph has changed since they were found."), next_step("trueweave communities build")]
