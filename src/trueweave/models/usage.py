"""What a call took, in tokens: as the server says, where that is possible, and never less than can be counted here.

Servers count with tokenizers that are unknown here. What is known: no tokenizer in use makes fewer than half as many
tokens of a text as OpenAI's o200k, so half of that count is booked for a prompt and a reply whatever a server says.
Counts that cannot be (no whole number, negative, more than any model takes) are not taken, and o200k's stand for them.
A count of none for a prompt means that the server does not count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache

from trueweave.core.model_calls import Prompt, Purpose, Reply
from trueweave.models.wrappers import ReplyWrapper
from trueweave.text import tokens

MOST_CREDIBLE = 10_000_000  # tokens; more than any model takes or writes at a time

_PER_MESSAGE = 4  # what a chat template puts around a message, at the least
_SHOWN = 40  # characters of a count that cannot be


def prompt_tokens(prompt: Prompt) -> int:
    """About how many tokens a prompt has, counted offline."""
    return sum(_message_tokens(message.content) + _PER_MESSAGE for message in prompt.messages)


@lru_cache(maxsize=32)
def _message_tokens(content: str) -> int:
    """The instructions are the same in prompt after prompt, and most of it."""
    return tokens.count(content)


@dataclass(frozen=True, slots=True)
class Counted:
    """A count to use, and what was wrong with the one that the server gave."""

    tokens: int
    problem: str = ""


def counted(said: object, own: int, what: str) -> Counted:
    """The count of a server, or our own where it gives none or one that cannot be. `what` is counted."""
    if said is None or (said == 0 and type(said) is int):
        return Counted(own)
    if type(said) is int and 0 < said <= MOST_CREDIBLE:
        return Counted(said)
    return Counted(own, f"it counted {str(said)[:_SHOWN]} {what}, which cannot be; {own:,} were counted here instead")


def _at_least(prompt: Prompt, reply: Reply) -> Reply:
    """The reply with what is booked for it: as it says, and no less than half of what is counted here."""
    sent, written = prompt_tokens(prompt), tokens.count(reply.text)
    taken = counted(reply.tokens_in, sent, "tokens of the prompt")
    given = counted(reply.tokens_out, written, "tokens of the reply")
    problems = (*reply.problems, *(one.problem for one in (taken, given) if one.problem))
    return replace(
        reply,
        tokens_in=max(taken.tokens, sent // 2),
        tokens_out=max(given.tokens, written // 2),
        problems=problems,
    )


@dataclass(frozen=True)
class CountedLLM(ReplyWrapper):
    """A chat model whose replies state what is booked for them. `doubted` is called with counts of the server that
    cannot be right."""

    doubted: Callable[[str], None] = field(default=lambda _: None, repr=False)

    async def _received(self, prompt: Prompt, purpose: Purpose, reply: Reply, *, begun: bool) -> Reply:
        counted_reply = _at_least(prompt, reply)
        for problem in counted_reply.problems:
            self.doubted(f"{self.model}: {problem}.")
        return counted_reply
