"""Communities: found, drawn, written about with an estimate, read with their passages; and others who act meanwhile."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from itertools import combinations, pairwise
from typing import Any

import httpx2
from playwright.async_api import Route, expect

from tests.browser.pages import NARROW, WIDE, Web, check_accessibility, check_is_text, check_looks, check_width
from tests.browser.site import MODELS
from trueweave import AsyncTrueweave, Chunk, Document, Link, Mention, Settings

FOLK = ("miller", "smith", "reeve", "priest", "ferryman")


def town(name: str, *folk: str) -> Document:
    """A document in which everybody of a town knows everybody else there."""
    people = [f"{one} of {name}" for one in (*FOLK, *folk)]
    chunks = [
        Chunk(
            f"The {a} knows the {b}.",
            mentions=(Mention(a, "person"), Mention(b, "person")),
            links=(Link(a, b, "knows"),),
        )
        for a, b in combinations(people, 2)
    ]
    placed, start = [], 0
    for chunk in chunks:
        placed.append(Chunk(chunk.text, start=start, mentions=chunk.mentions, links=chunk.links))
        start += len(chunk.text) + 1
    return Document(name, tuple(placed), f"The town of {name}")


def settings(web: Web, **more: Any) -> Settings:
    return Settings(**MODELS, model_url=web.site.model.url, embedding_url=web.site.model.url, **more)


@asynccontextmanager
async def towns(web: Web, workspace: str, *names: str) -> AsyncIterator[tuple[AsyncTrueweave, httpx2.AsyncClient]]:
    """A new workspace with these towns, the first of which is the largest, and a client with its path."""
    trueweave = await AsyncTrueweave.enter(web.site.server.database, workspace, settings=settings(web))
    async with aclosing(trueweave), web.site.server.client(web.site.key) as client:
        await trueweave.add_documents([town(names[0], "widow"), *map(town, names[1:])])
        client.base_url = client.base_url.join(f"/v1/workspaces/{workspace}/")
        yield trueweave, client


async def test_communities_are_found_and_reports_written_after_an_estimate(web: Web) -> None:
    async with towns(web, "shire", "Aldar", "Berth") as (_, client), web.visit("shire/communities") as page:
        await expect(page.get_by_text("Communities have not been looked for yet")).to_be_visible()
        await check_accessibility(page)
        await page.get_by_role("button", name="Find communities").click()
        await expect(page.get_by_text("2 communities: 2 added, 0 changed, 0 unchanged, 0 removed.")).to_be_visible()
        cells = page.get_by_role("group", name="Communities by size").get_by_role("link")
        await expect(cells).to_have_count(2)
        await expect(cells.first).to_have_accessible_name(
            "ferryman of Aldar, miller of Aldar, priest of Aldar and 3 more: 6 members, no report yet"
        )
        await page.get_by_role("button", name="Write reports").click()
        dialog = page.get_by_role("dialog")
        await expect(dialog).to_contain_text("2 reports written by vllm/any: 2 calls")
        await expect(dialog).to_contain_text("This costs nothing.")
        await dialog.get_by_label("From now on, spend at most").check()
        await dialog.get_by_label("At most, in tokens").fill("100000")
        await check_accessibility(page)
        await dialog.get_by_role("button", name="Write 2 reports").click()
        await expect(page.get_by_text("2 reports up to date.")).to_be_visible(timeout=60_000)
        assert (await client.get("budget")).json()["token_cap"] >= 100_000
        await check_looks(page)
        await cells.first.click()
        await expect(page.get_by_role("heading", level=1)).to_be_focused()
        await expect(page.get_by_text("Written by vllm/any")).to_be_visible()
        await expect(page.get_by_text("6 members").last).to_be_visible()
        finding = page.get_by_role("listitem").filter(has_text="They know each other.")
        await expect(finding.get_by_role("link", name="ferryman of Aldar", exact=True)).to_have_attribute(
            "href", re.compile("^/ui/shire/entity/")
        )
        await finding.get_by_text("passages", exact=False).click()
        await check_looks(page)
        await page.get_by_role("button", name="As a command").click()
        await expect(page.get_by_role("dialog").locator("pre")).to_contain_text("trueweave communities show")
        await page.keyboard.press("Escape")
        await finding.get_by_role("link", name="The town of Aldar").first.click()
        await expect(page.locator("mark")).to_contain_text("of Aldar")


async def test_the_keyboard_walks_the_tree_of_a_pasted_address(web: Web) -> None:
    names = [f"Hamlet{n}" for n in range(12)]
    people = [f"{one} of {name}" for name in names for one in FOLK[:3]]
    links = [Link(a, b) for a, b in combinations(people, 2) if a.split()[-1] == b.split()[-1]]
    links += [Link(f"miller of {a}", f"miller of {b}") for a, b in pairwise(names)]
    how = settings(web, max_community_size=4)
    trueweave = await AsyncTrueweave.enter(web.site.server.database, "county", settings=how)
    async with aclosing(trueweave):
        await trueweave.add_documents([Document("county", (Chunk("The county.", links=tuple(links)),))])
        await trueweave.communities.find()
        outer = (await trueweave.communities.select(0))[0]
        assert outer.parts
        async with web.visit("county/communities?view=tree") as page:
            tree = page.get_by_role("tree", name="Communities")
            await expect(tree.get_by_role("treeitem").first).to_be_visible()
            await page.get_by_role("button", name="Tree", exact=True).focus()
            await page.keyboard.press("Tab")
            await page.keyboard.press("ArrowRight")
            await expect(tree.get_by_role("treeitem", level=2)).to_have_count(outer.parts)
            await check_looks(page)
            await page.keyboard.press("ArrowDown")
            await page.keyboard.press("Enter")
            await expect(page.get_by_role("heading", level=1)).to_be_focused()
            await expect(page.get_by_role("navigation", name="Path").get_by_role("link")).to_have_count(2)
            await page.keyboard.press("g")
            await page.keyboard.press("m")
            await expect(page.get_by_role("heading", name="Communities")).to_be_focused()
        async with web.visit(f"county/communities?within={outer.id}") as page:
            cells = page.get_by_role("group", name="Communities by size").get_by_role("link")
            await expect(cells).to_have_count(outer.parts)
            await cells.first.focus()
            await page.keyboard.press("ArrowRight")
            await expect(cells.nth(1)).to_be_focused()
            await page.keyboard.press("Enter")
            await expect(page.get_by_text("There is no report yet")).to_be_visible()


async def test_what_others_do_meanwhile_is_said(web: Web) -> None:
    async with towns(web, "moor", "Corin", "Dunmere") as (trueweave, client):
        await trueweave.communities.find()
        corin = next(one for one in await trueweave.communities.select() if "Corin" in one.names[0])
        async with (
            web.visit("moor/communities") as all_,
            web.visit(f"moor/community/{corin.id}", expected=["status of 40"]) as page,
        ):
            await expect(page.get_by_text("There is no report yet")).to_be_visible()
            await expect(all_.get_by_role("group", name="Communities by size")).to_be_visible()
            # The budget is used up between the estimate and the writing.
            await page.get_by_role("button", name="Write a report").click()
            dialog = page.get_by_role("dialog")
            await expect(dialog).to_contain_text("1 report written by vllm/any")
            await client.put("budget", json={"tokens": 1})
            await dialog.get_by_role("button", name="Write the report").click()
            await expect(dialog.get_by_role("alert")).to_contain_text("budget")
            await client.put("budget", json={})
            await dialog.get_by_role("button", name="Write the report").click()
            await expect(page.get_by_text("The report is written.")).to_be_visible()
            # Its members get other neighbours: the report is stale.
            await trueweave.add_documents([town("Corin", "widow", "baker")])
            await trueweave.communities.find()
            await expect(page.get_by_text("The community has changed since this report was written")).to_be_visible()
            await expect(all_.get_by_text("Communities were found again while this page was open.")).to_be_visible()
            await check_looks(page)
            await trueweave.remove(["Corin"])
            await trueweave.communities.find()
            await expect(page.get_by_text("This community does not exist")).to_be_visible()
            await expect(page.get_by_text("when communities were found again")).to_be_visible()
            await check_accessibility(page)
            await page.get_by_role("link", name="Show all communities").click()
            await expect(page.get_by_role("group", name="Communities by size").get_by_role("link")).to_have_count(1)


async def test_without_documents_and_without_a_server_there_is_a_next_step(web: Web) -> None:
    async with web.visit("empty/communities") as page:
        await expect(page.get_by_text("There are no documents here yet")).to_be_visible()
        await check_looks(page)
    async with web.visit(None, expected=["status of 503"]) as page:
        problem = {"detail": "the database is unavailable.", "next_step": "Try again later.", "request_id": "r1"}

        async def fails(route: Route) -> None:
            await route.fulfill(status=503, json=problem)

        await page.route("**/communities/tree*", fails)
        await page.route("**/communities/hierarchy", fails)
        await page.goto(f"{web.url}/ui/carol/communities")
        await expect(page.get_by_role("alert")).to_contain_text("The database is unavailable.")
        await page.unroute("**/communities/hierarchy")
        await page.get_by_role("button", name="Try again").click()
        await expect(page.get_by_role("heading", name="Communities")).to_be_visible()


async def test_hostile_names_are_text(web: Web) -> None:
    trueweave = await AsyncTrueweave.enter(web.site.server.database, "breaking", settings=settings(web))
    async with aclosing(trueweave):
        await trueweave.communities.find()
        [one] = await trueweave.communities.select()
        for path in ("communities", "communities?view=tree", f"community/{one.id}"):
            if path.startswith("community/"):
                await trueweave.communities.write_report(one.id)
            async with web.visit(f"breaking/{path}") as page:
                await expect(page.get_by_text("<img src=x").filter(visible=True).first).to_be_visible()
                for width in (NARROW, WIDE):
                    await page.set_viewport_size({"width": width, "height": 900})
                    await check_is_text(page)
                    await check_width(page)
                    await check_accessibility(page)
