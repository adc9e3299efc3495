"""`trueweave verify`: compare the index with one built from scratch."""

from __future__ import annotations

from dataclasses import asdict
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

import typer
from rich.console import RenderableType
from rich.table import Table as BoxedTable
from rich.text import Text

from trueweave.cli.render.lines import count, next_step
from trueweave.cli.session import CommandSession, workspace_command

if TYPE_CHECKING:
    from trueweave.core.graph import Difference, Verdict
    from trueweave.engine.trueweave import AsyncTrueweave


@workspace_command
def verify(session: CommandSession) -> None:
    """Rebuild the index beside this one, and compare the two.

    Nothing is changed, and no model is called. Documents that are not indexed yet are counted.

    Exits with 0 when the two are identical to the last byte, and with 1 when they differ, or when documents changed
    during the comparison.
    """
    from trueweave.cli.render.progress_bar import progress

    async def rebuild(trueweave: AsyncTrueweave) -> tuple[Verdict, int]:
        documents = (await trueweave.status()).documents
        with progress("Rebuilding", documents) as done:
            return await trueweave.maintenance.verify(done), documents

    verdict, documents = session(rebuild)
    answer = {"exact": verdict.exact, **asdict(verdict)}
    if verdict.exact:
        said = f"Exact: the index matches its {count(documents, 'document')}."
        session.reply(answer, said, *_not_compared_lines(verdict), f"Digest {verdict.digest}")
        return
    if verdict.changed:
        session.reply(
            answer,
            "The index changed during the comparison, so the two cannot be compared.",
            next_step("trueweave verify"),
        )
        raise typer.Exit(1)
    session.reply(
        answer,
        _difference_table(verdict.differences),
        *_not_compared_lines(verdict),
        "The index does not match its documents: these are the first differences.",
        "Its tables were edited by hand, or this is a bug in Trueweave: please report it.",
        next_step("trueweave init --workspace NEW", "then add the documents there"),
    )
    raise typer.Exit(1)


def _not_compared_lines(verdict: Verdict) -> list[RenderableType]:
    """What is not in the view yet, and what could not be compared for that."""
    waiting = (
        (verdict.waiting_documents, "document"),
        (verdict.waiting_names, "name"),
        (verdict.waiting_texts, "text"),
    )
    said = ", ".join(count(number, what) for number, what in waiting if number)
    parts: list[RenderableType] = [f"Not compared, because they are not indexed yet: {said}."] if said else []
    if verdict.left_out:
        parts.append(f"Left out, as the index is behind its documents there: {', '.join(verdict.left_out)}.")
    if said:
        parts.append(next_step("trueweave worker", "indexes what is waiting"))
    elif verdict.left_out:
        parts.append(next_step("trueweave communities build --no-reports", "finds the communities of today"))
    return parts


def _difference_table(found: tuple[Difference, ...]) -> BoxedTable:
    """Differences between the index and one that was rebuilt, with what differs marked."""
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
