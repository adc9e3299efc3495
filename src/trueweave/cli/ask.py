"""`trueweave ask`: stream the answer to a question, and check every sentence."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trueweave.answering.options import AskOptions
from trueweave.cli.model_files import fetch_model_if_possible
from trueweave.cli.options import AsGroups, AsOf, DatabaseUrl, Json, Model, Workspace
from trueweave.cli.questions import (
    Documents,
    FilterText,
    Question,
    QuestionNotes,
    ShowEvidence,
    Where,
    given_parameters,
    read_filter,
    read_history,
    read_parameters,
    read_question,
    with_parameters,
    write_history,
)
from trueweave.cli.render.answers import answer_advice, answer_notes, cost_line, no_answer_lines
from trueweave.cli.render.console import out, spinner
from trueweave.cli.render.evidence import evidence_lines
from trueweave.cli.render.writer import Writer
from trueweave.cli.reply import INTERRUPTED, CommandReply, replying
from trueweave.cli.session import in_force, in_workspace, load_settings
from trueweave.core.answers import Answer, AnswerOptions
from trueweave.core.errors import ConfigError
from trueweave.core.json_forms import answer_json
from trueweave.core.model_calls import Message
from trueweave.core.parameters import values

if TYPE_CHECKING:
    from trueweave.core.settings import Settings
    from trueweave.engine.trueweave import AsyncTrueweave
    from trueweave.retrieval.context import Method

MethodName = Annotated[
    str | None,
    typer.Option("--method", "-m", metavar="NAME", help="The retrieval method: `trueweave methods` lists them."),
]
Parameters = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the method, such as --set top_k=10."),
]
History = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        dir_okay=False,
        help="The file of a conversation: earlier turns are read from it, and this one is appended.",
    ),
]
Record = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        dir_okay=False,
        help="Write a signed record of the answer to this new file. `trueweave replay` compares it with later ones.",
    ),
]
Verifiers = Annotated[
    list[str] | None,
    typer.Option(
        "--verifier",
        metavar="NAME",
        help="A verifier of the answer: rules, llm, or onnx/ and a folder. May be repeated; verifiers run in order.",
    ),
]


@with_parameters(AskOptions, AnswerOptions)
def ask(
    question: Question,
    method: MethodName = None,
    parameters: Parameters = None,
    document: Documents = None,
    where: Where = None,
    filter: FilterText = None,
    history: History = None,
    record: Record = None,
    verifier: Verifiers = None,
    show_evidence: ShowEvidence = False,
    model: Model = None,
    as_group: AsGroups = None,
    as_of: AsOf = None,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
    **plain: Any,
) -> None:
    """Answer a question from your documents, with citations.

    The answer is streamed, followed by the passages that it cites and by unconfirmed sentences. Without a language
    model, the passages that were found are shown.
    """
    with replying(json) as reply:
        settings = in_force(load_settings(database_url, workspace, model=model))
        fetch_model_if_possible(settings)
        is_answered = bool(settings.model_for("answer")) and not plain["context_only"]
        asked = AskOptions(
            read_question(question),
            _chosen(method, parameters),
            filter=read_filter(document, where, filter, settings.project_folder),
            history=read_history(history),
            verifiers=verifier,
            options=AnswerOptions(**given_parameters(plain, AnswerOptions)),
            listener=QuestionNotes(),
            **given_parameters(plain, AskOptions),
        )
        given = read_parameters(parameters) if method is None else {}
        if record and as_of:
            raise ConfigError("an answer about an earlier time cannot be recorded. Give --as-of or --record, not both.")
        inquiry = Inquiry(asked, given, is_answered, settings.currency, as_group, as_of, record)
        try:
            answer, seconds = _asked(inquiry, settings, is_shown=not json)
        except KeyboardInterrupt:
            if json:
                raise
            raise typer.Exit(INTERRUPTED) from None
        if history and is_answered:
            write_history(history, [Message("user", asked.question), Message("assistant", answer.text)])
        _tell(reply, inquiry, answer, seconds, show_evidence=show_evidence)


@dataclass(frozen=True)
class Inquiry:
    """A question; the `parameters` of the workspace's method, where none is named; whether a model answers it; the
    groups that ask, None if all documents can be read; the time that it asks about, None for now; and the file of its
    record."""

    asked: AskOptions
    parameters: dict[str, str]
    is_answered: bool
    currency: str
    groups: Sequence[str] | None
    as_of: str | None
    record: Path | None


def _chosen(name: str | None, parameters: Sequence[str] | None) -> Method | None:
    """The named method. A wrong name or parameter is reported before anything is opened."""
    from trueweave.retrieval.methods import registry

    return registry.make(name, read_parameters(parameters)) if name else None


def _asked(inquiry: Inquiry, settings: Settings, *, is_shown: bool) -> tuple[Answer, float]:
    """The answer, streamed to the terminal if requested, and the seconds it took."""
    writer = Writer(out)
    with ExitStack() as until_it_writes:
        until_it_writes.enter_context(spinner("Looking …"))

        def write(piece: str) -> None:
            until_it_writes.close()
            writer.write(piece)

        try:
            shown = write if is_shown else _unseen
            return in_workspace(
                lambda trueweave: _timed(trueweave, inquiry, shown),
                settings,
                groups=inquiry.groups,
                as_of=inquiry.as_of,
            )
        finally:
            until_it_writes.close()
            writer.end()


async def _timed(trueweave: AsyncTrueweave, inquiry: Inquiry, write: Callable[[str], None]) -> tuple[Answer, float]:
    begun = time.perf_counter()
    answer = await _stream(trueweave, inquiry, write)
    return answer, time.perf_counter() - begun


async def _stream(trueweave: AsyncTrueweave, inquiry: Inquiry, write: Callable[[str], None]) -> Answer:
    from trueweave.retrieval.methods import registry

    method = inquiry.asked.method or registry.make(trueweave.method, inquiry.parameters)
    asked = replace(inquiry.asked, method=method, context_only=not inquiry.is_answered)
    answer: Answer | None = None
    if inquiry.record:
        await trueweave.records.check(asked, inquiry.record)
    stream = trueweave.stream(**values(asked))
    async with aclosing(stream):  # writing fails if the reader has closed the pipe
        async for piece in stream:
            if isinstance(piece, Answer):
                answer = piece
            else:
                write(piece)
    assert answer, "a stream of pieces ends with the answer"
    if inquiry.record:
        await trueweave.records.write(answer, asked, inquiry.record)
    return answer


def _unseen(_: str) -> None:
    """Ignore a piece."""


def _tell(reply: CommandReply, inquiry: Inquiry, answer: Answer, seconds: float, *, show_evidence: bool) -> None:
    asked = inquiry.asked
    if inquiry.is_answered:
        text = answer_notes(answer)
    else:
        text = no_answer_lines(answer, context_only=asked.context_only, show_evidence=show_evidence)
    if show_evidence:
        text += [*([""] if text else []), *evidence_lines(answer.evidence, asked.question)]
    if not asked.context_only:
        text += [
            "",
            cost_line(answer.evidence, answer.usage, inquiry.currency, seconds if inquiry.is_answered else None),
        ]
        text += answer_advice(
            answer, is_answered=inquiry.is_answered, is_filtered=bool(asked.filter), show_evidence=show_evidence
        )
    if inquiry.record:
        text += [f"Recorded in {inquiry.record}."]
    reply(answer_json(answer, is_answered=inquiry.is_answered), *text)
