"""The pages as somebody sees them who may not read all documents."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import expect

from tests.browser.pages import Web, check_looks
from tests.browser.test_documents import room


async def test_keys_have_groups(web: Web) -> None:
    async with room(web, "library", capitals=True), web.visit("library/settings/keys") as page:
        await page.get_by_label("Name of the new key").fill("librarian")
        await page.get_by_label("Groups that it reads as").fill("legal, hr")
        await page.get_by_role("button", name="Make a key").click()
        key = (await page.get_by_role("dialog").locator("pre").inner_text()).strip()
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("row").filter(has_text="librarian")).to_contain_text("hr, legal")
        await check_looks(page)
        async with web.visit("library/settings/access", key=key) as reader:
            await expect(reader.get_by_text("hr, legal")).to_be_visible()


@asynccontextmanager
async def circles(web: Web) -> AsyncIterator[str]:
    """A workspace of which the key that is given sees a part."""
    async with room(web, "circles", {"open.md": "Ada Lovelace met Charles Babbage."}) as client:
        for prefix, groups in (("pay/", ["hr"]), ("contracts/", ["hr", "legal"])):
            assert (await client.put("access", json={"prefix": prefix, "readers": groups})).status_code == 200
        texts = [{"uri": f"{uri}/a", "text": f"Ada Lovelace wrote about {uri}."} for uri in ("pay", "contracts")]
        added = (await client.post("documents", json={"documents": texts})).json()
        async with client.stream("GET", f"jobs/{added['id']}/events") as events:
            await events.aread()
        yield await web.site.server.key("admin", groups=["legal"])


async def test_the_readers_of_a_document_are_shown(web: Web) -> None:
    async with circles(web) as key, web.visit("circles/documents") as page:
        await expect(page.get_by_role("row").filter(has_text="pay/a")).to_contain_text("read by hr")
        await expect(page.get_by_role("row").filter(has_text="contracts/a")).to_contain_text("read by hr, legal")
        await expect(page.get_by_role("row").filter(has_text="open.md")).not_to_contain_text("read by")
        await check_looks(page)
        await page.get_by_role("link", name="contracts/a").click()
        await expect(page.get_by_text("read by hr, legal")).to_be_visible()
        await check_looks(page)
        async with web.visit("circles/documents", key=key, expected=["status of 403"]) as seen:
            await expect(seen.get_by_role("row").filter(has_text="contracts/a")).to_be_visible()
            await expect(seen.get_by_text("pay/a")).to_have_count(0)
            await seen.get_by_role("link", name="Ask").click()
            await expect(seen.get_by_role("textbox").first).to_be_visible()
            await expect(seen.get_by_role("contentinfo")).to_contain_text("2 documents")


# Views of what is made from all documents.
@pytest.mark.parametrize("view", ["communities", "bench", "review", "watches", "watches/alerts", "settings/budget"])
async def test_a_view_that_is_refused_says_so(web: Web, view: str) -> None:
    async with circles(web) as key, web.visit(f"circles/{view}", key=key, expected=["status of 403"]) as page:
        await expect(page.get_by_text("who may not read all documents").first).to_be_visible()
        await check_looks(page)
