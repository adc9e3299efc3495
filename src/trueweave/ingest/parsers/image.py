"""Images: the text in them, by OCR. A TIFF has a page per image."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy
from PIL import Image, ImageOps, ImageSequence, UnidentifiedImageError

from trueweave.core.errors import UnreadableFile
from trueweave.ingest.parsers.ocr import LARGEST_SIDE, MOST_PIXELS, NoTextFound, Recogniser
from trueweave.ingest.parsers.pictures import picture_file
from trueweave.text.text_builder import TextBuilder


def read(path: Path, draft: TextBuilder, recogniser: Recogniser) -> str:
    """Write the text into the draft; an image has no title."""
    Image.MAX_IMAGE_PIXELS = None  # the size is checked below, before anything is decoded
    try:
        image = Image.open(path)
    except UnidentifiedImageError as error:
        raise UnreadableFile("it is damaged, or not an image; save it again") from error
    with image:
        has_pages = getattr(image, "n_frames", 1) > 1
        for number, frame in enumerate(ImageSequence.Iterator(image), 1):
            width, height = frame.size
            if width * height > MOST_PIXELS:
                raise UnreadableFile(
                    f"it is an image of {width:,} × {height:,} pixels, and at most {MOST_PIXELS // 10**6} million "
                    "are read; scale it down"
                )
            if has_pages:
                draft.page(str(number))
            for block in recogniser.page(str(number), partial(pixels, frame)):
                draft.block_at(*block)
            file = picture_file(draft, partial(_shown, frame))
            draft.picture("", file, (0.0, 0.0, 1.0, 1.0) if has_pages else None)
    if draft.pictures:
        return ""
    if recogniser.unread and not recogniser.only_count and not recogniser.read:
        raise NoTextFound(f"it is an image; {recogniser.remedy}")
    if not draft.text and not recogniser.only_count:
        raise NoTextFound("it is an image without text")
    return ""


def _shown(frame: Image.Image) -> Image.Image:
    return ImageOps.exif_transpose(frame.copy())


def pixels(image: Image.Image) -> Any:
    """The image as it is meant to be seen, on white, at the size that is read."""
    image.draft("RGB", (LARGEST_SIDE, LARGEST_SIDE))  # JPEG: decode it smaller, if it is much larger
    seen = image.convert("RGBA") if image.mode in ("LA", "PA", "RGBA", "P") else image.convert("L").convert("RGB")
    seen.thumbnail((LARGEST_SIDE, LARGEST_SIDE))
    if seen.mode == "RGBA":
        seen = Image.alpha_composite(Image.new("RGBA", seen.size, "white"), seen).convert("RGB")
    return numpy.asarray(ImageOps.exif_transpose(seen))
