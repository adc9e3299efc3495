"""`trueweave verify`: compare the index with one that is built from scratch."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from trueweave.cli.render.lines import count, next_step
from trueweave.cli.render.verdict import difference_table, not_compared_lines
from trueweave.cli.session import Session, workspace_command

if TYPE_CHECKING:
    from trueweave.core.graph import Verdict
    from trueweave.engine.trueweave import AsyncTrueweave


@workspace_command
def verify(session: Session) -> None:
    """Rebuild the index beside this one, and compare the two.

    Nothing is changed, and no model is asked. Documents that wait to be settled are counted.

    Exits with 0 when they are equal to the last byte, and with 1 when they differ, or when documents changed meanwhile.
    """
    from trueweave.cli.render.progress_bar import progress

    async def rebuild(trueweave: AsyncTrueweave) -> tuple[Verdict, int]:
        documents = (await trueweave.status()).documents
        with progress("Rebuilding", documents) as done:
            return await trueweave.maintenance.verify(done), documents

    verdict, documents = session(rebuild)
    answer = {"exact": verdict.exact, **asdict(verdict)}
    if verdict.exact:
        said = f"Exact: the index is what its {count(documents, 'document')} say."
        session.reply(answer, said, *not_compared_lines(verdict), f"Digest {verdict.digest}")
        return
    if verdict.changed:
        session.reply(
            answer, "The index changed meanwhile, so the two cannot be compared.", next_step("trueweave verify")
        )
        raise typer.Exit(1)
    session.reply(
        answer,
        difference_table(verdict.differences),
        *not_compared_lines(verdict),
        "The index is not what its documents say, as these first differences show.",
        "Its tables were changed by hand, or this is a bug in Trueweave: please report it.",
        next_step("trueweave init --workspace NEW", "then add the documents there"),
    )
    raise typer.Exit(1)
