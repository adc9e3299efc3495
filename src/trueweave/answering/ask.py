"""From evidence and a question to an answer in which every sentence is checked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from trueweave.answering.check import Checked, check
from trueweave.answering.citation_parser import CitationParser, Mark, parse
from trueweave.answering.compose import Context, LeftOut, compose
from trueweave.answering.conversation import trimmed, usage_of
from trueweave.answering.extractive import extract
from trueweave.answering.numbers import amount, only_number
from trueweave.answering.reasoning_parser import ReasoningParser
from trueweave.answering.repair import repair
from trueweave.answering.verifiers.rules import RulesVerifier
from trueweave.core.answers import Answer, AnswerOptions, Repair, Sentence
from trueweave.core.errors import BadReply, InvalidArgument, QuestionTooLong
from trueweave.core.evidence import Evidence
from trueweave.core.model_calls import Message, Prompt, Purpose, Reply
from trueweave.core.protocols import StreamingLLM, Verifier, forget_reply
from trueweave.models.prompts import BUILT_IN, PromptSet
from trueweave.models.question import message_tokens
from trueweave.text import tokens
from trueweave.text.names import storable, tidy
from trueweave.text.words import language

NOTHING_FOUND = "The documents do not say."
LEAST_CONTEXT = 256

_HISTORY_SHARE = 4  # the conversation takes up at most a quarter of the context
_TOKENS_A_WORD = 2  # with room for citations, and for languages that need more tokens than English
_DECIMAL_COMMA = frozenset({"de", "es", "fr", "it", "nl", "pt"})


@dataclass(frozen=True, slots=True)
class Answering:
    """How questions are answered.

    `use_cot`: the model reasons first, and its reasoning is kept apart from the answer. `numerical_answer`: the answer
    is only a number with its unit. `extractive`: the answer is only sentences from the passages. `repair`: sentences
    that the check does not confirm are sent to the model once more. `max_context_tokens` limits what the model is
    shown, including a conversation; `max_answer_tokens` limits what it writes, including its reasoning.
    `max_own_tokens` limits the question, its instructions and the prompt itself, apart from the context. `verifiers`
    check the answer, in this order. `prompts` are the prompts used, and `options` apply to a single question.
    """

    use_cot: bool = False
    numerical_answer: bool = False
    extractive: bool = False
    repair: bool = False
    max_context_tokens: int = 6000
    max_answer_tokens: int = 2000
    verifiers: tuple[Verifier, ...] = (RulesVerifier(),)
    prompts: PromptSet = BUILT_IN
    options: AnswerOptions = field(default_factory=AnswerOptions)
    max_own_tokens: int = 8000

    def __post_init__(self) -> None:
        if self.extractive and self.numerical_answer:
            raise InvalidArgument("an answer cannot be both extractive and numerical. Choose one.")
        if self.max_context_tokens < LEAST_CONTEXT:
            raise InvalidArgument(f"max_context_tokens is {self.max_context_tokens}; make it {LEAST_CONTEXT} or more")
        if self.max_answer_tokens < 1:
            raise InvalidArgument(f"max_answer_tokens is {self.max_answer_tokens}; make it 1 or more")

    def check_size(self, question: str) -> None:
        """Raise QuestionTooLong if the question, its instructions and the prompt itself have too many tokens."""
        size = message_tokens(self.prompt(question, Context("", 0, (), LeftOut())))
        if size > self.max_own_tokens:
            raise QuestionTooLong(
                f"the question, its instructions and the prompt have {size:,} tokens; the maximum is "
                f"{self.max_own_tokens:,}. Shorten them."
            )

    def context(self, evidence: Evidence, history: Sequence[Message] = ()) -> Context:
        """The context that a model would be shown, in addition to the conversation."""
        before = sum(tokens.count(message.content) for message in self._before(history))
        return compose(evidence, self.max_context_tokens - before)

    def prompt(self, question: str, context: Context, history: Sequence[Message] = ()) -> Prompt:
        """The prompt for a question."""
        kind = "number" if self.numerical_answer else "quotes" if self.extractive else "text"
        form = self.prompts.load(f"answer_{kind}").text
        thinking = self.prompts.load("answer_reasoning").text if self.use_cot else ""
        told = self.prompts.load("answer").render(
            form=form,
            thinking=thinking,
            language=tidy(storable(self.options.language)) or "the language of the question",
            instructions=_instructions(self.options),
        )
        rules = told.strip()
        asked = Message("user", f"{context.text}\n\nQuestion: {storable(question)}")
        messages = Message("system", rules), *self._before(history), asked
        return Prompt(messages, self.options.length or self.max_answer_tokens, temperature=self.options.temperature)

    async def stream(
        self, question: str, evidence: Evidence, llm: StreamingLLM, history: Sequence[Message] = ()
    ) -> AsyncGenerator[str | Answer, None]:
        """The pieces of the answer as they arrive, ready to be shown, and at the end the complete, checked answer.

        The pieces together are the answer's text. They begin with the first citation: until then the reply may turn out
        to be a refusal, of which nothing is shown. The usage of the answer includes that of retrieval. If nothing was
        found, no model is called. Raises BadReply if the model writes no answer.
        """
        if not evidence:
            text = f"Nothing was found: {evidence.reason}" if evidence.reason else NOTHING_FOUND
            yield text
            yield Answer(question, text, False, (), (), evidence, "", evidence.trace.usage)
            return
        context = await asyncio.to_thread(self.context, evidence, history)
        # Show nothing that may still change: numbers and quotes are taken out of the reply, and repair replaces
        # sentences.
        is_final = not (self.numerical_answer or self.extractive or self.repair)
        listening = _Listening(show=is_final)
        prompt = self.prompt(question, context, history)
        async with _Closing(llm.stream(prompt, Purpose("answer"))) as pieces:
            async for piece in pieces:
                if shown := listening.hear(piece):
                    yield shown
        if listening.reply is None:
            raise BadReply(self._failure(question, llm.model, listening))
        if shown := listening.end():
            yield shown
        answer = await self._answer(question, evidence, context, listening, listening.reply, history, llm)
        if not answer.text:
            await forget_reply(llm, prompt)
            raise BadReply(self._failure(question, llm.model, listening))
        if not is_final:
            yield answer.text
        yield answer

    def _before(self, history: Sequence[Message]) -> tuple[Message, ...]:
        return trimmed(history, self.max_context_tokens // _HISTORY_SHARE)

    async def _answer(
        self,
        question: str,
        evidence: Evidence,
        context: Context,
        listening: _Listening,
        reply: Reply,
        history: Sequence[Message],
        llm: StreamingLLM,
    ) -> Answer:
        said = [message.content for message in self._before(history) if message.role == "user"]
        asked = "\n".join((*said, question))
        thoughts = parse(listening.thoughts.reasoning)
        made = await self._checked(listening.marks, thoughts.marks, context, asked, llm)
        usage = evidence.trace.usage + usage_of(reply)
        return Answer(
            question=question,
            text=made.text,
            known=made.known,
            sentences=made.checked.sentences,
            citations=made.checked.citations,
            evidence=evidence,
            context=context.text,
            usage=sum((one.usage for one in made.checked.checks), usage),
            reasoning=thoughts.text if made.known else "",
            number=made.number,
            finish=reply.finish,
            checks=made.checked.checks,
            repairs=made.repairs,
        )

    async def _checked(
        self, marks: CitationParser, thought: Sequence[Mark], context: Context, asked: str, llm: StreamingLLM
    ) -> _Made:
        """The checked answer from a reply. A refusal is replaced by our own words, as the model's are not grounded."""
        if not _is_known(marks.marks):
            return _Made(NOTHING_FOUND, False, Checked((), (), ()))
        if self.numerical_answer:
            return await self._numerical(marks, thought, context, asked)
        if self.extractive:
            return _extracted(marks, context)
        checked = await check(marks.text, marks.marks, context.passages, asked, self.verifiers)
        if not self.repair:
            return _Made(marks.text, True, checked)
        repaired = await repair(
            marks.text, checked, context, asked, llm, self.verifiers, self.max_answer_tokens, self.prompts
        )
        return _Made(repaired.text or NOTHING_FOUND, bool(repaired.text), repaired.checked, repairs=repaired.repairs)

    async def _numerical(self, marks: CitationParser, thought: Sequence[Mark], context: Context, asked: str) -> _Made:
        """The number with its unit, checked against its own citations, or else against those in the reasoning.

        A reply that is more than a number is kept whole, and has a number if there is exactly one in it. If there is
        none, it is not confirmed, because a number was requested.
        """
        bare = marks.text
        for mark in reversed(marks.marks):
            bare = bare[: mark.start].rstrip() + bare[mark.end :]
        text = amount(bare) or bare
        number = only_number(text, decimal_comma=language(asked) in _DECIMAL_COMMA)
        own = [mark for mark in marks.marks if mark.number]
        # From the reasoning, prefer citations with quotes.
        own = own or [mark for mark in thought if mark.quotes] or [mark for mark in thought if mark.number]
        checked = await check(text, own, context.passages, asked, self.verifiers, whole=True)
        if number is None:
            checked = replace(checked, sentences=tuple(map(_not_a_number, checked.sentences)))
        return _Made(text, True, checked, number)

    def _failure(self, question: str, model: str, listening: _Listening) -> str:
        about = f"{model} gave no answer to {question[:200]!r}"
        if listening.reply is None:
            return f"{about}: its reply broke off. Ask again."
        if listening.reply.finish == "length":
            if self.options.length:
                return f"{about} within {self.options.length} tokens. Allow it more."
            return f"{about} within {self.max_answer_tokens} tokens. Raise max_answer_tokens in the settings."
        thought = "it thought, and then wrote nothing" if listening.thoughts.reasoning else "it wrote nothing"
        return f"{about}: {thought}. Ask again, or try another model."


def _instructions(options: AnswerOptions) -> str:
    """Further rules for the model, from the options."""
    told = []
    if options.length:
        words = max(options.length // _TOKENS_A_WORD, 1)
        told.append(f"Write {words} words at most, with the words that you quote.")
    if said := storable(options.instructions).strip():
        told.append(f"In addition, where the rules above allow it: {said}")
    return "".join(f"\n- {one}" for one in told)


class _Listening:
    """The reply received so far, with reasoning and answer kept apart."""

    def __init__(self, *, show: bool) -> None:
        self.thoughts = ReasoningParser()
        self.marks = CitationParser()
        self.reply: Reply | None = None
        self._show = show
        self._heard = False
        self._held: list[str] = []  # text not yet shown, as the reply may still be a refusal
        self._answers = False

    def hear(self, piece: str | Reply) -> str:
        """Take in a piece of the reply. Returns the text that can be shown now."""
        if isinstance(piece, Reply):
            self.reply = piece
            piece = "" if self._heard else piece.text  # a cached reply may arrive all at once
        self._heard = self._heard or bool(piece)
        self._held.append(self.marks.feed(self.thoughts.feed(piece)))
        # Once a passage is cited, a later citation 0 cannot make the whole reply a refusal.
        self._answers = self._answers or (any(mark.number for mark in self.marks.marks) and _is_known(self.marks.marks))
        return self._released() if self._answers else ""

    def end(self) -> str:
        """The text that is still to be shown."""
        self._held += self.marks.feed(self.thoughts.close()), self.marks.close()
        if _is_known(self.marks.marks):
            return self._released()
        return NOTHING_FOUND if self._show else ""

    def _released(self) -> str:
        text = "".join(self._held)
        self._held.clear()
        return text if self._show else ""


class _Closing:
    """Closes a stream on exit, so that the model call ends as well."""

    def __init__(self, stream: AsyncIterator[str | Reply]) -> None:
        self._stream = stream

    async def __aenter__(self) -> AsyncIterator[str | Reply]:
        return self._stream

    async def __aexit__(self, *_: object) -> None:
        if isinstance(self._stream, AsyncGenerator):
            await self._stream.aclose()


def _is_known(marks: Sequence[Mark]) -> bool:
    """Whether the reply answers anything: citation 0 must be neither at its very start nor the only citation."""
    zeros = [mark for mark in marks if not mark.number]
    return not zeros or (zeros[0].start > 0 and len(zeros) < len(marks))


@dataclass(frozen=True, slots=True)
class _Made:
    """What was made of a reply: the text, whether it answers the question, and the result of checking it."""

    text: str
    known: bool
    checked: Checked
    number: Decimal | None = None
    repairs: tuple[Repair, ...] = ()


def _extracted(marks: CitationParser, context: Context) -> _Made:
    """The sentences that a reply quotes; quotes that are in no passage are listed as removed."""
    found = extract(marks.marks, context.passages)
    checked = Checked(found.sentences, found.citations, ())
    removed = tuple(Repair(one, "") for one in found.missing)
    return _Made(found.text or NOTHING_FOUND, bool(found.text), checked, repairs=removed)


def _not_a_number(sentence: Sentence) -> Sentence:
    reason = "a number was asked for, and it is not one"
    return replace(sentence, status="not checked", reason=reason) if sentence.confirmed else sentence
