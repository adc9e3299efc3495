"""HTTP responses: whole, slow, cut off or endless."""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

_HEAD = b"HTTP/1.1 %d %s\r\nContent-Type: %s\r\n"
_REASONS = {200: b"OK", 400: b"Bad Request", 401: b"Unauthorized", 404: b"Not Found", 429: b"Too Many Requests"}


@dataclass(frozen=True)
class HttpReply:
    """A response. Without a `length` it is sent in chunks, as pieces arrive.

    `breaks` drops the connection in the middle of the first piece, or of the second if it is sent in chunks.
    """

    status: int
    pieces: AsyncIterator[bytes]
    length: int | None
    headers: tuple[tuple[str, str], ...] = ()
    type: bytes = b"application/json"
    breaks: bool = False


async def send(writer: asyncio.StreamWriter, answer: HttpReply) -> bool:
    """Send a response, and return whether all of it was sent, so that the connection can be kept."""
    head = _HEAD % (answer.status, _REASONS.get(answer.status, b"Error"), answer.type)
    for name, value in answer.headers:
        head += f"{name}: {value}\r\n".encode()
    is_chunked = answer.length is None
    head += b"Transfer-Encoding: chunked" if is_chunked else b"Content-Length: %d" % (answer.length or 0)
    head += b"\r\n\r\n"
    has_begun = not is_chunked
    async for piece in answer.pieces:
        breaks = answer.breaks and has_begun
        sent = b"%x\r\n%b\r\n" % (len(piece), piece) if is_chunked else piece
        writer.write(head + (sent[: len(sent) // 2] if breaks else sent))
        await writer.drain()
        if breaks:
            return False
        head, has_begun = b"", True
    if is_chunked:
        writer.write(b"0\r\n\r\n")
        await writer.drain()
    return True


def whole(status: int, found: Mapping[str, Any], headers: Sequence[tuple[str, str]] = ()) -> HttpReply:
    """A response with an object as JSON."""
    body = json.dumps(found).encode()
    return HttpReply(status, pieces_of([body]), len(body), tuple(headers))


def refusal(status: int, message: str, *headers: tuple[str, str], code: str = "", param: str = "") -> HttpReply:
    """An error response in OpenAI's form."""
    error = {"message": message, "type": "error", "code": code or None, "param": param or None}
    return whole(status, {"error": error}, headers)


async def pieces_of(pieces: Iterable[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


async def packed(answer: HttpReply) -> HttpReply:
    """The same response, compressed with gzip."""
    body = gzip.compress(b"".join([piece async for piece in answer.pieces]))
    return replace(answer, pieces=pieces_of([body]), length=len(body), headers=(("Content-Encoding", "gzip"),))


async def slowly(pieces: AsyncIterator[bytes], pause: float) -> AsyncIterator[bytes]:
    async for piece in pieces:
        for byte in piece:
            yield bytes([byte])
            await asyncio.sleep(pause)


async def endless(
    begin: bytes = b'{"choices": [{"index": 0, "message": {"role": "assistant", "content": "',
) -> AsyncIterator[bytes]:
    yield begin
    while True:
        yield b"and so on, " * 1000


def bomb(status: int) -> HttpReply:
    """A compressed response of a megabyte that unpacks to a gigabyte of spaces."""
    packing = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    begin = packing.compress(b'{"error": "') + packing.flush(zlib.Z_FULL_FLUSH)
    # After a full flush the same megabyte is compressed to the same bytes.
    block = packing.compress(b" " * (1 << 20)) + packing.flush(zlib.Z_FULL_FLUSH)
    body = begin + block * 1024
    return HttpReply(status, pieces_of([body]), len(body), (("Content-Encoding", "gzip"),))
