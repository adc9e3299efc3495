"""Signed statements: JSON in one exact form, with an Ed25519 signature.

A file has one form only: whoever reads it compares its bytes with those that its contents would be written as. So one
byte that is changed anywhere is noticed, in spaces too.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trueweave.core.errors import ConfigError, SignatureInvalid

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_ALGORITHM = "Ed25519"
_MAKE_A_KEY = (
    "Make a key by `openssl genpkey -algorithm ed25519 -out signing-key.pem`, and set signing_key_file to its path."
)


@dataclass(frozen=True)
class SignedStatement:
    """A statement whose signature is valid, and the public key that it was signed with, in base64."""

    statement: dict[str, Any]
    public_key: str


def canonical(statement: object) -> bytes:
    """The bytes that are signed: JSON with sorted keys, without spaces, in UTF-8."""
    return json.dumps(statement, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def read_key(path: Path | None) -> Ed25519PrivateKey:
    """The private key in a PEM file; ConfigError if there is none."""
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    except ModuleNotFoundError as error:
        raise _not_installed() from error
    if path is None:
        raise ConfigError(f"there is no key to sign with. {_MAKE_A_KEY}")
    try:
        found = load_pem_private_key(path.read_bytes(), password=None)
    except OSError as error:
        raise ConfigError(f"the signing key {path} cannot be read: {error.strerror}. {_MAKE_A_KEY}") from error
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise ConfigError(f"{path} is not a private key in PEM without a password. {_MAKE_A_KEY}") from error
    if not isinstance(found, Ed25519PrivateKey):
        raise ConfigError(f"the key in {path} is not of the kind {_ALGORITHM}. {_MAKE_A_KEY}")
    return found


def signed(statement: dict[str, Any], key: Ed25519PrivateKey) -> bytes:
    """The file of a statement with its signature."""
    signature = {
        "algorithm": _ALGORITHM,
        "public_key": base64.b64encode(key.public_key().public_bytes_raw()).decode(),
        "value": base64.b64encode(key.sign(canonical(statement))).decode(),
    }
    return _file({"statement": statement, "signature": signature})


def checked(file: bytes) -> SignedStatement:
    """The statement in a signed file; SignatureInvalid if anything in it was changed."""
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ModuleNotFoundError as error:
        raise _not_installed() from error
    try:
        read = json.loads(file)
        statement, signature = read["statement"], read["signature"]
        public_key, value = signature["public_key"], signature["value"]
        is_exact = isinstance(statement, dict) and signature["algorithm"] == _ALGORITHM and _file(read) == file
        key = Ed25519PublicKey.from_public_bytes(_bytes(public_key))
        key.verify(_bytes(value), canonical(statement))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise SignatureInvalid(
            "this is not a signed file, or it was changed. Nothing in it can be relied on."
        ) from error
    except InvalidSignature as error:
        raise SignatureInvalid("the signature does not match: the file was changed after it was signed.") from error
    if not is_exact or read.keys() != {"statement", "signature"} or len(signature) != 3:
        raise SignatureInvalid("the file is not as it was written: it was changed after it was signed.")
    return SignedStatement(statement, public_key)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that, whenever the process is killed, it is complete or not there."""
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _file(contents: object) -> bytes:
    return (json.dumps(contents, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _bytes(encoded: str) -> bytes:
    """Decoded base64; ValueError if it is not written as it would be encoded."""
    try:
        decoded = base64.b64decode(encoded, validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from error
    if base64.b64encode(decoded).decode() != encoded:
        raise ValueError("the last letter of a base64 text has bits that are not used")
    return decoded


def _not_installed() -> ConfigError:
    return ConfigError('signatures need cryptography, which is not installed. Run: pip install "trueweave[signing]".')
