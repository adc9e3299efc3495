"""An IMAP server on loopback whose replies a test decides. It has one mail."""

from __future__ import annotations

import ssl
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import Any

from tests.certificates import Certificate

Write = Callable[[bytes], object]
_REPLIES = {
    "CAPABILITY": b"* CAPABILITY IMAP4rev1\r\n",
    "EXAMINE": b"* 1 EXISTS\r\n* OK [UIDVALIDITY 1] valid\r\n",
    "FETCH": b"* 1 FETCH (UID 1 RFC822.SIZE 4)\r\n",
    "UID": b"* 1 FETCH (UID 1 BODY[] {4}\r\nmail)\r\n",
}


class _Server(ThreadingTCPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Do not print that a client has had enough."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


@contextmanager
def imap_server(certificate: Certificate, replies: Mapping[str, Callable[[Write], object]]) -> Iterator[int]:
    """The port of a server, until the end. What it replies to a command before the tagged line can be written by a
    function."""

    class Handler(StreamRequestHandler):
        def handle(self) -> None:
            self.wfile.write(b"* OK ready\r\n")
            for line in self.rfile:
                tag, command = line.decode().split()[:2]
                if write := replies.get(command):
                    write(self.wfile.write)
                else:
                    self.wfile.write(_REPLIES.get(command, b""))
                self.wfile.write(f"{tag} OK done\r\n".encode())

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.chain, certificate.key)
    with _Server(("127.0.0.1", 0), Handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()
