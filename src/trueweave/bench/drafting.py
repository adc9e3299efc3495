"""Questions from sentences, by rules: what a sentence says, with a name or number left out, and questions that need a
second document because a name in one is only described, by what the other says about it.

The questions are English, and their words are those of the documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trueweave.bench.drafts import ONE, TWO, Draft, Quote
from trueweave.core.record import Span
from trueweave.store.postgres.view.sampling import SampledText
from trueweave.text import sentences, words
from trueweave.text.stopwords import NEVER_ALONE

_SHORTEST, _LONGEST = 25, 220  # characters of a sentence
_NEAR = 60  # characters between the name that connects two documents and the answer
_LONG_QUOTE = 120  # characters, above which only the clauses around the gap are quoted
_LEAST_WORDS = 4  # content words of such clauses
_GAP = "…"
_END = re.compile(r"[.!]\Z")
_MARKUP = re.compile(rf"[|#*_`\[\]{{}}<>\n“”\"{_GAP}]|https?:|\bX\b")
_ARTICLE = re.compile(r"(?:The|A|An) ")
_CLAUSE = re.compile(r"[,;:] ")
_NUMBER = re.compile(r"(?<![\w.,:/–-])\d(?:[\d.,:/-]*\d)?(?![\w:/–-])")
_YEAR = re.compile(r"(?:1\d|20)\d\d\Z")
_AUXILIARY = (
    r"is|was|are|were|has|had|have|can|could|may|might|must|will|would|shall|should|does|did|became|began|bought|bound|"
    r"broke|brought|built|came|chose|drew|drove|fell|found|gave|grew|ground|held|hit|kept|knew|led|left|lost|made|met|"
    r"paid|ran|rose|said|sat|saw|sent|sold|spent|stood|taught|thought|told|took|went|won|wore|wrote"
)
_VERB = re.compile(rf" (?:{_AUXILIARY}|[a-z]{{2,}}ed|[a-z]{{2,}}[b-rt-z]s)(?! (?:is|are|was|were)\b)\b")
# Sentences with these words say something only together with those around them.
_POINTING = re.compile(
    r"\b(?:he|she|it|they|him|her|his|hers|its|them|their|we|us|our|i|my|you|your|this|these|those|such|there|here|above|"
    r"below|former|latter|following|previous)\b",
    re.IGNORECASE,
)


class _Sentence(NamedTuple):
    """A sentence as it stands in its document, and without its full stop."""

    quote: Quote
    text: str


def from_one(sampled: SampledText) -> Iterator[Draft]:
    """Questions that a sentence of this text answers."""
    for quote, text in _sentences(sampled):
        for start, end in _answers(text, sampled.names):
            if _content(text, 0, len(text), (start, end)) < _LEAST_WORDS:
                continue
            if start == _after_article(text) and _VERB.match(text, end):
                question = f"Who or what{text[end:]}?"
            else:
                question = f"Which {_kind(text[start:end])} is missing in “{_with_gap(text, (start, end))}”?"
            yield Draft(question, text[start:end], ONE, (quote,))


def from_two(first: SampledText, second: SampledText) -> Iterator[Draft]:
    """Questions that a sentence of the second text answers about the name that both were chosen for, which the question
    only describes, by a sentence of the first text."""
    for known in _sentences(first):
        described = _all(known.text, first.name)
        if len(described) != 1 or _content(known.text, 0, len(known.text), described[0]) < _LEAST_WORDS:
            continue
        for told in _sentences(second):
            for bridge in _all(told.text, second.name)[:1]:
                for answer in _answers(told.text, second.names):
                    if _are_near(told.text, bridge, answer):
                        question = _question(known.text, described[0], told.text, bridge, answer)
                        quotes = (known.quote, told.quote)
                        yield Draft(question, told.text[slice(*answer)], TWO, quotes, second.name)


def _sentences(sampled: SampledText) -> Iterator[_Sentence]:
    """The sentences that say something by themselves."""
    spans = sentences.split(sampled.text)
    cut_first, cut_last = sampled.is_cut
    for start, end in spans[1 if cut_first else 0 : len(spans) - 1 if cut_last else len(spans)]:
        whole = sampled.text[start:end]
        text = _END.sub("", whole)
        is_plain = text != whole and text[:1].isupper() and not _MARKUP.search(text) and not _POINTING.search(text)
        if is_plain and _SHORTEST <= len(text) <= _LONGEST:
            yield _Sentence(Quote(sampled.uri, whole), text)


def _answers(sentence: str, names: Sequence[str]) -> list[Span]:
    """The names and numbers of a sentence. Of names that overlap, only the longest is taken."""
    found = [span for name in names for span in _all(sentence, name)]
    found += [match.span() for match in _NUMBER.finditer(sentence)]
    inside = {one for one in found for other in found if one != other and other[0] <= one[0] and one[1] <= other[1]}
    return sorted(span for span in set(found) - inside if sentence[slice(*span)].lower() not in NEVER_ALONE)


def _kind(answer: str) -> str:
    return "year" if _YEAR.match(answer) else "number" if _NUMBER.fullmatch(answer) else "name"


def _with_gap(sentence: str, gap: Span) -> str:
    """The sentence with a gap; of a long one, the clauses around the gap."""
    start, end = gap
    if len(sentence) > _LONG_QUOTE:
        borders = [0, *(match.end() for match in _CLAUSE.finditer(sentence)), len(sentence)]
        first = max(at for at, border in enumerate(borders) if border <= start)
        last = min(at for at, border in enumerate(borders) if border >= end)
        while (first, last) != (0, len(borders) - 1) and _content(
            sentence, borders[first], borders[last], gap
        ) < _LEAST_WORDS:
            first, last = max(first - 1, 0), min(last + 1, len(borders) - 1)
        begin, behind = borders[first], borders[last]
    else:
        begin, behind = 0, len(sentence)
    return f"{sentence[begin:start]}{_GAP}{sentence[end:behind]}".strip(" ,;:")


def _content(sentence: str, begin: int, behind: int, gap: Span) -> int:
    return len(words.content(f"{sentence[begin : gap[0]]} {sentence[gap[1] : behind]}"))


def _are_near(sentence: str, bridge: Span, answer: Span) -> bool:
    """Whether the answer stands near the name, and what is between them says something."""
    between = sentence[bridge[1] : answer[0]] if bridge[1] <= answer[0] else sentence[answer[1] : bridge[0]]
    is_whole = between.count("(") == between.count(")")
    return 0 < len(between) <= _NEAR and is_whole and bool(words.content(between))


def _question(known: str, described: Span, told: str, bridge: Span, answer: Span) -> str:
    """The question for the answer, with the name only described. Only what stands between the two is quoted from the
    sentence that answers, or that could be found without knowing the name."""
    is_subject = described[0] == _after_article(known) and _VERB.match(known, described[1])
    kind = _kind(told[slice(*answer)])
    if is_subject and bridge[0] == _after_article(told) and _VERB.match(told, bridge[1]) and kind != "number":
        asked = "which year" if kind == "year" else "what"
        return f"The one that{known[described[1] :]}{told[bridge[1] : answer[0]]}{asked}?"
    if is_subject and answer[0] == _after_article(told) and _VERB.match(told, answer[1]) and answer[1] <= bridge[0]:
        return f"Who or what{told[answer[1] : bridge[0]]}the one that{known[described[1] :]}?"
    first = f"{known[: described[0]]}X{known[described[1] :]}"
    second = (
        f"X{told[bridge[1] : answer[0]]}{_GAP}" if bridge[1] <= answer[0] else f"{_GAP}{told[answer[1] : bridge[0]]}X"
    )
    return f"X is the same name in “{first}” and in “{second}”: which {kind} is missing?"


def _after_article(sentence: str) -> int:
    article = _ARTICLE.match(sentence)
    return article.end() if article else 0


def _all(text: str, name: str) -> list[Span]:
    """Where a name stands in a text as words of its own."""
    return [found.span() for found in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w|['’]s)", text)]
