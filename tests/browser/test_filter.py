"""The filter on documents, on the pages of the graph: in their addresses, from page to page, until it is cleared."""

from __future__ import annotations

import json
import re
from contextlib import aclosing
from urllib.parse import parse_qs, urlencode, urlsplit

from playwright.async_api import Locator, Page, expect

from tests.browser.pages import NARROW, SOFTWARE_RENDERING, Web, check_looks, check_width
from tests.browser.test_entity import opened
from tests.browser.test_graph import card, drawn
from trueweave import Chunk, Document, Link, Mention

LETTERS = {"metadata": {"kind": "letter"}}
PASSES = "Only documents that pass the filter"


def said(uri: str, kind: str, *links: Link) -> Document:
    text = " ".join(f"{one.source} met {one.target}." for one in links)
    names = dict.fromkeys(name for one in links for name in (one.source, one.target))
    spans = {name: (text.index(name), text.index(name) + len(name)) for name in names}
    mentions = tuple(Mention(name, "person", spans=(spans[name],)) for name in names)
    return Document(uri, (Chunk(text, mentions=mentions, links=links),), metadata={"kind": kind})


def met(source: str, target: str) -> Link:
    return Link(source, target, f"{source} met {target}", ("met",), source_type="person", target_type="person")


DOCUMENTS = (
    said("letters/1.md", "letter", met("Ada", "Babbage"), met("Babbage", "Byron")),
    said("minutes/1.md", "minutes", met("Ada", "Byron"), met("Ada", "Clement")),
)


def bar(page: Page) -> Locator:
    return page.get_by_role("region", name="Filter")


def filter_of(page: Page) -> dict[str, object]:
    found: dict[str, object] = json.loads(parse_qs(urlsplit(page.url).query).get("filter", ["{}"])[0])
    return found


async def test_the_filter_follows_from_page_to_page_and_is_cleared(web: Web) -> None:
    async with aclosing(await opened(web, "filtered")) as index:
        await index.add_documents(DOCUMENTS)
    expected = [SOFTWARE_RENDERING, "status of 404"]
    async with web.visit("filtered/graph", expected=expected) as page:
        await expect(bar(page)).to_contain_text("all documents")
        await bar(page).get_by_role("button", name="Filter", exact=True).click()
        await bar(page).get_by_label("Only documents").fill("kind=letter")
        await page.keyboard.press("Enter")
        await expect(bar(page).get_by_role("status")).to_have_text(PASSES)
        await expect(page.get_by_text("The map of the graph shows all documents.")).to_be_visible()
        await expect(page.get_by_role("button", name=re.compile("^Clement"))).to_have_count(0)
        await check_looks(page)

        await page.get_by_role("button", name=re.compile("^Ada")).click()
        await drawn(page)
        await expect(card(page)).to_contain_text("person · 1 mention · 1 relation")
        await expect(page.get_by_text(re.compile("^Shown: "))).to_have_text(re.compile("2 entities"))
        await page.get_by_role("button", name="As JSON").click()
        await expect(page.get_by_role("dialog")).to_contain_text("filter=")
        await page.keyboard.press("Escape")

        await card(page).get_by_role("link", name="Open its page").click()
        await expect(page.get_by_role("heading", name="Ada", exact=True)).to_be_visible()
        assert filter_of(page) == {"metadata": {"kind": ["letter"]}}
        await expect(page.get_by_role("region", name="Mentions").get_by_role("heading", level=2)).to_have_text(
            "Mentions 1 in 1 document"
        )
        relations = page.get_by_role("region", name="Relations")
        await expect(relations.locator("li")).to_have_count(1)
        await check_looks(page)

        await relations.get_by_role("link", name="met").click()
        await expect(bar(page).get_by_role("status")).to_have_text(PASSES)
        await expect(page.get_by_role("region", name="Statements").locator("h3")).to_have_text(["letters/1.md"])
        await check_looks(page)
        await page.get_by_role("heading", level=1).get_by_role("link", name="Ada").click()
        await expect(page.get_by_role("heading", name="Ada", exact=True)).to_be_visible()
        await expect(relations.locator("li")).to_have_count(1)
        await bar(page).get_by_role("button", name="Clear the filter").click()
        await expect(relations.locator("li")).to_have_count(3)
        assert filter_of(page) == {}


async def test_an_address_with_a_filter_shows_a_path_and_says_what_does_not_pass(web: Web) -> None:
    async with aclosing(await opened(web, "filtered path")) as index:
        await index.add_documents(DOCUMENTS)
        ids = {one.name: str(one.id) for one in await index.graph.entities()}
    expected = [SOFTWARE_RENDERING, "status of 404"]
    async with web.visit(None, expected=expected, width=NARROW) as page:

        async def goto(path: str, *given: tuple[str, str]) -> None:
            query = urlencode([*given, ("filter", json.dumps(LETTERS))])
            await page.goto(f"{web.url}/ui/filtered%20path/{path}?{query}")

        path = page.get_by_role("list", name="Path")
        await goto("graph", ("of", ids["Ada"]), ("to", ids["Byron"]))
        await expect(path.locator("li")).to_have_text(["Ada", "Babbage", "Byron"])
        await expect(bar(page).get_by_role("status")).to_have_text(PASSES)
        await check_width(page)
        await bar(page).get_by_role("button", name="Remove kind: letter").click()
        await expect(path.locator("li")).to_have_text(["Ada", "Byron"])

        for view in (f"entity/{ids['Clement']}", "graph"):
            await goto(view, *([("of", ids["Clement"])] if view == "graph" else []))
            await expect(page.get_by_text("No document that passes the filter mentions").last).to_be_visible()
            await check_width(page)
        await goto(f"entity/{ids['Clement']}")
        await page.get_by_role("button", name="Show all documents").click()
        await expect(page.get_by_role("heading", name="Clement", exact=True)).to_be_visible()
