"""Standing questions: asked again when the index has changed, with an alert when their evidence has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from trueweave.core.errors import ConfigError, DatabaseError, InvalidArgument
from trueweave.core.evidence import Filter
from trueweave.core.parameters import takes
from trueweave.core.record import EVERY_GROUP, groups_of
from trueweave.core.watches import Alert, Watch, WatchOptions
from trueweave.engine.core import OpenWorkspace
from trueweave.engine.restricted import refuse_restricted
from trueweave.engine.watch_runs import WatchRuns, run_all
from trueweave.engine.webhooks import Webhook
from trueweave.retrieval.methods import registry
from trueweave.store.postgres.public_errors import own_errors
from trueweave.store.postgres.record import watches
from trueweave.text.names import storable

_NAME = re.compile(r"[\w][\w.-]{0,99}")
_NOT_IN_NAMES = re.compile(r"[\W_]+")
_PATHS = {"alerts", "events"}  # of the REST API, beside the names of watches
_SHORT = 60  # characters of a name that is made from a question
_LONGEST = 2000  # characters of a question
_MOST_PASSAGES = 50


@own_errors
@refuse_restricted("watches")
class AsyncWatchesGroup:
    """The standing questions of a workspace: `trueweave.watches`."""

    def __init__(self, core: OpenWorkspace, runs: WatchRuns) -> None:
        self._core = core
        self._runs = runs

    @takes(WatchOptions)
    async def add(self, asked: WatchOptions) -> Watch:
        """Ask a question now, and again whenever the index has changed, which workers do. There is an alert when its
        first `passages` passages are others than before, whatever their order.

        The name is made from the question, unless it is given. `method` defaults to the settings, and reads what
        `groups` may read, by default what the caller may. With `answers`, each alert has an answer by the language
        model, for up to `tokens_per_day` tokens a day, and within the budget of the workspace. Alerts are sent to
        `webhook`, an address, signed with the key in signing_key_file. Through a server, a watch is asked as long as
        the key is valid that it was added with, and its webhook must be on a host that the settings allow. `by` says
        who adds it.
        """
        return await add_watch(self._runs, asked, key=None)

    async def all(self, limit: int = 1000, *, after: str = "") -> list[Watch]:
        """The watches in the order of their names, after this name."""
        async with self._core.workspace.transaction() as tx:
            return await watches.page(tx, limit, after)

    async def get(self, name: str) -> Watch:
        """The watch of that name. Raises UnknownWatch if there is none."""
        async with self._core.workspace.transaction() as tx:
            return (await watches.known(tx, name)).watch

    async def remove(self, name: str) -> None:
        """Remove a watch with its alerts. Raises UnknownWatch if there is none of that name."""
        async with self._core.workspace.transaction() as tx:
            await watches.remove(tx, name)

    async def alerts(self, watch: str | None = None, *, after: int | None = None, limit: int = 100) -> list[Alert]:
        """Alerts of a watch, or of all, in the order of time: the latest, or with `after`, the next after the one with
        this id. The first of each watch has what it found when it was added. Raises UnknownWatch if there is none of
        that name."""
        async with self._core.workspace.transaction() as tx:
            if watch is not None:
                await watches.known(tx, watch)
            if after is None:
                found = await watches.latest(tx, watch, limit)
            else:
                found = await watches.following(tx, watch, after, limit)
        return await watches.with_passages(self._core.workspace, found)

    async def check(self) -> int:
        """Ask all watches again whose index has changed, and send the alerts that wait, except those that another
        process is at. Returns how many watches that were."""
        return await run_all(self._runs)


async def add_watch(runs: WatchRuns, asked: WatchOptions, *, key: str | None) -> Watch:
    """Add a watch. That of a caller of a server is asked as long as this key is valid, and its webhook must be on a
    host that the settings allow."""
    core = runs.core
    await core.check_unrestricted("watches.add")
    sight = core.workspace.sight
    groups = _groups((EVERY_GROUP,) if sight is None else sight.groups, asked.groups)
    _check(asked)
    if asked.answers and not (core.llm or core.settings.model_for("answer")):
        raise ConfigError("no language model is set, so that watches cannot answer. Set one in trueweave.toml.")
    if asked.webhook:
        async with core.workspace.transaction() as tx:
            workspace = await tx.value("read.name")
        Webhook.of(core.settings, workspace, asked.webhook, is_caller=key is not None)
    question, now = storable(asked.question).strip(), datetime.now(UTC)
    watch = Watch(
        asked.name or _name(question),
        question,
        asked.method,
        asked.filter or Filter(),
        groups,
        asked.passages,
        asked.answers,
        asked.tokens_per_day,
        asked.webhook,
        storable(asked.by),
        made=now,
        asked=now,
        alerts=0,
        problem="",
    )
    found = await runs.found(watch)
    if found is None:
        raise DatabaseError("the index changes all the time, so that the question was not asked. Try again.")
    async with core.workspace.transaction() as tx:
        await watches.add(tx, watch, key, found.state, found.passages)
        return (await watches.known(tx, watch.name)).watch


def _check(asked: WatchOptions) -> None:
    """Raise InvalidArgument if a field cannot be."""
    if not asked.question.strip() or len(asked.question) > _LONGEST:
        raise InvalidArgument(f"a watch has a question of 1 to {_LONGEST:,} characters.")
    if asked.name and (asked.name in _PATHS or not _NAME.fullmatch(asked.name)):
        raise InvalidArgument(
            f"{asked.name[:100]!r} cannot be the name of a watch. Use up to 100 letters, digits, dots, - and _."
        )
    if asked.method:
        registry.make(asked.method)
    if not 1 <= asked.passages <= _MOST_PASSAGES:
        raise InvalidArgument(f"a watch compares 1 to {_MOST_PASSAGES} passages, not {asked.passages}.")
    if asked.tokens_per_day < 0:
        raise InvalidArgument("the tokens that a watch has for a day cannot be fewer than 0.")


def _name(question: str) -> str:
    made = _NOT_IN_NAMES.sub("-", question.lower())[:_SHORT].strip("-")
    return made if made and made not in _PATHS else f"watch-{made}".strip("-")


def _groups(own: tuple[str, ...], wanted: Sequence[str] | None) -> tuple[str, ...]:
    """The groups that a watch reads as: all or some of those of whoever adds it."""
    if wanted is None:
        return own
    try:
        known = groups_of(wanted)
    except ValueError as error:
        raise InvalidArgument(f"{error}.") from error
    if EVERY_GROUP in own:
        return (EVERY_GROUP,) if EVERY_GROUP in known else known
    if others := sorted({*known} - {*own}):
        raise InvalidArgument(f"a watch cannot read as the group {others[0]}, which its caller is not in.")
    return known
