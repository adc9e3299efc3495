"""A page of the web: its main text, without navigation, banners and comments."""

from __future__ import annotations

from pathlib import Path

import trafilatura

from trueweave.ingest.loading import web
from trueweave.text.text_builder import TextBuilder


def read(path: Path, draft: TextBuilder) -> str:
    """Write the main text of a page into the draft, and return its title."""
    return write(web.text_of(path.read_bytes(), path.name).text, draft)


def write(page: str, draft: TextBuilder) -> str:
    """Write the main text into the draft, or all text if the page has no main part. Returns the title."""
    title = web.write(page, TextBuilder())
    main = trafilatura.extract(
        page, output_format="html", include_comments=False, include_tables=True, include_formatting=True
    )
    web.write(main or page, draft, offsets=False)
    if not draft.text:
        web.write(page, draft, offsets=False)
    return title
