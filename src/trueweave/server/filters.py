"""Filters in query parameters: JSON in the form that `ask` takes in its body."""

from __future__ import annotations

from pydantic import ValidationError

from trueweave.core.evidence import Filter
from trueweave.server.bodies import FilterBody
from trueweave.server.problems import Refusal

_EXAMPLE = '{"metadata": {"kind": "letter"}, "none_of": [{"prefix": "drafts/"}]}'


def read_filter(written: str) -> Filter | None:
    """The filter given as JSON; None if there is none."""
    if not written:
        return None
    try:
        return FilterBody.model_validate_json(written).filter()
    except ValidationError as error:
        first = error.errors()[0]
        problem = ": ".join(filter(None, (".".join(map(str, first["loc"])), first["msg"])))
        raise Refusal(
            422, "invalid_filter", f"The filter is not valid: {problem}.", f"Write it like {_EXAMPLE}."
        ) from error
