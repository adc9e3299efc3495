"""Comparing methods: columns that are asked one after the other, what they have in common, and one that fails alone."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import urlencode

from playwright.async_api import Locator, Page, Request, Route, expect

from tests.browser.pages import NARROW, WIDE, Web, check_looks, check_width
from tests.browser.site import BOOK, PARTNERS

SUMMARY = "4 sentences: 2 quoted, 1 not checked, 1 contradicted (checked by rules)"
HOSTILE = "<img src=x onerror=alert(1)> \u202ecba " + "x" * 10_000


def address(*methods: str, **parameters: str) -> str:
    return f"carol/compare?{urlencode([('q', PARTNERS), *(('m', one) for one in methods), *parameters.items()])}"


def column(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=name, exact=False).filter(has=page.locator("h2[data-column]"))


def searches(page: Page) -> list[Any]:
    """The searches that the page asks for from now on."""
    found: list[Any] = []

    def note(request: Request) -> None:
        if request.url.endswith(("/retrieve", "/ask")) and request.method == "POST":
            found.append(request.post_data_json)

    page.on("request", note)
    return found


async def finished(page: Page) -> None:
    await expect(page.get_by_text("All methods have finished")).to_be_attached()


async def test_methods_are_shown_side_by_side_with_what_they_have_in_common(web: Web) -> None:
    async with web.visit("carol/compare") as page:
        asked = searches(page)
        await page.get_by_label("Question", exact=True).fill(PARTNERS)
        await page.keyboard.press("Enter")
        await finished(page)
        names = ["naive", "fuse", "weave"]
        assert [one["method"] for one in asked] == names
        assert page.url == f"{web.url}/ui/{address(*names)}"
        found: dict[str, list[tuple[str, str]]] = {}
        for name in names:
            await expect(column(page, name).get_by_text("only here").first).to_be_visible()
            found[name] = (
                await column(page, name)
                .locator("ol > li")
                .evaluate_all(
                    "all => all.map((one) => [one.querySelector('i').textContent, one.querySelector('a').href])"
                )
            )
        letters = {place: letter for passages in found.values() for letter, place in passages}
        for name, passages in found.items():
            for letter, place in passages:
                others = [one for one in names if one != name and any(place == other for _, other in found[one])]
                assert bool(letter) == bool(others), "a letter for what several methods found"
                assert letters[place] == letter
        shared = len({place for _, place in found["naive"]} & {place for _, place in found["fuse"]})
        await expect(page.locator("tbody tr").first.locator("td").nth(1)).to_have_text(str(shared))
        await page.get_by_label("Only differences").click()
        everywhere = set.intersection(*({place for _, place in passages} for passages in found.values()))
        left = [place for _, place in found["naive"] if place not in everywhere]
        await expect(column(page, "naive").locator("ol > li")).to_have_count(len(left))
        await check_looks(page)


async def test_a_pasted_address_asks_the_same_again_and_can_be_taken_elsewhere(web: Web) -> None:
    path = address("naive", 'keyword:{"top_k":3}', filter=f'{{"uris":["{BOOK}"]}}', answers="1")
    async with web.visit(path) as page:
        for name in ("naive", "keyword (top_k 3)"):
            await expect(column(page, name).get_by_text(SUMMARY)).to_be_visible()
        await expect(column(page, "keyword").locator("ol > li")).to_have_count(3)
        await expect(page.get_by_role("button", name=f"Remove {BOOK}")).to_be_visible()
        assert await page.title() == f"{PARTNERS} · carol · Trueweave"
        await page.get_by_role("button", name="Copy link").click()
        await expect(page.get_by_role("button", name="Copied")).to_be_visible()
        assert await page.evaluate("navigator.clipboard.readText()") == f"{web.url}/ui/{path}"
        await page.get_by_role("button", name="As JSON").click()
        request = json.loads(await page.get_by_role("dialog").locator("pre").inner_text())
        async with web.site.server.client(web.site.key) as client:
            answer = await client.post("/v1/workspaces/carol/compare", json=request)
        rows = answer.json()["methods"]
        assert [(one["method"], len(one["evidence"]["passages"])) for one in rows] == [("naive", 5), ("keyword", 3)]
        await page.keyboard.press("Escape")
        await check_looks(page)


async def test_the_keyboard_alone_goes_to_columns_and_exchanges_them(web: Web) -> None:
    async with web.visit("carol/compare") as page:
        await expect(page.get_by_text("Ask one question by several methods")).to_be_visible()
        await page.keyboard.press("/")
        await page.keyboard.type(PARTNERS)
        await page.keyboard.press("Enter")
        await finished(page)
        await page.keyboard.press("Escape")
        asked = searches(page)
        await page.keyboard.press("2")
        await expect(page.get_by_role("heading", name="fuse")).to_be_focused()
        await page.keyboard.press("x")
        await expect(page.locator("h2[data-column]")).to_have_text(["1 naive", "2 weave", "3 fuse"])
        await expect(page.get_by_role("heading", name="fuse")).to_be_focused()
        assert page.url == f"{web.url}/ui/{address('naive', 'weave', 'fuse')}"
        assert not asked, "what was found stays"
        await page.keyboard.press("g")
        await page.keyboard.press("a")
        await expect(page.get_by_role("heading", name="Ask carol")).to_be_focused()


async def test_a_method_that_fails_does_so_in_its_own_column(web: Web) -> None:
    async with web.visit(address("community", "keyword"), expected=["status of 4"]) as page:
        await expect(column(page, "community").get_by_role("alert")).to_contain_text("There are no community reports")
        await expect(column(page, "keyword").locator("ol > li")).to_have_count(5)
        await expect(column(page, "keyword").get_by_role("alert")).to_have_count(0)
        await check_looks(page)
    async with web.visit(address("naive:[]", "keyword")) as page:
        await expect(page.get_by_role("alert")).to_contain_text("The parameters of the method naive in this address")
    async with web.visit(f"empty/compare?{urlencode({'q': PARTNERS})}") as page:
        await expect(page.get_by_text("There are no documents here yet")).to_be_visible()
        await check_looks(page)


async def test_leaving_the_page_cancels_the_search_and_asks_no_other(web: Web) -> None:
    async with web.visit("carol/compare") as page:
        arrived, cancelled = asyncio.Event(), asyncio.Event()

        async def held(route: Route) -> None:
            arrived.set()
            await cancelled.wait()
            await route.abort()

        def note(request: Request) -> None:
            if request.url.endswith("/retrieve"):
                cancelled.set()

        page.on("requestfailed", note)
        await page.route("**/retrieve", held)
        asked = searches(page)
        await page.get_by_label("Question", exact=True).fill(PARTNERS)
        await page.keyboard.press("Enter")
        await asyncio.wait_for(arrived.wait(), 30)
        await expect(page.get_by_text("Waiting until the searches before it have ended.").first).to_be_visible()
        await page.get_by_role("link", name="Ask", exact=True).click()
        await asyncio.wait_for(cancelled.wait(), 30)
        await expect(page.get_by_role("heading", name="Ask carol")).to_be_focused()
        assert len(asked) == 1


async def test_stop_stops_and_what_was_found_stays(web: Web) -> None:
    async with web.visit("carol/compare") as page:
        arrived, released = asyncio.Event(), asyncio.Event()

        async def held(route: Route) -> None:
            body: Any = route.request.post_data_json
            if body["method"] == "fuse":
                arrived.set()
                await released.wait()
                await route.abort()
            else:
                await route.continue_()

        await page.route("**/retrieve", held)
        asked = searches(page)
        await page.get_by_label("Question", exact=True).fill(PARTNERS)
        await page.keyboard.press("Enter")
        await asyncio.wait_for(arrived.wait(), 30)
        await page.get_by_role("button", name="Stop").click()
        await expect(column(page, "fuse").get_by_text("Stopped.")).to_be_visible()
        await finished(page)
        released.set()
        await expect(column(page, "naive").locator("ol > li")).to_have_count(5)
        await expect(page.get_by_role("button", name="Compare", exact=True)).to_be_visible()
        assert [one["method"] for one in asked] == ["naive", "fuse", "weave"]


async def test_a_narrow_screen_shows_one_method_and_hostile_text_as_text(web: Web) -> None:
    async with web.visit("carol/compare", width=NARROW) as page:

        async def hostile(route: Route) -> None:
            async with web.site.server.client(web.site.key) as client:
                answer = await client.post("/v1/workspaces/carol/retrieve", json=route.request.post_data_json)
            body = answer.json()
            for one in body["evidence"]["passages"]:
                one["title"] = one["text"] = HOSTILE
            await route.fulfill(json=body)

        await page.route("**/retrieve", hostile)
        await page.goto(f"{web.url}/ui/{address('keyword', 'naive')}")
        await finished(page)
        await expect(column(page, "keyword").get_by_text("<img src=x onerror=alert(1)>").first).to_be_visible()
        await expect(column(page, "naive")).to_be_hidden()
        await check_width(page)
        await page.get_by_role("button", name="naive", exact=True).click()
        await expect(column(page, "naive")).to_be_visible()
        await expect(column(page, "keyword")).to_be_hidden()
        assert await page.locator("main img").count() == 0
        await page.set_viewport_size({"width": WIDE, "height": 900})
        await check_width(page)
