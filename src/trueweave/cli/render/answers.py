"""Printing answers: their citations, the results of checking them, and their cost."""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from trueweave.cli.render.evidence import copies_line, day, text_lines
from trueweave.cli.render.lines import count, indented, next_step, one_line, warning
from trueweave.core.evidence import NO_DOCUMENTS
from trueweave.core.money import money

if TYPE_CHECKING:
    from trueweave.core.answers import Answer, Citation, Repair, Sentence
    from trueweave.core.evidence import Evidence, Usage

_LONGEST_QUOTE = 400


def citation_lines(found: Sequence[Citation]) -> list[RenderableType]:
    """The citations: each page or section of a passage once, with all quotes from it."""
    by_place: defaultdict[tuple[int, str], list[Citation]] = defaultdict(list)
    for one in sorted(found, key=lambda one: (one.number, one.start)):
        by_place[one.number, one.source].append(one)
    parts: list[RenderableType] = []
    for (number, source), cited in by_place.items():
        parts.append(Text.assemble((f"[{number}] ", "cyan"), (one_line(source), "bold"), *day(cited[0].passage)))
        parts += copies_line(cited[0].passage)
        parts += [indented(_quote(one)) for one in cited]
    return ["", *parts] if parts else []


def check_lines(answer: Answer) -> list[RenderableType]:
    """The results of checking: what was computed, what was not confirmed (with the reason and what the passage says),
    what was replaced, and the number of sentences by status."""
    return [*_computed(answer), *_unconfirmed(answer), *_repaired(answer), *_counted(answer)]


def _computed(answer: Answer) -> list[RenderableType]:
    found = [one for one in answer.sentences if one.status == "computed"]
    lines = [line for one in found for line in (indented(_claimed(one)), indented(one.reason, 4))]
    return ["", Text("Computed:"), *lines] if found else []


def _unconfirmed(answer: Answer) -> list[RenderableType]:
    lines = [line for one in answer.doubtful for line in _doubt(one)]
    return ["", warning("Not confirmed:"), *lines] if lines else []


def _repaired(answer: Answer) -> list[RenderableType]:
    if not answer.repairs:
        return []
    lines = [
        line for one in answer.repairs for line in (indented(f"was: {_claimed(one.before)}"), indented(_now(one), 4))
    ]
    return ["", Text("Repaired:"), *lines]


def _now(repair: Repair) -> str:
    return f"now: {one_line(repair.after, _LONGEST_QUOTE)}" if repair.after else f"removed: {repair.before.reason}"


def _counted(answer: Answer) -> list[RenderableType]:
    """The number of sentences by verdict, and the verifiers that checked them."""
    if not answer.checks:
        return []
    verdicts = Counter(one.verdict for one in answer.sentences if one.claims)
    failed = [warning(f"The check by {one.verifier} failed: {one.problem}") for one in answer.checks if one.problem]
    by = " and ".join(dict.fromkeys(one.verifier for one in answer.checks))
    told = ", ".join(f"{number} {verdict}" for verdict, number in verdicts.items())
    return ["", *failed, Text(f"Checked by {by}: {told}", style="dim")]


def cost_line(evidence: Evidence, usage: Usage, currency: str, seconds: float | None = None) -> Text:
    """One dim line: the method, what it found, how long it took, and the usage of models."""
    trace = evidence.trace
    method = " → ".join([trace.method, *(step.best[0].item for step in trace.steps if step.what == "chose")])
    found = f"{method}: {count(len(evidence.passages), 'passage')} in {1000 * trace.seconds:,.0f} ms"
    answered = [f"answered in {seconds:.1f} s"] if seconds is not None else []
    return Text(", ".join([found, *answered, *usage_words(usage, currency)]), style="dim")


def usage_words(usage: Usage, currency: str) -> list[str]:
    """The usage of models, in words; empty if none was called."""
    words = [count(usage.calls, "call"), f"{usage.tokens_in + usage.tokens_out:,} tokens"] if usage.calls else []
    if usage.calls and usage.price != 0:
        words.append("price not known" if usage.price is None else money(usage.price, currency))
    kept = f"{usage.kept:,} {'reply' if usage.kept == 1 else 'replies'} from the cache"
    return [*words, *([kept] if usage.kept else [])]


def _quote(one: Citation) -> str:
    quoted = f"“{one_line(one.quote, _LONGEST_QUOTE)}”"
    return quoted if one.verbatim else f"nearest: {quoted}"


def _doubt(sentence: Sentence) -> list[RenderableType]:
    says = [indented(f"the passage says: “{one_line(sentence.basis, _LONGEST_QUOTE)}”", 4)] if sentence.basis else []
    return [indented(_claimed(sentence)), indented(sentence.finding, 4), *says]


def _claimed(sentence: Sentence) -> str:
    return one_line(sentence.text, _LONGEST_QUOTE)


def answer_notes(answer: Answer) -> list[RenderableType]:
    """What is printed under an answer."""
    text: list[RenderableType] = []
    if answer.finish == "length":
        text += ["", warning("The answer was cut off: it is as long as max_answer_tokens in the settings allows.")]
    cited = citation_lines(answer.citations)
    return [*text, *_reasoning(answer), *cited, *check_lines(answer), *_disagreements(answer)]


def _disagreements(answer: Answer) -> list[RenderableType]:
    """What sources disagree about, with the documents of each side."""
    if not answer.disagreements:
        return []
    lines = [indented(one_line(one.line, _LONGEST_QUOTE)) for one in answer.disagreements]
    return ["", warning("Sources disagree:"), *lines, next_step("trueweave conflicts", "shows what they say")]


def no_answer_lines(answer: Answer, *, context_only: bool, show_evidence: bool) -> list[RenderableType]:
    """What is shown if no model was called: the whole context, or the passages."""
    if not answer.evidence:
        return [
            warning(f"Nothing was found: {answer.evidence.reason}" if answer.evidence.reason else "Nothing was found.")
        ]
    if context_only:
        return [Text(answer.context)]
    return [] if show_evidence else text_lines(answer.evidence, answer.question)


def _reasoning(answer: Answer) -> list[RenderableType]:
    if not answer.reasoning:
        return []
    return ["", Text("Reasoning", style="bold"), *(indented(line) for line in answer.reasoning.splitlines())]


def answer_advice(answer: Answer, *, is_answered: bool, is_filtered: bool, show_evidence: bool) -> list[RenderableType]:
    """What to do next, if there is anything."""
    question = shlex.quote(answer.question)
    if not answer.evidence and is_filtered:
        return [Text("Check --document and --where: only what they let through was looked at.")]
    others = next_step(f"trueweave compare {question}", "shows what other methods find")
    if not answer.evidence:
        if answer.evidence.reason == NO_DOCUMENTS:
            return [next_step("trueweave add PATH")]
        return [others, next_step("trueweave documents", "shows which documents are there")]
    if not is_answered:
        how = 'For a written answer, set a language model in trueweave.toml, as in model = "ollama/llama3.1:8b".'
        return [Text(how)]
    if answer.known:
        return []
    if show_evidence:
        return [others]
    return [next_step(f"trueweave ask {question} --show-evidence", "shows what was found"), others]
