"""`trueweave status`, `documents`, `entities`, `remove`, `verify`, `sweep`: looking at the index and keeping it so."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType
from rich.table import Table as BoxedTable
from rich.text import Text

from trueweave.cli.dates import written
from trueweave.cli.money import purse
from trueweave.cli.options import DatabaseUrl, Json, Limit, Workspace, Yes
from trueweave.cli.output import count, indented, marked, next_step, pairs, progress, replying, say, table
from trueweave.cli.run_summary import some
from trueweave.cli.session import in_force, in_workspace, load_settings, place
from trueweave.cli.tables import Table

if TYPE_CHECKING:
    from trueweave.config import Settings
    from trueweave.engine import AsyncTrueweave
    from trueweave.store.postgres.ingest_progress import IngestProgress
    from trueweave.types import (
        Budget,
        Difference,
        DocumentInfo,
        Entity,
        FailedDocument,
        FailedWork,
        OutOfDate,
        Status,
        Verdict,
        WorkKind,
    )

Uris = Annotated[
    list[str],
    typer.Argument(metavar="PATH", help='Files, folders, patterns in quotes ("notes/**/*.md"), or uris of documents.'),
]

_KINDS: dict[WorkKind, str] = {
    "settle": "settling",
    "names": "resolving names again",
    "link": "finding names in texts",
    "summary": "summary",
    "report": "report",
}


def status(
    failed: Annotated[bool, typer.Option("--failed", help="List failed documents and jobs.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="How many of those to list.")] = 1000,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Show the size of the index, what waits, failed and was spent."""
    with replying(json) as reply:
        settings = in_force(load_settings(database_url, workspace))
        found = in_workspace(lambda trueweave: _look(trueweave, limit), settings)
        where = {"workspace": settings.workspace, "database": place(settings)}
        shown = (
            _failed(found) if failed else [pairs({**where, **_sizes(found), **_money(found.budget, settings.currency)})]
        )
        answer = {
            **where,
            **asdict(found.index),
            "waiting_to_be_worked": found.work.waiting,
            "waiting_to_be_summed_up": found.work.descriptions,
            "failed_documents": found.aside,
            "out_of_date": found.outdated,
            "failed_work": found.failed,
            "budget": asdict(found.budget),
        }
        reply(answer, *shown, *([] if failed else _advice(found, settings)))


@dataclass(frozen=True)
class _Found:
    """All that `trueweave status` shows."""

    index: Status
    work: IngestProgress
    budget: Budget
    aside: list[FailedDocument]
    outdated: list[OutOfDate]
    failed: list[FailedWork]


async def _look(trueweave: AsyncTrueweave, limit: int) -> _Found:
    work = await trueweave.ingest_progress()
    aside = await trueweave.failed_documents(limit) if work.failed else []
    failed, outdated = await trueweave.failed_work(limit), await trueweave.out_of_date()
    return _Found(await trueweave.status(), work, await trueweave.budget(), aside, outdated, failed)


def remove(
    paths: Uris,
    yes: Yes = False,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Remove documents, and all that only they said.

    A folder or pattern stands for all documents whose files are or were there, and a .jsonl or .csv file for its rows.
    Documents that wait or failed are removed, too. Exits with 1 when something is not found; the rest is
    removed all the same.
    """
    with replying(json) as reply:
        settings = load_settings(database_url, workspace)
        found = in_workspace(lambda trueweave: trueweave.matching(*paths), settings)
        uris = sorted({uri for each in found.values() for uri in each})
        if len(uris) > len(found) and not yes and sys.stdin.isatty():
            say(*some(uris, "document", "to be removed", "all that the given paths stand for"))
            typer.confirm(f"Remove {count(len(uris), 'document')}?", abort=True, err=True)
        removed = in_workspace(lambda trueweave: trueweave.remove(uris), settings) if uris else 0
        missing = [given for given, each in found.items() if not each]
        answer, said = {"removed": removed, "missing": missing}, f"{count(removed, 'document')} removed."
        if missing:
            reply.fail(f"not found in workspace {settings.workspace}: {', '.join(missing)}", answer, said)
            raise typer.Exit(1)
        reply(answer, said)


def documents(
    notes: Annotated[bool, typer.Option("--notes", help="Only those with a note, with what was noted.")] = False,
    limit: Limit = 50,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """List the documents that are there, by name."""

    async def look(trueweave: AsyncTrueweave) -> tuple[list[DocumentInfo], int]:
        return await trueweave.list_documents(limit, noted=notes), (await trueweave.status()).documents

    with replying(json) as reply:
        found, there = in_workspace(look, load_settings(database_url, workspace))
        reply({"documents": found, "number": there}, *_documents(found, there, limit, with_notes=notes))


def entities(
    limit: Limit = 20, workspace: Workspace = None, database_url: DatabaseUrl = None, json: Json = False
) -> None:
    """Show the entities that documents mention most."""
    with replying(json) as reply:
        settings = load_settings(database_url, workspace)
        found = in_workspace(lambda trueweave: trueweave.entities(limit), settings)
        reply({"entities": found}, _entities(found) if found else next_step("trueweave add PATH", "there are none yet"))


def verify(workspace: Workspace = None, database_url: DatabaseUrl = None, json: Json = False) -> None:
    """Build the index anew beside this one, and compare.

    Nothing is changed, and no model is asked. What waits to be settled is counted.

    Exits with 0 when they are equal to the last byte, and with 1 when they differ, or when documents changed meanwhile.
    """
    with replying(json) as reply:
        settings = load_settings(database_url, workspace)

        async def rebuild(trueweave: AsyncTrueweave) -> tuple[Verdict, int]:
            documents = (await trueweave.status()).documents
            with progress("Rebuilding", documents) as done:
                return await trueweave.verify(done), documents

        verdict, documents = in_workspace(rebuild, settings)
        answer = {"exact": verdict.exact, **asdict(verdict)}
        if verdict.exact:
            said = f"Exact: the index is what its {count(documents, 'document')} say."
            reply(answer, said, *_not_compared(verdict), f"Digest {verdict.digest}")
            return
        if verdict.changed:
            reply(answer, "The index changed meanwhile, so the two cannot be compared.", next_step("trueweave verify"))
            raise typer.Exit(1)
        reply(
            answer,
            _differences(verdict.differences),
            *_not_compared(verdict),
            "The index is not what its documents say, as these first differences show.",
            "Its tables were changed by hand, or this is a bug in Trueweave: please report it.",
            next_step("trueweave init --workspace NEW", "then add the documents there"),
        )
        raise typer.Exit(1)


def _not_compared(verdict: Verdict) -> list[RenderableType]:
    """What is not in the view yet, and what could not be compared for that."""
    waiting = (
        (verdict.waiting_documents, "document"),
        (verdict.waiting_names, "name"),
        (verdict.waiting_texts, "text"),
    )
    said = ", ".join(count(number, what) for number, what in waiting if number)
    parts: list[RenderableType] = [f"Not compared, as they wait to be settled: {said}."] if said else []
    if verdict.left_out:
        parts.append(f"Left out, as the index is behind its documents there: {', '.join(verdict.left_out)}.")
    if said:
        parts.append(next_step("trueweave worker", "settles what waits"))
    elif verdict.left_out:
        parts.append(next_step("trueweave communities build --no-reports", "finds the communities of today"))
    return parts


def sweep(workspace: Workspace = None, database_url: DatabaseUrl = None, json: Json = False) -> None:
    """Take away what nobody needs any longer.

    These are names that no document mentions, replies and lists that were kept for as long as the settings say, and
    what removed documents and killed processes left. `trueweave worker` does that by itself, but for the names: writers
    wait for those, so it is best done when little else runs.
    """
    with replying(json) as reply:
        settings = load_settings(database_url, workspace)
        swept = in_workspace(lambda trueweave: trueweave.sweep(), settings)
        kinds = (
            (swept.names, "name", "forgotten"),
            (swept.replies, "reply", "kept no longer"),
            (swept.changes, "change", "kept no longer"),
            (swept.calls, "call", "summed up by day"),
            (swept.documents, "removed document", "erased"),
            (swept.spaces, "former embedding space", "cleared"),
            (swept.workspaces, "workspace", "dropped that a killed process left"),
        )
        said = [f"{count(number, what)} {how}." for number, what, how in kinds if number]
        reply(asdict(swept), *(said or ["There was nothing to take away."]))


def _sizes(found: _Found) -> dict[str, str]:
    index, work = found.index, found.work
    waiting = (
        (work.waiting, "document", " to be worked"),
        (index.waiting_documents, "document", " to be settled"),
        (index.waiting_names, "name", " to be settled"),
        (work.descriptions, "description", " to be summed up"),
    )
    return {
        "documents": f"{index.documents:,}",
        "chunks": f"{index.chunks:,}",
        "entities": f"{index.entities:,}",
        "relations": f"{index.relations:,}",
        "vectors": index.embedding_model or "none",
        "waiting": ", ".join(count(number, what) + end for number, what, end in waiting if number) or "nothing",
        **({"failed": count(work.failed, "document")} if work.failed else {}),
        **({"out of date": ", ".join(map(_why, found.outdated))} if found.outdated else {}),
        **({"failed": f"{count(len(found.failed), 'job')}, by a bug of Trueweave"} if found.failed else {}),
    }


def _why(one: OutOfDate) -> str:
    """How many documents would be worked otherwise now, and what has changed since."""
    since = f"other settings ({', '.join(one.settings)})" if one.settings else "an earlier extractor or prompt"
    return f"{count(one.documents, 'document')} worked by {since}"


def _money(found: Budget, currency: str) -> dict[str, str]:
    """Nothing, where no model was ever paid or capped."""
    is_used = found.tokens or found.held_tokens or found.price_cap is not None or found.token_cap is not None
    return purse(found, currency) if is_used else {}


def _advice(found: _Found, settings: Settings) -> list[Text]:
    """What to do now: the most urgent first."""
    advice = []
    if settings.embedding_model and not _is_of(found.index.embedding_model, settings.embedding_model):
        why = f"the settings name that model, and vectors are by {found.index.embedding_model}"
        advice.append(next_step(f"trueweave reembed {settings.embedding_model}", why))
    if found.work.failed:
        advice.append(next_step("trueweave status --failed", "shows why documents failed"))
    elif found.failed:
        advice.append(next_step("trueweave status --failed", "shows what failed, and why"))
    if found.work.waiting or found.index.waiting_documents or found.index.waiting_names:
        advice.append(next_step("trueweave worker", "works what waits; so does `trueweave add`"))
    if found.outdated:
        is_refreshed = any(not one.settings for one in found.outdated)
        command = "trueweave add --refresh PATH" if is_refreshed else "trueweave add PATH"
        advice.append(next_step(command, "works documents again that are out of date"))
    if not advice and not found.index.documents:
        advice.append(next_step("trueweave add PATH", "there is nothing here yet"))
    return advice


def _is_of(space: str, model: str) -> bool:
    """Whether a model's vectors go into a space, as far as names tell; none are there yet, and any model's do."""
    folder = model.removeprefix("onnx/").removesuffix("/model.onnx").rpartition("/")[2]
    return not space or space == model or (model.startswith("onnx/") and space.startswith(f"onnx/{folder}@"))


def _failed(found: _Found) -> list[RenderableType]:
    """Failed documents, and jobs that failed by a bug."""
    if not found.aside and not found.failed:
        return ["No document and no job failed."]
    more = found.work.failed - len(found.aside)
    return [
        *(part for one in found.aside for part in (Text(one.uri, style="bold"), indented(one.error))),
        *([marked(f"… and {more:,} more: --limit {found.work.failed} shows them all.")] if more > 0 else []),
        *(part for work in found.failed for part in (_named(work), indented(work.error))),
        next_step("trueweave retry", "tries them again, once that is fixed; or trueweave remove URI"),
    ]


def _documents(found: list[DocumentInfo], there: int, limit: int, *, with_notes: bool) -> list[RenderableType]:
    if not there:
        return [next_step("trueweave add PATH", "there are none yet")]
    if not found:
        return ["No document has a note."]
    more = [marked(f"There are more: --limit {2 * limit} shows more of them.")] if len(found) == limit < there else []
    if with_notes:
        named = (part for one in found for part in (Text(one.uri, style="bold"), *map(indented, one.notes)))
        return [*named, *more]
    made = table("document", "~title", ">chunks", "added")
    for one in found:
        made.add_row(one.uri, one.title, f"{one.chunks:,}", written(one.added))
    return [made, *more]


def _named(work: FailedWork) -> Text:
    """A job as a person knows it: what it was to do, about what, and when it failed."""
    about = f" of {work.about}" if work.about else ""
    times = f", {count(work.times, 'time')}" if work.times > 1 else ""
    return Text(f"{_KINDS[work.kind]}{about} ({work.failed:%Y-%m-%d %H:%M}{times})", style="bold")


def retry(workspace: Workspace = None, database_url: DatabaseUrl = None, json: Json = False) -> None:
    """Try failed documents and jobs again."""
    with replying(json) as reply:
        settings = load_settings(database_url, workspace)

        async def try_again(trueweave: AsyncTrueweave) -> tuple[int, _Found]:
            return await trueweave.retry(), await _look(trueweave, 1000)

        tried, left = in_workspace(try_again, settings)
        failed = len(left.aside) + len(left.failed)
        reply(
            {"tried": tried, "failed": failed},
            f"{tried:,} tried again, {failed:,} failed.",
            *([next_step("trueweave status --failed", "shows why")] if failed else []),
        )


def _entities(found: list[Entity]) -> Table:
    made = table("name", "type", ">mentions", ">relations", "~also written", "~description")
    for entity in found:
        also = ", ".join(alias for alias in entity.aliases if alias != entity.name)
        described = "; ".join(entity.description.splitlines())
        made.add_row(entity.name, entity.type, f"{entity.count:,}", f"{entity.degree:,}", also, described)
    return made


def _differences(found: tuple[Difference, ...]) -> BoxedTable:
    made = BoxedTable(show_lines=True)
    for heading in ("section", "key", "in the index", "rebuilt"):
        made.add_column(heading, overflow="fold")
    for one in found:
        made.add_row(one.section, one.key, _marked(one.index, one.rebuilt), _marked(one.rebuilt, one.index))
    return made


def _marked(line: str | None, other: str | None) -> Text:
    """A line in which the words that the other one does not have stand out."""
    if line is None:
        return Text("nothing", style="dim")
    words, others = line.split(" "), (other or "").split(" ")
    runs = SequenceMatcher(None, words, others, autojunk=False).get_opcodes()
    styled = ((words[start:end], "" if tag == "equal" else "bold red") for tag, start, end, *_ in runs)
    return Text(" ").join(Text(" ".join(run), style) for run, style in styled if run)
