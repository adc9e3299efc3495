"""`trueweave ask`: answer a question while the answer is written, and check every sentence of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trueweave.cli.model_files import fetch_model_for_questions
from trueweave.cli.options import DatabaseUrl, Json, Model, Workspace
from trueweave.cli.questions import (
    Documents,
    Question,
    QuestionNotes,
    ShowEvidence,
    Where,
    read_filter,
    read_history,
    read_parameters,
    read_question,
    write_history,
)
from trueweave.cli.render.answers import answer_advice, answer_notes, cost_line, no_answer_lines
from trueweave.cli.render.console import out, spinner
from trueweave.cli.render.evidence import evidence_lines
from trueweave.cli.render.writer import Writer
from trueweave.cli.reply import INTERRUPTED, CommandReply, replying
from trueweave.cli.session import in_force, in_workspace, load_settings
from trueweave.core.json_forms import answer_json

if TYPE_CHECKING:
    from trueweave.core.answers import Answer, AnswerOptions
    from trueweave.core.evidence import Filter
    from trueweave.core.model_calls import Message
    from trueweave.core.settings import Settings
    from trueweave.engine.trueweave import AsyncTrueweave
    from trueweave.retrieval.context import Method

MethodName = Annotated[
    str | None,
    typer.Option("--method", "-m", metavar="NAME", help="How to look: `trueweave methods` lists them."),
]
Parameters = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the method, as in --set top_k=10."),
]
History = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", dir_okay=False, help="A conversation: what was said before is in it, and this is added to it."
    ),
]
UseCot = Annotated[bool, typer.Option("--use-cot", help="Let the model think first; its reasoning is shown apart.")]
Numerical = Annotated[bool, typer.Option("--numerical-answer", help="Have a number with its unit, and nothing else.")]
Extractive = Annotated[
    bool, typer.Option("--extractive", help="Answer with sentences of the documents, and no words of the model.")
]
Verifiers = Annotated[
    list[str] | None,
    typer.Option(
        "--verifier",
        metavar="NAME",
        help="What checks the answer: rules, llm, or onnx/ and a folder. Several are asked in their order.",
    ),
]
Repair = Annotated[
    bool | None,
    typer.Option("--repair/--no-repair", help="Give the model the sentences that are not confirmed once more."),
]
Instructions = Annotated[
    str | None, typer.Option(metavar="TEXT", help="What the model is told besides, as in --instructions 'Use a table.'")
]
Language = Annotated[
    str | None, typer.Option(metavar="NAME", help="The language of the answer, if not that of the question.")
]
Length = Annotated[int | None, typer.Option(min=16, metavar="TOKENS", help="How many tokens the answer may have.")]
Temperature = Annotated[float, typer.Option(min=0, max=2, help="The model's temperature: 0 is the most likely words.")]
ContextOnly = Annotated[
    bool, typer.Option("--context-only", help="Show what the model would be shown, and do not ask it.")
]
Rerank = Annotated[bool, typer.Option("--rerank", help="Let the reranker of the settings choose among more passages.")]


def ask(
    question: Question,
    method: MethodName = None,
    parameters: Parameters = None,
    document: Documents = None,
    where: Where = None,
    history: History = None,
    use_cot: UseCot = False,
    numerical_answer: Numerical = False,
    extractive: Extractive = False,
    verifier: Verifiers = None,
    repair: Repair = None,
    instructions: Instructions = None,
    language: Language = None,
    length: Length = None,
    temperature: Temperature = 0.0,
    context_only: ContextOnly = False,
    rerank: Rerank = False,
    show_evidence: ShowEvidence = False,
    model: Model = None,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Answer a question from your documents, with citations.

    The answer is shown while it is written. The passages that it cites follow, and each sentence that the check does
    not confirm. Without a language model, the passages that were found are shown.
    """
    from trueweave.core.answers import AnswerOptions

    with replying(json) as reply:
        settings = in_force(load_settings(database_url, workspace, model=model))
        fetch_model_for_questions(settings)
        asked = Inquiry(
            read_question(question),
            _chosen(method, parameters),
            read_parameters(parameters) if method is None else {},
            read_filter(document, where, settings.project_folder),
            read_history(history),
            use_cot=use_cot,
            numerical_answer=numerical_answer,
            extractive=extractive,
            verifiers=verifier,
            repair=repair,
            options=AnswerOptions(instructions or "", language or "", length, temperature),
            context_only=context_only,
            is_answered=bool(settings.model_for("answer")) and not context_only,
            rerank=rerank,
            currency=settings.currency,
        )
        try:
            answer, seconds = _asked(asked, settings, is_shown=not json)
        except KeyboardInterrupt:
            if json:
                raise
            raise typer.Exit(INTERRUPTED) from None
        if history and asked.is_answered:
            write_history(history, _said(asked, answer))
        _tell(reply, asked, answer, seconds, show_evidence=show_evidence)


@dataclass(frozen=True)
class Inquiry:
    """A question with all that goes with it. `parameters` are for the method of the settings, where none is named."""

    question: str
    method: Method | None
    parameters: dict[str, str]
    filter: Filter
    history: Sequence[Message]
    use_cot: bool
    numerical_answer: bool
    extractive: bool
    verifiers: Sequence[str] | None
    repair: bool | None
    options: AnswerOptions
    context_only: bool
    is_answered: bool
    rerank: bool
    currency: str


def _chosen(name: str | None, parameters: Sequence[str] | None) -> Method | None:
    """The named method. A wrong name or parameter is reported before anything is opened."""
    from trueweave.retrieval.methods import registry

    return registry.make(name, read_parameters(parameters)) if name else None


def _asked(asked: Inquiry, settings: Settings, *, is_shown: bool) -> tuple[Answer, float]:
    """The answer, shown as it comes if that is wanted, and how many seconds it took."""
    writer = Writer(out)
    with ExitStack() as until_it_writes:
        until_it_writes.enter_context(spinner("Looking …"))

        def write(piece: str) -> None:
            until_it_writes.close()
            writer.write(piece)

        try:
            return in_workspace(lambda trueweave: _timed(trueweave, asked, write if is_shown else _unseen), settings)
        finally:
            until_it_writes.close()
            writer.end()


async def _timed(trueweave: AsyncTrueweave, asked: Inquiry, write: Callable[[str], None]) -> tuple[Answer, float]:
    begun = time.perf_counter()
    answer = await _stream(trueweave, asked, write)
    return answer, time.perf_counter() - begun


async def _stream(trueweave: AsyncTrueweave, asked: Inquiry, write: Callable[[str], None]) -> Answer:
    from trueweave.core.answers import Answer
    from trueweave.retrieval.methods import registry

    method = asked.method or registry.make(trueweave.method, asked.parameters)
    if not asked.is_answered:
        return await trueweave.ask(
            asked.question,
            method,
            filter=asked.filter,
            history=asked.history,
            use_cot=asked.use_cot,
            numerical_answer=asked.numerical_answer,
            extractive=asked.extractive,
            context_only=True,
            rerank=asked.rerank,
            listener=QuestionNotes(),
        )
    answer: Answer | None = None
    stream = trueweave.stream(
        asked.question,
        method,
        filter=asked.filter,
        history=asked.history,
        use_cot=asked.use_cot,
        numerical_answer=asked.numerical_answer,
        extractive=asked.extractive,
        verifiers=asked.verifiers,
        repair=asked.repair,
        options=asked.options,
        rerank=asked.rerank,
        listener=QuestionNotes(),
    )
    async with aclosing(stream):  # writing fails when the reader is gone
        async for piece in stream:
            if isinstance(piece, Answer):
                answer = piece
            else:
                write(piece)
    assert answer, "a stream of pieces ends with the answer"
    return answer


def _unseen(_: str) -> None:
    """Ignore a piece."""


def _said(asked: Inquiry, answer: Answer) -> list[Message]:
    from trueweave.core.model_calls import Message

    return [Message("user", asked.question), Message("assistant", answer.text)]


def _tell(reply: CommandReply, asked: Inquiry, answer: Answer, seconds: float, *, show_evidence: bool) -> None:
    if asked.is_answered:
        text = answer_notes(answer)
    else:
        text = no_answer_lines(answer, context_only=asked.context_only, show_evidence=show_evidence)
    if show_evidence:
        text += [*([""] if text else []), *evidence_lines(answer.evidence, asked.question)]
    if not asked.context_only:
        text += [
            "",
            cost_line(answer.evidence, answer.usage, asked.currency, seconds if asked.is_answered else None),
        ]
        text += answer_advice(
            answer, is_answered=asked.is_answered, is_filtered=bool(asked.filter), show_evidence=show_evidence
        )
    reply(answer_json(answer, is_answered=asked.is_answered), *text)
