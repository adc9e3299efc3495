"""HTTP for connectors: requests that reach only allowed networks, and stay within limits of size, time and rate."""

from __future__ import annotations

import socket
import ssl
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any, BinaryIO

import httpcore2
import httpx2

from trueweave.core.connectors import ConnectorContext, Network
from trueweave.core.errors import ConfigError, ItemGone, UnreadableFile

_REDIRECTS = 5
_PIECE = 64 * 2**10
_GZIP_OR_ZLIB = zlib.MAX_WBITS | 32
_PACKED = frozenset({"gzip", "x-gzip", "deflate"})
_PLAIN = frozenset({"", "identity"})
_MIB = 2**20
_REDIRECTED = frozenset({301, 302, 303, 307, 308})
_GONE = frozenset({404, 410})
_DEFAULT_PORTS = {"http": 80, "https": 443}
_LONGEST_PAUSE = 30.0

AGENT = "Trueweave"


class ForbiddenAddress(UnreadableFile):
    """A host has an address in a network that documents must not be fetched from."""


@dataclass(frozen=True)
class HttpResponse:
    """The response to a request, without its content. `url` is where redirects have led."""

    status: int
    url: str
    headers: Mapping[str, str]


class HttpFetcher:
    """Sends requests one after the other, within the limits of the context. Nothing is fetched from loopback, private
    or other reserved addresses outside `context.networks`: the address that is connected to is checked, so neither a
    redirect nor a host name that changes its address leads there. Proxies of the environment are not used."""

    def __init__(self, context: ConnectorContext, headers: Mapping[str, str] | None = None) -> None:
        self._context = context
        self._headers = {"user-agent": AGENT, "accept-encoding": "gzip", **(headers or {})}
        self._network = _CheckedNetwork(context.networks)
        self._pool = httpcore2.ConnectionPool(network_backend=self._network, max_connections=4, keepalive_expiry=30.0)
        self._next: dict[tuple[str, int], float] = {}
        self._pauses: dict[tuple[str, int], float] = {}

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()

    def keep_to(self, url: str, pause: float) -> None:
        """Wait at least this many seconds between requests to the host of a url."""
        self._pauses[_host(_parsed(url))] = min(pause, _LONGEST_PAUSE)

    def get(self, url: str, target: BinaryIO, headers: Mapping[str, str] | None = None) -> HttpResponse:
        """Write the content at a url to a file. Raises ItemGone for status 404 and 410, UnreadableFile for any other
        problem. A status of 304, for a request with conditions, has no content."""
        with self.request("GET", url, headers) as (response, content):
            if response.status in _GONE:
                raise ItemGone(f"{url} no longer exists: status {response.status}.")
            if response.status not in (200, 304):
                raise UnreadableFile(f"{url} cannot be fetched: the server answers with status {response.status}.")
            size = 0
            for piece in content:
                size += len(piece)
                if size > self._context.max_bytes:
                    raise _too_large(url, self._context.max_bytes)
                target.write(piece)
            return response

    @contextmanager
    def request(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        redirects: int = _REDIRECTS,
    ) -> Iterator[tuple[HttpResponse, Iterator[bytes]]]:
        """Send a request, follow its redirects, and give the response with its content, unpacked, in pieces. Problems
        raise UnreadableFile. The number of bytes is for the caller to limit."""
        here, sent = _parsed(url), {**self._headers, **(headers or {})}
        with self._readable_errors(url):
            self._network.deadline = time.monotonic() + self._context.seconds
            for _ in range(redirects + 1):
                self._wait(here)
                with self._pool.stream(method, _raw(here), headers=_pairs(here, sent), content=body) as response:
                    found = {
                        name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers
                    }
                    if response.status not in _REDIRECTED or "location" not in found:
                        yield HttpResponse(response.status, str(here), found), _content(response, found, url)
                        return
                there = _parsed(str(here.join(found["location"])), of=url)
                if _host(there) != _host(here) or there.scheme != here.scheme:  # credentials are for one host
                    sent = {name: value for name, value in sent.items() if name.lower() != "authorization"}
                here = there
        raise UnreadableFile(f"{url} cannot be fetched: it redirects more than {redirects} times.")

    def _wait(self, url: httpx2.URL) -> None:
        """Wait until the next request to a host may be sent."""
        host = _host(url)
        pause = max(self._context.pause, self._pauses.get(host, 0.0))
        now = time.monotonic()
        due = max(self._next.get(host, now), now)
        self._next[host] = due + pause
        self._network.deadline += due - now
        time.sleep(due - now)

    @contextmanager
    def _readable_errors(self, url: str) -> Iterator[None]:
        try:
            yield
        except ForbiddenAddress as error:
            raise ForbiddenAddress(f"{url} is not fetched: {error}") from error
        except httpcore2.TimeoutException as error:
            late = f"it was not complete after {self._context.seconds:g} s"
            raise UnreadableFile(f"{url} cannot be fetched: {late}.") from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError, zlib.error) as error:
            reason = str(error) or type(error).__name__
            raise UnreadableFile(f"{url} cannot be fetched: {reason.removesuffix('.')}.") from error


def _content(response: httpcore2.Response, headers: Mapping[str, str], url: str) -> Iterator[bytes]:
    packing = headers.get("content-encoding", "").strip().lower()
    if packing not in _PACKED | _PLAIN:
        raise UnreadableFile(f"{url} cannot be fetched: it is packed as {packing[:40]!r}, which was not asked for.")
    unpacking = zlib.decompressobj(_GZIP_OR_ZLIB) if packing in _PACKED else None
    for piece in response.iter_stream():
        yield from unpacked(piece, unpacking) if unpacking else (piece,)


def unpacked(piece: bytes, unpacking: Any) -> Iterator[bytes]:
    """What a piece of packed content unpacks to, in pieces of limited size."""
    left = piece
    while part := unpacking.decompress(left, _PIECE):
        yield part
        left = unpacking.unconsumed_tail


def is_forbidden(address: IPv4Address | IPv6Address, networks: Iterable[Network]) -> bool:
    """Whether an address is in a reserved network that is not among these."""
    plain = _mapped(address)
    if any(one.version == plain.version and plain in one for one in networks):
        return False
    return not plain.is_global or plain.is_multicast or plain.is_reserved


def checked_addresses(host: str, port: int, networks: Iterable[Network]) -> list[str]:
    """The addresses of a host. ForbiddenAddress if one of them is in a reserved network that is not among these."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise httpcore2.ConnectError(f"the name of the host {host} cannot be resolved: {error}") from error
    addresses = list(dict.fromkeys(str(one[4][0]).partition("%")[0] for one in found))
    allowed = tuple(networks)
    if forbidden := [one for one in addresses if is_forbidden(ip_address(one), allowed)]:
        raise ForbiddenAddress(
            f"the host {host} has the address {forbidden[0]}, which is private or reserved. An administrator can "
            "allow its network in source_networks."
        )
    return addresses


def _mapped(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """The IPv4 address that an IPv6 address stands for, if it does: mapped, or by 6to4, Teredo or NAT64."""
    if isinstance(address, IPv6Address):
        if found := address.ipv4_mapped or address.sixtofour:
            return found
        if address.teredo:
            return address.teredo[1]
        if int(address) >> 32 == _NAT64:
            return IPv4Address(int(address) & 0xFFFFFFFF)
    return address


_NAT64 = int(IPv6Address("64:ff9b::")) >> 32


class _CheckedNetwork(httpcore2.NetworkBackend):
    """Connects to checked addresses only. A name is resolved once, and the connection is made to one of the addresses
    that were checked, not to the name."""

    def __init__(self, networks: tuple[Network, ...]) -> None:
        self._networks = networks
        self._inner = httpcore2.SyncBackend()
        self.deadline = 0.0  # of the request that is running

    def seconds_left(self) -> float:
        """The seconds until the deadline; TimeoutException if it is over."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise httpcore2.ReadTimeout
        return left

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        addresses = checked_addresses(host, port, self._networks)
        problem: httpcore2.NetworkError | httpcore2.TimeoutException | None = None
        for one in addresses:
            try:
                left = self.seconds_left()
                return _TimedStream(self._inner.connect_tcp(one, port, left, local_address, socket_options), self)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                problem = error
        raise problem or httpcore2.ConnectError(f"the host {host} has no address")

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> httpcore2.NetworkStream:
        raise ForbiddenAddress("documents are not fetched from Unix sockets.")

    def sleep(self, seconds: float) -> None:
        self._inner.sleep(seconds)


class _TimedStream(httpcore2.NetworkStream):
    """A connection on which every operation ends by the deadline of the request, however slowly bytes arrive."""

    def __init__(self, inner: httpcore2.NetworkStream, network: _CheckedNetwork) -> None:
        self._inner = inner
        self._network = network

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, self._network.seconds_left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, self._network.seconds_left())

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        left = self._network.seconds_left()
        return _TimedStream(self._inner.start_tls(ssl_context, server_hostname, left), self._network)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


def _parsed(url: str, of: str = "") -> httpx2.URL:
    """A url of HTTP; with `of`, where that redirects."""
    try:
        parsed = httpx2.URL(url)
    except (httpx2.InvalidURL, UnicodeError) as error:
        raise UnreadableFile(f"{of or url} cannot be fetched: {url[:200]!r} is not a valid address.") from error
    if parsed.scheme not in ("http", "https") or not parsed.host:
        if of:
            raise UnreadableFile(f"{of} cannot be fetched: it redirects to {url[:200]!r}.")
        raise ConfigError(f"{url[:200]!r} is not an address of HTTP.")
    return parsed


def _host(url: httpx2.URL) -> tuple[str, int]:
    return url.host, url.port or _DEFAULT_PORTS[url.scheme]


def _raw(url: httpx2.URL) -> httpcore2.URL:
    return httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)


def _pairs(url: httpx2.URL, headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    host = [(b"host", url.netloc)]
    return host + [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]


def _too_large(url: str, most: int) -> UnreadableFile:
    return UnreadableFile(f"{url} is larger than {most / _MIB:g} MiB. An administrator can raise source_max_bytes.")
