"""Filters in query parameters: JSON in the form that `ask` takes in its body."""

from __future__ import annotations

from pydantic import ValidationError

from trueweave.core.evidence import Filter
from trueweave.server.bodies import FilterBody
from trueweave.server.problems import Refusal


def read_filter(written: str) -> Filter | None:
    """The filter given as JSON; None if there is none."""
    if not written:
        return None
    try:
        return FilterBody.model_validate_json(written).filter()
    except ValidationError as error:
        problem = error.errors()[0]["msg"]
        raise Refusal(422, "invalid_filter", f"The filter is not valid: {problem}.", "Write it in JSON.") from error
