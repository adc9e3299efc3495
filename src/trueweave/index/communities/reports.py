"""Writes community reports: the innermost first, because outer reports may be based on them.

The database tells what is left to write: communities without a report, or with one for other content. So after a crash
the next process resumes, and replies are not paid for again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from uuid import UUID, uuid4

from pgvector import HalfVector

from trueweave.core.errors import BadReply, InvalidArgument, UnknownCommunity
from trueweave.core.events import Listener, Reported, WorkFailed, ignore
from trueweave.core.graph import CommunityReport
from trueweave.core.money import Price, ReportEstimate
from trueweave.core.protocols import Embedder
from trueweave.graph.aggregate import report_text
from trueweave.graph.report_facts import Facts
from trueweave.index.communities import extractive, writer
from trueweave.index.communities.writer import ReportWriter
from trueweave.models.stored_replies import prompt_key
from trueweave.store.postgres.db import Transaction, Workspace
from trueweave.store.postgres.locks import share_view
from trueweave.store.postgres.money import replies
from trueweave.store.postgres.queue import failed_work, leases
from trueweave.store.postgres.vectors import vectors
from trueweave.store.postgres.vectors.vectors import Vector, half
from trueweave.store.postgres.view import communities as store
from trueweave.store.postgres.view.communities import DueReport, ReportOf
from trueweave.text import tokens

_ASKED_AT_ONCE = 16
_PICKED_AT_ONCE = 200  # without a model
_FROM_THE_TOP = (2**31 - 1, -1)  # a level deeper than all, and an id lower than all


@dataclass(frozen=True)
class Reporting:
    """The tools for reports: a writer, or None for extractive reports; and an embedder to index them."""

    writer: ReportWriter | None = None
    embedder: Embedder | None = None

    @property
    def by_model(self) -> bool:
        return self.writer is not None


async def write_reports(
    workspace: Workspace, how: Reporting, listener: Listener = ignore
) -> AsyncGenerator[Reported, None]:
    """Write all missing or stale reports, unless another process does; progress is reported page by page.

    A report that fails because of a bug is marked as failed, and skipped until its community changes.
    """
    owner = uuid4()
    async with leases.kept(workspace, owner):
        async with workspace.transaction() as tx:
            if not await leases.take(tx, owner, "reports"):
                return
        after = _FROM_THE_TOP
        while True:
            async with workspace.transaction() as tx:
                wanted = await store.due_reports(tx, after, _page(how), by_model=how.by_model)
                facts = await _facts(tx, wanted, how)
                texts = await store.texts(tx, chain.from_iterable(map(extractive.chunks_of, facts)))
            if not wanted:
                return
            told = [(one, about) for one, about in zip(wanted, facts, strict=True) if about.entities]
            writing = (_written(about, texts, how.writer) for _, about in told)
            # All finish, because they are paid for.
            reports_ = await asyncio.gather(*writing, return_exceptions=True)
            outcomes = [(one, report) for (one, _), report in zip(told, reports_, strict=True)]
            made = [(one, report) for one, report in outcomes if isinstance(report, CommunityReport)]
            await _keep(workspace, made, how.embedder)
            after = wanted[-1].level, wanted[-1].n
            yield Reported(len(made), sum(bool(report.problem) for _, report in made))
            for one, error in outcomes:
                if isinstance(error, BaseException):
                    label = f"community {one.id}"
                    words = await failed_work.mark_defect(workspace, "report", error, str(one.hash), label)
                    listener(WorkFailed("report", label, words))


async def write_report(workspace: Workspace, how: Reporting, community: UUID) -> CommunityReport:
    """Write the report on one community, and return it. If the model has written one on the same contents before, it is
    asked again.

    Raises UnknownCommunity if there is no such community, or none any more when the report is written. If the model
    fails, or its reply is unusable, the report that was there stays.
    """
    async with workspace.transaction() as tx:
        of = await _report_of(tx, how, community)
        [facts] = await _facts(tx, [of.due], how)
        texts = await store.texts(tx, extractive.chunks_of(facts))
    if how.writer is None:
        made = _picked(facts, texts)
    else:
        if of.has_report:
            await how.writer.forget(facts)
        made = await how.writer.write(facts)
    if not await _keep(workspace, [(of.due, made)], how.embedder):
        raise _unknown(community)
    return made


async def _report_of(tx: Transaction, how: Reporting, community: UUID) -> ReportOf:
    of = await store.report_of(tx, community, how.writer.model if how.writer else "")
    if of is None:
        raise _unknown(community)
    if of.due.size < store.LEAST_MEMBERS:
        raise InvalidArgument(
            f"community {community} has {of.due.size} members, and a report needs at least {store.LEAST_MEMBERS}.",
            hint="Write one on the community around it.",
        )
    return of


def _unknown(community: UUID) -> UnknownCommunity:
    return UnknownCommunity(
        f"there is no community {community}: communities may have been found again since.",
        hint="`trueweave communities` lists them.",
    )


def _page(how: Reporting) -> int:
    return _ASKED_AT_ONCE if how.by_model else _PICKED_AT_ONCE


async def _facts(tx: Transaction, of: Sequence[DueReport], how: Reporting) -> list[Facts]:
    most = writer.MOST_FACTS if how.by_model else extractive.MOST_FACTS
    entities = await store.entities(tx, of, most)
    relations = await store.relations(tx, of, most, between=False)
    # Extractive reports use the texts of all members; only a model needs the reports on parts.
    divided = [one for one in of if how.by_model and one.last > one.n]
    parts = await store.parts(tx, divided)
    between = await store.relations(tx, divided, most, between=True)
    return [
        Facts(one.size, one.relations, entities[one.n], relations[one.n], parts.get(one.n, ()), between.get(one.n, ()))
        for one in of
    ]


async def _written(facts: Facts, texts: dict[UUID, str], writer: ReportWriter | None) -> CommunityReport:
    """A report by the model. If it fails, the report is extractive and says so."""
    if writer is None:
        return _picked(facts, texts)
    try:
        return await writer.write(facts)
    except BadReply as error:
        return replace(_picked(facts, texts), problem=str(error))


def _picked(facts: Facts, texts: dict[UUID, str]) -> CommunityReport:
    return extractive.extractive(facts, {id_: texts[id_] for id_ in extractive.chunks_of(facts) if id_ in texts})


async def _keep(
    workspace: Workspace, made: Sequence[tuple[DueReport, CommunityReport]], embedder: Embedder | None
) -> int:
    """Store reports, with their vectors if there are any; returns how many communities still exist. They are embedded
    first, outside a transaction."""
    while True:
        async with workspace.transaction() as tx:
            space = await vectors.space(tx)
        found_by: dict[UUID, HalfVector] = {}
        if space and made:
            space.check(embedder)
            assert embedder, "a space has been checked against it"
            embedded = await embedder.embed([report_text(one.title, one.summary) for _, one in made], "document")
            found_by = {one.id: half(vector) for (one, _), vector in zip(made, embedded, strict=True)}
        async with workspace.transaction() as tx:
            await share_view(tx)
            if await vectors.space(tx) != space:
                continue  # it was changed in the meantime
            kept = await store.keep(tx, made)
            if space and kept:
                rows = [Vector("community", one.community, one.text_hash, found_by[one.community]) for one in kept]
                await vectors.write(tx, space, rows, ())
            return len(kept)


async def estimate(workspace: Workspace, how: Reporting, price: Price | None) -> ReportEstimate:
    """The estimate for writing all missing or stale reports."""
    wanted_calls = _WantedCalls()
    after = _FROM_THE_TOP
    async with workspace.transaction() as tx:
        current = await store.count_current(tx, by_model=how.by_model)
        while wanted := await store.due_reports(tx, after, _PICKED_AT_ONCE, by_model=how.by_model):
            after = wanted[-1].level, wanted[-1].n
            await wanted_calls.add(tx, wanted, how)
    return wanted_calls.estimate(current, how, price)


async def estimate_one(workspace: Workspace, how: Reporting, community: UUID, price: Price | None) -> ReportEstimate:
    """The estimate for `write_report`."""
    wanted_calls = _WantedCalls()
    async with workspace.transaction() as tx:
        of = await _report_of(tx, how, community)
        await wanted_calls.add(tx, [of.due], how, again=of.has_report)
    return wanted_calls.estimate(int(of.has_report), how, price)


@dataclass
class _WantedCalls:
    """The calls that reports take."""

    reports: int = 0
    calls: int = 0
    answered: int = 0
    tokens_in: int = 0

    async def add(self, tx: Transaction, wanted: Sequence[DueReport], how: Reporting, *, again: bool = False) -> None:
        """Count the reports on these communities. With `again`, stored replies are not used."""
        self.reports += len(wanted)
        if how.writer is None:
            return
        asked = [how.writer.prompt(facts) for facts in await _facts(tx, wanted, how)]
        prompts = {prompt_key(how.writer.cached_as, prompt): prompt for prompt in asked}
        known = set() if again else set(await replies.answered(tx, list(prompts)))
        self.answered += len(known)
        self.calls += len(prompts) - len(known)
        new = (prompt for key, prompt in prompts.items() if key not in known)
        self.tokens_in += sum(tokens.count(message.content) for prompt in new for message in prompt.messages)

    def estimate(self, current: int, how: Reporting, price: Price | None) -> ReportEstimate:
        most_out = self.calls * how.writer.max_tokens if how.writer else 0
        most_price = price.of(self.tokens_in, most_out) if price else None
        model = how.writer.model if how.writer else ""
        return ReportEstimate(
            self.reports, current, model, self.calls, self.answered, self.tokens_in, most_out, most_price
        )
