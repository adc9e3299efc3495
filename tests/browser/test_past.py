"""The index as it was, in every view."""

from datetime import datetime, timedelta

from playwright.async_api import expect

from tests.browser.pages import Web, check_looks
from tests.browser.test_documents import ADA, TURIN, room
from tests.integration.index.test_history import age
from trueweave import AsyncTrueweave


async def test_every_view_shows_the_index_of_a_time(web: Web) -> None:
    async with room(web, "diary", {"ada.md": ADA}) as client, web.visit("diary/documents") as page:
        await page.get_by_role("button", name="Show the index as it was").click()
        await expect(page.get_by_text("This workspace keeps no history.")).to_be_visible()
        await page.get_by_role("button", name="Cancel").click()
        assert (await client.put("history", json={"days": None})).status_code == 200
        diary = await AsyncTrueweave.enter(web.site.server.database, "diary")
        await age(diary, days=3)
        changed = (await client.post("documents/delete", json={"uris": ["ada.md"]})).json()
        assert changed == {"removed": 1}
        texts = {"documents": [{"uri": "turin.md", "text": TURIN}]}
        job = (await client.post("documents", json=texts)).json()
        async with client.stream("GET", f"jobs/{job['id']}/events") as events:
            await events.aread()
        await page.reload()
        await expect(page.get_by_role("link", name="turin.md")).to_be_visible()
        await page.get_by_role("button", name="Show the index as it was").click()
        await expect(page.get_by_text("History is kept since")).to_be_visible()
        yesterday = datetime.now().astimezone() - timedelta(days=1)
        await page.get_by_label("Show the index as it was on").fill(f"{yesterday:%Y-%m-%dT%H:%M:%S}")
        await page.get_by_role("button", name="Show", exact=True).click()
        await expect(page.get_by_role("status").filter(has_text="Shows the index as it was on")).to_be_visible()
        await expect(page.get_by_role("link", name="ada.md")).to_be_visible()
        await expect(page.get_by_role("link", name="turin.md")).to_have_count(0)
        await check_looks(page)
        await page.get_by_role("link", name="Graph").click()
        await expect(page.get_by_text("Nothing can be changed here.")).to_be_visible()
        await expect(page.get_by_role("contentinfo")).to_contain_text("1 document")
        await page.get_by_role("button", name="Back to now").click()
        await page.get_by_role("link", name="Documents").click()
        await expect(page.get_by_role("link", name="turin.md")).to_be_visible()
        await expect(page.get_by_text("Shows the index as it was")).to_have_count(0)
