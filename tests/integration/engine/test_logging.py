"""What is logged, with which fields, and that no text of documents is among it."""

import asyncio
import logging
import re
from pathlib import Path

import psycopg
import pytest

from tests.integration.ingest.test_worker import CAPITALS, Scripted
from trueweave import Source
from trueweave.core.events import ignore
from trueweave.errors import BadReply
from trueweave.extend import Database, Workspace
from trueweave.ingest.intake import take_in
from trueweave.ingest.jobs import WorkerDependencies, WorkerSettings
from trueweave.ingest.worker import worker_of
from trueweave.store.postgres.schema.migrate import migrate

DOCS = Path(__file__).parents[3] / "docs" / "how-to" / "operations.md"
SECRET = "Zanzibarine"


def documented() -> dict[str, tuple[str, str, set[str]]]:
    """For each event on the page its level, its loggers and its fields."""
    rows = re.findall(r"^\| `([\w.]+)` \| (\w+) \| (.+?) \| (.+?) \|$", DOCS.read_text("utf-8"), re.MULTILINE)
    return {event: (level, loggers, set(re.findall(r"`(\w+)`", fields))) for event, level, loggers, fields in rows}


def events(caplog: pytest.LogCaptureFixture) -> dict[str, logging.LogRecord]:
    """The last record of each event. Each is as the page says."""
    found = {str(record.__dict__["event"]): record for record in caplog.records if "event" in record.__dict__}
    page = documented()
    usual = logging.makeLogRecord({}).__dict__.keys() | {"message", "asctime", "event"}
    for event, record in found.items():
        level, loggers, fields = page[event]
        assert record.levelname == level
        assert f"`{record.name}`" in loggers
        assert record.__dict__.keys() - usual <= fields
    return found


async def work(workspace: Workspace, *sources: Source, extractor: Scripted | None = None) -> None:
    no_more = asyncio.Event()
    needed = WorkerDependencies(lambda _: extractor or Scripted())
    worker = worker_of(workspace, needed, pace=WorkerSettings(gather=0.01, tries=1))
    working = asyncio.create_task(worker.run_until_done(no_more))
    await take_in(workspace, sources, CAPITALS, ignore)
    no_more.set()
    await asyncio.wait_for(working, 30)


async def test_jobs_and_failed_documents_are_logged_without_text_of_theirs(
    workspace: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    quoting = Scripted()
    quoting.error = BadReply(f"the reply has no JSON: {SECRET}")
    with caplog.at_level(logging.DEBUG, "trueweave"):
        await work(workspace, Source("good.md", f"{SECRET} wrote to {SECRET}"))
        await work(workspace, Source("bad.md", f"{SECRET} again"), extractor=quoting)
    found = events(caplog)
    assert {"job.taken", "job.finished", "document.failed"} <= found.keys()
    finished, failed = found["job.finished"].__dict__, found["document.failed"].__dict__
    assert finished["workspace"] == workspace.id
    assert finished["kind"] in ("document", "settle")
    assert finished["seconds"] >= 0
    assert (failed["uri"], failed["final"]) == ("bad.md", True)
    told = [record for record in caplog.records if record.levelno >= logging.INFO]
    assert told
    assert not [record for record in told if SECRET in f"{record.getMessage()} {record.__dict__}"]


async def test_work_that_fails_by_a_bug_is_logged_with_its_kind(
    workspace: Workspace, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise KeyError(SECRET)

    monkeypatch.setattr("trueweave.ingest.jobs.link", broken)
    with caplog.at_level(logging.INFO, "trueweave"):
        await work(workspace, Source("a.md", "Ada wrote"))
    failed = events(caplog)["job.failed"].__dict__
    assert (failed["kind"], failed["error_type"]) == ("link", "KeyError")
    assert SECRET not in caplog.text


async def test_migrations_are_logged(url: str, caplog: pytest.LogCaptureFixture) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA trueweave CASCADE; DROP EXTENSION vector")
    with caplog.at_level(logging.INFO, "trueweave"):
        applied = await migrate(url)
    told = [record.__dict__["migration"] for record in caplog.records if record.name.endswith(".migrate")]
    assert told == applied
    assert events(caplog)["migration.applied"].__dict__["database"] in url


async def test_slow_statements_are_logged_by_name_or_text_and_without_values(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with Database(url, slow_after=0.05) as database:
        workspace = await database.find_workspace("test", make=True)
        assert workspace is not None
        with caplog.at_level(logging.INFO, "trueweave"):
            async with workspace.transaction() as tx:
                await tx.execute("SELECT pg_sleep(0.1), %(text)s::text", {"text": SECRET})
            slow = events(caplog)["statement.slow"].__dict__
            assert slow["statement"] == "SELECT pg_sleep(0.1), %(text)s::text"
            assert slow["seconds"] >= 0.05
            await workspace.read(b"SELECT pg_sleep(0.11)")
    assert events(caplog)["statement.slow"].__dict__["statement"] == "SELECT pg_sleep(0.11)"
    assert SECRET not in f"{caplog.text} {[record.__dict__ for record in caplog.records]}"


async def test_without_a_threshold_no_statement_is_slow(url: str, caplog: pytest.LogCaptureFixture) -> None:
    async with Database(url) as database:
        workspace = await database.find_workspace("test", make=True)
        assert workspace is not None
        with caplog.at_level(logging.INFO, "trueweave"):
            await workspace.read(b"SELECT pg_sleep(0.1)")
    assert "statement.slow" not in events(caplog)
