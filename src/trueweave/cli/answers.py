"""Answers for people to read: what they cite, what nothing supports, and what they took."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from trueweave.cli import evidence as finding
from trueweave.cli.evidence import one_line
from trueweave.cli.output import count, indented, marked
from trueweave.types import money

if TYPE_CHECKING:
    from trueweave.evidence import Answer, Citation, Evidence, Sentence, Support, Usage

_REASONS: dict[Support, str] = {
    "uncited": "no citation",
    "unknown mark": "there is no such passage",
    "misquoted": "the quote is not in the passage",
    "unsupported": "the passage does not say it",
}
_LONGEST_QUOTE = 400


def citations(found: Sequence[Citation]) -> list[RenderableType]:
    """What is cited: each page or section of a passage once, with all that is quoted from it."""
    by_place: defaultdict[tuple[int, str], list[Citation]] = defaultdict(list)
    for one in sorted(found, key=lambda one: (one.mark, one.start)):
        by_place[one.mark, one.source].append(one)
    parts: list[RenderableType] = []
    for (mark, source), cited in by_place.items():
        parts.append(Text.assemble((f"[{mark}] ", "cyan"), (one_line(source), "bold")))
        parts += finding.also(cited[0].passage)
        parts += [indented(_quote(one)) for one in cited]
    return ["", *parts] if parts else []


def doubts(answer: Answer) -> list[RenderableType]:
    """The sentences that no passage supports, each with the reason. That the documents do not say something is none."""
    found = list(answer.doubtful)
    if not answer.known and found and found[0] is answer.sentences[0] and found[0].support == "uncited":
        found = found[1:]
    if not found:
        return []
    return ["", marked("Not supported by any passage:"), *(indented(_doubt(one)) for one in found)]


def took(evidence: Evidence, usage: Usage, currency: str, seconds: float | None = None) -> Text:
    """One quiet line: the method, what it found, how long it took, and what models were given for it."""
    trace = evidence.trace
    method = " → ".join([trace.method, *(step.best[0].item for step in trace.steps if step.what == "chose")])
    found = f"{method}: {count(len(evidence.passages), 'passage')} in {1000 * trace.seconds:,.0f} ms"
    answered = [f"answered in {seconds:.1f} s"] if seconds is not None else []
    return Text(", ".join([found, *answered, *spent(usage, currency)]), style="dim")


def spent(usage: Usage, currency: str) -> list[str]:
    """What models took, in words; nothing where none was asked."""
    words = [count(usage.calls, "call"), f"{usage.tokens_in + usage.tokens_out:,} tokens"] if usage.calls else []
    if usage.calls and usage.price != 0:
        words.append("price not known" if usage.price is None else money(usage.price, currency))
    kept = f"{usage.kept:,} {'reply' if usage.kept == 1 else 'replies'} kept from before"
    return [*words, *([kept] if usage.kept else [])]


def as_json(answer: Answer, *, is_answered: bool) -> dict[str, object]:
    """An answer for programs. `answer` and `known` are null where nobody was asked."""
    return {
        "question": answer.question,
        "method": answer.evidence.trace.method,
        "answer": answer.text if is_answered else None,
        "known": answer.known if is_answered else None,
        "number": answer.number,
        "reasoning": answer.reasoning,
        "finish": answer.finish,
        "citations": [_cited(one) for one in answer.citations],
        "sentences": [{**asdict(one), "supported": one.supported} for one in answer.sentences],
        "context": answer.context,
        "evidence": finding.answer(answer.evidence),
        "trace": finding.trace_answer(answer.evidence.trace),
        "usage": answer.usage,
    }


def _cited(one: Citation) -> dict[str, object]:
    passage = one.passage
    place: dict[str, object] = {"uri": passage.uri, "title": passage.title, "page": one.page, "headings": one.headings}
    words = {"quote": one.quote, "start": one.start, "end": one.end, "verbatim": one.verbatim}
    return {
        "mark": one.mark,
        "passage": passage.id,
        "source": one.source,
        **place,
        **words,
        "also": [copy.uri for copy in passage.also],
    }


def _quote(one: Citation) -> str:
    quoted = f"“{one_line(one.quote, _LONGEST_QUOTE)}”"
    return quoted if one.verbatim else f"nearest: {quoted}"


def _doubt(sentence: Sentence) -> str:
    return f"{one_line(sentence.text, _LONGEST_QUOTE)}  ({_REASONS.get(sentence.support, sentence.support)})"
