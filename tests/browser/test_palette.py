"""The command palette: entities by the beginning of a name, documents by that of their uri, and commands."""

from __future__ import annotations

from playwright.async_api import Page, Route, expect

from tests.browser.pages import NARROW, Web, check_accessibility, check_looks, check_width
from tests.browser.site import BOOK

FIELD = "Search commands, entities, documents and questions"


async def opened(page: Page, typed: str) -> None:
    await expect(page.get_by_role("heading", level=1)).to_be_attached()
    await page.keyboard.press("Control+k")
    await expect(page.get_by_label(FIELD)).to_be_focused()
    await page.keyboard.type(typed)


async def test_an_entity_and_a_document_are_found_while_typing_and_opened_by_the_keyboard(web: Web) -> None:
    async with web.visit("carol/compare") as page:
        await opened(page, "marl")
        items = page.get_by_role("menuitem")
        await expect(items.nth(2)).to_have_text("MARLEYentity, PERSON")
        await expect(items.filter(has_text="JACOB MARLEY").first).to_be_visible()
        await check_looks(page)
        for _ in range(2):
            await page.keyboard.press("ArrowDown")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await expect(page.get_by_role("heading", name="MARLEY", exact=True)).to_be_focused()

        await opened(page, BOOK[:4])
        await items.filter(has_text=BOOK).click()
        await expect(page.get_by_role("heading", name="A Christmas Carol")).to_be_focused()


async def test_commands_work_where_names_cannot_be_searched(web: Web) -> None:
    async with web.visit("carol/compare", expected=["status of 503"]) as page:

        async def failed(route: Route) -> None:
            await route.fulfill(status=503, json={"detail": "The database is unavailable.", "code": "unavailable"})

        await page.route("**/entities/complete?*", failed)
        await opened(page, "go to ask")
        await expect(page.get_by_role("status").filter(has_text="The database is unavailable.")).to_be_visible()
        await page.get_by_role("menuitem", name="Go to Ask view").click()
        await expect(page.get_by_role("heading", name="Ask carol")).to_be_focused()


async def test_hostile_names_are_text(web: Web) -> None:
    names = ["<img src=x onerror=alert(1)>", "\u202ecba", "x" * 10_000]
    entities = [{"id": str(n), "name": name, "type": name, "count": 1, "degree": 0} for n, name in enumerate(names)]
    async with web.visit("carol/compare", width=NARROW) as page:
        await page.route("**/entities/complete?*", lambda route: route.fulfill(json={"entities": entities}))
        await opened(page, "anything")
        await expect(page.get_by_role("menuitem").filter(has_text="<img src=x").first).to_be_visible()
        assert await page.locator("[role=dialog] img").count() == 0
        await check_width(page)
        await check_accessibility(page)
