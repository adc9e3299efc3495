"""Watches: questions that are asked again when the index has changed, and the alerts about their evidence."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest

from tests.integration.watches.conftest import CHIEF, NEW_CHIEF, OTHER, QUESTION, said
from trueweave import AsyncTrueweave, Evidence, Filter, Settings
from trueweave.core.events import Waiting
from trueweave.core.watches import Alert
from trueweave.engine.watch_runs import FoundNow, WatchRuns
from trueweave.engine.watch_scheduling import WatchScheduler
from trueweave.errors import ConfigError, InvalidArgument, NotForRestricted, UnknownMethod, UnknownWatch
from trueweave.extend import Database
from trueweave.methods import Keyword
from trueweave.store.postgres.queue.liveness import Liveness
from trueweave.store.postgres.record import watches
from trueweave.testing import HashEmbedder, ModelServer
from trueweave.testing.model_server import Asked

MODEL = "openai/watching"


def texts(alert: Alert) -> dict[str, set[str]]:
    """The texts of an alert by what changed, without what was kept."""
    found: dict[str, set[str]] = {}
    for one in alert.passages:
        if one.change != "kept":
            found.setdefault(one.change, set()).add(one.text)
    return found


async def new_alerts(index: AsyncTrueweave) -> list[Alert]:
    """Ask all watches, and return the alerts that this makes."""
    before = await index.watches.alerts()
    await index.watches.check()
    return await index.watches.alerts(after=before[-1].id if before else 0)


async def watched(index: AsyncTrueweave, **how: Any) -> None:
    await index.watches.add(QUESTION, **{"name": "chief", "passages": 1, "method": "keyword", **how})


async def test_a_change_of_the_evidence_is_an_alert(index: AsyncTrueweave) -> None:
    made = await index.watches.add(QUESTION, passages=1, method="keyword", by="Cy")
    assert (made.name, made.groups, made.alerts, made.author) == ("who-is-chief-executive-of-acme", ("*",), 0, "Cy")
    [first] = await index.watches.alerts()
    assert (first.is_first, texts(first)) == (True, {"added": {CHIEF.chunks[0].text}})
    assert await new_alerts(index) == []
    await index.add_documents([NEW_CHIEF])
    [alert] = await new_alerts(index)
    assert (alert.is_first, alert.added, alert.removed) == (False, 1, 1)
    assert texts(alert) == {"added": {NEW_CHIEF.chunks[0].text}, "removed": {""}}
    assert {one.uri for one in alert.passages} == {"acme.md"}
    assert (await index.watches.get(made.name)).alerts == 1


async def test_a_change_elsewhere_is_none(index: AsyncTrueweave) -> None:
    await watched(index)
    await index.add_documents([said("sun.md", "The sun shone on Bergen.", "Bergen")])
    assert await index.watches.check() == 1, "it is asked"
    assert await new_alerts(index) == []
    assert await index.watches.check() == 0, "and not again, until something changes"


async def test_another_method_in_the_settings_is_a_change(index: AsyncTrueweave, database: Database) -> None:
    await index.maintenance.change_settings({"method": "keyword"})
    await index.watches.add("Oslo", name="rain", passages=1)
    await index.maintenance.change_settings({"method": "naive"})
    async with aclosing(await AsyncTrueweave.enter(database, "test", HashEmbedder())) as other:
        assert await other.watches.check() == 1


async def test_former_texts_are_shown_if_history_is_kept(index: AsyncTrueweave) -> None:
    await index.history.keep()
    await watched(index)
    await index.add_documents([NEW_CHIEF])
    [alert] = await new_alerts(index)
    assert texts(alert) == {"added": {NEW_CHIEF.chunks[0].text}, "removed": {CHIEF.chunks[0].text}}
    assert [(one.change, one.is_indexed) for one in alert.passages] == [("added", True), ("removed", False)]


async def test_a_watch_has_a_filter_and_a_method(index: AsyncTrueweave) -> None:
    await watched(index, filter=Filter(uris=("rain.md",)))
    [first] = await index.watches.alerts("chief")
    assert "acme.md" not in {one.uri for one in first.passages}
    await index.add_documents([NEW_CHIEF])
    assert await new_alerts(index) == []


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"question": " "}, "1 to 2,000 characters"),
        ({"question": "x" * 2001}, "1 to 2,000 characters"),
        ({"name": "a/b"}, "cannot be the name"),
        ({"name": "alerts"}, "cannot be the name"),
        ({"passages": 0}, "1 to 50 passages"),
        ({"tokens_per_day": -1}, "fewer than 0"),
        ({"groups": [" "]}, "cannot be the name of a group"),
        ({"webhook": "ftp://example.com"}, "cannot be a webhook"),
        ({"webhook": "https://user:word@example.com"}, "cannot be a webhook"),
    ],
)
async def test_what_cannot_be_a_watch_is_refused(index: AsyncTrueweave, wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        await index.watches.add(**{"question": QUESTION, **wrong})
    assert await index.watches.all() == []


async def test_what_is_missing_is_named(index: AsyncTrueweave) -> None:
    with pytest.raises(ConfigError, match="no language model is set"):
        await index.watches.add(QUESTION, answers=True)
    with pytest.raises(ConfigError, match="no key to sign with"):
        await index.watches.add(QUESTION, webhook="https://example.com/")
    with pytest.raises(UnknownMethod):
        await index.watches.add(QUESTION, method="guesswork")
    await watched(index)
    with pytest.raises(InvalidArgument, match="there is a watch chief already"):
        await watched(index)
    for act in (index.watches.get, index.watches.remove, index.watches.alerts):
        with pytest.raises(UnknownWatch, match="no watch 'other'"):
            await act("other")


async def test_a_removed_watch_leaves_nothing(index: AsyncTrueweave) -> None:
    await watched(index)
    await watched(index, name="other")
    await index.watches.remove("chief")
    assert [one.name for one in await index.watches.all()] == ["other"]
    assert {one.watch for one in await index.watches.alerts()} == {"other"}
    await watched(index)
    assert len(await index.watches.alerts("chief")) == 1


# --- who acts in the middle ---------------------------------------------------------------------------


async def claimed(runs: WatchRuns) -> Sequence[watches.WatchClaim]:
    return await runs.claim(uuid4())


async def test_two_processes_make_one_alert(index: AsyncTrueweave, database: Database) -> None:
    await watched(index)
    await index.add_documents([NEW_CHIEF])
    async with aclosing(await AsyncTrueweave.enter(database, "test", HashEmbedder())) as other:
        [held] = await claimed(index.watch_runs(database))
        assert await claimed(other.watch_runs(database)) == []
        await index.watch_runs(database).run(held)
        assert await other.watches.check() == 0
    assert [one.added for one in await index.watches.alerts()] == [1, 1]


class Held:
    """Stops a watch between its search and the record of what it found."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.found, self.go_on, search = asyncio.Event(), asyncio.Event(), WatchRuns.found

        async def found(runs: WatchRuns, watch: Any) -> FoundNow | None:
            made = await search(runs, watch)
            if not self.found.is_set():
                self.found.set()
                await self.go_on.wait()
            return made

        monkeypatch.setattr(WatchRuns, "found", found)


async def test_another_process_takes_over_from_one_that_is_gone(
    index: AsyncTrueweave, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await watched(index)
    await index.add_documents([NEW_CHIEF])
    held = Held(monkeypatch)
    late = asyncio.create_task(index.watches.check())
    await held.found.wait()
    async with database.transaction(None) as tx:  # its lease expires, as if its machine had lost power
        await tx.execute("DELETE FROM process")
    async with aclosing(await AsyncTrueweave.enter(database, "test", HashEmbedder())) as other:
        assert await other.watches.check() == 1
        await other.add_documents([CHIEF])
        assert await other.watches.check() == 1
        held.go_on.set()
        await late
        assert [one.added for one in await other.watches.alerts()] == [1, 1, 1], "and none by the one that came late"


async def test_a_watch_that_is_removed_while_it_is_asked(
    index: AsyncTrueweave, monkeypatch: pytest.MonkeyPatch
) -> None:
    await watched(index)
    await index.add_documents([NEW_CHIEF])
    held = Held(monkeypatch)
    asking = asyncio.create_task(index.watches.check())
    await held.found.wait()
    await index.watches.remove("chief")
    held.go_on.set()
    assert await asking == 1
    assert await index.watches.alerts() == []


async def test_a_document_that_is_removed_while_it_is_found_leaves_nothing(
    index: AsyncTrueweave, monkeypatch: pytest.MonkeyPatch
) -> None:
    await index.remove(["acme.md"])
    await watched(index)
    await index.add_documents([NEW_CHIEF])
    held = Held(monkeypatch)
    asking = asyncio.create_task(index.watches.check())
    await held.found.wait()
    await index.remove(["acme.md"])
    held.go_on.set()
    await asking
    stored = await rows(index, "SELECT p.uri FROM alert_passage p WHERE p.uri = 'acme.md'")
    assert stored == []
    last = (await index.watches.alerts())[-1]
    assert (last.added, {one.uri for one in last.passages}) == (0, {""})


async def test_a_removal_is_an_alert_and_leaves_no_uri(index: AsyncTrueweave) -> None:
    await watched(index)
    await index.remove(["acme.md"])
    assert await rows(index, "SELECT uri FROM alert_passage WHERE uri = 'acme.md'") == [], "before it is asked"
    [alert] = await new_alerts(index)
    assert alert.removed == 1
    assert await rows(index, "SELECT uri FROM alert_passage WHERE uri = 'acme.md'") == []


async def test_a_question_during_which_the_index_changes_is_asked_again(
    index: AsyncTrueweave, monkeypatch: pytest.MonkeyPatch
) -> None:
    await watched(index)
    await index.add_documents([said("acme.md", "Cy Dahl is chief executive of Acme.")])
    search, changed = Keyword.retrieve, False

    async def changing(self: Keyword, *asked: Any) -> Evidence:
        nonlocal changed
        found = await search(self, *asked)
        if not changed:
            changed = True
            await index.add_documents([NEW_CHIEF])
        return found

    monkeypatch.setattr(Keyword, "retrieve", changing)
    [alert] = await new_alerts(index)
    assert texts(alert)["added"] == {NEW_CHIEF.chunks[0].text}


async def test_what_cannot_be_asked_is_said_and_tried_again(
    index: AsyncTrueweave, monkeypatch: pytest.MonkeyPatch
) -> None:
    await watched(index)
    await index.add_documents([NEW_CHIEF])

    async def failing(*_: Any) -> Evidence:
        raise ConfigError("the model is not there")

    with monkeypatch.context() as broken:
        broken.setattr(Keyword, "retrieve", failing)
        assert await index.watches.check() == 1, "and not again and again"
        assert (await index.watches.get("chief")).problem == "the model is not there"
    await rows(index, "UPDATE watch SET asked = now() - interval '2 minutes' RETURNING 1")
    [alert] = await new_alerts(index)
    assert alert.added == 1
    assert (await index.watches.get("chief")).problem == ""


async def test_a_bug_is_recorded_and_raised(index: AsyncTrueweave, monkeypatch: pytest.MonkeyPatch) -> None:
    await watched(index)
    await index.add_documents([NEW_CHIEF])

    async def broken(*_: Any) -> Evidence:
        raise ZeroDivisionError

    monkeypatch.setattr(Keyword, "retrieve", broken)
    with pytest.raises(ZeroDivisionError):
        await index.watches.check()
    assert (await index.watches.get("chief")).problem.startswith("unexpected ZeroDivisionError. This is a bug")
    assert await index.watches.check() == 0, "it is tried again in a minute"


async def test_a_worker_releases_what_a_failure_left_claimed(index: AsyncTrueweave, database: Database) -> None:
    await watched(index)
    await index.add_documents([NEW_CHIEF])
    opening, told = 0, list[object]()

    @asynccontextmanager
    async def opened(_: object) -> AsyncIterator[WatchRuns]:
        nonlocal opening
        opening += 1
        if opening == 1:
            raise ConfigError("the settings are wrong")
        yield index.watch_runs(database)

    async with Liveness(database) as liveness:
        scheduler = WatchScheduler(database, opened, told.append, liveness)
        for _ in range(2):
            await scheduler._look()
            await asyncio.gather(*scheduler._busy.values())
    assert told == [Waiting("watches: the settings are wrong")]
    assert len(await index.watches.alerts()) == 2


async def test_watches_wait_for_the_index_but_not_for_ever(index: AsyncTrueweave, database: Database) -> None:
    await watched(index)
    await index.add_documents([NEW_CHIEF])
    await rows(index, "INSERT INTO pending_link (chunk) SELECT id FROM chunk LIMIT 1 RETURNING 1")
    runs = index.watch_runs(database)
    assert await claimed(runs) == []
    await rows(index, "UPDATE watch SET changed = now() - interval '6 minutes' RETURNING 1")
    assert len(await claimed(runs)) == 1


async def test_old_alerts_are_deleted_but_not_the_evidence(index: AsyncTrueweave) -> None:
    await watched(index)
    for document in (NEW_CHIEF, CHIEF):
        await index.add_documents([document])
        await index.watches.check()
    await rows(index, "UPDATE alert SET at = now() - interval '2 years' RETURNING 1")
    await index.maintenance.clean_up()
    assert len(await index.watches.alerts()) == 1
    assert await new_alerts(index) == []


# --- workers ------------------------------------------------------------------------------------------


async def test_a_worker_asks_watches(index: AsyncTrueweave) -> None:
    await watched(index)
    stop = asyncio.Event()
    working = asyncio.create_task(index.work(stop=stop))
    await index.add_documents([NEW_CHIEF])
    async with asyncio.timeout(60):
        while not (found := await index.watches.alerts(after=(await index.watches.alerts())[0].id)):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    stop.set()
    await working
    assert texts(found[0])["added"] == {NEW_CHIEF.chunks[0].text}


# --- answers ------------------------------------------------------------------------------------------


class Answers:
    """A model that says who is chief executive, or fails."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, _: Asked) -> str:
        self.asked += 1
        return "Bo Lind is chief executive of Acme [1]."


@asynccontextmanager
async def answering(database: Database, model: Answers) -> AsyncIterator[AsyncTrueweave]:
    async with ModelServer(model) as server:
        prices = {MODEL: (Decimal(1), Decimal(10))}
        settings = Settings(model=MODEL, model_url=server.url, prices=prices, model_tries=1)
        opened = await AsyncTrueweave.enter(database, "test", HashEmbedder(), settings=settings)
        async with aclosing(opened) as index:
            await index.add_documents([CHIEF, OTHER])
            yield index


async def test_an_alert_has_an_answer_which_is_erased_with_its_documents(database: Database) -> None:
    async with answering(database, model := Answers()) as index:
        await watched(index, answers=True)
        assert model.asked == 0, "what it finds first is no change"
        await index.add_documents([NEW_CHIEF])
        [alert] = await new_alerts(index)
        assert alert.answer.startswith("Bo Lind is chief executive of Acme")
        await index.remove(["rain.md"])
        assert (await index.watches.alerts())[-1].answer == alert.answer, "which was made without it"
        await index.remove(["acme.md"])
        assert [one.answer for one in await index.watches.alerts()] == ["", ""]


async def test_answers_keep_to_the_tokens_of_a_day(database: Database) -> None:
    async with answering(database, model := Answers()) as index:
        await watched(index, answers=True, tokens_per_day=10)
        await index.add_documents([NEW_CHIEF])
        assert [bool(one.answer) for one in await new_alerts(index)] == [True], "begun below the limit"
        await index.add_documents([CHIEF])
        [alert] = await new_alerts(index)
        assert (alert.answer, alert.problem) == ("", "the 10 tokens that it has for a day are used")
        assert model.asked == 1


async def test_a_model_that_fails_does_not_hold_up_the_alert(database: Database) -> None:
    async with answering(database, Answers()) as index:
        await watched(index, answers=True)
        await index.budget.allow(tokens=0)
        await index.add_documents([NEW_CHIEF])
        [alert] = await new_alerts(index)
        assert (alert.answer, alert.added) == ("", 1)
        assert "budget" in alert.problem


# --- rights -------------------------------------------------------------------------------------------


async def test_a_watch_reads_as_its_groups(index: AsyncTrueweave) -> None:
    await watched(index, groups=["legal"])
    await index.add_documents([said("acme.md", "Bo Lind is chief executive of Acme.", readers=("hr",))])
    [alert] = await new_alerts(index)
    assert (alert.added, alert.removed) == (0, 1)
    assert "Bo Lind" not in str(alert)
    await index.access.set("acme.md", ["legal"])
    await index.add_documents([NEW_CHIEF], readers=["legal"])
    [alert] = await new_alerts(index)
    assert NEW_CHIEF.chunks[0].text in texts(alert)["added"]


async def test_a_change_of_readers_is_a_change(index: AsyncTrueweave) -> None:
    await watched(index, groups=["legal"])
    await index.access.set("acme.md", ["hr"])
    [alert] = await new_alerts(index)
    assert (alert.removed, [one.uri for one in alert.passages if one.change == "removed"]) == (1, [""])
    [first] = [one for one in await index.watches.alerts("chief") if one.is_first]
    assert {(one.uri, one.text) for one in first.passages} == {("", "")}, "it may no longer read that"


async def test_a_caller_cannot_have_a_watch_read_more_than_itself(index: AsyncTrueweave) -> None:
    caller = index.acting_as(["legal", "sales"])
    made = await caller.watches.add(QUESTION)
    assert made.groups == ("legal", "sales")
    with pytest.raises(InvalidArgument, match="the group hr"):
        await caller.watches.add(QUESTION, name="other", groups=["hr"])
    with pytest.raises(InvalidArgument, match=r"the group \*"):
        await caller.watches.add(QUESTION, name="other", groups=["*"])
    await index.add_documents([said("secret.md", "Acme pays Bo Lind.", readers=("hr",))])
    for act in (caller.watches.all(), caller.watches.alerts(), caller.watches.check(), caller.watches.remove("x")):
        with pytest.raises(NotForRestricted):
            await act


async def rows(index: AsyncTrueweave, query: str) -> list[Any]:
    async with index.workspace.transaction() as tx:
        return await (await tx.execute(query)).fetchall()
