"""Summarises long descriptions: a language model condenses many mentions of an entity into one paragraph."""

from __future__ import annotations

import re

from trueweave.core.errors import BadReply
from trueweave.core.model_calls import Message, Prompt, Purpose
from trueweave.core.protocols import LLM, forget_reply
from trueweave.models.prompts import BUILT_IN, PromptSet, fence
from trueweave.text.names import tidy

MAX_TOKENS = 400

_UP_TO_LAST_SENTENCE = re.compile(r".*[.!?…。！？][\"'”’»)\]」』]*(?=\s|\Z|(?<=[。！？」』]))", re.DOTALL)


class Summariser:
    """Writes one short description from several.

    The prompt depends only on the name and the descriptions, so equal ones are sent and paid for once.
    """

    def __init__(self, llm: LLM, max_tokens: int = MAX_TOKENS, prompts: PromptSet = BUILT_IN) -> None:
        self._llm = llm
        self._instructions = prompts.load("summarise").text
        self._max_tokens = max_tokens

    async def summarise(self, name: str, descriptions: str, purpose_document: str = "") -> str:
        """A description in a few sentences. One that was cut off ends with its last whole sentence.

        BadReply if there is no whole sentence.
        """
        messages = (
            Message("system", self._instructions),
            Message("user", fence(f"{name}\n\n{descriptions}")),
        )
        prompt = Prompt(messages, self._max_tokens)
        reply = await self._llm.complete(prompt, Purpose("summarise", purpose_document))
        text = tidy(reply.text)
        if reply.finish == "length":
            whole = _UP_TO_LAST_SENTENCE.match(text)
            text = whole[0] if whole else ""
        if not text:
            await forget_reply(self._llm, prompt)
            raise BadReply(
                f"{self._llm.model} wrote no whole sentence as a summary of {name!r} within {self._max_tokens} tokens; "
                f"its reply begins {reply.text[:200]!r}. Allow it more tokens, or try another model."
            )
        return text
