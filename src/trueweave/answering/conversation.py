"""Conversations: trimming the history to fit, and rewriting a question so that it stands alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trueweave.answering.reasoning_parser import without_reasoning
from trueweave.core.errors import BadReply
from trueweave.core.evidence import Usage
from trueweave.core.model_calls import Message, Prompt, Purpose, Reply
from trueweave.core.protocols import LLM, forget_reply
from trueweave.models.prompts import BUILT_IN, PromptSet, fence
from trueweave.text import tokens
from trueweave.text.names import storable, tidy
from trueweave.text.sentences import cut

MAX_TOKENS = 1000  # that a model may write for a question, including its reasoning
HISTORY_TOKENS = 1500

_MARK = re.compile(r"[ \t]?\[\d{1,3}\]")


async def standalone(question: str, history: Sequence[Message], llm: LLM | None, prompts: PromptSet = BUILT_IN) -> str:
    """The question rewritten so that it can be searched for without the conversation.

    A model rewrites it. Without a model, the result is the last user message followed by the question. Raises BadReply
    if the model writes nothing, or does not finish.
    """
    before = trimmed(history, HISTORY_TOKENS)
    if not before:
        return question
    if llm is None:
        last = [message.content for message in before if message.role == "user"][-1:]
        return "\n".join((*last, question))
    said = "\n\n".join(f"{message.role}: {message.content}" for message in before)
    messages = (
        Message("system", prompts.load("standalone").text),
        Message("user", f"{fence(said)}\n\nQuestion: {storable(question)}"),
    )
    prompt = Prompt(messages, MAX_TOKENS)
    reply = await llm.complete(prompt, Purpose("rewrite"))
    written = tidy(without_reasoning(reply.text))
    if not written or reply.finish == "length":
        await forget_reply(llm, prompt)
        raise BadReply(
            f"{llm.model} did not rewrite the question {question[:200]!r} within {MAX_TOKENS} tokens; its reply "
            f"begins {reply.text[:200]!r}. Ask a complete question without the conversation, or try another model."
        )
    return written


def trimmed(history: Sequence[Message], room: int) -> tuple[Message, ...]:
    """The newest messages, in at most `room` tokens. Citations are removed from answers, as their numbers no longer
    apply.

    The oldest message that still partly fits is cut.
    """
    kept: list[Message] = []
    for message in reversed(history):
        if message.role == "system":
            raise ValueError("a conversation has no system messages; give those of the user and the assistant only")
        content = storable(message.content)
        if message.role == "assistant":
            content = _MARK.sub("", content)
        part = cut(content, room)
        if part.strip():
            kept.append(Message(message.role, part))
            room -= tokens.count(part)
        if part != content:
            break
    return tuple(reversed(kept))


def usage_of(reply: Reply) -> Usage:
    """The usage of one reply."""
    if reply.kept:
        return Usage(kept=1)
    return Usage(1, 0, reply.tokens_in, reply.tokens_out, reply.price)
