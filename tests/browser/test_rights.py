"""The pages as somebody sees them who may not read all documents."""

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


# What is made from all documents, and what says so.
REFUSED = ("communities", "graph", "bench", "settings/budget")


@pytest.mark.parametrize("view", REFUSED)
async def test_a_view_that_is_refused_says_so(web: Web, view: str) -> None:
    async with room(web, "circles", {"open.md": "Ada Lovelace met Charles Babbage."}) as client:
        rule = {"prefix": "secret/", "readers": ["hr"]}
        assert (await client.put("access", json=rule)).status_code == 200
        added = await client.post("documents", json={"documents": [{"uri": "secret/a", "text": "Ada Lovelace earns."}]})
        async with client.stream("GET", f"jobs/{added.json()['id']}/events") as events:
            await events.aread()
        key = await web.site.server.key("admin", groups=["legal"])
        async with web.visit(f"circles/{view}", key=key, expected=["status of 403"]) as page:
            await expect(page.get_by_text("who may not read all documents").first).to_be_visible()
            await check_looks(page)
