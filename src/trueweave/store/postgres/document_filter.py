"""Which documents may speak: a filter as conditions in SQL.

A filter that a few documents pass is turned into their ids, and what they have is measured one by one: a vector index
would pass most of it over. One that many pass stays a condition, and the index is followed until enough pass it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, NamedTuple

from trueweave.evidence import Filter
from trueweave.store.limits import FEW
from trueweave.store.postgres.binary_params import Ids, Texts
from trueweave.store.postgres.db import Workspace
from trueweave.store.postgres.queries import QUERIES


class FilterShape(NamedTuple):
    """What of a scope changes a statement: whether it is by ids, and how many facets it has."""

    by_ids: bool
    facets: int

    @property
    def is_all(self) -> bool:
        return not self.by_ids and not self.facets

    def visible(self, document: str) -> str:
        """A condition on a column that holds a document: it is there, and may speak."""
        if self.by_ids:
            return f"{document} = ANY(%(scope)s)"
        return " AND ".join((_is_visible(document), *_has_facets(document, self.facets)))


@dataclass(frozen=True)
class Scope:
    """What a filter comes to: all documents, a few by their ids, or those that have all these facets."""

    few: Ids | None = None
    facets: tuple[str, ...] = ()

    @property
    def shape(self) -> FilterShape:
        return FilterShape(self.few is not None, len(self.facets))

    @property
    def is_empty(self) -> bool:
        return self.few is not None and not self.few

    @property
    def params(self) -> dict[str, Any]:
        if self.few is not None:
            return {"scope": self.few}
        return {f"facet_{n}": facet for n, facet in enumerate(self.facets)}


ALL = Scope()


async def scope(workspace: Workspace, given: Filter) -> Scope:
    """What a filter comes to now. One statement."""
    facets = tuple(json.dumps({name: value}, default=list) for name, value in given.metadata.items())
    conditions = " AND ".join(_has_facets("d.id", len(facets))) or "true"
    params = Scope(facets=facets).params
    if given.uris:
        query = QUERIES["search.scope_by_uri"].format(facets=conditions)
        params["uris"] = Texts(given.uris)
    else:
        query = QUERIES["search.scope_by_facet"].format(facets=conditions, visible=_is_visible("d.id"), most=FEW + 1)
    rows = await workspace.read(query.encode(), params)
    if len(rows) > FEW and not given.uris:
        return Scope(facets=facets)
    return Scope(few=Ids(id_ for id_, fits in rows if fits))


def _is_visible(document: str) -> str:
    return QUERIES["search.is_visible"].format(document=document)


def _has_facets(document: str, count: int) -> list[str]:
    one = QUERIES["search.has_facet"]
    return [one.format(document=document, facet=f"facet_{n}") for n in range(count)]
