"""Names: how they are tidied, normalised and turned into keys."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from uuid import UUID

from anyascii import anyascii

# Control characters, lone surrogates, marks that are not seen, and those that turn the direction of what follows.
_UNWANTED = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069]+")
_DIGITS = re.compile(r"\d+")
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")


def tidy(text: str) -> str:
    """The text as it may be stored: composed, without control characters, white space folded.

    Names and types come from models, so anything may be in them.
    """
    return " ".join(_UNWANTED.sub(" ", unicodedata.normalize("NFC", text)).split())


def storable(text: str) -> str:
    """The text without the characters that PostgreSQL cannot hold (NUL, lone surrogates)."""
    return _UNSTORABLE.sub("", text)


def normalise(name: str) -> str:
    """The name in lower-case ASCII. A name of which nothing is left keeps its own lower case."""
    return " ".join(anyascii(name).lower().split()) or name.lower()


def digits(normal: str) -> str:
    """The runs of digits in a normalised name: two names that differ here are never the same thing."""
    return ".".join(_DIGITS.findall(normal))


def key(*parts: str) -> UUID:
    """A 128-bit key that depends on nothing but its parts, on any machine."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(4, "big"))
        digest.update(data)
    return UUID(bytes=digest.digest())


def pair_key(what: str, a: UUID, b: UUID) -> UUID:
    """The key of an ordered pair."""
    return UUID(bytes=hashlib.blake2b(a.bytes + b.bytes, digest_size=16, person=what.encode()).digest())


def name_id(written: str, type_: str) -> UUID:
    """The id of a name: how it is written, and its type."""
    return key("name", written, type_)
