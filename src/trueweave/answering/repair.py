"""Repair: sentences that the check does not confirm are sent to the model once more, in one call.

A new sentence replaces an old one only if the check confirms it. A sentence that the model withdraws is removed. All
others stay as they were, with their status.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from trueweave.answering import cite
from trueweave.answering.check import Checked, conclude
from trueweave.answering.citation_parser import CitationParser, parse
from trueweave.answering.compose import Context
from trueweave.answering.conversation import usage_of
from trueweave.answering.reasoning_parser import without_reasoning
from trueweave.core.answers import Check, Citation, Repair, Sentence
from trueweave.core.errors import TrueweaveError
from trueweave.core.evidence import Usage
from trueweave.core.model_calls import Message, Prompt, Purpose
from trueweave.core.protocols import LLM, Verifier
from trueweave.models.prompts import BUILT_IN, PromptSet, fence

NAME = "repair"  # the name under which its cost is listed among the checks
MOST_SENTENCES = 30  # sent to the model at once

_LINE = re.compile(r"^[ \t]*(\d{1,3})[.:)][ \t]*(.*)$", re.MULTILINE)
_WITHDRAWN = re.compile(r"(?:none|-|)[.]?\s*\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Repaired:
    """An answer after repair: text, sentences, citations and checks, and what was replaced."""

    text: str
    checked: Checked
    repairs: tuple[Repair, ...]


async def repair(
    text: str,
    checked: Checked,
    context: Context,
    asked: str,
    llm: LLM,
    verifiers: Sequence[Verifier],
    max_tokens: int,
    prompts: PromptSet = BUILT_IN,
) -> Repaired:
    """The answer with its doubtful sentences rewritten where that helps; unchanged if the model call fails, which the
    checks record."""
    places = [at for at, one in enumerate(checked.sentences) if one.doubtful][:MOST_SENTENCES]
    if not places:
        return Repaired(text, checked, ())
    doubtful = [checked.sentences[at] for at in places]
    begun, usage, problem = time.perf_counter(), Usage(), ""
    written: Mapping[int, str] = {}
    try:
        instructions = prompts.load("repair_answer").text
        prompt = _prompt(instructions, doubtful, context, asked, max_tokens)
        reply = await llm.complete(prompt, Purpose("revise"))
        usage, written = usage_of(reply), _read(reply.text)
    except TrueweaveError as error:
        problem = str(error)
    cost = Check(NAME, len(places), time.perf_counter() - begun, usage, problem)
    drafts = [_Draft(place, parse(written[number])) for number, place in enumerate(places, 1) if number in written]
    accepted, checks = await _accepted(drafts, context, asked, verifiers)
    made = _assembled(text, checked, accepted)
    return replace(made, checked=replace(made.checked, checks=(*checked.checks, cost, *checks)))


def _prompt(instructions: str, doubtful: Sequence[Sentence], context: Context, asked: str, max_tokens: int) -> Prompt:
    listed = "\n".join(
        f"{number}: {' '.join(one.text.split())}\n   Problem: {one.status}" + (f", {one.reason}" if one.reason else "")
        for number, one in enumerate(doubtful, 1)
    )
    shown = f"{context.text}\n\nQuestion: {asked}\n\nSentences to correct:\n{fence(listed)}"
    return Prompt((Message("system", instructions), Message("user", shown)), max_tokens)


def _read(reply: str) -> dict[int, str]:
    """The new sentences of a reply by number; empty for those that the model withdraws."""
    lines = _LINE.findall(without_reasoning(reply))
    return {int(number): "" if _WITHDRAWN.match(line) else line.strip() for number, line in lines}


@dataclass(frozen=True, slots=True)
class _Draft:
    """A sentence that may replace another."""

    place: int
    marks: CitationParser


@dataclass(frozen=True, slots=True)
class _Accepted:
    text: str
    sentences: tuple[Sentence, ...]
    citations: tuple[Citation, ...]


async def _accepted(
    drafts: Sequence[_Draft], context: Context, asked: str, verifiers: Sequence[Verifier]
) -> tuple[dict[int, _Accepted], tuple[Check, ...]]:
    """The drafts that the check confirms, and withdrawn sentences, by the place of the sentence they replace."""
    cited = [cite.read(one.marks.text, one.marks.marks, context.passages, asked) for one in drafts]
    concluded, checks = await conclude(cited, verifiers)
    accepted = {}
    for draft, found, made in zip(drafts, cited, concluded, strict=True):
        if not any(one.doubtful for one in made):
            citations = tuple(citation for one in found for citation in one.citations)
            accepted[draft.place] = _Accepted(draft.marks.text, tuple(made), citations)
    return accepted, checks


def _assembled(text: str, checked: Checked, accepted: Mapping[int, _Accepted]) -> Repaired:
    """The answer with accepted sentences in place of those they replace."""
    parts: list[str] = []
    made: list[Sentence] = []
    repairs: list[Repair] = []
    length = end = 0
    for place, sentence in enumerate(checked.sentences):
        new = accepted.get(place)
        if new is None or new.text:
            gap = text[end : sentence.start] if length else text[end : sentence.start].lstrip()
            parts.append(gap)
            length += len(gap)
        if new is None:
            made.append(replace(sentence, start=length, end=length + len(sentence.text)))
        else:
            repairs.append(Repair(sentence, new.text))
            made += [replace(one, start=length + one.start, end=length + one.end) for one in new.sentences]
        written = sentence.text if new is None else new.text
        parts.append(written)
        length += len(written)
        end = sentence.end
    parts.append(text[end:])
    numbers = {number for one in made for number in one.citations}
    citations = [
        *(one for one in checked.citations if one.number in numbers),
        *(citation for one in accepted.values() for citation in one.citations),
    ]
    whole = replace(checked, sentences=tuple(made), citations=cite.distinct(citations))
    return Repaired("".join(parts), whole, tuple(repairs))
