"""`trueweave chat`: a conversation with your documents."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import RenderableType
from rich.text import Text

from trueweave.cli.ask import History, MethodName, Parameters
from trueweave.cli.options import AsGroups, AsOf, DatabaseUrl, Json, Model, Workspace
from trueweave.cli.questions import (
    Documents,
    FilterText,
    QuestionNotes,
    Where,
    read_filter,
    read_history,
    read_parameters,
    write_history,
)
from trueweave.cli.render.answers import answer_notes, cost_line, no_answer_lines, usage_words
from trueweave.cli.render.console import err, out, print_to, say, spinner
from trueweave.cli.render.dates import parse_as_of
from trueweave.cli.render.evidence import text_lines
from trueweave.cli.render.lines import count, warning
from trueweave.cli.render.tables import table
from trueweave.cli.render.writer import Writer
from trueweave.cli.reply import CommandReply, replying
from trueweave.cli.session import database, in_force, load_settings
from trueweave.core.errors import TrueweaveError
from trueweave.core.json_forms import answer_json

if TYPE_CHECKING:
    from trueweave.answering.conversations import Conversation
    from trueweave.core.answers import Answer
    from trueweave.core.events import Event

_HELP = {
    "/method NAME": "switch to another method; without a name, list the methods",
    "/sources": "show all passages that the last answer is based on",
    "/clear": "clear the conversation",
    "/help": "show this",
    "/quit": "quit, like exit and Ctrl-D",
}
_LEAVING = frozenset({"/quit", "/exit", "exit", "quit", ":q"})


def chat(
    method: MethodName = None,
    parameters: Parameters = None,
    document: Documents = None,
    where: Where = None,
    filter: FilterText = None,
    history: History = None,
    model: Model = None,
    as_group: AsGroups = None,
    as_of: AsOf = None,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Chat with your documents: each question is understood in the context of the conversation.

    Answers are streamed, with the passages that they cite and with unconfirmed sentences. Ctrl-C stops an answer, exit
    or Ctrl-D ends the conversation, and /help lists the commands. From a pipe, each line is a question; with --json
    each answer is a line. Without a language model, the passages that were found are shown.
    """
    with replying(json) as reply:
        from trueweave.engine.sync import Trueweave
        from trueweave.retrieval.methods import registry

        settings = in_force(load_settings(database_url, workspace, model=model))
        chosen = registry.make(method, read_parameters(parameters)) if method else None
        passing = read_filter(document, where, filter, settings.project_folder)
        before = read_history(history)
        database(settings)  # is started, if it is the bundled one
        with Trueweave(settings=settings, make=False) as opened, ExitStack() as until_it_ends:
            whole = until_it_ends.enter_context(opened.as_of(parse_as_of(as_of))) if as_of else opened
            trueweave = whole if as_group is None else whole.acting_as(as_group)
            named = chosen or (registry.make(trueweave.method, read_parameters(parameters)) if parameters else None)
            talk = _Talk(
                trueweave.conversation(named, filter=passing, history=before),
                has_model=trueweave.has_model,
                default=trueweave.method,
                currency=settings.currency,
                reply=reply,
                as_json=json,
                file=history,
            )
            talk.run()
    if talk.failures:
        raise typer.Exit(1)


class _ChatNotes(QuestionNotes):
    """A listener that also prints the rewritten question."""

    def __call__(self, event: Event) -> None:
        from trueweave.core.events import Rewritten

        if isinstance(event, Rewritten):
            say(Text(f"Looking for: {' '.join(event.question.split())}", style="dim"))
        else:
            super().__call__(event)


@dataclass
class _Talk:
    """A conversation on a terminal, or line by line."""

    conversation: Conversation
    has_model: bool
    default: str
    currency: str
    reply: CommandReply
    as_json: bool
    file: Path | None
    last: Answer | None = None
    questions: int = 0
    failures: int = 0
    notes: QuestionNotes = field(default_factory=_ChatNotes)

    def run(self) -> None:
        """Answer until there are no more questions."""
        is_typed = sys.stdin.isatty()
        if is_typed:
            self._welcome()
        for line in _typed() if is_typed else _piped():
            text = line.strip()
            if text.casefold() in _LEAVING:
                break
            if text.startswith("/"):
                self._command(text)
            elif text:
                if not is_typed and not self.as_json:
                    print_to(out, Text(f"> {text}", style="bold"))
                self._answer(text, goes_on=is_typed)
        if self.questions > 1 and not self.as_json:
            used = usage_words(self.conversation.usage, self.currency)
            print_to(out, Text(", ".join([count(self.questions, "question"), *used]), style="dim"))

    def _welcome(self) -> None:
        if not self.has_model:
            say(warning("No language model is set: relevant passages are shown instead of answers."))
        say(Text("Ask a question. /help lists the commands; exit or Ctrl-D quits.", style="dim"))

    # --- questions ----------------------------------------------------------------------------------------

    def _answer(self, question: str, *, goes_on: bool) -> None:
        """Answer a question. On a terminal, Ctrl-C stops only the answer."""
        from trueweave.core.model_calls import Message

        begun = time.perf_counter()
        self.questions += 1
        try:
            answer = self._heard(question)
        except TrueweaveError as error:
            self.failures += not goes_on
            self.reply.fail(str(error), {"question": question})
            return
        except KeyboardInterrupt:
            if not goes_on:
                raise
            say(warning("stopped; not part of the conversation"))
            return
        self.last = answer
        if self.file and self.has_model:
            write_history(self.file, [Message("user", question), Message("assistant", answer.text)])
        if self.as_json:
            self.reply(answer_json(answer, is_answered=self.has_model))
            return
        seconds = time.perf_counter() - begun
        for part in self._told(answer, seconds):
            print_to(out, part)

    def _heard(self, question: str) -> Answer:
        from trueweave.core.answers import Answer

        writer, answer = Writer(out), None
        with ExitStack() as until_it_writes:
            until_it_writes.enter_context(spinner("Looking …"))
            try:
                with closing(_closable(self.conversation.stream(question, listener=self.notes))) as pieces:
                    for piece in pieces:
                        if isinstance(piece, Answer):
                            answer = piece
                        elif not self.as_json:
                            until_it_writes.close()
                            writer.write(piece)
            finally:
                until_it_writes.close()
                writer.end()
        assert answer, "a stream of pieces ends with the answer"
        return answer

    def _told(self, answer: Answer, seconds: float) -> list[RenderableType]:
        cost = cost_line(answer.evidence, answer.usage, self.currency, seconds if self.has_model else None)
        if self.has_model:
            return [*answer_notes(answer), "", cost, ""]
        return [*no_answer_lines(answer, context_only=False, show_evidence=False), "", cost, ""]

    # --- commands -----------------------------------------------------------------------------------------

    def _command(self, text: str) -> None:
        name, _, argument = text.partition(" ")
        commands: dict[str, Callable[[str], None]] = {
            "/method": self._choose,
            "/sources": self._sources,
            "/clear": self._clear,
            "/help": self._help,
        }
        if name in commands:
            commands[name](argument.strip())
        else:
            say(warning(f"There is no command {name}. /help lists the commands; a question does not begin with /."))

    def _choose(self, name: str) -> None:
        from trueweave.retrieval.methods import registry

        if not name:
            now = self.conversation.method
            shown = registry.name_of(now) if now and not isinstance(now, str) else now or self.default
            say(Text(f"The method is {shown}. Available: {', '.join(registry.names())}."))
            return
        try:
            self.conversation.method = registry.make(name)
        except TrueweaveError as error:
            say(warning(str(error)))
        else:
            say(Text(f"The method is {name} from now on."))

    def _sources(self, _: str) -> None:
        if self.last is None or not self.last.evidence:
            say(Text("There is no answer yet." if self.last is None else "Nothing was found."))
            return
        for part in text_lines(self.last.evidence, self.last.question):
            print_to(out, part)

    def _clear(self, _: str) -> None:
        self.conversation.clear()
        say(Text("The conversation is cleared."))

    def _help(self, _: str) -> None:
        made = table("type", "~to")
        for name, what in _HELP.items():
            made.add_row(name, what)
        print_to(err, made)


def _typed() -> Iterator[str]:
    """The lines typed, until Ctrl-D. Ctrl-C discards a line."""
    import readline  # noqa: F401 - lines can be edited, and earlier ones brought back

    while True:
        try:
            yield input("> ")
        except EOFError:
            say("")
            return
        except KeyboardInterrupt:
            say("")


def _piped() -> Iterator[str]:
    yield from sys.stdin


def _closable(pieces: Iterator[str | Answer]) -> Generator[str | Answer, None, None]:
    yield from pieces
