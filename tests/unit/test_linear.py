"""Every function that reads text takes time in proportion to it, whatever is in the text.

Each is given texts that were made to keep it busy. In the short form these are as long as it reads in a moment, and
longer where one takes much more than an ordinary text; in the full form 1, 2 and 4 MB. Twice the text may take a bit
more than twice the time.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from uuid import UUID

import pytest

from trueweave import Message, Passage, Source
from trueweave.answering import quotes
from trueweave.answering.check import check
from trueweave.answering.citation_parser import CitationParser
from trueweave.answering.conversation import trimmed
from trueweave.answering.numbers import amount, numbers, values
from trueweave.answering.reasoning_parser import ReasoningParser
from trueweave.answering.verifiers import RulesVerifier
from trueweave.answering.verifiers.normalise import normalised
from trueweave.extend import ChunkSizes
from trueweave.ingest.extract.capitals import CapitalsExtractor
from trueweave.ingest.extract.cooccurrence import topics
from trueweave.ingest.extract.findings import ExtractionBuilder
from trueweave.ingest.extract.graph_schema import GraphSchema
from trueweave.ingest.extract.schema import Findings
from trueweave.ingest.extract.spans import Finder
from trueweave.ingest.loading import web
from trueweave.ingest.loading.markdown import headings
from trueweave.models import prompts
from trueweave.models.json_reply import Unusable, read
from trueweave.text import names, phrases, rows, sentences, tokens, words
from trueweave.text.chunking import chunk
from trueweave.text.text_builder import TextBuilder

Read = Callable[[str], object]


def _marks(text: str) -> CitationParser:
    found = CitationParser()
    found.feed(text)
    found.close()
    return found


def _thoughts(text: str) -> ReasoningParser:
    found = ReasoningParser()
    found.feed(text)
    found.close()
    return found


def _check(text: str) -> object:
    found = _marks(text)
    passage = Passage(UUID(int=1), "a.txt", "A", "Ada Lovelace wrote 3 programs. " * 5, 0, 1.0)
    return asyncio.run(check(found.text, found.marks, [passage], "Who wrote it?", [RulesVerifier()]))


def _is_cited(text: str) -> object:
    passage = Passage(UUID(int=1), "a.txt", "A", text, 0, 1.0)
    found = _marks('Ada Lovelace wrote 3 programs [1 "wrote 3 programs"]. She wrote them in London [1].')
    return asyncio.run(check(found.text, found.marks, [passage], "Who wrote it?", [RulesVerifier()]))


def _reply(text: str) -> None:
    for cut_off in (False, True):
        with contextlib.suppress(Unusable):
            read(Findings, text, cut_off=cut_off)


def _harvest(text: str) -> None:
    harvest = ExtractionBuilder(text, GraphSchema.of({"person": ""}))
    found = [{"name": name, "type": text, "description": text} for name in ("Ada Lovelace", "Zoë\u00a0Müller", text)]
    harvest.add(Findings.model_validate({"entities": found}))
    harvest.extraction(10)


def _occurrences(text: str) -> object:
    known = phrases.words(text)
    longest = {word.word: 3 for word in known}
    return phrases.occurrences(known, phrases.Vocabulary(set(phrases.candidates(known, longest)), longest))


def _title_phrases(text: str) -> object:
    phrases.phrase.cache_clear()
    return phrases.title_phrases(text)


def _capitals(text: str) -> object:
    source = Source("a", text)
    return asyncio.run(CapitalsExtractor().extract(source, chunk(source, ChunkSizes())))


READERS: dict[str, Read] = {
    "sentences.split": sentences.split,
    "sentences.cut": lambda text: sentences.cut(text, 100),
    "tokens.count": tokens.count,
    "names.tidy": names.tidy,
    "names.storable": names.storable,
    "names.normalise": names.normalise,
    "names.digits": names.digits,
    "phrases.words": phrases.words,
    "phrases.occurrences": _occurrences,
    "phrases.title_phrases": _title_phrases,
    "rows.row": rows.row,
    "chunk": lambda text: chunk(Source("a", text), ChunkSizes()),
    "web.write": lambda text: web.write(text, TextBuilder()),
    "markdown.headings": lambda text: list(headings(text, 0)),
    "capitals": _capitals,
    "nearby.topics": lambda text: topics(Source("a", text, text), chunk(Source("a", "Ada"), ChunkSizes())),
    "spans.Finder": lambda text: [Finder(text).find(name) for name in ("Ada Lovelace", "É a", "a", text[:200])],
    "lenient.read": _reply,
    "findings.ExtractionBuilder": _harvest,
    "CitationParser": _marks,
    "ReasoningParser": _thoughts,
    "Thoughts, unclosed": lambda text: _thoughts(f"<think>{text}"),
    "quotes.occurrences": lambda text: [
        quotes.occurrences(quote, text) for quote in (text[:100], "a … b … c", "a … zz", "Ada Lovelace")
    ],
    "quotes.occurrences, long": lambda text: quotes.occurrences(text, "Ada Lovelace wrote 3 programs. " * 5),
    "quotes.long_enough": quotes.long_enough,
    "numbers": numbers,
    "values": values,
    "amount": amount,
    "words.content": words.content,
    "words.names": words.names,
    "words.foreign": lambda text: words.foreign(text, "Ada Lovelace wrote it in London."),
    "check": _check,
    "check, of the passage": _is_cited,
    "normalised": normalised,
    "trimmed": lambda text: trimmed([Message("assistant", text)], 100),
    "prompts.fence": prompts.fence,
}

MADE_OF = (
    *("a", " ", "\n", ".", ". ", ".\n", "?!", "。", "…", "Abc ", "A. ", "Mr. A ", "Mr. ", "e.g. ", "and ", "a\n", "\t"),
    *('"', "'a", "“a” ", "... ", "a … b ", "[", "[1 ", '[1 "', '[1 "x" ', "[1, ", "[1]", "【1", "[0] ", "a [1]. ", "("),
    *("1", "1,111", "111 ", "-1", "1.", "1. ", "$1 ", "1 a ", "~1 a b c d ", "million ", "1 below ", "- "),
    *("<", "<a ", '<a ="', "<!--", "<![CDATA[", "<script>", "<h1>", "</", "&#", "&#x1", "<svg>", "</think", "<think>"),
    *("> ", "- ", "# ", "# [", "# a\n", "a\n===\n", "|a", "```\n", "`", "*a_", "![[", "[a](", "- a\n  "),
    *("{", '{"a":', '{"a', '{"entities":[', "[{", "\\", '"\\', "{'", "}{", "Of the ", "A of the ", "St. ", "20th "),
    *("\u200d", "e\u0301", "\u0301", "漢", "かな", "ไทย", "한국 ", "İ", "ß", "ﷺ", "é", "A-", "A'b", "A&", "a_", "(a "),
    *("\r\n", "\n\f", "a. b ", "the ", "a, ", "[1 '", '[1, 2 "', ". 漢", "万", "1 111", "½", "Ab1", "A.B."),
)  # fmt: skip

# Beginning and end of a text, and what it is made of between them.
BETWEEN = {
    "1a!": ("1", "a", "!"),
    "a b": ("a", " ", "b"),
    "a\n": ("a", "\n", ""),
    "(": ("a (", " ", "("),
    "a … z": ("a ", "a ", ""),
}

_ORDINARY = 'Ada Lovelace wrote 3 programs in London, "the first" of their kind [1 "the first"]. It was 1843.\n'
_MOMENT = 0.001  # seconds
_SLACK = 0.03
_TRIES = 5


def _made(of: str, size: int) -> str:
    begin, middle, end = BETWEEN.get(of, ("", of, ""))
    return begin + (middle * (size // len(middle) + 1))[:size] + end


def _seconds(reader: Read, text: str) -> float:
    begun = time.thread_time()
    reader(text)
    return time.thread_time() - begun


@pytest.mark.parametrize("name", READERS)
def test_time_is_in_proportion_to_the_text(name: str, full: bool) -> None:
    reader = READERS[name]
    reader(_ORDINARY)  # what is made once is made now
    sizes = (2**20, 2**21, 2**22) if full else _short(reader)
    ordinary = min(_seconds(reader, _made(_ORDINARY, sizes[0])) for _ in range(2))
    for of in (*MADE_OF, *BETWEEN):
        took = [_seconds(reader, _made(of, sizes[0]))]
        if full or took[0] > 4 * ordinary + _SLACK:
            took += (_seconds(reader, _made(of, size)) for size in sizes[1:])
        for _ in range(_TRIES):  # other programs may have slowed the processor down meanwhile
            if _is_linear(took):
                break
            took = [min(_seconds(reader, _made(of, size)) for _ in range(3)) for size in sizes]
        assert _is_linear(took), f"{name} of {of!r} at {sizes} characters: {took} s"


def _is_linear(took: Sequence[float]) -> bool:
    return all(whole < 3 * half + _SLACK for half, whole in pairwise(took))


def _short(reader: Read) -> tuple[int, int]:
    """So long a text that it is read in a moment, and one that is twice as long."""
    rate = min(_seconds(reader, _made(_ORDINARY, 2**12)) for _ in range(2)) / 2**12
    size = int(max(_MOMENT / max(rate, 2e-8), 2**12))
    return size, 2 * size
