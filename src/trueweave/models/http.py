"""HTTP to model servers with limits: no reply is decompressed or read beyond them, and no prompt goes to another
host."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2

ERROR_BYTES = 64 << 10  # of the body of an error; the rest is not read

_LIMITS = httpx2.Limits(max_connections=1000, max_keepalive_connections=100)  # those of the SDKs
_PIECE = 64 << 10  # bytes decompressed at a time
_GZIP_OR_ZLIB = zlib.MAX_WBITS | 32
_PACKED = frozenset({"gzip", "x-gzip", "deflate"})
_PLAIN = frozenset({"", "identity"})


class Redirected(httpx2.RequestError):
    """The server redirects the request. `to` is the target, without user, password or query."""

    def __init__(self, to: str) -> None:
        super().__init__(to)
        self.to = to


class BoundedClient(httpx2.AsyncClient):
    """A client that follows no redirects and returns replies in small pieces, decompressed.

    Bodies of errors end after `ERROR_BYTES`, as the SDK reads them in full. For other replies, the reader counts the
    bytes.
    """

    def __init__(self) -> None:
        super().__init__(limits=_LIMITS, follow_redirects=False, headers={"accept-encoding": "gzip"})

    async def send(self, request: httpx2.Request, **how: Any) -> httpx2.Response:
        response = await super().send(request, **{**how, "stream": True, "follow_redirects": False})
        if response.has_redirect_location:
            await response.aclose()
            raise Redirected(_place(request.url.join(response.headers["location"])))
        packing = response.headers.pop("content-encoding", "").strip().lower()
        if packing not in _PACKED | _PLAIN:
            await response.aclose()
            raise httpx2.DecodingError(
                f"it packs its reply as {packing[:40]!r}, which was not asked for", request=request
            )
        most = ERROR_BYTES if response.is_error else None
        assert isinstance(response.stream, httpx2.AsyncByteStream), "it is an asynchronous client"
        response.stream = _Unpacked(response.stream, is_packed=packing in _PACKED, most=most)
        return response


class _Unpacked(httpx2.AsyncByteStream):
    """A reply as it arrives, decompressed, in pieces of limited size. It ends after `most` bytes."""

    def __init__(self, raw: httpx2.AsyncByteStream, *, is_packed: bool, most: int | None) -> None:
        self._raw = raw
        self._unpacking = zlib.decompressobj(_GZIP_OR_ZLIB) if is_packed else None
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self._raw:
            for part in self._unpacked(piece):
                size += len(part)
                if self._most is not None and size >= self._most:
                    yield part[: len(part) - (size - self._most)]
                    return
                yield part

    async def aclose(self) -> None:
        await self._raw.aclose()

    def _unpacked(self, piece: bytes) -> Iterator[bytes]:
        if self._unpacking is None:
            yield piece
            return
        left = piece
        while True:
            try:
                part = self._unpacking.decompress(left, _PIECE)
            except zlib.error as error:
                raise httpx2.DecodingError(f"its reply cannot be unpacked: {error}") from error
            if not part:
                return
            yield part
            left = self._unpacking.unconsumed_tail


def _place(url: httpx2.URL) -> str:
    port = f":{url.port}" if url.port else ""
    return f"{url.scheme}://{url.host}{port}{url.path}"
