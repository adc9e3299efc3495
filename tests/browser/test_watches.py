"""The pages of watches and of their alerts."""

import re

from playwright.async_api import expect

from tests.browser.pages import Web, check_looks
from tests.browser.test_documents import room
from tests.integration.watches.conftest import CHIEF, NEW_CHIEF, OTHER, QUESTION
from trueweave import AsyncTrueweave


async def test_a_watch_is_added_alerts_and_is_removed(web: Web) -> None:
    async with room(web, "chiefs", capitals=True):
        chiefs = await AsyncTrueweave.enter(web.site.server.database, "chiefs")
        await chiefs.add_documents([CHIEF, OTHER])
        async with web.visit("chiefs/ask") as page:
            await expect(page.get_by_role("heading", name="Ask")).to_be_visible()
            await page.locator("h1").focus()
            await page.keyboard.press("g")
            await page.keyboard.press("t")
            await expect(page.get_by_text("No watch yet")).to_be_visible()
            form = page.get_by_role("form", name="Add a watch")
            await form.get_by_role("button", name="Add the watch").click()
            await expect(form.get_by_label("Question", exact=True)).to_be_focused()
            await form.get_by_text("More", exact=True).click()
            await form.get_by_label("Name").fill("chief")
            await form.get_by_label("Method").select_option("keyword")
            await form.get_by_label("Passages").fill("1")
            await check_looks(page)
            await form.get_by_label("Question", exact=True).fill(QUESTION)
            await form.get_by_label("Question", exact=True).press("Enter")
            await expect(page.get_by_text("Added chief.")).to_be_visible()
            watch = page.get_by_role("list", name="Watches").get_by_role("listitem")
            await expect(watch).to_contain_text(QUESTION)
            await expect(watch).to_contain_text("first 1 passage of keyword")
            await check_looks(page)
            await watch.get_by_role("link", name="0 alerts of chief").click()
            alerts = page.get_by_role("list", name="Alerts").locator("> li")
            await expect(alerts).to_have_count(1)
            await expect(alerts.first).to_contain_text("found 1 passage when it was added")
            await expect(alerts.first).to_contain_text("Ada Berg is chief executive of Acme.")
            # A worker of the server asks again, and the page reads the alert while it is open.
            await chiefs.add_documents([NEW_CHIEF])
            await expect(page.get_by_role("status")).to_contain_text("1 new alert", timeout=90_000)
            await expect(alerts).to_have_count(2)
            await expect(alerts.first).to_contain_text("1 passage added, 1 removed")
            await expect(alerts.first).to_contain_text("Bo Lind is chief executive of Acme.")
            await check_looks(page)
            await alerts.first.get_by_role("link", name="acme.md").first.click()
            await expect(page.locator("article")).to_contain_text("Bo Lind")
            await page.go_back()
            await page.get_by_role("link", name="Show the alerts of all watches").click()
            await expect(page.get_by_role("heading", name="Alerts", exact=True)).to_be_visible()
            await page.get_by_role("link", name="Questions").click()
            await expect(watch.get_by_role("link", name="1 alert of chief")).to_be_visible()
            await watch.get_by_role("button", name="Remove chief").click()
            await expect(page.get_by_role("dialog")).to_contain_text("its alerts are deleted")
            await check_looks(page)
            await page.get_by_role("dialog").get_by_role("button", name="Remove").click()
            await expect(page.get_by_text("Removed chief.")).to_be_visible()
            await expect(page.get_by_text("No watch yet")).to_be_visible()


async def test_a_reader_has_no_form(web: Web) -> None:
    async with room(web, "readers", capitals=True) as client:
        asked = {"question": QUESTION, "name": "chief", "method": "keyword"}
        assert (await client.post("watches", json=asked)).status_code == 201
        reader = await web.site.server.key("read", groups=["*"])
        async with web.visit("readers/watches", key=reader) as page:
            await expect(page.get_by_role("heading", name="chief")).to_be_visible()
            await expect(page.get_by_role("form")).to_have_count(0)
            await expect(page.get_by_role("button", name="Remove chief")).to_have_count(0)


async def test_a_refused_watch_keeps_the_question(web: Web) -> None:
    async with (
        room(web, "refused", capitals=True),
        web.visit("refused/watches", expected=["status of 4(03|22)"]) as page,
    ):
        form = page.get_by_role("form", name="Add a watch")
        await form.get_by_label("Question", exact=True).fill(QUESTION)
        await form.get_by_text("More", exact=True).click()
        await form.get_by_label("Webhook").fill("https://other.example/")
        await form.get_by_role("button", name="Add the watch").click()
        await expect(form.get_by_role("alert")).to_contain_text(re.compile("webhook|signing_key_file"))
        await check_looks(page)
        await expect(form.get_by_label("Question", exact=True)).to_have_value(QUESTION)


async def test_alerts_of_an_unknown_watch(web: Web) -> None:
    async with web.visit("empty/watches/alerts?watch=none", expected=["status of 404"]) as page:
        await expect(page.get_by_role("alert")).to_contain_text("none")
