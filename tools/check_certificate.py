"""Checks a certificate of erasure by Trueweave, without Trueweave: this file needs only Python and cryptography.

    python check_certificate.py certificate.json --key public-key.pem

It checks that no byte was changed since the certificate was signed, that it was signed with the key, and that what it
says is complete and consistent. It cannot check that the statement was true when it was signed: whoever has the key
could sign anything. docs/how-to/prove-erasure.md describes each field.
"""

from __future__ import annotations

import argparse
import base64
import binascii
import json
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

FORMAT = "trueweave erasure certificate 1"

_TEXTS, _NUMBERS = [str], {str: int}
_SIGNED = {"algorithm": str, "public_key": str, "value": str}
_STATEMENT: dict[str, Any] = {
    "format": str,
    "trueweave": str,
    "workspace": str,
    "asked": str,
    "finished": str,
    "documents": [{"uri_sha256": str, "content": str}],
    "search": {
        "words": int,
        "windows": int,
        "windows_in_other_documents": int,
        "too_short": int,
        "ids": int,
        "columns": int,
        "columns_not_readable": _TEXTS,
        "rows": int,
        "found_before": _NUMBERS,
        "found": _NUMBERS,
        "ids_in_logs": _NUMBERS,
    },
    "view": {"before": str, "after": str, "rebuilt": str, "not_compared": _TEXTS, "compared": str},
    "copies": {str: {"position": int, "items": int, "found": int}},
    "standbys": [{"name": str, "has_all": (bool, type(None))}],
    "not_covered": _TEXTS,
}


class Wrong(Exception):
    """The certificate is not valid, for this reason."""


def checked(file: bytes, expected_key: bytes | None) -> dict[str, Any]:
    """The statement of a valid certificate; Wrong if it is not valid. With a key, the certificate must be signed with
    it."""
    statement = _signed(file, expected_key)
    _check_form(statement, _STATEMENT, "statement")
    if statement["format"] != FORMAT:
        raise Wrong(f"this program checks {FORMAT!r}, and the certificate is {statement['format']!r}")
    view, search = statement["view"], statement["search"]
    if view["after"] != view["rebuilt"]:
        raise Wrong("the index is not the one that its documents give")
    if search["found"] or any(copy["found"] for copy in statement["copies"].values()):
        raise Wrong("something of the documents was found")
    if not statement["documents"] or not search["found_before"] or not search["columns"]:
        raise Wrong("nothing was erased, or nothing was searched")
    if search["windows_in_other_documents"] > search["windows"]:
        raise Wrong("the numbers of the search contradict each other")
    if datetime.fromisoformat(statement["asked"]) > datetime.fromisoformat(statement["finished"]):
        raise Wrong("it was finished before it was asked for")
    return statement


def _signed(file: bytes, expected_key: bytes | None) -> dict[str, Any]:
    try:
        read = json.loads(file)
    except ValueError as error:
        raise Wrong("it is not JSON") from error
    _check_form(read, {"statement": dict, "signature": _SIGNED}, "certificate")
    written = json.dumps(read, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if written.encode() != file:
        raise Wrong("the file is not as it was written")
    signature, statement = read["signature"], read["statement"]
    if signature["algorithm"] != "Ed25519":
        raise Wrong(f"the algorithm {signature['algorithm']} is not known")
    public_key, value = _decoded(signature["public_key"]), _decoded(signature["value"])
    said = json.dumps(statement, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(value, said.encode())
    except (InvalidSignature, ValueError) as error:
        raise Wrong("the signature does not match") from error
    if expected_key is not None and public_key != expected_key:
        raise Wrong("it was signed with another key")
    return dict(statement)


def _decoded(text: str) -> bytes:
    try:
        decoded = base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise Wrong("the signature is not in base64") from error
    if base64.b64encode(decoded).decode() != text:
        raise Wrong("the signature is not as it was written")
    return decoded


def _check_form(value: Any, form: Any, where: str) -> None:
    """Raise Wrong unless a value has a form: a type, [the form of each element], {type: the form of each value}, or the
    form of each field."""
    if isinstance(form, list):
        if not isinstance(value, list):
            raise Wrong(f"{where} is not a list")
        for n, element in enumerate(value):
            _check_form(element, form[0], f"{where}[{n}]")
    elif isinstance(form, dict):
        if not isinstance(value, dict):
            raise Wrong(f"{where} is not an object")
        if str in form:
            form = dict.fromkeys(value, form[str])
        if value.keys() != form.keys():
            raise Wrong(f"{where} has other fields: {', '.join(sorted(value.keys() ^ form.keys()))}")
        for name, wanted in form.items():
            _check_form(value[name], wanted, f"{where}.{name}")
    elif not isinstance(value, form) or (form is int and (isinstance(value, bool) or value < -1)):
        raise Wrong(f"{where} has another type")


def _raw(path: Path) -> bytes:
    key = load_pem_public_key(path.read_bytes())
    if not isinstance(key, Ed25519PublicKey):
        raise Wrong(f"{path} has a key of another kind")
    return key.public_bytes_raw()


def main() -> int:
    parser = argparse.ArgumentParser(description="Check a certificate of erasure.")
    parser.add_argument("certificate", type=Path)
    parser.add_argument("--key", type=Path, help="the public key (PEM) of whoever is to have signed it")
    given = parser.parse_args()
    try:
        statement = checked(given.certificate.read_bytes(), _raw(given.key) if given.key else None)
    except Wrong as error:
        print(f"NOT VALID: {error}.")
        return 1
    number = len(statement["documents"])
    print(f"Valid: {number} version{'s' if number > 1 else ''} of documents erased by {statement['finished']}.")
    if given.key is None:
        print("The key was not compared: give the public key of whoever is to have signed it by --key.")
    for standby in statement["standbys"]:
        if not standby["has_all"]:
            print(f"The standby {standby['name']} was behind, or its state unknown.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
