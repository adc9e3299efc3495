"""Descriptions of pictures: a model describes each picture of a document, and the description becomes a part of its
text. See docs/adr/0046-pictures.md."""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from trueweave.core.errors import BadReply
from trueweave.core.evidence import place_at
from trueweave.core.model_calls import Image, Message, Prompt, Purpose
from trueweave.core.protocols import LLM, forget_reply
from trueweave.core.record import Picture, Source
from trueweave.models.prompts import BUILT_IN, PromptSet
from trueweave.text.names import key, storable

MAX_TOKENS = 600
EXPECTED_TOKENS = 150  # of a description

_LINE_END = re.compile(r"\s*\n\s*")


class PictureDescriber:
    """Describes the pictures of documents. The prompt depends on the picture alone, so the same picture is described
    and paid for once."""

    def __init__(self, llm: LLM, prompts: PromptSet = BUILT_IN) -> None:
        self._llm = llm
        self._prompts = prompts

    async def describe(self, source: Source) -> Source:
        """The document with descriptions in its text. A picture that the model declines to describe keeps its caption,
        and a note says so; other errors are raised."""
        replies = await asyncio.gather(
            *(self._described(picture, source.uri) for picture in source.pictures), return_exceptions=True
        )
        problems: dict[int, str] = {}
        texts: list[str] = []
        for n, reply in enumerate(replies):
            if isinstance(reply, BadReply):
                problems[n] = str(reply)
            elif isinstance(reply, BaseException):
                raise reply
            texts.append(reply if isinstance(reply, str) else "")
        made = with_descriptions(source, texts)
        return replace(made, notes=(*made.notes, *_notes(source, problems)))

    async def _described(self, picture: Picture, uri: str) -> str:
        prompt = picture_prompt(picture, self._prompts)
        hash_ = key("picture", picture.data.hex())
        reply = await self._llm.complete(prompt, Purpose("describe", uri, hash_))
        text = _LINE_END.sub("\n", storable(reply.text).strip())
        if not text:
            await forget_reply(self._llm, prompt)
            raise BadReply(f"{self._llm.model} sent an empty description")
        return text


def picture_prompt(picture: Picture, prompts: PromptSet = BUILT_IN) -> Prompt:
    """The prompt for a description."""
    return Prompt((Message("user", prompts.load("describe").text, (prompt_image(picture),)),), MAX_TOKENS)


def prompt_image(picture: Picture) -> Image:
    """The picture as an image in a prompt."""
    return Image(picture.media_type, picture.data, picture.width, picture.height)


def with_descriptions(source: Source, texts: Sequence[str]) -> Source:
    """The document with the description of each picture behind its caption; the places behind are moved."""
    added = [f"\n{text}" if text else "" for text in texts]
    lengths = [0, *accumulate(map(len, added))]
    ends = [picture.end for picture in source.pictures]
    pieces = zip([0, *ends], [*ends, len(source.text)], ["", *added], strict=True)
    text = "".join(before + source.text[start:end] for start, end, before in pieces)

    def moved(at: int) -> int:
        return at + lengths[sum(end <= at for end in ends)]

    places = [
        replace(place, start=moved(place.start), end=None if place.end is None else moved(place.end))
        for place in source.places
    ]
    return replace(source, text=text, places=tuple(places), pictures=())


def _notes(source: Source, problems: dict[int, str]) -> list[str]:
    """One note for each reason, with the pages."""
    pages: dict[str, list[str]] = defaultdict(list)
    for n, problem in problems.items():
        page, _ = place_at(source.places, source.pictures[n].start)
        pages[problem].append(f"{n + 1} (page {page})" if page else str(n + 1))
    return [
        f"{'pictures' if len(where) > 1 else 'picture'} {', '.join(where)} could not be described: {problem}"
        for problem, where in pages.items()
    ]
