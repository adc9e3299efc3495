"""The page of changes."""

from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

from playwright.async_api import expect

from tests.browser.pages import Web, check_looks
from tests.browser.test_documents import ADA, TURIN, room
from tests.integration.index.test_history import age
from trueweave import AsyncTrueweave, Chunk, Document, Link, Mention


def met(uri: str, place: str) -> Document:
    """A document that says where Ada Lund met Bo Berg."""
    people = Mention("Ada Lund"), Mention("Bo Berg"), Mention(place)
    return Document(
        uri, (Chunk(f"Ada Lund met Bo Berg in {place}.", mentions=people, links=(Link("Ada Lund", place),)),)
    )


async def test_changes_between_two_times_are_shown_with_both_sides(web: Web) -> None:
    async with room(web, "trips", capitals=True):
        trips = await AsyncTrueweave.enter(web.site.server.database, "trips")
        await trips.add_documents([met("walk", "Oslo"), met("ride", "Bergen")])
        async with web.visit("trips/changes") as page:
            await expect(page.get_by_text("This workspace keeps no history")).to_be_visible()
            await expect(page.get_by_text("trueweave history keep --workspace trips")).to_be_visible()
            await check_looks(page)
            await trips.history.keep()
            await age(trips, days=3)
            await trips.add_documents([met("walk", "Rome"), met("sail", "Turin")])
            await trips.remove(["ride"])
            await page.reload()
            counts = page.get_by_role("table", name="How many were added, removed and changed")
            await expect(counts.get_by_role("row", name="Documents 1 1 1")).to_be_visible(timeout=60_000)
            await expect(page.get_by_role("heading", name="Removed ride")).to_be_visible()
            walk = page.get_by_role("region", name="Documents").get_by_role("listitem").filter(has_text="Changed walk")
            await expect(walk).to_contain_text("BeforeAda Lund met Bo Berg in Oslo.")
            await expect(walk).to_contain_text("AfterAda Lund met Bo Berg in Rome.")
            await check_looks(page)
            await walk.get_by_role("link").first.click()
            await expect(page.get_by_text("Shows the index as it was on")).to_be_visible()
            await expect(page.locator("article")).to_contain_text("Ada Lund met Bo Berg in Oslo.")
            await page.go_back()
            await walk.get_by_role("link").last.click()
            await expect(page.locator("article")).to_contain_text("Ada Lund met Bo Berg in Rome.")
            await expect(page.get_by_text("Shows the index as it was on")).to_have_count(0)


async def test_the_times_are_in_the_address(web: Web) -> None:
    async with room(web, "logs", {"ada.md": ADA}) as client:
        logs = await AsyncTrueweave.enter(web.site.server.database, "logs")
        await logs.history.keep()
        await age(logs, days=3)
        assert (await client.post("documents/delete", json={"uris": ["ada.md"]})).json() == {"removed": 1}
        now = datetime.now().astimezone()
        times = {"since": (now - timedelta(days=2)).isoformat(), "until": (now - timedelta(days=1)).isoformat()}
        async with web.visit(f"logs/changes?{urlencode(times)}") as page:
            await expect(page.get_by_text("No changes", exact=True)).to_be_visible(timeout=60_000)
            await page.get_by_label("Until").fill("")
            await page.get_by_label("Until").press("Enter")
            await expect(page.get_by_role("heading", name="Removed ada.md")).to_be_visible(timeout=60_000)
            assert "since=" in page.url
            assert "until=" not in page.url
            await page.get_by_role("button", name="As a command").click()
            await expect(page.get_by_role("dialog")).to_contain_text("trueweave diff 20")
        long_ago = urlencode({"since": (datetime.now(UTC) - timedelta(days=30)).isoformat()})
        async with web.visit(f"logs/changes?{long_ago}", expected=["status of 422"]) as page:
            await expect(page.get_by_role("alert")).to_contain_text("History is kept since")
            await page.keyboard.press("g")
            await page.keyboard.press("a")
            await expect(page.get_by_role("heading", name="Ask")).to_be_visible()
            await page.keyboard.press("g")
            await page.keyboard.press("h")
            await expect(page.get_by_role("heading", name="Changes")).to_be_visible()
        assert (await client.post("documents", json={"documents": [{"uri": "turin.md", "text": TURIN}]})).is_success
