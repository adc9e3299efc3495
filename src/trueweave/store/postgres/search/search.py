"""Builds search statements from named pieces of SQL.

These are pure functions of a few names and numbers, so that each statement is built once and prepared under its text.
"""

from __future__ import annotations

from functools import lru_cache
from math import sqrt
from typing import Literal, NamedTuple

from trueweave.core.graph import GRAPH_KINDS, GraphVectors, VectorKind, check_kept
from trueweave.graph.aggregate import DESCRIPTIONS_KEPT, KEYWORDS_KEPT
from trueweave.store.limits import FAN_OUT, MOST_AROUND, MOST_RELATIONS, NAMES, WIDE
from trueweave.store.postgres.queries import QUERIES
from trueweave.store.postgres.search.document_filter import FilterShape, is_visible
from trueweave.store.postgres.vectors.space import Space

REACH = 200  # mentions or links examined per entity or relation for what visible documents say about it

COPIES = 20  # copies of a passage that are listed
MOST_COPIES = 1000  # copies that are counted

EFFORT = 200  # candidates of a search in the HNSW graph of as many vectors as
EFFORT_FOR = 50_000
MOST_EFFORT = 1000  # pgvector's limit

MORE_VISIBLE = 30  # results of an index that are compared, beyond those that are wanted under a filter
SPARSE = 25

_BOUNDS = {
    "fan_out": FAN_OUT,
    "names": NAMES,
    "reach": REACH,
    "wide": WIDE,
    "most": MOST_RELATIONS,
    "most_around": MOST_AROUND,
    "kept": DESCRIPTIONS_KEPT,
    "keywords_kept": KEYWORDS_KEPT,
    "copies": COPIES,
    "most_copies": MOST_COPIES,
}
_HISTOGRAM = f"ARRAY[{', '.join(f'count(*) FILTER (WHERE emphasis = {n})' for n in range(1, 10))}]"
_OPERATORS = {"cosine": "<=>", "l2": "<->", "inner": "<#>"}
_DOCUMENT_OF: dict[VectorKind, str] = {"chunk": "c.document", "entity": "m.document", "relation": "l.document"}


class VectorLayout(NamedTuple):
    """Where a workspace's vectors are: the space, and the workspace's own tables in it; and whether there are any of
    entities and relations."""

    space: Space
    own: tuple[str, ...]
    rows: tuple[int, ...]  # vectors in the largest partition of each of these
    graph_vectors: GraphVectors = "kept"

    @property
    def stamp(self) -> tuple[int, list[str], str]:
        """The columns of a result by which a search detects that the layout has changed."""
        return self.space.id, list(self.own), self.graph_vectors

    def check(self, kind: VectorKind) -> None:
        """Raise NoGraphVectors unless all objects of a kind have a vector."""
        if kind in GRAPH_KINDS:
            check_kept(self.graph_vectors)


@lru_cache(maxsize=256)
def near(kind: VectorKind, layout: VectorLayout, workspace: int, limit: int, shape: FilterShape) -> bytes:
    """The objects of a kind nearest to each vector."""
    layout.check(kind)
    tables = _nearest(kind, layout, workspace, limit, shape)
    columns, details = _COLUMNS[kind](shape)
    rows = _piece("near", columns=columns, details=details, tables=tables, limit=limit)
    return _located(rows, _effort(kind, layout, workspace, limit), "ORDER BY found.n, found.distance, found.hit")


@lru_cache(maxsize=256)
def ranked(kind: VectorKind, layout: VectorLayout, workspace: int, shape: FilterShape) -> bytes:
    """Objects of a kind by their ids, nearest to a vector first."""
    layout.check(kind)
    vectors = _vectors_of("u.id", kind, layout, workspace)
    rows = _piece(
        "ranked",
        vectors=vectors,
        operator=_OPERATORS[layout.space.metric],
        u_visible=_is_told_of(kind, "u.id", shape),
    )
    return _located(rows, order="ORDER BY found.distance, found.id")


@lru_cache(maxsize=256)
def both_lists(layout: VectorLayout, workspace: int, limit: int, shape: FilterShape) -> bytes:
    """The chunks nearest to a vector, and those that match a text."""
    tables = _nearest("chunk", layout, workspace, limit, shape)
    scope = "%(scope)s" if shape.by_ids else "NULL"
    visible = _is_told_of("chunk", "s.chunk", shape)
    rows = _piece("both_lists", tables=tables, limit=limit, scope=scope, c_visible=visible, search=_text_search(shape))
    return _located(rows, _effort("chunk", layout, workspace, limit))


@lru_cache(maxsize=64)
def propagate(layout: VectorLayout, workspace: int, shape: FilterShape, *, given: bool) -> bytes:
    """The chunks reached from names: from given names, or from the names in given chunks."""
    if shape.seen:
        start = _piece("names_given" if given else "names_of_seen_chunks")
        return _located(_piece("seen_chunks_of_names", start=start))
    vectors = _vectors_of("o.chunk", "chunk", layout, workspace)
    rows = _piece(
        "chunks_of_names",
        start=_piece("names_given" if given else "names_of_chunks"),
        vectors=vectors,
        o_visible=_is_told_of("chunk", "o.chunk", shape),
    )
    return _located(rows)


@lru_cache(maxsize=64)
def rerank_features(layout: VectorLayout, workspace: int, *, seen: bool) -> bytes:
    """The reranking features of chunks."""
    if seen:
        return _located(_piece("weighed_seen"))
    return _located(_piece("weighed", vectors=_vectors_of("u.id", "chunk", layout, workspace)))


@lru_cache(maxsize=64)
def reports(layout: VectorLayout, workspace: int) -> bytes:
    """The reports of a level that are nearest to a vector."""
    vectors = _vectors_of("c.id", "community", layout, workspace)
    near = _piece("report_near", vectors=vectors, operator=_OPERATORS[layout.space.metric])
    return _located(_piece("reports", near=near, distance="v.distance"))


@lru_cache(maxsize=1)
def largest_reports() -> bytes:
    """The reports of a level on the largest communities."""
    return _whole("reports", near="", distance="0::float8")


@lru_cache(maxsize=256)
def matching(limit: int, shape: FilterShape) -> bytes:
    """The chunks that match a text."""
    columns, details = _chunk_columns(shape)
    scope = "%(scope)s" if shape.by_ids else "NULL"
    return _whole("matching", columns=columns, details=details, limit=limit, scope=scope, search=_text_search(shape))


@lru_cache(maxsize=64)
def documents(shape: FilterShape) -> bytes:
    """The documents that pass a filter."""
    return _whole("documents", d_visible=shape.visible("d.id"))


@lru_cache(maxsize=64)
def passages(shape: FilterShape) -> bytes:
    """Chunks by their ids."""
    columns, details = _chunk_columns(shape)
    return _whole("passages", columns=columns, details=details)


@lru_cache(maxsize=64)
def same_texts(shape: FilterShape) -> bytes:
    """For chunks by id, the chunk that represents all chunks with the same text."""
    return _whole("same_texts", c_visible=_chunk_visible(shape))


@lru_cache(maxsize=64)
def entities(shape: FilterShape) -> bytes:
    """Entities by their ids."""
    columns, details = _entity_columns(shape)
    return _whole("entities", columns=columns, details=details, e_visible=_is_told_of("entity", "e.id", shape))


@lru_cache(maxsize=64)
def relations(shape: FilterShape) -> bytes:
    """Relations by their ids."""
    visible = _is_told_of("relation", "r.id", shape)
    row = _row("relation", "hit.id", shape)
    return _whole("relations", columns=_relation("r", shape), r_row=row, r_visible=visible)


@lru_cache(maxsize=256)
def from_ids(query: str, shape: FilterShape) -> bytes:
    """The neighbours of objects by id, using a query that limits how many are followed from each."""
    passing = {f"{letter}_visible": "true" if shape.is_all else shape.visible(f"{letter}.document") for letter in "ml"}
    parts = {"edges": _edges("given", shape, ", g.degree"), "r_row": _row("relation", "best.id", shape)}
    return _whole(query, columns=_relation("r", shape), **parts, **_shown(shape), **passing)


@lru_cache(maxsize=64)
def neighbourhood(hops: int, shape: FilterShape) -> bytes:
    """The relations reachable from entities, hop by hop."""
    steps = ["reached_0 AS (SELECT id FROM unnest(%(entities)s::uuid[]) AS g (id))"]
    for n in range(1, hops + 1):
        steps.append(_piece("hop", n=n, before=n - 1, edges=_edges(f"reached_{n - 1}", shape)))
    every = " UNION ALL ".join(f"SELECT * FROM hop_{n}" for n in range(1, hops + 1))
    row = _row("relation", "e.id", shape)
    return _whole("neighbourhood", hops=",\n".join(steps), all=every, columns=_relation("r", shape), r_row=row)


def _tables(kind: VectorKind, layout: VectorLayout, workspace: int) -> list[str]:
    common = f"vector_{layout.space.id}_{kind}"
    return [common, *(table for table in layout.own if table.startswith(f"{common}_{workspace}"))]


def _vectors_of(id_: str, kind: VectorKind, layout: VectorLayout, workspace: int) -> str:
    """The vector of one object by id, looked up in each table."""
    return " UNION ALL ".join(
        f"(SELECT v FROM {table} WHERE id = {id_} OFFSET 0)" for table in _tables(kind, layout, workspace)
    )


def _nearest(kind: VectorKind, layout: VectorLayout, workspace: int, limit: int, shape: FilterShape) -> str:
    """The nearest rows of each table, for a vector q."""
    tables = _tables(kind, layout, workspace)
    parts = {"operator": _OPERATORS[layout.space.metric], "limit": limit}
    if shape.seen and kind == "chunk":  # one function for all tables, which looks at each document once
        scope = "%(scope)s" if shape.by_ids else "NULL"
        each = [_piece("near_seen", limit=limit, enough=limit + MORE_VISIBLE, sparse=SPARSE, scope=scope)]
    elif shape.by_ids:
        candidates = _piece(f"candidates_{kind}")
        each = [_piece("near_in_scope", table=table, candidates=candidates, **parts) for table in tables]
    elif shape.conditions:
        condition = {"v_visible": _is_told_of(kind, "v.id", shape), **parts}
        each = [_piece("near_visible", table=table, **condition) for table in tables]
        bounds = {"enough": limit + MORE_VISIBLE, "sparse": SPARSE}
        each[1:] = [
            _piece("near_visible_by_index", table=table, exact=exact, **bounds, **condition)
            for table, exact in zip(tables[1:], each[1:], strict=True)
        ]
    else:
        each = [_piece("near_all", table=table, **parts) for table in tables]
    return " UNION ALL ".join(each)


def _effort(kind: VectorKind, layout: VectorLayout, workspace: int, limit: int) -> int:
    """How many candidates a search in an HNSW graph keeps: more in a larger one, where near vectors are easier to
    miss."""
    own = _tables(kind, layout, workspace)[1:]
    rows = max((rows for table, rows in zip(layout.own, layout.rows, strict=True) if table in own), default=0)
    return min(max(int(EFFORT * sqrt(max(1, rows / EFFORT_FOR))), 2 * limit), MOST_EFFORT)


def _edges(given: str, shape: FilterShape, also: str = "") -> str:
    """The heaviest relations of each given entity, with additional columns of the entity."""
    return _piece("edges", given=given, also=also, r_visible=_is_told_of("relation", "r.id", shape))


def _is_told_of(kind: VectorKind, id_: str, shape: FilterShape) -> str:
    """A condition on a column that holds a chunk, entity or relation: some visible document contains or mentions it."""
    if shape.is_all or shape.seen:  # row-level security checks rights and the filter
        return "true"
    column = _DOCUMENT_OF[kind]
    return _piece(f"visible_{kind}", id=id_, **_shown(shape), **{f"{column[0]}_visible": shape.visible(column)})


def _shown(shape: FilterShape) -> dict[str, str]:
    """Conditions on rows of `mention` and `link`: the document is visible."""
    tables = ("mention", "link")
    if shape.seen:  # row-level security checks it
        return {f"{table}_shown": "true" for table in tables}
    return {f"{table}_shown": is_visible(f"{table}.document") for table in tables}


def _text_search(shape: FilterShape) -> str:
    return "search_seen" if shape.seen else "search_text"


def _chunk_columns(shape: FilterShape) -> tuple[str, str]:
    return _piece("chunk_columns"), _piece("chunk_details", c_visible=_chunk_visible(shape))


def _chunk_visible(shape: FilterShape) -> str:
    return "true" if shape.is_all or shape.seen else shape.visible("c.document")


def _entity_columns(shape: FilterShape) -> tuple[str, str]:
    return _entity("e", shape), _piece("entity_details", e_row=_row("entity", "hit.id", shape))


def _relation_columns(shape: FilterShape) -> tuple[str, str]:
    columns = (_relation("r", shape), _entity("s", shape), _entity("t", shape))
    rows = {"r_row": _row("relation", "hit.id", shape)}
    rows |= {f"{end[0]}_row": _row("entity", f"r.{end}", shape) for end in ("source", "target")}
    return ", ".join(columns), _piece("relation_details", **rows)


_COLUMNS = {"chunk": _chunk_columns, "entity": _entity_columns, "relation": _relation_columns}


def _row(kind: Literal["entity", "relation"], id_: str, shape: FilterShape) -> str:
    """The row of an entity or relation; under a filter, with the numbers according to visible documents."""
    if shape.is_all:
        return _piece(f"{kind}_row", id=id_)
    visible = {f"{letter}_visible": shape.visible(f"{letter}.document") for letter in "ml"}
    return _piece(f"{kind}_row_of_filter", id=id_, histogram=_HISTOGRAM, **visible)


def _entity(alias: str, shape: FilterShape) -> str:
    """The columns of an entity; under a filter, its description, name and type according to visible documents."""
    if shape.is_all:
        own = {what: f"{alias}.{what}" for what in ("name", "type", "description", "aliases")}
        return _piece("entity_columns", e=alias, summary=_piece("summary", of=alias), **own)
    said = _piece("entity_said", e=alias, m_visible=shape.visible("m.document"), **_shown(shape))
    named = {"name": _called(f"{alias}.id", "written", shape), "type": _called(f"{alias}.id", "type", shape)}
    return _piece("entity_columns", e=alias, description=said, aliases="ARRAY[]::text[]", summary="''", **named)


def _relation(alias: str, shape: FilterShape) -> str:
    """The columns of a relation; under a filter, according to visible documents."""
    if shape.is_all:
        own = {what: f"{alias}.{what}" for what in ("source_name", "target_name", "type", "description", "keywords")}
        return _piece("relation_columns", r=alias, summary=_piece("summary", of=alias), **own)
    visible = shape.visible("l.document")
    told = {"description": "said", "keywords": "keywords", "type": "type"}
    parts = {"l_visible": visible, **_shown(shape)}
    own = {column: _piece(f"relation_{piece}", r=alias, **parts) for column, piece in told.items()}
    ends = {f"{end}_name": _called(f"{alias}.{end}", "written", shape) for end in ("source", "target")}
    return _piece("relation_columns", r=alias, summary="''", **own, **ends)


def _called(id_: str, what: str, shape: FilterShape) -> str:
    called = _piece("entity_called", id=id_, what=what, m_visible=shape.visible("m.document"), **_shown(shape))
    return f"coalesce({called}, '')"


def _piece(query: str, /, **parts: object) -> str:
    return QUERIES[f"search.{query}"].format(**_BOUNDS, **parts)


def _located(rows: str, effort: int = EFFORT, order: str = "") -> bytes:
    return _whole("located", rows=rows, effort=effort, order=order)


def _whole(query: str, /, **parts: object) -> bytes:
    return _piece(query, **parts).encode()
