"""Evidence and answers as JSON, for `--json` and for the server."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trueweave.core.answers import Answer, Citation, Compared, Comparison
    from trueweave.core.evidence import Evidence, Trace


def evidence_json(evidence: Evidence) -> dict[str, object]:
    """Evidence for programs, without its trace. Its items are left to the JSON encoder, to avoid a copy of everything
    for each question."""
    return {one.name: getattr(evidence, one.name) for one in fields(evidence) if one.name != "trace"}


def trace_json(found: Trace) -> dict[str, object]:
    """A trace for programs."""
    return {**{one.name: getattr(found, one.name) for one in fields(found)}, "statements": found.statements}


def answer_json(answer: Answer, *, is_answered: bool) -> dict[str, object]:
    """An answer as JSON. `answer` and `known` are null if no model was called."""
    return {
        "question": answer.question,
        "method": answer.evidence.trace.method,
        "answer": answer.text if is_answered else None,
        "known": answer.known if is_answered else None,
        "number": answer.number,
        "reasoning": answer.reasoning,
        "finish": answer.finish,
        "citations": [_cited(one) for one in answer.citations],
        "sentences": [{**asdict(one), "vouched": one.vouched} for one in answer.sentences],
        "checks": answer.checks,
        "repairs": answer.repairs,
        "context": answer.context,
        "evidence": evidence_json(answer.evidence),
        "trace": trace_json(answer.evidence.trace),
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


def comparison_json(found: Comparison) -> dict[str, object]:
    """A comparison for programs. `overlap` has the share of passages in common for each pair of methods."""
    usable = [row for row in found.rows if not row.problem]
    pairs = [(a, b) for n, a in enumerate(usable) for b in usable[n + 1 :]]
    return {
        "question": found.question,
        "methods": [_row(row) for row in found.rows],
        "overlap": [{"methods": (a.method, b.method), "share": found.overlap(a, b)} for a, b in pairs],
    }


def _row(row: Compared) -> dict[str, object]:
    if row.problem:
        return {"method": row.method, "problem": row.problem}
    if row.answer:
        return {**answer_json(row.answer, is_answered=True), "problem": ""}
    return {
        "method": row.method,
        "evidence": evidence_json(row.evidence),
        "trace": trace_json(row.evidence.trace),
        "usage": row.usage,
        "problem": "",
    }
