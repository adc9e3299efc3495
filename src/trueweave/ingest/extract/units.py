"""Units: neighbouring chunks that a model reads together, and which chunk each finding belongs to.

Retrieval wants small chunks, and extraction a text long enough to tell who "she" is. So chunks are put together for the
model, and its findings are divided among them again: each mention belongs to the chunks that have the name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, islice, takewhile
from uuid import UUID

from trueweave.core.record import Chunk, Extraction, Link, Mention, Source
from trueweave.ingest.extract.spans import Finder
from trueweave.text.names import key, tidy

_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Unit:
    """Neighbouring chunks of a document, as one text."""

    text: str
    start: int
    chunks: tuple[Chunk, ...]

    @property
    def tokens(self) -> int:
        """The tokens of its chunks; those of an overlap count twice."""
        return sum(chunk.tokens for chunk in self.chunks)

    @property
    def hashes(self) -> tuple[UUID, tuple[UUID, ...]]:
        """The hash of the text, and if it is made of several chunks, theirs."""
        several = self.chunks if len(self.chunks) > 1 else ()
        return key("text", self.text), tuple(key("text", chunk.text) for chunk in several)

    def divided(self, found: Extraction) -> list[Extraction]:
        """What was found in the text, for each of its chunks.

        A mention belongs to every chunk that has the name, with its positions there, and its description to the one
        of them that it has the most words in common with. A name that no chunk has, and a relation, belong to one
        chunk, chosen in the same way; a relation to a chunk that mentions both its ends, if there is one.
        """
        if len(self.chunks) == 1:
            return [found]
        sharing = _Sharing(self.chunks)
        for mention in found.mentions:
            sharing.add_mention(mention)
        for link in found.links:
            sharing.add_link(link)
        return [
            Extraction(tuple(mentions), tuple(links), () if n else found.notes)
            for n, (mentions, links) in enumerate(zip(sharing.mentions, sharing.links, strict=True))
        ]


def units(source: Source, chunks: Sequence[Chunk], size: int) -> list[Unit]:
    """All chunks, in order, in units of at most `size` tokens, or of a single chunk; with 0, each chunk by itself.

    Where a unit ends, between half that size and all of it, is chosen by the hash of the chunk that follows. So after a
    change to a document most units are the same as before, and the model is not asked about them again.
    """
    made: list[Unit] = []
    begin = 0
    while begin < len(chunks):
        ends = _ends(chunks, begin, size)
        end = ends[-1] if ends[-1] == len(chunks) else min(ends, key=lambda end: key("text", chunks[end].text))
        together = tuple(chunks[begin:end])
        start, last = together[0].start, max(chunk.end for chunk in together)
        text = source.text[start:last] if len(together) > 1 else together[0].text
        made.append(Unit(text, start, together))
        begin = end
    return made


def _ends(chunks: Sequence[Chunk], begin: int, size: int) -> list[int]:
    """Where a unit that begins here may end, in order."""
    sums = accumulate(chunk.tokens for chunk in islice(chunks, begin, None))
    fitting = list(takewhile(lambda one: one[1] <= size, enumerate(sums, begin + 1))) if size else []
    return [end for end, tokens in fitting if 2 * tokens >= size] or [fitting[-1][0] if fitting else begin + 1]


class _Sharing:
    """Divides findings among the chunks of a unit."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self.mentions: list[list[Mention]] = [[] for _ in chunks]
        self.links: list[list[Link]] = [[] for _ in chunks]
        self._finders = [Finder(chunk.text) for chunk in chunks]
        self._words = [_words(chunk.text) for chunk in chunks]
        self._chunks_of: dict[str, list[int]] = {}
        self._types: dict[str, str] = {}

    def add_mention(self, mention: Mention) -> None:
        """Add a mention to each chunk that has its name."""
        spans = [finder.find(mention.name) for finder in self._finders]
        having = [n for n, some in enumerate(spans) if some]
        about = self._closest(f"{mention.name} {mention.description}", having)
        for n in having or [about]:
            said = mention.description if n == about else ""
            self.mentions[n].append(replace(mention, spans=spans[n], description=said))
        self._chunks_of.setdefault(tidy(mention.name), having or [about])
        self._types.setdefault(tidy(mention.name), mention.type)

    def add_link(self, link: Link) -> None:
        """Add a relation to one chunk. Its ends keep the types that the unit gave them, as that chunk need not mention
        both."""
        source, target = (self._chunks_of.get(tidy(end), []) for end in (link.source, link.target))
        both = [n for n in source if n in target]
        n = self._closest(f"{link.source} {link.target} {link.description}", both or sorted({*source, *target}))
        types = [self._types.get(tidy(end), "") for end in (link.source, link.target)]
        self.links[n].append(
            replace(link, source_type=link.source_type or types[0], target_type=link.target_type or types[1])
        )

    def _closest(self, said: str, among: Sequence[int]) -> int:
        """The first of the chunks that have the most words in common with what was said; of all chunks if empty."""
        words = _words(said)
        return max(among or range(len(self._words)), key=lambda n: len(words & self._words[n]))


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))
