"""What methods need of a workspace, and what a workspace lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trueweave.core.errors import ConfigError
from trueweave.retrieval.context import Method, Need, QueryContext


def needs_of(method: Method) -> frozenset[Need]:
    """What a method needs itself, and what the methods need that it combines."""
    own: frozenset[Need] = frozenset(getattr(method, "needs", ()))
    parts: Sequence[object] = (*getattr(method, "parts", ()), getattr(method, "part", None))
    return own.union(*(needs_of(part) for part in parts if isinstance(part, Method)))


async def lacks(context: QueryContext) -> Mapping[Need, str]:
    """What the workspace of a question lacks, each with a sentence that says so."""
    found: dict[Need, str] = {}
    try:
        vectors = await context.lacks_vectors()
    except ConfigError as error:  # the vectors are from another model
        vectors = str(error)
    if vectors:
        found["vectors"] = vectors
    elif graph_vectors := await context.lacks_graph_vectors():
        found["graph_vectors"] = graph_vectors
    if await context.is_restricted():
        found["graph"] = found["reports"] = (
            "It reads entities, relations or reports, which are made from all documents, and you may not read all."
        )
    elif not await context.report_levels():
        found["reports"] = "There are no community reports yet: `trueweave communities build` writes them."
    if context.llm is None:
        found["model"] = "No language model is set."
    return found
