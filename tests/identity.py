"""An identity provider of a test's own: its discovery document and keys over HTTP on loopback, and tokens signed with
them. What is signed, with what and how it is published can be anything, as tests with forged tokens need it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

AUDIENCE = "https://trueweave.example"


class SigningKey:
    """A private key with an id and the algorithm that it is used with."""

    def __init__(self, id_: str, algorithm: str = "ES256", bits: int = 2048) -> None:
        self.id = id_
        self.algorithm = algorithm
        self.key: Any
        match algorithm[:2]:
            case "ES":
                self.key = ec.generate_private_key(ec.SECP256R1())
            case "Ed":
                self.key = ed25519.Ed25519PrivateKey.generate()
            case _:
                self.key = rsa.generate_private_key(65537, bits)

    @property
    def pem(self) -> bytes:
        """The public key, as anybody may have it."""
        found: bytes = self.key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        return found

    def published(self, **more: Any) -> dict[str, Any]:
        """The public key as a provider publishes it."""
        kind: Any = {"ES": ECAlgorithm, "Ed": OKPAlgorithm}.get(self.algorithm[:2], RSAAlgorithm)
        return {**kind.to_jwk(self.key.public_key(), as_dict=True), "kid": self.id, "use": "sig", **more}


class Issuer:
    """A provider. `keys` are published; `asked` counts requests; `answers` replace what a path would give."""

    def __init__(self, port: int, *keys: SigningKey) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.keys = [one.published() for one in keys]
        self.signing = keys[0]
        self.asked: list[str] = []
        self.answers: dict[str, tuple[int, dict[str, str], bytes]] = {}

    def claims(self, **changes: Any) -> dict[str, Any]:
        """Claims of a token that is valid; None takes one away."""
        now = int(time.time())
        made = {
            "iss": self.url,
            "aud": AUDIENCE,
            "sub": "ada",
            "iat": now,
            "exp": now + 600,
            "scope": "openid trueweave:read",
            "trueweave_workspaces": ["*"],
        }
        return {name: value for name, value in {**made, **changes}.items() if value is not None}

    def token(self, key: SigningKey | None = None, headers: dict[str, Any] | None = None, **claims: Any) -> str:
        """A token signed with a key, the first one if none is named."""
        key = key or self.signing
        return jwt.encode(self.claims(**claims), key.key, key.algorithm, {"kid": key.id, **(headers or {})})

    def answer(self, path: str) -> tuple[int, dict[str, str], bytes]:
        """What a request is answered with."""
        self.asked.append(path)
        if path in self.answers:
            return self.answers[path]
        documents: dict[str, Any] = {
            "/.well-known/openid-configuration": {"issuer": self.url, "jwks_uri": f"{self.url}/jwks"},
            "/jwks": {"keys": self.keys},
        }
        body = json.dumps(documents[path]).encode()
        return 200, {"Content-Type": "application/json"}, body


@contextmanager
def issuing(*keys: SigningKey) -> Iterator[Issuer]:
    """A provider that runs."""

    class _Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers, body = issuer.answer(self.path)
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        issuer = Issuer(server.server_address[1], *(keys or [SigningKey("first")]))
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield issuer
        finally:
            server.shutdown()
            thread.join()
