"""What one upload may take: bytes that it unpacks to, time, and readers; and nothing once its caller has left."""

import asyncio
import io
import threading
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.server.test_server_questions import until
from tests.integration.serving import fill, serving
from trueweave.errors import UnreadableFile
from trueweave.ingest import json_lines, reading_limits
from trueweave.ingest.parsing import ParserLimits, parse
from trueweave.ingest.reading_limits import ReadingLimits, limited

FILES = "/v1/workspaces/mine/documents/files"
ESTIMATE = "/v1/workspaces/mine/estimate/files"


def packed(unit: bytes, mebibytes: int) -> bytes:
    """A gzip of so much of the same."""
    packing, block = zlib.compressobj(9, zlib.DEFLATED, 31), unit * (2**20 // len(unit))
    return b"".join([*(packing.compress(block) for _ in range(mebibytes)), packing.flush()])


@pytest.mark.parametrize("unit", [b"\n", b" ", b"{}\n"], ids=["line ends", "one line", "bad rows"])
async def test_an_upload_unpacks_to_no_more_than_the_limit(url: str, unit: bytes) -> None:
    async with serving(url, max_unpacked_bytes=1 << 17) as server:
        await fill(server.database, "mine")
        async with server.client(await server.key("write", "mine")) as client:
            bomb = {"file": ("x.jsonl.gz", packed(unit, 4))}
            found = (await client.post(FILES, files=bomb)).json()
            assert found["taken"]["unreadable"] == 1
            assert (await client.post(ESTIMATE, files=bomb)).json()["unreadable"] >= 1


async def test_an_upload_may_be_read_for_so_long_and_no_longer(url: str) -> None:
    async with serving(url, max_reading_seconds=0.02) as server:
        await fill(server.database, "mine")
        async with server.client(await server.key("write", "mine")) as client:
            found = (await client.post(FILES, files={"file": ("x.jsonl.gz", packed(b"\n", 64))})).json()
            [unused] = found["not_used"]
            assert (unused["kind"], unused["reason"]) == (
                "unreadable",
                "Reading the upload took more than 0.02 s. Split it.",
            )


async def test_small_packed_files_are_read(url: str) -> None:
    async with serving(url) as server:
        await fill(server.database, "mine")
        async with server.client(await server.key("write", "mine")) as client:
            file = packed(b'{"id": 1, "text": "Ada met Bob."}'.ljust(2**20 - 1) + b"\n", 1)
            assert (await client.post(FILES, files={"file": ("x.jsonl.gz", file)})).json()["documents"] == 1


async def test_the_reading_of_an_upload_stops_when_its_caller_leaves(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, ended = threading.Event(), threading.Event()

    def endless(_: Path) -> Iterator[tuple[int, bytes]]:
        begun.set()
        try:
            while not ended.wait(0.01):
                reading_limits.current().check()
            yield 1, b""
        finally:
            ended.set()

    monkeypatch.setattr("trueweave.ingest.loading.rows.lines", endless)
    async with serving(url) as server:
        await fill(server.database, "mine")
        async with server.client(await server.key("write", "mine")) as client:
            for path in (FILES, ESTIMATE):
                begun.clear()
                ended.clear()
                sending = asyncio.create_task(client.post(path, files={"file": ("x.jsonl", b"{}")}))
                await until(begun.is_set)
                sending.cancel()
                await until(ended.is_set)
                await until(lambda: not server.app.state.services.readers._under_way)


async def test_one_callers_uploads_leave_places_to_others(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go = threading.Semaphore(0), threading.Event()

    def held(path: Path) -> Iterator[tuple[int, bytes]]:
        begun.release()
        go.wait(30)
        yield from json_lines.lines(path)

    monkeypatch.setattr("trueweave.ingest.loading.rows.lines", held)
    async with serving(url) as server:
        await fill(server.database, "mine")
        await fill(server.database, "theirs")
        async with (
            server.client(await server.key("read", "mine")) as greedy,
            server.client(await server.key("write", "theirs")) as other,
        ):
            sending = [asyncio.create_task(greedy.post(ESTIMATE, files={"file": ("x.jsonl", b"")})) for _ in range(6)]
            await asyncio.to_thread(begun.acquire)
            files = {"file": ("tiny.txt", b"hello")}
            answer = await other.post("/v1/workspaces/theirs/documents/files", files=files)
            assert answer.status_code == 202
            go.set()
            assert {one.status_code for one in await asyncio.gather(*sending)} == {200}


def test_a_zip_archive_counts_with_what_it_unpacks_to(tmp_path: Path) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x", bytes(12 << 20))
    (tmp_path / "a.epub").write_bytes(data.getvalue())
    with limited(ReadingLimits(10 << 20, 60)), pytest.raises(UnreadableFile, match="would unpack to 12 MiB"):
        parse(tmp_path / "a.epub", "a", "trueweave.ingest.parsers.book:read", ParserLimits())
