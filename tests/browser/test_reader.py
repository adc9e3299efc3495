"""Reading a document at the words that were cited."""

from __future__ import annotations

import gzip
from pathlib import Path
from urllib.parse import urlencode

from playwright.async_api import expect

from tests.browser.pages import Web, check_looks
from tests.browser.site import BOOK, QUOTED
from tests.browser.test_documents import room


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


async def test_tables_are_drawn_with_the_cited_words_in_their_cells(web: Web) -> None:
    text = "Benefits a year.\n\nplan | dental | eyes\nBasic |  | 100\nGold | 200 | 150\n\nAll in euros."
    start = text.index("Gold")
    cited = urlencode({"uri": "table.txt", "start": start, "end": start + len("Gold | 200")})
    async with room(web, "tables", {"table.txt": text}), web.visit(f"tables/document?{cited}") as page:
        table = page.get_by_role("table")
        await expect(table.get_by_role("columnheader")).to_have_text(["plan", "dental", "eyes"])
        await expect(table.get_by_role("cell")).to_have_text(["Basic", "", "100", "Gold", "200", "150"])
        await expect(page.locator("mark")).to_have_text(["Gold", "200"])
        await expect(page.get_by_text("All in euros.")).to_be_visible()
        await check_looks(page)
