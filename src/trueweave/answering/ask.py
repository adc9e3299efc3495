"""From evidence and a question to an answer whose every sentence is checked."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from trueweave import prompts
from trueweave.answering.cite import Checked, check
from trueweave.answering.compose import Context, compose
from trueweave.answering.conversation import trimmed, usage_of
from trueweave.answering.marks import Mark, Marks
from trueweave.answering.numbers import amount, only_number
from trueweave.answering.thoughts import Thoughts
from trueweave.answering.words import language
from trueweave.errors import BadReply, ConfigError
from trueweave.evidence import Answer, Evidence
from trueweave.protocols import StreamingLLM, forget_reply
from trueweave.text import tokens
from trueweave.text.names import storable
from trueweave.types import Message, Prompt, Purpose, Reply

NOTHING_FOUND = "The documents do not say."
LEAST_CONTEXT = 256

_HISTORY_SHARE = 4  # a quarter of the context at most is what was said before
_DECIMAL_COMMA = frozenset({"de", "es", "fr", "it", "nl", "pt"})


@dataclass(frozen=True, slots=True)
class Answering:
    """How questions are answered.

    `use_cot`: the model thinks first, and what it thought is kept apart from the answer. `numerical_answer`: the answer
    is a number with its unit and nothing else. `max_context_tokens` is for what the model is shown, a conversation
    included; `max_answer_tokens` for what it writes, its thoughts included.
    """

    use_cot: bool = False
    numerical_answer: bool = False
    max_context_tokens: int = 6000
    max_answer_tokens: int = 2000

    def __post_init__(self) -> None:
        if self.max_context_tokens < LEAST_CONTEXT:
            raise ConfigError(f"max_context_tokens is {self.max_context_tokens}; make it {LEAST_CONTEXT} or more")
        if self.max_answer_tokens < 1:
            raise ConfigError(f"max_answer_tokens is {self.max_answer_tokens}; make it 1 or more")

    def context(self, evidence: Evidence, history: Sequence[Message] = ()) -> Context:
        """What a model would be shown of the evidence, beside what was said before."""
        before = sum(tokens.count(message.content) for message in self._before(history))
        return compose(evidence, self.max_context_tokens - before)

    def prompt(self, question: str, context: Context, history: Sequence[Message] = ()) -> Prompt:
        """What a model is asked."""
        form = prompts.load("answer_number" if self.numerical_answer else "answer_text").text
        thinking = prompts.load("answer_reasoning").text if self.use_cot else ""
        rules = prompts.load("answer").render(form=form, thinking=thinking).strip()
        asked = Message("user", f"{context.text}\n\nQuestion: {storable(question)}")
        return Prompt((Message("system", rules), *self._before(history), asked), self.max_answer_tokens)

    async def stream(
        self, question: str, evidence: Evidence, llm: StreamingLLM, history: Sequence[Message] = ()
    ) -> AsyncGenerator[str | Answer, None]:
        """The answer in pieces as they come, fit to be shown, and at the end the whole of it, checked.

        The pieces together are the answer's text. Its usage is what the evidence and the answer took together. Where
        nothing was found, no model is asked. BadReply if the model writes no answer.
        """
        if not evidence:
            text = f"Nothing was found: {evidence.reason}" if evidence.reason else NOTHING_FOUND
            yield text
            yield Answer(question, text, False, (), (), evidence, "", evidence.trace.usage)
            return
        context = self.context(evidence, history)
        listening = _Listening(show=not self.numerical_answer)
        prompt = self.prompt(question, context, history)
        async with _Closing(llm.stream(prompt, Purpose("answer"))) as pieces:
            async for piece in pieces:
                if shown := listening.hear(piece):
                    yield shown
        if shown := listening.end():
            yield shown
        if listening.reply is None:
            raise BadReply(self._failure(question, llm.model, listening))
        answer = self._answer(question, evidence, context, listening, listening.reply, history)
        if not answer.text:
            await forget_reply(llm, prompt)
            raise BadReply(self._failure(question, llm.model, listening))
        if self.numerical_answer:
            yield answer.text
        yield answer

    def _before(self, history: Sequence[Message]) -> tuple[Message, ...]:
        return trimmed(history, self.max_context_tokens // _HISTORY_SHARE)

    def _answer(
        self,
        question: str,
        evidence: Evidence,
        context: Context,
        listening: _Listening,
        reply: Reply,
        history: Sequence[Message],
    ) -> Answer:
        asked = "\n".join((*(message.content for message in history if message.role == "user"), question))
        marks, thoughts = listening.marks, _read(listening.thoughts.reasoning)
        text, number = marks.text, None
        if self.numerical_answer:
            text, number, checked = _numerical(marks, thoughts.marks, context, asked)
        else:
            checked = check(text, marks.marks, context.passages, asked)
        return Answer(
            question=question,
            text=text,
            known=_is_known(marks.marks),
            sentences=checked.sentences,
            citations=checked.citations,
            evidence=evidence,
            context=context.text,
            usage=evidence.trace.usage + usage_of(reply),
            reasoning=thoughts.text,
            number=number,
            finish=reply.finish,
        )

    def _failure(self, question: str, model: str, listening: _Listening) -> str:
        about = f"{model} gave no answer to {question[:200]!r}"
        if listening.reply is None:
            return f"{about}: its reply broke off. Ask again."
        if listening.reply.finish == "length":
            return f"{about} within {self.max_answer_tokens} tokens. Raise max_answer_tokens in the settings."
        thought = "it thought, and then wrote nothing" if listening.thoughts.reasoning else "it wrote nothing"
        return f"{about}: {thought}. Ask again, or try another model."


class _Listening:
    """What has come of a reply so far: thoughts and answer apart."""

    def __init__(self, *, show: bool) -> None:
        self.thoughts = Thoughts()
        self.marks = Marks()
        self.reply: Reply | None = None
        self._show = show
        self._heard = False

    def hear(self, piece: str | Reply) -> str:
        """What can be shown now."""
        if isinstance(piece, Reply):
            self.reply = piece
            piece = "" if self._heard else piece.text  # one that was kept may come all at once
        self._heard = self._heard or bool(piece)
        return self._shown(self.marks.feed(self.thoughts.feed(piece)))

    def end(self) -> str:
        """What is left to show. A model that wrote number 0 and no sentence is given one."""
        left = self.marks.feed(self.thoughts.close()) + self.marks.close()
        if self.marks.marks and not self.marks.text:
            left = self.marks.feed(NOTHING_FOUND)
        return self._shown(left)

    def _shown(self, text: str) -> str:
        return text if self._show else ""


class _Closing:
    """A stream that is closed when nobody listens any more, so that the call behind it ends too."""

    def __init__(self, stream: AsyncIterator[str | Reply]) -> None:
        self._stream = stream

    async def __aenter__(self) -> AsyncIterator[str | Reply]:
        return self._stream

    async def __aexit__(self, *_: object) -> None:
        if isinstance(self._stream, AsyncGenerator):
            await self._stream.aclose()


def _is_known(marks: Sequence[Mark]) -> bool:
    """Whether anything is answered: number 0 is neither in front of all, nor the only one."""
    zeros = [mark for mark in marks if not mark.number]
    return not zeros or (zeros[0].start > 0 and len(zeros) < len(marks))


def _read(text: str) -> Marks:
    marks = Marks()
    marks.feed(text)
    marks.close()
    return marks


def _numerical(
    marks: Marks, thought: Sequence[Mark], context: Context, asked: str
) -> tuple[str, Decimal | None, Checked]:
    """The number with its unit, what it is, and what supports it: the marks behind it, or else those in the thoughts.

    A reply that is more than a number stays whole, and has a number if there is exactly one in it. Without one, nothing
    supports it: a number was asked for.
    """
    bare = marks.text
    for mark in reversed(marks.marks):
        bare = bare[: mark.start].rstrip() + bare[mark.end :]
    text = amount(bare) or bare
    number = only_number(text, decimal_comma=language(asked) in _DECIMAL_COMMA)
    own = [mark for mark in marks.marks if mark.number]
    # Of the thoughts, the marks with quotes: those without are remarks on the way.
    own = own or [mark for mark in thought if mark.quotes] or [mark for mark in thought if mark.number]
    checked = check(text, own, context.passages, asked, whole=True)
    if number is None:
        doubted = (replace(one, support="unsupported") if one.supported else one for one in checked.sentences)
        checked = replace(checked, sentences=tuple(doubted))
    return text, number, checked
