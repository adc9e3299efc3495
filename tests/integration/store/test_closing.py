"""A connection may be closed while another task waits for a statement on it: that task gets an error.

uvloop ends the process with SIGABRT when it is about to watch a descriptor that was closed. A task that waits for
PostgreSQL registers its descriptor anew ten times a second, so after a stall the registration and the close fall into
the same turn of the loop. Each test runs in a process of its own, which must survive.
"""

import subprocess
import sys

import pytest

CLOSED_BY_ANOTHER_TASK = """
import asyncio, sys, time
import uvloop
from psycopg import OperationalError
from trueweave.store.postgres.connections import connect

async def main(url):
    connection = await connect(url)
    waiting = asyncio.create_task(connection.execute("SELECT pg_sleep(60)"))
    async with await connect(url) as other:
        seen = "SELECT FROM pg_stat_activity WHERE pid = %s AND wait_event = 'PgSleep'"
        while not (await other.execute(seen, (connection.pgconn.backend_pid,))).rowcount:
            await asyncio.sleep(0.01)

    async def close():
        await asyncio.sleep(0.2)  # due after the next registration
        await connection.close()

    closing = asyncio.create_task(close())
    await asyncio.sleep(0)
    time.sleep(0.5)  # the stall: both are due when it ends
    began = time.monotonic()
    await closing
    assert connection.closed
    assert time.monotonic() - began < 5, "the statement was waited for"
    try:
        await waiting
    except OperationalError:
        print("survived")

with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
    runner.run(main(sys.argv[1]))
"""

LEASE_NOT_RENEWED = """
import asyncio, sys, time
import uvloop
from trueweave.store.postgres.connections import connect
from trueweave.extend import Database
from trueweave.store.postgres.queue.liveness import Liveness

LEASE = 2.0

async def main(url):
    async with Database(url) as database, Liveness(database, LEASE) as liveness, await connect(url) as other:
        for _ in range(3):
            await other.execute("BEGIN")
            await other.execute("LOCK TABLE trueweave.process")
            seen = "SELECT FROM pg_locks WHERE relation = 'trueweave.process'::regclass AND NOT granted"
            while not (await other.execute(seen)).rowcount:
                await asyncio.sleep(0.01)
            time.sleep(LEASE / 2)  # the stall: the renewal is overdue when it ends
            await asyncio.sleep(0.05)
            await other.execute("ROLLBACK")
            while not liveness.holds(liveness.owner):
                await asyncio.sleep(0.01)
    print("survived")

with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
    runner.run(main(sys.argv[1]))
"""


@pytest.mark.parametrize("script", [CLOSED_BY_ANOTHER_TASK, LEASE_NOT_RENEWED], ids=["close", "lease"])
def test_a_process_survives_a_close_during_a_wait(url: str, script: str) -> None:
    pytest.importorskip("uvloop")
    run = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", script, url],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (run.returncode, run.stdout) == (0, "survived\n"), run.stderr
