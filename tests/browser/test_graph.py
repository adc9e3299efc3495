"""Exploring the graph: searching, neighbourhoods, paths, filters, tables, files; and what goes wrong meanwhile."""

from __future__ import annotations

import csv
import re
from contextlib import aclosing
from pathlib import Path
from xml.etree import ElementTree

import httpx2
from playwright.async_api import Download, Locator, Page, Route, expect

from tests.browser import hostile
from tests.browser.pages import (
    NARROW,
    SOFTWARE_RENDERING,
    Web,
    check_accessibility,
    check_is_text,
    check_looks,
    check_width,
)
from tests.browser.test_documents import room
from trueweave import AsyncTrueweave, Chunk, Document, Link

NO_WEBGL = """const context = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
  return kind.startsWith("webgl") ? null : context.call(this, kind, ...more);
};"""


def picture(page: Page) -> Locator:
    return page.get_by_role("application", name="Picture of the graph")


def card(page: Page) -> Locator:
    return page.get_by_role("region", name="Selected entity")


async def drawn(page: Page) -> None:
    """Wait until the layout has ended."""
    await expect(page.locator("[data-laid-out=true]")).to_be_visible()


async def id_of(client: httpx2.AsyncClient, name: str) -> str:
    found = (await client.get("/v1/workspaces/carol/entities/complete", params={"text": name, "limit": 1})).json()
    return str(found["entities"][0]["id"])


async def saved(page: Page, title: str) -> Path:
    """The file that an entry of the menu Export saves."""
    await page.get_by_role("button", name="Export").click()
    async with page.expect_download() as downloading:
        await page.get_by_role("menuitem", name=title).click()
    download: Download = await downloading.value
    return Path(await download.path())


async def test_a_neighbourhood_is_explored_by_keyboard_and_its_address_shows_the_same(web: Web) -> None:
    async with web.visit("carol/ask", expected=[SOFTWARE_RENDERING]) as page:
        await expect(page.get_by_role("heading", name="Ask carol")).to_be_attached()
        await page.keyboard.press("g")
        await page.keyboard.press("g")
        await expect(page.get_by_role("heading", name="Graph of carol")).to_be_focused()
        await expect(page.get_by_role("button", name=re.compile("^SCROOGE"))).to_be_visible()
        await check_accessibility(page)
        await page.keyboard.press("/")
        await page.keyboard.type("scroo")
        await expect(page.get_by_role("menuitem", name="SCROOGE PERSON")).to_be_visible()
        await page.keyboard.press("Enter")
        await expect(picture(page)).to_be_focused()
        await drawn(page)
        await expect(card(page).get_by_role("heading", name="SCROOGE")).to_be_visible()
        told = page.get_by_text(re.compile(r"^Shown: "))
        await expect(told).to_have_text(
            re.compile(r"^Shown: 21 of 71 entities, those with the heaviest relations, and \d+ relations.$")
        )
        await check_looks(page)
        page_link = card(page).get_by_role("link", name="Open its page")
        scrooge = await page_link.get_attribute("href")
        assert scrooge
        await page.keyboard.press("ArrowRight")
        await expect(page_link).not_to_have_attribute("href", scrooge)
        before = await told.inner_text()
        await page.keyboard.press("e")
        await expect(page).to_have_url(re.compile(r"of=[^&]+&of=[^&]+&sel="))
        await expect(told).not_to_have_text(before)
        shown, name = await told.inner_text(), await card(page).get_by_role("heading").first.inner_text()
        for key in ("f", "+", "-"):
            await page.keyboard.press(key)
        async with web.visit(page.url.partition("/ui/")[2], expected=[SOFTWARE_RENDERING]) as other:
            await expect(other.get_by_text(shown)).to_be_visible()
            await expect(card(other).get_by_role("heading", name=name, exact=True)).to_be_visible()
            await card(other).get_by_role("link", name="Open its page").click()
            await expect(other.get_by_role("heading", name=name, level=1)).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(card(page)).to_have_count(0)
        await page.keyboard.press("t")
        await expect(page.get_by_role("table", name="Entities")).to_be_visible()
        assert "view=entities" in page.url
        await page.get_by_role("button", name="Mentions").click()
        column = page.get_by_role("columnheader", name="Mentions")
        await expect(column).to_have_attribute("aria-sort", "descending")
        assert page.url.endswith("view=entities&sort=-mentions")
        await check_looks(page)
        await page.keyboard.press("t")
        await expect(picture(page)).to_be_focused()


async def test_a_path_is_found_filtered_and_saved(web: Web) -> None:
    async with web.site.server.client(web.site.key) as client:
        scrooge, martha = await id_of(client, "scrooge"), await id_of(client, "martha")
    expected = ["status of 404", SOFTWARE_RENDERING]
    async with web.visit(f"carol/graph?of={scrooge}&sel={scrooge}", expected=expected) as page:
        await drawn(page)
        await page.keyboard.press("p")
        await expect(page.get_by_text("Choose where the path ends")).to_be_visible()
        await page.get_by_role("button", name="Cancel").click()
        await card(page).get_by_role("button", name="Path from here").click()
        await expect(page.get_by_label("Path to")).to_be_focused()
        await page.keyboard.type("martha")
        await page.get_by_role("menuitem", name="MARTHA").click()
        way = page.get_by_role("list", name="Path").get_by_role("link")
        await expect(way).to_have_text(["SCROOGE", "BOB CRATCHIT", "MARTHA"])
        await expect(
            page.get_by_text("A shortest path has 2 relations. Shown: 3 entities, and 2 relations.")
        ).to_be_visible()
        await drawn(page)
        assert page.url.endswith(f"graph?of={scrooge}&to={martha}&sel={martha}")
        await card(page).get_by_role("button", name="Expand").click()
        told = page.get_by_text(re.compile("^A shortest path has 2 relations. Shown: 6 entities"))
        await expect(told).to_be_visible()
        svg = await saved(page, "SVG drawing")
        assert "BOB CRATCHIT" in svg.read_text("utf-8")
        png = await saved(page, "PNG picture")
        assert png.read_bytes().startswith(b"\x89PNG")
        tree = ElementTree.parse(await saved(page, "GraphML"))
        space = "{http://graphml.graphdrawing.org/xmlns}"
        assert len(tree.findall(f"{space}graph/{space}node")) == 6
        with (await saved(page, "CSV of the relations")).open(encoding="utf-8", newline="") as file:
            assert {"SCROOGE", "BOB CRATCHIT"} in [
                {row["source name"], row["target name"]} for row in csv.DictReader(file)
            ]
        await page.get_by_label("Lowest weight").focus()
        await page.keyboard.press("End")
        await expect(page.get_by_text("Filters hide 3 entities.")).to_be_visible()  # not those on the path
        await page.get_by_label("Stated in document").fill("nowhere.txt")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("alert")).to_contain_text("There is no document 'nowhere.txt'")


async def test_without_webgl_the_graph_is_a_table_and_an_empty_one_says_why(web: Web) -> None:
    async with web.site.server.client(web.site.key) as client:
        scrooge = await id_of(client, "scrooge")
    async with web.visit(None, width=NARROW) as page:
        await page.add_init_script(NO_WEBGL)
        await page.goto(f"{web.url}/ui/carol/graph?of={scrooge}&types=EVENT")
        await expect(page.get_by_text("This browser does not provide WebGL")).to_be_visible()
        # Which of several equally heavy neighbours are shown depends on their ids.
        rows = page.get_by_role("table", name="Entities").get_by_role("row")
        await expect(rows.filter(has_text="EVENT").first).to_be_visible()
        await expect(rows.filter(has_text="PERSON")).to_have_text([re.compile("^SCROOGE")])
        await check_looks(page)
        await page.get_by_role("button", name="SCROOGE").click()
        await expect(card(page)).to_be_visible()
        await check_accessibility(page)
        await check_width(page)
        await page.goto(f"{web.url}/ui/empty/graph")
        await expect(page.get_by_text("No relations yet")).to_be_visible()
        await check_looks(page)


async def test_an_entity_that_is_gone_leaves_a_next_step(web: Web) -> None:
    expected = ["status of 404", SOFTWARE_RENDERING]
    async with room(web, "merging") as client:
        trueweave = await AsyncTrueweave.enter(web.site.server.database, "merging")
        async with aclosing(trueweave):
            links = (Link("Ada", "Byron"), Link("Babbage", "Engine"))
            await trueweave.add_documents([Document("a", (Chunk("Ada Byron", links=links[:1]),))])
            await trueweave.add_documents([Document("b", (Chunk("Babbage", links=links[1:]),))])
            found = {one.name: str(one.id) for one in await trueweave.graph.entities()}
            address = f"merging/graph?of={found['Ada']}&of={found['Babbage']}&sel={found['Ada']}"
            async with web.visit(address, expected=expected) as page:
                await drawn(page)
                await trueweave.remove(["a"])  # while the page is open
                await page.reload()
                await expect(page.get_by_role("alert")).to_contain_text("There is no entity with the id")
                await page.get_by_role("button", name="show the graph without it").click()
                await expect(page.get_by_text("Shown: 2 entities, and 1 relation.")).to_be_visible()
        assert (await client.get("entities")).status_code == 200


async def test_hostile_names_are_text_in_the_graph_and_in_its_files(web: Web) -> None:
    async with web.visit("breaking/graph", expected=[SOFTWARE_RENDERING], width=NARROW) as page:
        await page.get_by_role("button", name=hostile.IMAGE).first.click()
        await drawn(page)
        await expect(card(page).get_by_role("heading", name=hostile.IMAGE)).to_be_visible()
        for view in ("Picture", "Entities", "Relations"):
            await page.get_by_role("group", name="Shown as").get_by_role("button", name=view).click()
            await check_is_text(page)
            await check_width(page)
            await check_accessibility(page)
        await page.get_by_role("button", name="Close").click()
        tree = ElementTree.parse(await saved(page, "GraphML"))
        names = {one.text for one in tree.iter() if one.get("key") == "node-name"}
        assert {hostile.IMAGE, hostile.SCRIPT} <= names
        svg = ElementTree.parse(await saved(page, "SVG drawing"))
        assert not [one for one in svg.iter() if one.tag.endswith(("script", "img"))]


async def test_the_map_is_walked_by_keyboard_and_its_address_shows_the_same(web: Web) -> None:
    async with aclosing(await AsyncTrueweave.enter(web.site.server.database, "carol")) as trueweave:
        await trueweave.communities.find()
    async with web.visit("carol/graph", expected=[SOFTWARE_RENDERING]) as page:
        told = page.get_by_text(re.compile("The map has 179 entities."))
        await expect(told).to_contain_text("communities of")
        await expect(page.locator("[data-drawn=true]")).to_be_visible()
        await check_looks(page)
        await page.get_by_role("application", name="Map of the graph").focus()
        for key in ("+", "+", "+", "ArrowLeft"):
            await page.keyboard.press(key)
        await expect(page).to_have_url(re.compile(r"graph\?x=-0.14815&z=3.375$"))
        await expect(page.get_by_role("region", name="Map")).to_have_attribute("aria-busy", "false")
        shown = await told.inner_text()
        assert re.match(r"Shown: \d+ entities", shown)
        async with web.visit(page.url.partition("/ui/")[2], expected=[SOFTWARE_RENDERING]) as other:
            await expect(other.get_by_text(shown)).to_be_visible()
        await page.get_by_role("button", name="All entities").click()
        await expect(told).to_have_text(re.compile("^Shown: 179 entities with 18[0-9] relations between them"))
        await page.keyboard.press("t")
        table = page.get_by_role("table", name="In view")
        await expect(table).to_be_visible()
        await check_looks(page)
        await page.keyboard.press("t")
        await page.get_by_role("application", name="Map of the graph").focus()
        await expect(page.get_by_text(re.compile("^Enter opens "))).to_be_visible()
        await page.keyboard.press("Enter")
        await drawn(page)
        await expect(card(page)).to_be_visible()
    async with web.visit(None, width=NARROW) as page:
        await page.add_init_script(NO_WEBGL)
        await page.goto(f"{web.url}/ui/carol/graph")
        await expect(page.get_by_text("This browser does not provide WebGL")).to_be_visible()
        community = page.get_by_role("row").filter(has_text="Report").first
        await community.get_by_role("button").click()
        await expect(page).to_have_url(re.compile("z="))
        await page.get_by_role("button", name="Whole map").click()
        await expect(community).to_be_visible()
        await check_width(page)


async def test_a_map_that_is_missing_or_cannot_be_loaded_or_is_hostile(web: Web) -> None:
    links = (Link("Ada", "Byron"), Link("Ada", "Babbage"))
    async with room(web, "unmapped"):
        async with aclosing(await AsyncTrueweave.enter(web.site.server.database, "unmapped")) as trueweave:
            await trueweave.add_documents([Document("a", (Chunk("Ada Byron", links=links),))])
        async with web.visit(None, expected=[SOFTWARE_RENDERING, "status of 503"]) as page:

            async def fails(route: Route) -> None:
                await route.fulfill(status=503, json={"detail": "the database is unavailable."})

            await page.route("**/unmapped/map?*", fails)
            await page.goto(f"{web.url}/ui/unmapped/graph")
            await expect(page.get_by_role("alert")).to_contain_text("The database is unavailable.")
            await page.unroute("**/unmapped/map?*")
            await page.get_by_role("button", name="Try again").click()
            await expect(page.get_by_text("No map yet")).to_be_visible()
            await check_looks(page)
            await page.get_by_role("link", name="Find communities").click()
            await expect(page.get_by_role("heading", name="Communities")).to_be_visible()
    async with aclosing(await AsyncTrueweave.enter(web.site.server.database, "breaking")) as trueweave:
        await trueweave.communities.find()
    async with web.visit("breaking/graph?view=table", expected=[SOFTWARE_RENDERING], width=NARROW) as page:
        await expect(page.get_by_role("table", name="In view")).to_contain_text(hostile.SCRIPT)
        await check_is_text(page)
        await check_width(page)
        await page.get_by_role("button", name="Map", exact=True).click()
        await expect(page.locator("[data-drawn=true]")).to_be_visible()
        await page.get_by_role("application", name="Map of the graph").focus()
        await page.keyboard.press("ArrowUp")
        await expect(page.get_by_text(re.compile("^Enter opens "))).to_be_visible()
        await check_is_text(page)
        await check_width(page)
