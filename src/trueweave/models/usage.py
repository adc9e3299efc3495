"""Token counts of calls: bounds before a call, and afterwards the server's count within limits.

We do not know the tokenizer of a server, but no tokenizer in use makes fewer than half as many tokens of a text as
OpenAI's o200k. So at least half of o200k's count is booked for a prompt and a reply. An impossible count (not an
integer, negative, more than any model takes) is replaced by o200k's, and so is zero for a prompt: that server does not
count.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil

from trueweave.core.model_calls import Image, Prompt, Reply
from trueweave.text import tokens

MOST_CREDIBLE = 10_000_000  # tokens; more than any model takes or writes at once

_PER_MESSAGE = 4  # what a chat template adds to a message, at least
_MOST_PER_MESSAGE = 16  # and at most
_SHOWN = 40  # characters shown of an impossible count
_PIXELS_PER_TOKEN = 750  # of an image, for most models
# The most expensive way to count an image: that of OpenAI's small models, by squares of this many pixels.
_SQUARE, _SHORT_SIDE = 512, 768
_MOST_PER_SQUARE, _MOST_PER_IMAGE = 5_667, 2_833


def prompt_tokens(prompt: Prompt) -> int:
    """The approximate number of tokens of a prompt, counted offline."""
    images = (image for message in prompt.messages for image in message.images)
    return text_prompt_tokens(prompt) + sum(map(image_tokens, images))


def image_tokens(image: Image) -> int:
    """The approximate number of tokens of an image; models differ by more than for text."""
    return ceil(image.width * image.height / _PIXELS_PER_TOKEN)


def _most_image_tokens(image: Image) -> int:
    scale = min(1, _SHORT_SIDE / max(min(image.width, image.height), 1))
    squares = ceil(image.width * scale / _SQUARE) * ceil(image.height * scale / _SQUARE)
    return _MOST_PER_IMAGE + squares * _MOST_PER_SQUARE


def text_prompt_tokens(prompt: Prompt) -> int:
    """The approximate number of tokens of the text of a prompt, without images."""
    return sum(_message_tokens(message.content) + _PER_MESSAGE for message in prompt.messages)


@lru_cache(maxsize=32)
def _message_tokens(content: str) -> int:
    """Cached, because most of a prompt is instructions, which are the same in all prompts."""
    return tokens.count(content)


def most_prompt_tokens(prompt: Prompt) -> int:
    """An upper bound on the tokens of a prompt: one per byte, as no byte-level tokenizer makes more, and those of
    images as the most expensive models count them."""
    images = sum(_most_image_tokens(image) for message in prompt.messages for image in message.images)
    return len(prompt.schema.encode()) + most_text_tokens(message.content for message in prompt.messages) + images


def most_text_tokens(texts: Iterable[str]) -> int:
    """An upper bound on the tokens of texts."""
    return sum(len(text.encode()) + _MOST_PER_MESSAGE for text in texts)


def text_tokens(texts: Iterable[str]) -> int:
    """The number of tokens of texts, counted offline."""
    return sum(map(tokens.count, texts))


@dataclass(frozen=True, slots=True)
class Counted:
    """A count to use, and what was wrong with the server's count."""

    tokens: int
    problem: str = ""


def counted(said: object, own: int, what: str) -> Counted:
    """The server's count, or our own if it has none or an impossible one. `what` names the tokens in the problem."""
    if said is None or (said == 0 and type(said) is int):
        return Counted(own)
    if type(said) is int and 0 < said <= MOST_CREDIBLE:
        return Counted(said)
    return Counted(own, f"it counted {str(said)[:_SHOWN]} {what}, which cannot be; {own:,} were counted here instead")


def with_counted_tokens(prompt: Prompt, reply: Reply) -> Reply:
    """The reply with the tokens to book for it: as the server counted, but at least half of our own count."""
    sent, written = prompt_tokens(prompt), tokens.count(reply.text)
    taken = counted(reply.tokens_in, sent, "tokens of the prompt")
    given = counted(reply.tokens_out, written, "tokens of the reply")
    problems = (*reply.problems, *(one.problem for one in (taken, given) if one.problem))
    return replace(
        reply,
        tokens_in=max(taken.tokens, text_prompt_tokens(prompt) // 2),
        tokens_out=max(given.tokens, written // 2),
        problems=problems,
    )
