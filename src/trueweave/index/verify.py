"""Compares a view with one rebuilt from the same documents. Nothing is written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trueweave.core.graph import Difference, VectorKind, Verdict
from trueweave.graph.leiden import library
from trueweave.store.postgres.cluster.temporary_workspaces import renew
from trueweave.store.postgres.db import Workspace
from trueweave.store.postgres.vectors.space import complete_kinds
from trueweave.store.postgres.vectors.vectors import graph_vectors
from trueweave.store.postgres.view import communities, digest

_RESOLVED = ("names", "entities", "relations", "communities", "vectors")  # what depends on rules and settings
_SEARCHED = ("phrases", "occurrences")
_LOST_RULES = Difference("rules", "all", "some rules that were created and not undone are missing", None)


class Moment(NamedTuple):
    """The state of a workspace, which changes with the view, and the data that is not indexed yet."""

    state: str
    documents: int
    names: int
    texts: int
    grouped: str | None
    has_old_communities: bool
    has_lost_rules: bool
    vectors: tuple[VectorKind, ...]  # the kinds of which each object has a vector


async def moment(workspace: Workspace) -> Moment:
    """The current state."""
    async with workspace.transaction(snapshot=True) as tx:
        [(documents, names, texts, grouped)] = await tx.rows("read.waiting")
        found = await communities.hierarchy(tx)
        is_old = found is not None and (found.behind or found.library != library())
        has_lost_rules = bool(await tx.value("read.has_lost_rules"))
        state, kinds = str(await tx.value("read.state")), complete_kinds(await graph_vectors(tx))
        return Moment(state, documents, names, texts, grouped, is_old, has_lost_rules, kinds)


async def compare_with(workspace: Workspace, rebuilt: Workspace, before: Moment) -> Verdict:
    """Compare a workspace with its rebuild, which was built from documents read since the state `before`."""
    left_out = list(_not_comparable(before))
    sections = [section for section in digest.SECTIONS if section not in left_out]
    mine = await digest.digest(workspace, sections, before.vectors)
    other = await digest.digest(rebuilt, sections, before.vectors)
    waiting = before.documents, before.names, before.texts
    lost = (_LOST_RULES,) if before.has_lost_rules else ()
    if mine == other:
        return Verdict(mine, other, lost, *waiting, tuple(left_out))
    found = (*lost, *await digest.differences(workspace, rebuilt, sections, before.vectors))
    await renew(rebuilt)  # or the other side would no longer be a rebuild
    now = await moment(workspace)
    if (now.state, now.grouped) != (before.state, before.grouped):
        return Verdict(mine, other, (), *waiting, tuple(left_out), changed=True)
    return Verdict(mine, other, found, *waiting, tuple(left_out))


def _not_comparable(now: Moment) -> Iterator[str]:
    """The sections of the view that are out of date, by what is pending."""
    for section in digest.SECTIONS:
        if (
            (now.names and section in _RESOLVED)
            or (now.texts and section in _SEARCHED)
            or (now.has_old_communities and section == "communities")
        ):
            yield section
