"""`weft status`, `entities`, `verify` and `sweep`: looking at the index, and keeping it in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from difflib import SequenceMatcher
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from weft.cli.options import DatabaseUrl, Json, Workspace
from weft.cli.output import count, next_step, pairs, progress, replying, table
from weft.cli.session import in_workspace, place
from weft.config import Settings
from weft.engine import AsyncWeft
from weft.types import Difference, Entity, Status, Verdict

Limit = Annotated[int, typer.Option(min=1, help="How many to show.")]


def status(workspace: Workspace = None, database_url: DatabaseUrl = None, json: Json = False) -> None:
    """Show how large the index is, and what still waits."""
    with replying(json) as reply:
        settings = Settings.load(database_url=database_url, workspace=workspace)
        found = in_workspace(AsyncWeft.status, settings)
        where = {"workspace": settings.workspace, "database": place(settings)}
        reply({**where, **asdict(found)}, _sizes(where, found), *_advice(found))


def entities(
    limit: Limit = 20, workspace: Workspace = None, database_url: DatabaseUrl = None, json: Json = False
) -> None:
    """Show the entities that documents mention most."""
    with replying(json) as reply:
        settings = Settings.load(database_url=database_url, workspace=workspace)
        found = in_workspace(lambda weft: weft.entities(limit), settings)
        reply({"entities": found}, _entities(found) if found else next_step("weft add FILE", "there are none yet"))


def verify(workspace: Workspace = None, database_url: DatabaseUrl = None, json: Json = False) -> None:
    """Build the index anew beside this one, and compare.

    Exits with 0 when they are equal to the last byte, and with 1 when they differ. No model is asked.
    """
    with replying(json) as reply:
        settings = Settings.load(database_url=database_url, workspace=workspace)

        async def rebuild(weft: AsyncWeft) -> tuple[Verdict, int]:
            documents = (await weft.status()).documents
            with progress("Rebuilding", documents) as done:
                return await weft.verify(done), documents

        verdict, documents = in_workspace(rebuild, settings)
        answer = {"exact": verdict.exact, **asdict(verdict)}
        if verdict.exact:
            said = f"Exact: the index is what its {count(documents, 'document')} say."
            reply(answer, said, f"Digest {verdict.digest}")
            return
        reply(
            answer,
            _differences(verdict.differences),
            "The index is not what its documents say, as these first differences show.",
            "Its tables were changed by hand, or this is a bug in Weft: please report it.",
            next_step("weft init --workspace NEW", "then add the documents there"),
        )
        raise typer.Exit(1)


def sweep(workspace: Workspace = None, database_url: DatabaseUrl = None, json: Json = False) -> None:
    """Forget names that no document mentions any more.

    Writers wait meanwhile, so it is best done when little else runs.
    """
    with replying(json) as reply:
        settings = Settings.load(database_url=database_url, workspace=workspace)
        swept = in_workspace(AsyncWeft.sweep, settings)
        reply({"swept": swept}, f"{count(swept, 'name')} forgotten.")


def _sizes(where: Mapping[str, str], found: Status) -> Table:
    waiting = ((found.waiting_documents, "document"), (found.waiting_names, "name"))
    return pairs(
        {
            **where,
            "documents": f"{found.documents:,}",
            "chunks": f"{found.chunks:,}",
            "entities": f"{found.entities:,}",
            "relations": f"{found.relations:,}",
            "vectors": found.embedding_model or "none",
            "waiting": ", ".join(count(number, what) for number, what in waiting if number) or "nothing",
        }
    )


def _advice(found: Status) -> list[Text]:
    if found.waiting_documents or found.waiting_names:
        return [next_step("run the interrupted command again", "it takes in what waits, too")]
    return [] if found.documents else [next_step("weft add FILE", "there is nothing here yet")]


def _entities(found: list[Entity]) -> Table:
    made = table("name", "type", ">mentions", ">relations", "also written", "description")
    made.columns[-1].no_wrap = True  # what does not fit is left to --json
    for entity in found:
        also = ", ".join(alias for alias in entity.aliases if alias != entity.name)
        described = "; ".join(entity.description.splitlines())
        made.add_row(entity.name, entity.type, f"{entity.count:,}", f"{entity.degree:,}", also, described)
    return made


def _differences(found: tuple[Difference, ...]) -> Table:
    made = Table(show_lines=True)
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
