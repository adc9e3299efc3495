"""HTML with pictures in it: their files are decoded here, in the parser process."""

from __future__ import annotations

import base64
import binascii
import re
from functools import partial
from pathlib import Path

from trueweave.ingest.loading import web
from trueweave.ingest.parsers.pictures import opened, picture_file
from trueweave.text.text_builder import PictureFile, TextBuilder

_DATA = re.compile(r"data:image/[a-z0-9.+-]+;base64,", re.IGNORECASE)


def read(path: Path, draft: TextBuilder) -> str:
    """Write the text and the pictures into the draft, and return the title: that of the page, or its first heading of
    level 1."""
    page, notes = web.text_of(path.read_bytes(), path.name)
    title = web.write(page, draft, open_picture=partial(_file, draft))
    draft.notes += notes
    return title or next((place.label for place in draft.places if place.level == 1), "")


def _file(draft: TextBuilder, address: str) -> PictureFile | None:
    """The picture at an address, if it is in the page itself."""
    found = _DATA.match(address)
    if not found:
        return None
    try:
        data = base64.b64decode(address[found.end() :])
    except (binascii.Error, ValueError):
        draft.skipped_pictures["it is damaged, or has a format that is not read"] += 1
        return None
    return picture_file(draft, partial(opened, data))
