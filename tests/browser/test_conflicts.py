"""The page of conflicts."""

from playwright.async_api import expect

from tests.browser.pages import Web, check_looks
from tests.browser.test_documents import room
from trueweave import AsyncTrueweave, Chunk, Document, Link, Mention


def born(uri: str, place: str, date: str) -> Document:
    """A document that says where Ada Lund was born."""
    link = Link("Ada Lund", place, "born in", ("born in",))
    chunk = Chunk(f"Ada Lund was born in {place}.", mentions=(Mention("Ada Lund"), Mention(place)), links=(link,))
    return Document(uri, (chunk,), metadata={"date": date})


async def test_conflicts_are_listed_with_both_sides(web: Web) -> None:
    async with room(web, "births", capitals=True):
        births = await AsyncTrueweave.enter(web.site.server.database, "births")
        await births.maintenance.change_settings({"functional_relations": {"born in": "one target"}})
        async with web.visit("births/conflicts") as page:
            await expect(page.get_by_text("No conflicts")).to_be_visible()
            await births.add_documents([born("old", "Oslo", "2019-03-01"), born("new", "Bergen", "2023-06-12")])
            await page.reload()
            await expect(page.get_by_role("heading", name="Ada Lund born in")).to_be_visible()
            await expect(page.get_by_text("Contradiction", exact=True)).to_be_visible()
            await expect(page.get_by_text("2023-06-12, newest, 1 document")).to_be_visible()
            await expect(page.get_by_text("2019-03-01, 1 document")).to_be_visible()
            await check_looks(page)
            await page.get_by_role("link", name="Bergen").first.click()
            await expect(page.get_by_role("heading", name="Bergen").first).to_be_visible()
