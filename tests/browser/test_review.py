"""Reviewing names that may be one entity, correcting entities, and the rules that come of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

import pytest
from playwright.async_api import Route, expect

from tests.browser import hostile
from tests.browser.pages import NARROW, WIDE, Web, check_accessibility, check_is_text, check_looks, check_width
from trueweave import AsyncTrueweave, Chunk, Document, Link, Mention, NameKey

PAIRS = [("Annabella Milbanke", "Annabela Milbanke"), ("Mary Somerville", "Mary Somervile"), ("Babbage", "Babbaage")]


@asynccontextmanager
async def workspace(web: Web, name: str) -> AsyncIterator[AsyncTrueweave]:
    """A new workspace with pairs of names that are alike."""
    async with aclosing(await AsyncTrueweave.enter(web.site.server.database, name, make=True)) as trueweave:
        said = [
            Document(
                f"{one}.txt",
                (Chunk(f"😀 {one} met Ada.", mentions=(Mention(one, "person"),), links=(Link(one, "Ada", "met"),)),),
            )
            for pair in PAIRS
            for one in pair
        ]
        await trueweave.add_documents(said)
        yield trueweave


async def suggested(trueweave: AsyncTrueweave) -> list[list[str]]:
    """The pairs in the order in which they are shown."""
    return [[one.one.name.name, one.other.name.name] for one in await trueweave.rules.suggestions(80)]


async def test_pairs_are_decided_by_the_keyboard_and_undone(web: Web) -> None:
    async with workspace(web, "review") as trueweave, web.visit("review/review?min=80") as page:
        pairs = await suggested(trueweave)
        article = page.get_by_role("article", name="Are these the same?")
        await expect(article.locator("mark")).to_have_text(pairs[0])
        preview = article.get_by_role("region", name="What a merge would change")
        await expect(preview).to_contain_text("is no longer an entity of its own")
        await expect(page.get_by_text("3 pairs left")).to_be_visible()
        await check_looks(page)

        await page.keyboard.press("m")
        await expect(article.locator("mark")).to_have_text(pairs[1])
        await page.keyboard.press("n")
        await expect(article.locator("mark")).to_have_text(pairs[2])
        await page.keyboard.press("s")
        await expect(page.get_by_text("You have seen all pairs")).to_be_visible()
        await page.keyboard.press("u")  # the pair that was skipped
        await expect(article.locator("mark")).to_have_text(pairs[2])
        await page.keyboard.press("u")  # the pair that was rejected
        await expect(article.locator("mark")).to_have_text(pairs[1])
        assert len(await trueweave.rules.all()) == 1
        assert await trueweave.rules.suggestions(80, rejected=True) == []
        await page.keyboard.press("u")  # the merge
        await expect(article.locator("mark")).to_have_text(pairs[0])
        assert await trueweave.rules.all() == []
        await page.keyboard.press("2")
        await expect(page.get_by_role("heading", level=1)).to_have_text(pairs[0][1])


async def test_what_others_did_meanwhile_is_refused_with_the_reason(web: Web) -> None:
    expected = ["status of 409", "status of 404", "ERR_CONNECTION_REFUSED"]
    async with (
        workspace(web, "refused") as trueweave,
        web.visit("refused/review?min=80", expected=expected) as page,
    ):
        pairs = await suggested(trueweave)
        article, alert = page.get_by_role("article", name="Are these the same?"), page.get_by_role("alert")
        await expect(article.locator("mark")).to_have_text(pairs[0])
        first = [NameKey(one, "person") for one in pairs[0]]
        rule = await trueweave.rules.decide(first[0], first[1], same=True, by="Mary")
        assert rule
        await page.keyboard.press("m")
        await expect(alert).to_contain_text("are one entity already: Mary merged them")
        await expect(article.locator("mark")).to_have_text(pairs[1])
        await check_accessibility(page)

        await page.route("**/suggestions/decide", lambda route: route.abort("connectionrefused"))
        await page.keyboard.press("m")
        await expect(alert).to_contain_text("The server cannot be reached.")
        await expect(article.locator("mark")).to_have_text(pairs[1])
        await page.unroute_all()

        second = [NameKey(one, "person") for one in pairs[1]]
        await trueweave.rules.decide(second[0], second[1], same=False)
        await page.keyboard.press("m")
        await expect(alert).to_contain_text("are not the same")
        await expect(article.locator("mark")).to_have_text(pairs[2])

        await trueweave.remove([f"{pairs[2][1]}.txt"])
        await page.keyboard.press("n")
        await expect(alert).to_contain_text(f"no document mentions {pairs[2][1]}::person any more")
        await expect(page.get_by_text("No two names are 80 % alike")).to_be_visible()
        assert [one.id for one in await trueweave.rules.all()] == [rule.id]


async def test_a_correction_becomes_a_rule_that_is_listed_and_undone(web: Web) -> None:
    async with workspace(web, "correct") as trueweave:
        id_ = (await trueweave.graph.entity("Babbage")).entity.id
        async with web.visit(f"correct/entity/{id_}") as page:
            await page.get_by_role("button", name="Correct", exact=True).click()
            dialog = page.get_by_role("dialog")
            await dialog.get_by_label("Type").check()
            await dialog.get_by_label("Right type").fill("inventor")
            changes = dialog.get_by_role("region", name="What this would change")
            await expect(changes).to_contain_text("inventor, 1 mention")
            assert await trueweave.rules.all() == []
            await check_accessibility(page)
            await page.keyboard.press("Enter")
            await expect(page.get_by_text("inventor", exact=True)).to_be_visible()

            [relation] = await trueweave.graph.relations("Babbage")
            await page.goto(f"{web.url}/ui/correct/relation/{relation.id}")
            await page.get_by_role("button", name="Correct", exact=True).click()
            await dialog.get_by_label("Description").check()
            await dialog.get_by_label("Right description").fill("They were friends.")
            await expect(changes).to_contain_text("another description")
            await dialog.get_by_role("button", name="Correct it").click()
            await expect(page.get_by_text("They were friends.")).to_be_visible()

            await page.goto(f"{web.url}/ui/correct/review?show=rules")
            rules = page.get_by_role("list", name="Rules")
            await expect(rules.get_by_role("listitem")).to_have_count(2)
            await expect(rules.get_by_role("listitem").first).to_contain_text("is described as: They were friends.")
            await expect(rules.get_by_role("listitem").last).to_contain_text("has the type inventor")
            await expect(rules.get_by_role("listitem").last).to_contain_text("test admin")
            await check_looks(page)
            await rules.get_by_role("button", name="Undo").last.click()
            await expect(rules.get_by_role("listitem")).to_have_count(1)
        assert (await trueweave.graph.entity("Babbage")).entity.type == "person"


async def test_empty_failed_and_reading_alone(web: Web) -> None:
    async with web.visit("empty/review") as page:
        await expect(page.get_by_role("link", name="Add some")).to_be_visible()
        await check_accessibility(page)
    async with web.visit("carol/review?min=100&type=PERSON", expected=["status of 503"]) as page:
        await expect(page.get_by_text("No two names are 100 % alike")).to_be_visible()
        await check_looks(page)

        async def failed(route: Route) -> None:
            await route.fulfill(status=503, json={"detail": "The database is unavailable.", "code": "unavailable"})

        await page.route("**/rules/suggestions?*", failed)
        await page.get_by_role("link", name="See names that are 95 % alike").click()
        await expect(page.get_by_role("alert")).to_contain_text("The database is unavailable.")
        await page.unroute_all()
        await page.get_by_role("button", name="Try again").click()
        await expect(page.get_by_role("alert")).to_have_count(0)
    async with web.visit("carol/review", key=await web.site.server.key("read", "carol")) as page:
        await expect(page.get_by_text("Your key may only read")).to_be_visible()
        await page.get_by_role("link", name="Rules").click()
        await expect(page.get_by_text("There are no rules")).to_be_visible()


@pytest.mark.parametrize("width", [WIDE, NARROW])
async def test_hostile_names_are_text(web: Web, width: int) -> None:
    room = f"hostile-review-{width}"
    async with aclosing(await AsyncTrueweave.enter(web.site.server.database, room, make=True)) as trueweave:
        alike = [hostile.IMAGE, f"{hostile.IMAGE}x"]
        mentions = tuple(Mention(name, hostile.SCRIPT, hostile.LONG[:500]) for name in alike)
        await trueweave.add_documents([Document(hostile.URI, (Chunk(hostile.TEXT, mentions=mentions),))])
        await trueweave.rules.rename(NameKey(alike[0]), f"{hostile.SCRIPT} {hostile.LONG[:900]}")
    async with web.visit(f"{room}/review?min=80", width=width) as page:
        changes = page.get_by_role("region", name="What a merge would change")
        await expect(changes.locator("li").first).to_be_visible()
        await check_is_text(page)
        await check_width(page)
        await page.get_by_role("link", name="Rules").click()
        await expect(page.get_by_role("list", name="Rules").get_by_role("listitem")).to_have_count(1)
        await check_is_text(page)
        await check_width(page)
        await check_accessibility(page)
