"""Evidence and answers as JSON, for `--json` and for the server."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from trueweave.core.parameters import values
from trueweave.core.ranges import Range

if TYPE_CHECKING:
    from trueweave.core.answers import Answer, Citation, Compared, Comparison
    from trueweave.core.evidence import Evidence, Filter, Trace


def filter_json(wanted: Filter) -> dict[str, Any]:
    """A filter as the server takes it, without empty parts."""
    parts = {
        "uris": list(wanted.uris),
        "metadata": {key: _condition(value) for key, value in wanted.metadata.items()},
        "prefix": wanted.prefix,
        "all_of": [filter_json(one) for one in wanted.all_of],
        "any_of": [filter_json(one) for one in wanted.any_of],
        "none_of": [filter_json(one) for one in wanted.none_of],
    }
    return {name: value for name, value in parts.items() if value}


def filter_of_json(written: Mapping[str, Any]) -> Filter:
    """The filter that `filter_json` wrote."""
    from trueweave.core.evidence import Filter

    return Filter(
        tuple(written.get("uris", ())),
        {key: _condition_of(value) for key, value in written.get("metadata", {}).items()},
        written.get("prefix", ""),
        *(tuple(map(filter_of_json, written.get(part, ()))) for part in ("all_of", "any_of", "none_of")),
    )


def _condition_of(written: Any) -> Any:
    if isinstance(written, dict):
        return Range(**written)
    return [_condition_of(one) for one in written] if isinstance(written, list) else written


def _condition(given: Any) -> Any:
    if isinstance(given, Range):
        return {"low": _bound(given.low), "high": _bound(given.high), "bounds": given.bounds}
    return given if isinstance(given, str | int | float) else [_condition(one) for one in given]


def _bound(given: object) -> Any:
    if isinstance(given, Decimal):
        return int(given) if given == given.to_integral_value() else float(given)
    return given.isoformat() if isinstance(given, date) else given


def evidence_json(evidence: Evidence) -> dict[str, object]:
    """Evidence for programs, without its trace. Its items are left to the JSON encoder, to avoid a copy of everything
    for each question."""
    return _without(values(evidence), "trace")


def trace_json(found: Trace) -> dict[str, object]:
    """A trace for programs."""
    return {**values(found), "statements": found.statements}


def answer_json(answer: Answer, *, is_answered: bool) -> dict[str, object]:
    """An answer as JSON. `answer` and `known` are null if no model was called."""
    return {
        **_without(values(answer), "text"),
        "method": answer.evidence.trace.method,
        "answer": answer.text if is_answered else None,
        "known": answer.known if is_answered else None,
        "citations": [_cited(one) for one in answer.citations],
        "sentences": [{**values(one), "confirmed": one.confirmed} for one in answer.sentences],
        "evidence": evidence_json(answer.evidence),
        "trace": trace_json(answer.evidence.trace),
    }


def _cited(one: Citation) -> dict[str, object]:
    passage = one.passage
    document = {
        "uri": passage.uri,
        "title": passage.title,
        "date": passage.date,
        "also": [copy.uri for copy in passage.also],
    }
    place = {"source": one.source, "page": one.page, "box": one.box, "headings": one.headings}
    return {**values(one), "passage": passage.id, **document, **place}


def _without(found: dict[str, object], name: str) -> dict[str, object]:
    return {key: value for key, value in found.items() if key != name}


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
