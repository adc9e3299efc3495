"""The pages of an entity and of a relation: what documents say, sentence by sentence."""

from __future__ import annotations

import re
from contextlib import aclosing
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from playwright.async_api import expect

from tests.browser import hostile
from tests.browser.pages import NARROW, WIDE, Web, check_accessibility, check_is_text, check_looks, check_width
from trueweave import AsyncTrueweave, Chunk, Document, Mention, NameKey


async def opened(web: Web, workspace: str) -> AsyncTrueweave:
    return await AsyncTrueweave.enter(web.site.server.database, workspace, make=True)


async def test_from_an_entity_to_a_relation_to_the_words_in_the_document(web: Web) -> None:
    async with aclosing(await opened(web, "carol")) as carol:
        marley = (await carol.graph.entity("MARLEY", relations=0, passages=0)).entity.id
    async with web.visit(f"carol/entity/{marley}") as page:
        await expect(page.get_by_role("heading", name="MARLEY", exact=True)).to_be_visible()
        mentions = page.get_by_role("region", name="Mentions")
        await expect(mentions.locator("mark").first).to_have_text(re.compile("marley", re.IGNORECASE))
        await expect(page.get_by_role("link", name="Show in the graph")).to_have_attribute(
            "href", f"/ui/carol/graph?of={marley}"
        )
        await check_looks(page)

        relations = page.get_by_role("region", name="Relations")
        await relations.get_by_role("link", name=re.compile("statement")).first.click()
        await expect(page.get_by_role("heading", level=1)).to_be_focused()
        await expect(page.locator("main mark").first).to_be_visible()
        await check_looks(page)
        await page.go_back()

        # By the keyboard: the second mention, and its place in the document.
        await expect(mentions.locator("mark").first).to_be_visible()
        await page.keyboard.press("n")
        await page.keyboard.press("n")
        await expect(mentions.locator("[data-mention]").nth(1)).to_be_focused()
        written = await mentions.locator("[data-mention]").nth(1).inner_text()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", name="A Christmas Carol")).to_be_attached()
        await expect(page.locator("article mark")).to_have_text(written)
        await expect(page.locator("article mark")).to_be_in_viewport()


async def test_mentions_of_one_document_by_a_pasted_address_until_it_is_removed(web: Web) -> None:
    async with aclosing(await opened(web, "mentions")) as trueweave:
        ada = Mention("Ada", "person", spans=((2, 5),))
        text = "😀 Ada wrote."
        many = tuple(Chunk(f"{text} {n}", n * 100, mentions=(ada,)) for n in range(60))
        await trueweave.add_documents([Document("many", many), Document("one", (Chunk(text, mentions=(ada,)),))])
        id_ = (await trueweave.graph.entity("Ada")).entity.id
        async with web.visit(f"mentions/entity/{id_}?{urlencode({'doc': 'one'})}", expected=["status of 404"]) as page:
            mentions = page.get_by_role("region", name="Mentions")
            await expect(mentions.locator("mark")).to_have_text(["Ada"])
            await expect(mentions.get_by_role("heading", level=2)).to_have_text("Mentions 61 in 2 documents")
            await mentions.get_by_label("In").select_option("many")
            assert page.url.endswith("?doc=many")
            await expect(mentions.locator("mark")).to_have_count(50)
            await expect(mentions).to_contain_text("50 of 60 shown")
            await mentions.get_by_role("button", name="Show more").click()
            await expect(mentions.locator("mark")).to_have_count(60)
            await mentions.get_by_label("In").select_option("")
            await expect(mentions.get_by_role("button", name="Show more")).to_be_visible()
            await trueweave.remove(["many", "one"])
            await mentions.get_by_role("button", name="Show more").click()
            await expect(page.get_by_text("This entity no longer exists").last).to_be_visible()
            await check_looks(page)


async def test_an_entity_that_was_merged_and_a_failed_request(web: Web) -> None:
    expected = ["status of 404", "ERR_CONNECTION_REFUSED"]
    async with web.visit(f"carol/relation/{uuid4()}", expected=expected) as page:
        await expect(page.get_by_text("This relation no longer exists").last).to_be_visible()
        await check_accessibility(page)
        async with aclosing(await opened(web, "merged")) as trueweave:
            said = Chunk("Ada and Augusta.", mentions=(Mention("Ada"), Mention("Augusta")))
            await trueweave.add_documents([Document("d", (said,))])
            ids = {(await trueweave.graph.entity(name)).entity.id for name in ("Ada", "Augusta")}
            await trueweave.rules.merge(NameKey("Ada"), NameKey("Augusta"))
            kept = (await trueweave.graph.entity("Ada")).entity.id
        [merged] = ids - {kept}
        await page.goto(f"{web.url}/ui/merged/entity/{merged}")
        await expect(page.get_by_text("It was merged into another entity")).to_be_visible()

        await page.route("**/entity/mentions?*", lambda route: route.abort("connectionrefused"))
        await page.goto(f"{web.url}/ui/merged/entity/{kept}")
        await expect(page.get_by_role("alert")).to_contain_text("The server cannot be reached.")
        await expect(page.get_by_text("It has no relations.")).to_be_visible()
        await page.unroute_all()
        await page.get_by_role("button", name="Try again").click()
        await expect(page.locator("main mark")).to_have_text(["Ada"])


@pytest.mark.parametrize("width", [WIDE, NARROW])
async def test_hostile_names_are_text(web: Web, width: int) -> None:
    async with aclosing(await opened(web, "breaking")) as breaking:
        relations = await breaking.graph.relations(limit=3)
        ids = [(await breaking.graph.entity(NameKey(name, hostile.IMAGE))).entity.id for name in hostile.NAMES[:2]]
    async with web.visit(None, width=width) as page:
        for path in (*(f"entity/{id_}" for id_ in ids), *(f"relation/{one.id}" for one in relations)):
            await page.goto(f"{web.url}/ui/breaking/{path}")
            await expect(page.locator("[data-mention]").first).to_be_visible()
            await check_is_text(page)
            await check_width(page)
        await check_accessibility(page)


async def test_facts_mentions_and_the_reader_lead_to_the_entity(web: Web) -> None:
    async with web.visit(f"breaking/document?{urlencode({'uri': hostile.URI})}") as page:
        await page.get_by_role("link", name="Open the page of").first.click()
        await expect(page.get_by_role("region", name="Mentions")).to_be_visible()
        assert "?doc=" in page.url
    async with web.visit(f"carol/ask?{urlencode({'q': 'Marley?', 'method': 'local', 'tab': 'facts'})}") as page:
        facts = page.get_by_role("tabpanel", name="Facts")
        await facts.get_by_role("link", name="MARLEY", exact=True).first.click()
        await expect(page.get_by_role("heading", name="MARLEY", exact=True)).to_be_focused()
