"""The statement of a recorded answer. See docs/adr/0062-records-of-answers.md."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from trueweave.answering.options import AskOptions
from trueweave.core.answers import Answer, AnswerOptions
from trueweave.core.errors import InvalidArgument
from trueweave.core.evidence import Filter, Passage, Usage
from trueweave.core.json_forms import filter_json
from trueweave.core.parameters import plain_values, values
from trueweave.retrieval.context import Method
from trueweave.retrieval.methods import registry

FORMAT = "trueweave answer record 1"


class RecordedIn(NamedTuple):
    """Where an answer was given: the version of Trueweave, the workspace, the time, the state of the index, and the
    names of models and versions of prompts."""

    version: str
    workspace: str
    at: datetime
    state: str
    models: Mapping[str, str]
    prompts: Mapping[str, str]


def method_statement(method: Method, *, rerank: bool) -> dict[str, Any]:
    """A method with its parameters, each as JSON text; InvalidArgument if these do not describe it."""
    try:
        parameters = registry.parameters_of(method)
    except TypeError as error:
        raise InvalidArgument(
            f"answers by this method cannot be recorded: {error}. Use a method by its name, with plain parameters."
        ) from error
    name = registry.name_of(method)
    known = registry.schema(name).get("properties", {})
    defaults = {parameter: one["default"] for parameter, one in known.items() if "default" in one}
    return {"name": name, "parameters": _as_texts({**defaults, **parameters}), "rerank": rerank}


def record_statement(answer: Answer, asked: AskOptions, method: Method, of: RecordedIn) -> dict[str, Any]:
    """What is signed. Of the documents it has the quoted words alone; of each passage, its place and a hash of its
    text. Everything in it is a text, a whole number, a truth value, a list or an object."""
    return {
        "format": FORMAT,
        "trueweave": of.version,
        "workspace": of.workspace,
        "recorded": of.at.isoformat(),
        "index": of.state,
        "question": asked.question,
        "method": method_statement(method, rerank=asked.rerank),
        "filter": _json(filter_json(asked.filter or Filter())),
        "options": _as_texts({**plain_values(asked), **values(asked.options or AnswerOptions())}),
        "models": dict(of.models),
        "prompts": dict(of.prompts),
        "context_sha256": _sha256(answer.context),
        "passages": [_passage(one) for one in answer.evidence.passages],
        "answer": {
            "text": answer.text,
            "known": answer.known,
            "finish": answer.finish,
            "sentences": [
                {
                    "start": one.start,
                    "end": one.end,
                    "citations": list(one.citations),
                    "claims": one.claims,
                    "status": one.status,
                    "reason": one.reason,
                    "verifier": one.verifier,
                }
                for one in answer.sentences
            ],
            "citations": [
                {
                    "number": one.number,
                    "passage": str(one.passage.id),
                    "uri": one.passage.uri,
                    "text_sha256": _sha256(one.passage.text),
                    "quote": one.quote,
                    "start": one.start,
                    "end": one.end,
                    "verbatim": one.verbatim,
                }
                for one in answer.citations
            ],
        },
        "usage": _usage(answer.usage),
    }


def _passage(one: Passage) -> dict[str, Any]:
    return {"id": str(one.id), "uri": one.uri, "start": one.start, "end": one.end, "text_sha256": _sha256(one.text)}


def _usage(used: Usage) -> dict[str, Any]:
    return {**values(used), "price": None if used.price is None else str(used.price)}


def _as_texts(given: Mapping[str, Any]) -> dict[str, str]:
    """Values as JSON text, as fractions in JSON are not written alike by all programs."""
    return {name: _json(value) for name, value in given.items()}


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
