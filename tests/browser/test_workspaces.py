"""The workspaces that a caller may use."""

from __future__ import annotations

from playwright.async_api import expect

from tests.browser.pages import Web, check_looks


async def test_workspaces_are_listed_with_their_sizes(web: Web) -> None:
    async with web.visit() as page:
        listed = page.get_by_role("listitem")
        await expect(listed.filter(has_text="carol")).to_contain_text("1 document373 entities185 relationsup to date")
        await expect(listed.filter(has_text="empty")).to_contain_text("0 documents")
        await check_looks(page)
        link = page.get_by_role("link", name="carol")
        while not await link.evaluate("one => one === document.activeElement"):
            await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", name="Ask carol")).to_be_focused()


async def test_the_only_workspace_is_opened_at_once(web: Web) -> None:
    async with web.visit(key=await web.site.server.key("read", "carol")) as page:
        await expect(page.get_by_label("Question", exact=True)).to_be_visible()
        assert page.url == f"{web.url}/ui/carol/ask"


async def test_workspaces_that_cannot_be_read_are_tried_again(web: Web) -> None:
    problem = {"detail": "The database is unavailable.", "code": "unavailable", "next_step": "Wait a minute."}
    async with web.visit(None, expected=["status of 503"]) as page:
        await page.route("**/v1/workspaces?*", lambda route: route.fulfill(status=503, json=problem))
        await page.goto(f"{web.url}/ui/")
        await expect(page.get_by_role("alert")).to_contain_text("The database is unavailable.Wait a minute.")
        await page.unroute_all()
        await page.get_by_role("button", name="Try again").click()
        await expect(page.get_by_role("link", name="carol")).to_be_visible()


async def test_an_address_without_a_view_says_so(web: Web) -> None:
    async with web.visit("carol/nothing") as page:
        await expect(page.get_by_role("heading", name="There is no such page")).to_be_visible()
