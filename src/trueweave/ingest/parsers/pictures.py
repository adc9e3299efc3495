"""Pictures of documents, at the size at which a model sees them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from io import BytesIO

from PIL import Image, UnidentifiedImageError

from trueweave.ingest.parsers.ocr import MOST_PIXELS
from trueweave.text.text_builder import PictureFile, TextBuilder

_LEAST_SIDE = 100  # pixels; smaller ones are icons, rules and bullets
_LARGEST_SIDE = 1536  # pixels to which a picture is scaled down; larger ones are scaled down by the models
_MOST = 200  # pictures of a document
_MOST_BYTES = 32 * 2**20  # of the pictures of a document


def opened(data: bytes) -> Image.Image:
    """The image in a file that is part of a document."""
    Image.MAX_IMAGE_PIXELS = None  # the size is checked before anything is decoded
    return Image.open(BytesIO(data))


def picture_file(draft: TextBuilder, open_image: Callable[[], Image.Image]) -> PictureFile | None:
    """The picture to describe. It is opened only if pictures are described. None if it is too small, occurs again in
    the document, or cannot be read; the document gets a note on the latter."""
    if not draft.takes_pictures:
        return None
    try:
        with open_image() as image:
            if min(image.size) < _LEAST_SIDE:
                return None
            if image.width * image.height > MOST_PIXELS:
                draft.skipped_pictures["it has too many pixels"] += 1
                return None
            made = _scaled(image)
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError):  # Pillow raises these for damaged files
        draft.skipped_pictures["it is damaged, or has a format that is not read"] += 1
        return None
    sizes, digest = draft.picture_sizes, hashlib.sha256(made.data).digest() if made else b""
    if made is None or digest in sizes:
        return None
    if len(sizes) >= _MOST or sum(sizes.values()) + len(made.data) > _MOST_BYTES:
        most = f"at most {_MOST} pictures and {_MOST_BYTES // 2**20} MiB of a document are described"
        draft.skipped_pictures[most] += 1
        return None
    sizes[digest] = len(made.data)
    return made


def _scaled(image: Image.Image) -> PictureFile | None:
    """The picture on white, as JPEG, or as PNG if it is drawn; None if it has one colour only."""
    image.draft("RGB", (_LARGEST_SIDE, _LARGEST_SIDE))
    seen = image.convert("RGBA") if "A" in image.getbands() or "transparency" in image.info else image.convert("RGB")
    seen.thumbnail((_LARGEST_SIDE, _LARGEST_SIDE))
    if seen.mode == "RGBA":
        seen = Image.alpha_composite(Image.new("RGBA", seen.size, "white"), seen).convert("RGB")
    colours = seen.getcolors(256)
    if colours is not None and len(colours) == 1:
        return None
    file = BytesIO()
    if colours is not None:
        seen.save(file, "PNG", optimize=True)
    else:
        seen.save(file, "JPEG", quality=85)
    return PictureFile(file.getvalue(), "image/png" if colours is not None else "image/jpeg", *seen.size)
