"""Uploads: streamed to temporary files of bounded size, and named by uris, never by paths."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, NamedTuple

from fastapi import Request
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException

from trueweave.core.record import NamedFile
from trueweave.server.fields import LONGEST_LINE
from trueweave.server.problems import Refusal

_MOST_FILES = 100
_MOST_FIELDS = 200
_BLOCK = 2**20
_ENDING = re.compile(r"(\.[A-Za-z0-9]{1,10}){1,2}$")
_UNSTORABLE = re.compile(r"[\x00-\x1f\x7f]")

OPENAPI: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {
                            "type": "array",
                            "items": {"type": "string", "format": "binary"},
                            "minItems": 1,
                            "maxItems": _MOST_FILES,
                            "description": "The files. The file extension selects how each is read.",
                        },
                        "uri": {
                            "type": "array",
                            "items": {"type": "string", "maxLength": LONGEST_LINE},
                            "maxItems": _MOST_FILES,
                            "description": "What they are called, in the same order; else each by its own name.",
                        },
                    },
                }
            }
        },
    }
}


class Uploaded(NamedTuple):
    """Files that were uploaded, and a fingerprint of them all."""

    files: list[NamedFile]
    fingerprint: str


@asynccontextmanager
async def uploaded(request: Request) -> AsyncIterator[Uploaded]:
    """The files of a form, on disk while this context lasts."""
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise Refusal(415, "unsupported_media_type", "Files are sent as multipart/form-data, in the field `file`.")
    try:
        form = await request.form(max_files=_MOST_FILES, max_fields=_MOST_FIELDS)
    except MultiPartException as error:
        raise Refusal(400, "bad_request", f"The form cannot be read: {error.message}") from error
    try:
        sent = [one for one in form.getlist("file") if isinstance(one, UploadFile)]
        uris = [one for one in form.getlist("uri") if isinstance(one, str)]
        if not sent:
            raise Refusal(422, "invalid_request", "There is no file in the field `file`.", "Send at least one.")
        if uris and len(uris) != len(sent):
            raise Refusal(422, "invalid_request", f"There are {len(sent)} files and {len(uris)} uris.", "Name each.")
        names = [uri_of(one) for one in uris] if uris else [uri_of(one.filename or "") for one in sent]
        with TemporaryDirectory(prefix="trueweave-upload-") as folder:
            files, hashes = list[NamedFile](), list[str]()
            for number, (one, uri) in enumerate(zip(sent, names, strict=True)):
                path = Path(folder, f"{number}{_ending(one.filename or uri)}")
                hashes.append(await asyncio.to_thread(_copied, one.file, path))
                files.append(NamedFile(path, uri))
            yield Uploaded(files, json.dumps([names, hashes]))
    finally:
        await form.close()


@asynccontextmanager
async def streamed(request: Request, ending: str) -> AsyncIterator[tuple[Path, str]]:
    """The body of a request as a file, on disk while this context lasts, and its fingerprint."""
    with TemporaryDirectory(prefix="trueweave-upload-") as folder:
        path, hashed = Path(folder, f"body{ending}"), hashlib.sha256()
        file = await asyncio.to_thread(path.open, "wb")
        with file:
            async for block in request.stream():
                hashed.update(block)
                await asyncio.to_thread(file.write, block)
        yield path, hashed.hexdigest()


def uri_of(name: str) -> str:
    """The uri of an upload, which is the name it was sent with. It is never used as a path."""
    if not name or _UNSTORABLE.search(name):
        raise Refusal(422, "invalid_request", "A file has no name, or one with control characters.", "Name each file.")
    return name


def _ending(name: str) -> str:
    """The extension of a file, which selects how it is read. Nothing else of a name reaches the disk."""
    found = _ENDING.search(name)
    return found[0].lower() if found else ""


def _copied(source: BinaryIO, path: Path) -> str:
    """Copy a received file and return its hash."""
    source.seek(0)
    with path.open("wb") as target:
        shutil.copyfileobj(source, target, _BLOCK)
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
