"""Places for reading uploads are shared fairly between callers."""

import asyncio
from contextlib import AsyncExitStack
from typing import Self

from trueweave import Settings
from trueweave.server.readers import UploadReaders


class Reading:
    """Uploads that are read until they are told to end."""

    def __init__(self, places: int) -> None:
        self.readers = UploadReaders(Settings(database_url="postgresql://localhost/none", uploads_at_once=places))
        self.begun: list[str] = []
        self.ends: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def upload(self, caller: str, name: str) -> None:
        self.ends[name] = asyncio.Event()
        self.tasks[name] = asyncio.create_task(self._read(caller, name))
        await self.settled()

    async def _read(self, caller: str, name: str) -> None:
        async with self.readers.one(caller):
            self.begun.append(name)
            await self.ends[name].wait()

    async def end(self, name: str) -> None:
        self.ends[name].set()
        await self.tasks[name]
        await self.settled()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self.tasks.values():
            task.cancel()
        await asyncio.gather(*self.tasks.values(), return_exceptions=True)

    async def settled(self) -> None:
        for _ in range(5):
            await asyncio.sleep(0)


async def test_one_caller_leaves_half_of_the_places_to_others() -> None:
    async with Reading(4) as reading:
        for n in range(4):
            await reading.upload("a", f"a{n}")
        assert reading.begun == ["a0", "a1"]
        await reading.upload("b", "b0")
        assert reading.begun == ["a0", "a1", "b0"]
        await reading.end("a1")
        assert reading.begun == ["a0", "a1", "b0", "a2"]


async def test_a_free_place_goes_to_the_caller_with_the_fewest() -> None:
    async with Reading(2) as reading:
        for name in ("a0", "b0", "a1", "c0", "b1"):
            await reading.upload(name[0], name)
        assert reading.begun == ["a0", "b0"]
        await reading.end("b0")
        assert reading.begun[2:] == ["c0"]
        await reading.end("a0")
        assert reading.begun[3:] == ["a1"]


async def test_who_leaves_while_waiting_takes_no_place() -> None:
    async with Reading(2) as reading:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(reading.readers.one("a"))
            await reading.upload("a", "left")
            await reading.upload("a", "next")
            reading.tasks["left"].cancel()
            await reading.settled()
        await reading.settled()
        assert reading.begun == ["next"]


async def test_a_place_that_is_given_to_a_caller_who_leaves_at_that_moment_is_free_again() -> None:
    async with Reading(2) as reading:
        async with reading.readers.one("a"):
            await reading.upload("a", "left")
        reading.tasks["left"].cancel()  # it has its place, and does not know it yet
        await reading.settled()
        await reading.upload("a", "next")
        assert reading.begun == ["next"]
