"""`trueweave status`: the size of the index, the queue, failures and spending."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from trueweave.cli.render.lines import count, indented, next_step, warning
from trueweave.cli.render.money import budget_rows
from trueweave.cli.render.tables import pairs
from trueweave.cli.session import CommandSession, place, workspace_command

if TYPE_CHECKING:
    from trueweave.core.jobs import FailedDocument, FailedWork, IngestProgress, OutOfDate, Status, WorkKind
    from trueweave.core.money import Budget
    from trueweave.core.projections import ProjectionStatus
    from trueweave.core.settings import Settings
    from trueweave.engine.trueweave import AsyncTrueweave


@workspace_command
def status(
    session: CommandSession,
    failed: Annotated[bool, typer.Option("--failed", help="List failed documents and jobs.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="How many of them to list.")] = 1000,
) -> None:
    """Show the size of the index, the queue, failures and spending."""
    session = session.with_workspace_settings()
    found = session(lambda trueweave: look(trueweave, limit))
    where = {"workspace": session.settings.workspace, "database": place(session.settings)}
    shown = (
        _failed_lines(found)
        if failed
        else [pairs({**where, **_size_rows(found), **_budget_if_used(found.budget, session.settings.currency)})]
    )
    answer = {
        **where,
        **asdict(found.index),
        "waiting_to_be_processed": found.work.waiting,
        "waiting_to_be_summarised": found.work.descriptions,
        "failed_documents": found.aside,
        "out_of_date": found.outdated,
        "failed_work": found.failed,
        "budget": asdict(found.budget),
        "projections": found.projections,
    }
    session.reply(answer, *shown, *([] if failed else _status_advice(found, session.settings)))


async def look(trueweave: AsyncTrueweave, limit: int) -> WorkspaceState:
    """The state of a workspace, with up to `limit` failed documents and jobs."""
    work = await trueweave.maintenance.ingest_progress()
    aside = await trueweave.maintenance.failed_documents(limit) if work.failed else []
    failed, outdated = await trueweave.maintenance.failed_work(limit), await trueweave.maintenance.out_of_date()
    projections = await trueweave.projections.status()
    budget = await trueweave.budget.get()
    return WorkspaceState(await trueweave.status(), work, budget, aside, outdated, failed, projections)


_KINDS: dict[WorkKind, str] = {
    "settle": "indexing",
    "names": "resolving names again",
    "link": "finding names in texts",
    "summary": "summary",
    "report": "report",
}


@dataclass(frozen=True)
class WorkspaceState:
    """All that `trueweave status` shows."""

    index: Status
    work: IngestProgress
    budget: Budget
    aside: list[FailedDocument]
    outdated: list[OutOfDate]
    failed: list[FailedWork]
    projections: list[ProjectionStatus]


def _size_rows(found: WorkspaceState) -> dict[str, str]:
    """How much there is in the index, how much waits, and how much failed."""
    index, work = found.index, found.work
    waiting = (
        (work.waiting, "document", " to process"),
        (index.waiting_documents, "document", " to index"),
        (index.waiting_names, "name", " to index"),
        (work.descriptions, "description", " to summarise"),
    )
    return {
        "documents": f"{index.documents:,}",
        **({"switched off": count(index.off, "document")} if index.off else {}),
        "chunks": f"{index.chunks:,}",
        "entities": f"{index.entities:,}",
        "relations": f"{index.relations:,}",
        "vectors": _vectors(index),
        "waiting": ", ".join(count(number, what) + end for number, what, end in waiting if number) or "nothing",
        **({"failed": count(work.failed, "document")} if work.failed else {}),
        **({"out of date": ", ".join(map(_why, found.outdated))} if found.outdated else {}),
        **({"failed": f"{count(len(found.failed), 'job')}, by a bug of Trueweave"} if found.failed else {}),
        **{f"copy in {one.store}": projection_state(one) for one in found.projections},
    }


def _vectors(index: Status) -> str:
    """The embedding model, and whether entities and relations have vectors."""
    if not index.embedding_model:
        return "none"
    without = {"kept": "", "none": ", of chunks only", "making": ", of entities and relations not all yet"}
    return f"{index.embedding_model}{without[index.graph_vectors]}"


def _why(one: OutOfDate) -> str:
    """How many documents are out of date, and what has changed since they were processed."""
    since = f"other settings ({', '.join(one.settings)})" if one.settings else "an earlier extractor or prompt"
    return f"{count(one.documents, 'document')} processed with {since}"


def _budget_if_used(found: Budget, currency: str) -> dict[str, str]:
    """Nothing, where no model was ever paid or capped."""
    is_used = found.tokens or found.held_tokens or found.price_cap is not None or found.token_cap is not None
    return budget_rows(found, currency) if is_used else {}


def _status_advice(found: WorkspaceState, settings: Settings) -> list[Text]:
    """What to do now: the most urgent first."""
    advice = []
    if settings.embedding_model and not _is_of(found.index.embedding_model, settings):
        why = f"the settings name that model, and vectors are by {found.index.embedding_model}"
        advice.append(next_step(f"trueweave reembed {settings.embedding_model}", why))
    if found.work.failed:
        advice.append(next_step("trueweave status --failed", "shows why documents failed"))
    elif found.failed:
        advice.append(next_step("trueweave status --failed", "shows what failed, and why"))
    if found.work.waiting or found.index.waiting_documents or found.index.waiting_names:
        advice.append(next_step("trueweave worker", "processes the queue; so does `trueweave add`"))
    if found.outdated:
        is_refreshed = any(not one.settings for one in found.outdated)
        command = "trueweave add --refresh PATH" if is_refreshed else "trueweave add PATH"
        advice.append(next_step(command, "processes documents again that are out of date"))
    if found.index.graph_vectors == "making":
        advice.append(next_step("trueweave vectors make", "makes the missing vectors of entities and relations"))
    if not advice and not found.index.documents:
        advice.append(next_step("trueweave add PATH", "there is nothing here yet"))
    return advice


def _is_of(space: str, settings: Settings) -> bool:
    """Whether vectors of the model that is set go into a space, as far as names tell. Where there are no vectors yet,
    those of any model do. Models on this machine have a fingerprint behind their name."""
    model = settings.embedding_model or ""
    if model.startswith("demo/"):  # it has the space of the model that its vectors are from
        model = f"local/{model.removeprefix('demo/')}"
    if not space or model.startswith("local/"):
        return not space or space.rpartition("@")[0] == model
    if model.startswith("onnx/"):
        folder = model.removeprefix("onnx/").removesuffix("/model.onnx").rpartition("/")[2]
        return space.rpartition("@")[0] == f"onnx/{folder}"
    return space.partition(" with prefixes ")[0] == model


def _failed_lines(found: WorkspaceState) -> list[RenderableType]:
    """Failed documents, and jobs that failed by a bug."""
    if not found.aside and not found.failed:
        return ["No document and no job failed."]
    more = found.work.failed - len(found.aside)
    return [
        *(part for one in found.aside for part in (Text(one.uri, style="bold"), indented(one.error))),
        *([warning(f"… and {more:,} more: --limit {found.work.failed} shows them all.")] if more > 0 else []),
        *(part for work in found.failed for part in (_named(work), indented(work.error))),
        next_step("trueweave retry", "tries them again, once that is fixed; or trueweave remove URI"),
    ]


def _named(work: FailedWork) -> Text:
    """A failed job in words: its kind, what it was about, and when it failed."""
    about = f" of {work.about}" if work.about else ""
    times = f", {count(work.count, 'time')}" if work.count > 1 else ""
    return Text(f"{_KINDS[work.kind]}{about} ({work.failed:%Y-%m-%d %H:%M}{times})", style="bold")


def projection_state(one: ProjectionStatus) -> str:
    """How far a copy is, in a few words."""
    parts = []
    if one.building:
        parts.append("being built")
    if one.live:
        parts.append(f"{count(one.behind, 'change')} behind{_for(one)}" if one.behind else "up to date")
    elif not one.building:
        parts.append("not begun")
    if one.problem:
        parts.append(f"stopped: {one.problem}")
    elif (one.behind or one.building or not one.live) and not one.running:
        parts.append("no projector runs")
    return ", ".join(parts)


def _for(one: ProjectionStatus) -> str:
    """Since when the oldest change waits."""
    if one.oldest is None:
        return ""
    seconds = (datetime.now(UTC) - one.oldest).total_seconds()
    return f" (for {seconds:,.0f} s)"
