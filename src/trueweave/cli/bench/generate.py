"""`trueweave bench generate`: questions from the documents of a workspace."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType

from trueweave.cli.options import Budget, Yes
from trueweave.cli.pricing import confirmed, is_paid, read_budget
from trueweave.cli.render.console import say
from trueweave.cli.render.lines import count, indented, next_step, path_from_here, warning
from trueweave.cli.render.money import receipt_table
from trueweave.cli.session import CommandSession, workspace_command
from trueweave.cli.stopping import PaidRun, end_if_stopped
from trueweave.core.errors import ConfigError

if TYPE_CHECKING:
    from trueweave.bench.generating import Generated
    from trueweave.core.settings import Settings
    from trueweave.engine.trueweave import AsyncTrueweave

Number = Annotated[int, typer.Option(min=1, max=10_000, metavar="N", help="How many questions.")]
Out = Annotated[Path, typer.Option(metavar="FILE", help="The file to write. An existing one is not overwritten.")]
Seed = Annotated[int, typer.Option(help="Another seed gives other questions; the same one gives the same.")]
PerDocument = Annotated[int, typer.Option(min=1, metavar="N", help="The most questions that rest on one document.")]
WithModel = Annotated[
    bool, typer.Option("--with-model", help="Have the language model for extraction write the questions.")
]

_SHOWN = 3  # questions of each kind, and reasons


@workspace_command
def generate(
    session: CommandSession,
    number: Number = 50,
    out: Out = Path("questions.jsonl"),
    with_model: WithModel = False,
    seed: Seed = 0,
    per_document: PerDocument = 3,
    budget: Budget = None,
    yes: Yes = False,
) -> None:
    """Generate questions from the documents of the workspace.

    Half of the questions need two documents that mention the same entity: the question describes the entity by what one
    document says about it, and asks for what the other says. The others need one document. Each question has its
    answer and the sentences that support it.

    By default no model is called: the questions are made by rules, from English sentences, with their words. A model
    writes them in words of its own, in the language of the documents; a question whose quotes do not stand word for
    word in the documents is dropped.
    """
    from trueweave.bench import generating

    session = session.with_workspace_settings()
    if out.exists():
        raise ConfigError(f"{out} already exists. Remove it, or give --out another file.")
    model = session.settings.model_for("extract") if with_model else None
    if with_model and not model:
        raise ConfigError(
            '--with-model needs a language model. Set one in trueweave.toml, as in model = "ollama/llama3.1:8b", or '
            "omit --with-model to have the questions made by rules."
        )
    run = _Run(session.settings, number, seed, per_document, model, budget)
    if not run.agreed(yes):
        raise typer.Exit(1)
    run.work(run.make)
    again = shlex.join(["trueweave", "bench", "generate", "--with-model", "--number", str(number), "--out", str(out)])
    receipt = [receipt_table(run.receipt, session.settings.currency)] if run.receipt else []
    end_if_stopped(session.reply, run, {"receipt": run.receipt}, receipt, again)
    made = run.made
    if made is None or not made.drafts:
        why = "; ".join(made.dropped) if made else ""
        raise ConfigError(
            f"no question could be generated{f': {why}' if why else ''}. Questions need sentences with names: "
            "`trueweave status` shows how many documents and entities there are."
        )
    generating.write(out, made.drafts)
    session.reply({**_answer(made, out), "receipt": run.receipt}, *_lines(made), *receipt, *_next(out))


class _Run(PaidRun):
    """One call of `trueweave bench generate`."""

    def __init__(
        self, settings: Settings, number: int, seed: int, per_document: int, model: str | None, budget: str | None
    ) -> None:
        super().__init__(settings, read_budget(budget, settings, [model] if model else []))
        self.number = number
        self.how = {"seed": seed, "per_document": per_document}
        self.model = model
        self.made: Generated | None = None

    def agreed(self, yes: bool) -> bool:
        """Show how often the model is called at most, if that costs money; returns whether to continue."""
        from trueweave.bench.generating import most_calls
        from trueweave.bench.writing import MOST_TOKENS
        from trueweave.core.money import money
        from trueweave.engine import model_settings

        if not self.model or not is_paid(self.settings, [self.model]):
            return True
        calls = most_calls(self.number)
        price = model_settings.price(self.settings, self.model)
        tokens = _TOKENS_A_CALL * calls, MOST_TOKENS * calls
        most = "an unknown price" if price is None else money(price.of(*tokens), self.settings.currency)
        say(
            f"At most {count(calls, 'call')} to {self.model}, of about {tokens[0]:,} tokens to it and at most "
            f"{tokens[1]:,} from it: {most} at most, less what is cached."
        )
        return confirmed(yes)

    async def make(self, trueweave: AsyncTrueweave) -> None:
        from trueweave.bench import generating
        from trueweave.bench.writing import QuestionWriter
        from trueweave.cli.render.progress_bar import progress

        with progress("Generating", self.number) as done, self.noting_errors():
            if self.model is None:
                self.made = await generating.generate(trueweave, self.number, **self.how, progress=done)
                return
            llm, prompts = await trueweave.model_and_prompts("extract")
            assert llm, "the settings name one"
            writer = QuestionWriter(llm, prompts)
            self.made = await generating.written(trueweave, writer, self.number, **self.how, progress=done)


_TOKENS_A_CALL = 1800  # two passages and the instructions


def _answer(made: Generated, out: Path) -> dict[str, object]:
    from trueweave.bench.drafts import ONE, TWO

    kinds = {kind: made.of(kind) for kind in (TWO, ONE)}
    counts = {"questions": len(made.drafts), "kinds": kinds, "documents": made.documents}
    return {"file": str(out), **counts, "dropped": dict(made.dropped)}


def _lines(made: Generated) -> list[RenderableType]:
    from trueweave.bench.drafts import ONE, TWO

    lines: list[RenderableType] = []
    for kind in (TWO, ONE):
        drafts = [one for one in made.drafts if one.kind == kind]
        lines.append(f"{count(len(drafts), 'question')} that {'needs' if len(drafts) == 1 else 'need'} {kind}")
        lines += [indented(f"{one.question} ({one.answer})") for one in drafts[:_SHOWN]]
    if len(made.drafts) < made.number:
        lines.append(
            warning(
                f"Only {count(len(made.drafts), 'question')} could be made, of {count(made.documents, 'document')}. "
                f"--per-document (now {made.per_document}) allows more for each."
            )
        )
    if made.dropped:
        most = made.dropped.most_common(_SHOWN)
        lines.append(f"Dropped: {'; '.join(f'{number:,} because {why}' for why, number in most)}.")
    return lines


def _next(out: Path) -> list[RenderableType]:
    file = path_from_here(out.absolute())
    return [f"Wrote {file}", next_step(f"trueweave bench {file}", "measures methods on them; read them first")]
