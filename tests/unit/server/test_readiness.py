"""Whether a server is ready: one look at the database serves all who ask at the same time."""

import asyncio
from typing import cast

import pytest

from trueweave.extend import Database
from trueweave.server.services import Readiness
from trueweave.store.postgres.access import api_keys


async def test_a_check_is_answered_by_the_look_that_it_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    first: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
    looks: list[asyncio.Future[bool]] = [first, asyncio.get_running_loop().create_future()]  # the second one never ends

    begun = asyncio.Event()

    async def any_valid(_: Database) -> bool:
        begun.set()
        return await looks.pop(0)

    monkeypatch.setattr(api_keys, "any_valid", any_valid)
    readiness = Readiness(cast(Database, None))

    async def ask_later() -> None:
        """Ask when the first look has ended, and the one who waited for it has not gone on yet."""
        await first
        await asyncio.sleep(0)
        await readiness.check(60)

    later = asyncio.create_task(ask_later())
    asked = asyncio.create_task(readiness.check(60))
    await begun.wait()
    first.set_result(True)
    await asked
    assert not looks, "the second look has begun"
    later.cancel()
    await readiness.aclose()
