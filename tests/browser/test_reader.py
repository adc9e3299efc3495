"""Reading a document at the words that were cited."""

from __future__ import annotations

import gzip
from pathlib import Path
from urllib.parse import urlencode

from playwright.async_api import expect

from tests.browser.pages import Web, check_looks
from tests.browser.site import BOOK, QUOTED


def address(bench: Path, words: str = QUOTED) -> str:
    with gzip.open(bench / "christmas_carol" / "book.txt.gz", "rt", encoding="utf-8") as file:
        start = file.read().index(words)
    return f"carol/document?{urlencode({'uri': BOOK, 'start': start, 'end': start + len(words)})}"


async def test_a_pasted_address_shows_the_cited_words_in_a_long_document(web: Web, bench: Path) -> None:
    last = "God bless Us, Every One!"
    for words in (QUOTED, last):
        async with web.visit(address(bench, words)) as page:
            await expect(page.locator("mark")).to_have_text(words)
            await expect(page.locator("mark")).to_be_in_viewport()
            assert await page.title() == "A Christmas Carol · carol · Trueweave"
            if words == last:
                await check_looks(page)
                await page.get_by_role("button", name="Show the text before").click()
                await expect(page.locator("mark")).to_have_text(words)


async def test_a_document_can_be_read_again_when_the_server_is_back(web: Web, bench: Path) -> None:
    async with web.visit(None, expected=["ERR_CONNECTION_REFUSED"]) as page:
        await page.route("**/v1/**/document?*", lambda route: route.abort("connectionrefused"))
        await page.goto(f"{web.url}/ui/{address(bench)}")
        await expect(page.get_by_role("alert")).to_contain_text("The server cannot be reached.")
        await page.unroute_all()
        await page.get_by_role("button", name="Try again").click()
        await expect(page.locator("mark")).to_have_text(QUOTED)
