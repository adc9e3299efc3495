"""Names: tidying them, normalising them for comparison, and making keys from them."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from functools import lru_cache
from uuid import UUID

from anyascii import anyascii

from trueweave.core.record import is_storable

# Control characters, unpaired surrogates, invisible characters, and those that change the text direction.
_UNWANTED = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069]+")
_DIGITS = re.compile(r"\d+")
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")

_TRADE_MARKS = re.compile("[®™℠©]")  # `anyascii` would spell them out
_SILENT = re.compile(r"['`´]|\.(?=[a-z])")  # O'Neill is ONeill, and U.S. is US
# All other punctuation separates words, except characters that distinguish names: C, C++ and C#; Disney and Disney+; %
# and $.
_PARTING = re.compile(r"[\s!\"(),\-./:;<=>?\[\\\]^_{|}~*]+")
_AND = re.compile("&+")
_NUMBER_BORDER = re.compile(r"(?<=[a-z])(?=\d)|(?<=\d)(?=[a-z])")  # GPT-4, GPT 4 and GPT4 are equal
_INITIALS = re.compile(r"(?<![^ ])[a-z](?: [a-z])+(?![^ ])")  # J. R. R. Tolkien is J.R.R. Tolkien
_ARTICLES = frozenset({"a", "an", "the"})
# Legal forms of companies. Without those that are also words or models ("SE", "AS", "AB", "KG", "Spa", "Company"): an
# iPhone SE is not just any iPhone, and a canal is not its company.
_LEGAL = re.compile(
    r"inc|incorporated|corp|corporation|co|ltd|limited|llc|llp|plc|pty|pte|pvt|gmbh|mbh|ag|kgaa|sa|sarl|srl|bv|nv|oyj|aps"
)
_PARTNERSHIP = re.compile(r"(?: gmbh| ag| se)? and co (?:kg|kgaa|ohg)$")  # GmbH & Co. KG


def tidy(text: str) -> str:
    """The text in the form to store: composed, without control characters, with single spaces.

    Names and types come from models, so they may contain anything.
    """
    return " ".join(_UNWANTED.sub(" ", unicodedata.normalize("NFC", text)).split())


def storable(text: str) -> str:
    """The text without characters that PostgreSQL cannot store (NUL, unpaired surrogates)."""
    return text if is_storable(text) else _UNSTORABLE.sub("", text)


def letters(name: str) -> str:
    """The name in lower-case ASCII. If nothing is left of it, the name itself in lower case."""
    return " ".join(anyascii(name).lower().split()) or name.lower()


@lru_cache(maxsize=65536)
def normalise(name: str) -> str:
    """The normal form: names with the same normal form are spellings of one name.

    Case, accents, punctuation, spacing and a legal form at the end ("Inc.", "GmbH") do not count, unless nothing else
    is left of the name.
    """
    return _joined(letters(_TRADE_MARKS.sub("", name))) or _joined(letters(name)) or letters(name)


def _joined(plain: str) -> str:
    """The words of a name in lower-case ASCII, without punctuation and legal form."""
    words = _NUMBER_BORDER.sub(" ", _AND.sub(" and ", _PARTING.sub(" ", _SILENT.sub("", plain))))
    return _without_legal_form(_INITIALS.sub(lambda found: found[0].replace(" ", ""), " ".join(words.split())))


def _without_legal_form(name: str) -> str:
    words = _PARTNERSHIP.sub("", name).split()
    kept = len(words)
    while kept > 1 and _LEGAL.fullmatch(words[kept - 1]) and words[kept - 2] != "and":  # Merck & Co. is not Merck
        kept -= 1
    return " ".join(words[:kept] if any(word not in _ARTICLES for word in words[:kept]) else words)


def digits(normal: str) -> str:
    """The runs of digits in a name: names that differ in them are never the same entity."""
    return ".".join(_DIGITS.findall(normal))


def key(*parts: str) -> UUID:
    """A 128-bit key that depends only on its parts, on any machine."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(4, "big"))
        digest.update(data)
    return UUID(bytes=digest.digest())


@lru_cache(maxsize=4096)
def said_hash(said: str) -> UUID:
    """The hash of a description or keyword. It is cached because many texts recur, most often the empty one."""
    return key("said", said)


def pair_key(what: str, a: UUID, b: UUID) -> UUID:
    """The key of an ordered pair."""
    return UUID(bytes=hashlib.blake2b(a.bytes + b.bytes, digest_size=16, person=what.encode()).digest())


def name_id(written: str, type_: str) -> UUID:
    """The id of a name: its spelling and its type."""
    return key("name", written, type_)
