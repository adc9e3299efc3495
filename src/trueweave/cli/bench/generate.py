"""`trueweave bench generate`: questions from the documents of a workspace."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType

from trueweave.cli.render.lines import count, indented, next_step, path_from_here, warning
from trueweave.cli.session import CommandSession, workspace_command
from trueweave.core.errors import ConfigError

if TYPE_CHECKING:
    from trueweave.bench.generating import Generated
    from trueweave.engine.trueweave import AsyncTrueweave

Number = Annotated[int, typer.Option(min=1, max=10_000, metavar="N", help="How many questions.")]
Out = Annotated[Path, typer.Option(metavar="FILE", help="The file to write. An existing one is not overwritten.")]
Seed = Annotated[int, typer.Option(help="Another seed gives other questions; the same one gives the same.")]
PerDocument = Annotated[int, typer.Option(min=1, metavar="N", help="The most questions that rest on one document.")]

_SHOWN = 3  # questions of each kind


@workspace_command
def generate(
    session: CommandSession,
    number: Number = 50,
    out: Out = Path("questions.jsonl"),
    seed: Seed = 0,
    per_document: PerDocument = 3,
) -> None:
    """Generate questions from the documents of the workspace.

    Half of the questions need two documents that mention the same entity: the question describes the entity by what one
    document says about it, and asks for what the other says. The others need one document. Each question has its
    answer and the sentences that support it. No model is called: the questions are made by rules, from English
    sentences, with their words.
    """
    from trueweave.bench import generating
    from trueweave.cli.render.progress_bar import progress

    if out.exists():
        raise ConfigError(f"{out} already exists. Remove it, or give --out another file.")

    async def make(trueweave: AsyncTrueweave) -> Generated:
        with progress("Generating", number) as done:
            return await generating.generate(trueweave, number, seed=seed, per_document=per_document, progress=done)

    made = session(make)
    if not made.drafts:
        raise ConfigError(
            "no question could be generated: no sentence of the documents begins or ends with a name that was found in "
            "it. `trueweave status` shows how many documents and entities there are."
        )
    generating.write(out, made.drafts)
    session.reply(_answer(made, out), *_lines(made, out))


def _answer(made: Generated, out: Path) -> dict[str, object]:
    from trueweave.bench.drafts import ONE, TWO

    kinds = {kind: made.of(kind) for kind in (TWO, ONE)}
    return {"file": str(out), "questions": len(made.drafts), "kinds": kinds, "documents": made.documents}


def _lines(made: Generated, out: Path) -> list[RenderableType]:
    from trueweave.bench.drafts import ONE, TWO

    lines: list[RenderableType] = []
    for kind in (TWO, ONE):
        drafts = [one for one in made.drafts if one.kind == kind]
        lines.append(f"{count(len(drafts), 'question')} that {'needs' if len(drafts) == 1 else 'need'} {kind}")
        lines += [indented(f"{one.question} ({one.answer})") for one in drafts[:_SHOWN]]
    if len(made.drafts) < made.number:
        lines.append(
            warning(
                f"Only {count(len(made.drafts), 'question')} could be made from {count(made.documents, 'document')} "
                f"with at most {made.per_document} for each; --per-document allows more."
            )
        )
    file = path_from_here(out.absolute())
    return [*lines, f"Wrote {file}", next_step(f"trueweave bench {file}", "measures methods on them; read them first")]
