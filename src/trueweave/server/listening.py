"""The sockets that the server listens on. They are bound before the address is announced: the port may be in use."""

from __future__ import annotations

import errno
import socket

from trueweave.core.errors import ConfigError

_HIGHEST_PORT = 65535


def bind(host: str, port: int) -> list[socket.socket]:
    """Sockets bound to all addresses of a host. Raises ConfigError if that is not possible."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except socket.gaierror as error:
        raise ConfigError(f"there is no address {host} to listen on: {error.strerror}. Check --host.") from error
    made: list[socket.socket] = []
    try:
        for family, kind, protocol, _, address in dict.fromkeys(found):
            made.append(opened := socket.socket(family, kind, protocol))
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # allows a port that was in use a moment ago
            if family == socket.AF_INET6:
                opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            opened.bind(address)
    except OSError as error:
        for opened in made:
            opened.close()
        raise ConfigError(_problem(host, port, error)) from error
    return made


def _problem(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        other = port + 1 if port < _HIGHEST_PORT else port - 1
        return f"port {port} of {host} is in use. Choose another, as in `--port {other}`."
    return f"cannot listen on port {port} of {host}: {error.strerror}. Choose another --host or --port."
