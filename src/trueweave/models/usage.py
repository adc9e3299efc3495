"""What a call took, in tokens: as the server says, where that is possible, and never less than can be counted here.

Servers count with tokenizers that are unknown here. What is known: no tokenizer in use makes fewer than half as many
tokens of a text as OpenAI's o200k, so half of that count is booked for a prompt and a reply whatever a server says.
Counts that cannot be (no whole number, negative, more than any model takes) are not taken, and o200k's stand for them.
A count of none for a prompt means that the server does not count.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from trueweave.core.model_calls import Prompt, Reply
from trueweave.text import tokens

MOST_CREDIBLE = 10_000_000  # tokens; more than any model takes or writes at a time

_PER_MESSAGE = 4  # what a chat template puts around a message, at the least
_MOST_PER_MESSAGE = 16  # and at the most
_SHOWN = 40  # characters of a count that cannot be


def prompt_tokens(prompt: Prompt) -> int:
    """About how many tokens a prompt has, counted offline."""
    return sum(_message_tokens(message.content) + _PER_MESSAGE for message in prompt.messages)


@lru_cache(maxsize=32)
def _message_tokens(content: str) -> int:
    """The instructions are the same in prompt after prompt, and most of it."""
    return tokens.count(content)


def most_prompt_tokens(prompt: Prompt) -> int:
    """An upper bound on the tokens of a prompt: one per byte, as no byte-level tokenizer makes more."""
    return len(prompt.schema.encode()) + most_text_tokens(message.content for message in prompt.messages)


def most_text_tokens(texts: Iterable[str]) -> int:
    """An upper bound on the tokens of texts."""
    return sum(len(text.encode()) + _MOST_PER_MESSAGE for text in texts)


def text_tokens(texts: Iterable[str]) -> int:
    """How many tokens texts have, counted offline."""
    return sum(map(tokens.count, texts))


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


def with_counted_tokens(prompt: Prompt, reply: Reply) -> Reply:
    """The reply with the tokens to book for it: as the server counted, and no less than half of our own count."""
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
