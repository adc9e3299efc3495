"""Adding, listing, retrying, deleting and reading documents; and what goes wrong meanwhile."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from types import MappingProxyType
from urllib.parse import urlencode

import httpx2
from playwright.async_api import FileChooser, FilePayload, Locator, Page, Route, expect

from tests.browser.pages import NARROW, Web, check_accessibility, check_looks, check_width
from tests.browser.site import BOOK
from tests.browser.test_ask import trouble
from trueweave import AsyncTrueweave
from trueweave.testing import Fault, Trouble

ADA = "Ada Lovelace wrote notes on the Analytical Engine of Charles Babbage."
TURIN = "Luigi Menabrea met Charles Babbage in Turin."
HOSTILE_NAME = '<img src=x onerror="alert(1)">\u202e' + "n" * 200 + ".md"
HOSTILE = "\n\n".join(
    (
        "# <script>alert(1)</script> 😀",
        "👩\u200d👩\u200d👧 e\u0301 שלום Ada Lovelace saw [a link](javascript:alert(1)).",
        "second part",
        "W" * 10_000,
        "Charles Babbage wrote to Ada Lovelace.",
    )
)


def file(name: str, text: str) -> FilePayload:
    return {"name": name, "mimeType": "application/octet-stream", "buffer": text.encode()}


async def choose(page: Page, *files: FilePayload) -> None:
    await page.get_by_label("Files to add").set_input_files(list(files))


async def add(page: Page, *files: FilePayload) -> None:
    """Add files, and wait until they are indexed."""
    await choose(page, *files)
    await page.get_by_role("button", name=re.compile(r"^Add \d+ document")).click()
    await expect(page.get_by_text("All documents are indexed.")).to_be_visible(timeout=60_000)


def row(page: Page, name: str) -> Locator:
    return page.get_by_role("row").filter(has_text=name)


@asynccontextmanager
async def room(
    web: Web, name: str, texts: Mapping[str, str] = MappingProxyType({}), *, capitals: bool = False
) -> AsyncIterator[httpx2.AsyncClient]:
    """A new workspace with these documents, and a client with its path. With `capitals`, it uses no model."""
    async with aclosing(await AsyncTrueweave.enter(web.site.server.database, name, make=True)) as trueweave:
        await trueweave.maintenance.change_settings({"extractor": "capitals"} if capitals or texts else {}, [])
    async with web.site.server.client(web.site.key) as client:
        client.base_url = client.base_url.join(f"/v1/workspaces/{name}/")
        if texts:
            files = [("file", (uri, text)) for uri, text in texts.items()]
            job = (await client.post("documents/files", files=files)).json()
            async with client.stream("GET", f"jobs/{job['id']}/events") as events:
                assert "event: done" in (await events.aread()).decode()
        yield client


async def test_files_are_added_after_an_estimate_and_with_a_limit(web: Web) -> None:
    known = asyncio.Event()

    async def wait(route: Route) -> None:
        await known.wait()
        await route.continue_()

    async with room(web, "letters") as client, web.visit(None) as page:
        await page.route(re.compile(r"/v1/workspaces/letters$"), wait)
        await page.goto(f"{web.url}/ui/letters/documents")
        await expect(page.get_by_text("There are no documents here yet")).to_be_visible()
        # Until it is known how much the server takes, no file can be chosen.
        await expect(page.get_by_label("Files to add")).to_have_count(0)
        known.set()
        await check_accessibility(page)
        await choose(page, file("ada.md", ADA), file("broken.pdf", "no PDF"))
        dialog = page.get_by_role("dialog")
        await expect(dialog.get_by_text("new or changed documents")).to_be_visible()
        await expect(dialog).to_contain_text("cannot be read")
        await expect(dialog).to_contain_text("Names and relations are found by vllm/any: 1 call")
        await expect(dialog).to_contain_text("This model costs nothing.")
        assert (await client.get("documents", params={"state": "any"})).json()["items"] == []
        await dialog.get_by_label("From now on, spend at most").check()
        await dialog.get_by_label("At most, in tokens").fill("123456")
        await check_accessibility(page)
        await dialog.get_by_role("button", name="Add 1 document").click()
        upload = page.get_by_role("region", name="Upload")
        await expect(upload).to_contain_text("1 document added, 1 file could not be read.")
        await expect(upload).to_contain_text("broken.pdf cannot be read")
        await expect(row(page, "ada.md")).to_contain_text("indexed")
        assert (await client.get("budget")).json()["token_cap"] == 123456
        await expect(page.get_by_text("of 123,456 tokens")).to_be_visible()
        await check_looks(page)
        await choose(page, file("ada.md", ADA))
        await expect(dialog).to_contain_text("There is nothing to add: 1 document is in the workspace already")
        await dialog.get_by_role("button", name="Close").last.click()
        await page.get_by_role("link", name="Ask a question about them").click()
        await expect(page.get_by_role("heading", name="Ask letters")).to_be_focused()


async def test_the_keyboard_alone_adds_selects_and_deletes(web: Web) -> None:
    chooser: asyncio.Future[FileChooser] = asyncio.get_running_loop().create_future()
    async with room(web, "keys", capitals=True), web.visit("keys/ask") as page:
        page.once("filechooser", lambda found: chooser.set_result(found))
        await expect(page.get_by_role("link", name="Add some")).to_be_visible()
        await page.keyboard.press("g")
        await page.keyboard.press("d")
        await expect(page.get_by_role("heading", name="Documents")).to_be_focused()
        await expect(page.get_by_role("button", name="Add files")).to_be_enabled()
        await page.keyboard.press("a")
        await (await chooser).set_files([file("ada.md", ADA), file("turin.txt", TURIN)])
        await expect(page.get_by_role("dialog")).to_contain_text("names are recognised by capitalisation")
        await page.get_by_role("button", name="Add 2 documents").focus()
        await page.keyboard.press("Enter")
        await expect(row(page, "turin.txt")).to_contain_text("indexed", timeout=60_000)
        await page.get_by_role("checkbox", name="Select turin.txt").focus()
        await page.keyboard.press("Space")
        await page.keyboard.press("Delete")
        dialog = page.get_by_role("dialog")
        await expect(dialog).to_contain_text("Its text is erased everywhere")
        await expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
        await check_accessibility(page)
        await page.keyboard.press("Shift+Tab")
        await page.keyboard.press("Enter")
        await expect(row(page, "turin.txt")).to_have_count(0)
        await expect(row(page, "ada.md")).to_be_visible()


async def test_a_pasted_address_shows_the_same_list(web: Web) -> None:
    texts = {"b/1.md": ADA, "b/2.md": TURIN, "a.md": ADA}
    async with room(web, "lists", texts), web.visit("lists/documents?q=b/&state=indexed&order=uri") as page:
        await expect(page.get_by_text("2 documents", exact=True)).to_be_visible()
        assert await page.get_by_role("row").locator("a").all_inner_texts() == ["b/1.md", "b/2.md"]
        await page.get_by_label("State").select_option("failed")
        await expect(page.get_by_text("No document matches these filters")).to_be_visible()
        assert page.url.endswith("/lists/documents?q=b%2F&state=failed&order=uri")
        await check_accessibility(page)
        await page.get_by_role("button", name="Show all documents").click()
        await expect(row(page, "a.md")).to_be_visible()
        await page.keyboard.press("/")
        await page.keyboard.type("a.")
        await expect(row(page, "b/1.md")).to_have_count(0)
        await expect(row(page, "a.md")).to_be_visible()


async def test_a_failure_is_shown_with_its_reason_and_retried(web: Web) -> None:
    async with room(web, "failing"), web.visit("failing/documents") as page:
        with trouble(web, Trouble.always(Fault.WRONG_SCHEMA)):
            await choose(page, file("ada.md", ADA))
            await page.get_by_role("button", name="Add 1 document").click()
            await expect(page.get_by_text("1 document failed.")).to_be_visible(timeout=60_000)
        await page.get_by_role("button", name="Show why").click()
        await expect(row(page, "ada.md")).to_contain_text("failed")
        assert page.url.endswith("?state=failed")
        await check_looks(page)
        await row(page, "ada.md").get_by_role("button", name="Retry").click()
        await page.get_by_label("State").select_option("")
        await expect(row(page, "ada.md")).to_contain_text("indexed", timeout=60_000)


async def test_what_others_add_and_delete_is_shown_without_reloading(web: Web) -> None:
    texts = {"one.md": ADA, "two.md": TURIN}
    async with room(web, "shared", texts) as client, web.visit("shared/documents") as page:
        await page.get_by_role("checkbox", name="Select one.md").check()
        await page.get_by_role("checkbox", name="Select two.md").check()
        await page.get_by_role("button", name="Delete").click()
        await expect(page.get_by_role("dialog")).to_contain_text("Delete 2 documents?")
        assert (await client.delete("document", params={"uri": "one.md"})).status_code == 200
        await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        told = page.get_by_role("status").filter(has_text="already removed")
        await expect(told).to_have_text("1 document deleted; 1 document was already removed.")
        await expect(page.get_by_text("There are no documents here yet")).to_be_visible()
        await client.post("documents", json={"documents": [{"uri": "three.md", "text": ADA}]})
        await expect(row(page, "three.md")).to_contain_text("indexed", timeout=60_000)


async def test_documents_are_switched_off_and_on(web: Web) -> None:
    texts = {"one.md": ADA, "two.md": TURIN}
    async with room(web, "switch", texts), web.visit("switch/documents") as page:
        await page.get_by_label("Select one.md").check()
        await page.get_by_role("button", name="Switch off").click()
        told = page.get_by_role("status").filter(has_text="1 document switched off.")
        await expect(told).to_have_text("1 document switched off.")
        await expect(row(page, "one.md")).to_contain_text("switched off")
        await expect(row(page, "one.md").get_by_role("link")).to_have_count(0)
        await expect(row(page, "two.md")).not_to_contain_text("switched off")
        await expect(page.get_by_role("contentinfo")).to_contain_text("1 document")
        await check_looks(page)
        await page.get_by_label("State").select_option("off")
        await expect(row(page, "two.md")).to_have_count(0)
        await page.get_by_label("Select one.md").check()
        await page.get_by_role("button", name="Switch on").click()
        await expect(page.get_by_text("No document matches these filters")).to_be_visible()
        await page.get_by_label("State").select_option("")
        await expect(row(page, "one.md").get_by_role("link")).to_be_visible()


async def test_a_server_that_goes_away_is_told_and_followed_again(web: Web) -> None:
    expected = ["Failed to load resource", "ERR_FAILED"]
    async with room(web, "away", {"one.md": ADA}) as client, web.visit(None, expected=expected) as page:
        await page.route("**/v1/workspaces/away/events", lambda route: route.abort())
        await page.route("**/v1/workspaces/away/documents?*", lambda route: route.abort())
        await page.goto(f"{web.url}/ui/away/documents")
        await expect(page.get_by_text("Progress is not shown at the moment")).to_be_visible()
        again = page.get_by_role("button", name="Try again")  # of the list, after it was tried a few times
        await expect(again).to_be_visible(timeout=30_000)
        await check_accessibility(page)
        await page.unroute_all()
        await again.click()
        await expect(row(page, "one.md")).to_be_visible()
        await expect(page.get_by_text("Progress is not shown")).to_have_count(0, timeout=60_000)
        await client.post("documents", json={"documents": [{"uri": "two.md", "text": TURIN}]})
        await expect(row(page, "two.md")).to_contain_text("indexed", timeout=60_000)


async def test_files_are_kept_when_the_session_ends_while_they_are_sent(web: Web) -> None:
    ended = web.visit("ending/documents", expected=["401"])
    async with room(web, "ending", capitals=True) as client, ended as page:
        await choose(page, file("ada.md", ADA))
        await expect(page.get_by_role("button", name="Add 1 document")).to_be_visible()
        await page.context.clear_cookies()
        await page.get_by_role("button", name="Add 1 document").click()
        await expect(page.get_by_role("heading", name="Log in to Trueweave")).to_be_visible(timeout=60_000)
        await page.get_by_label("Key", exact=True).fill(web.site.key)
        await page.keyboard.press("Enter")
        upload = page.get_by_role("region", name="Upload")
        await expect(upload).to_contain_text("0 of 1 file sent.")
        assert (await client.get("documents", params={"state": "any"})).json()["items"] == []
        await upload.get_by_role("button", name="Send the rest").click()
        await expect(row(page, "ada.md")).to_contain_text("indexed", timeout=60_000)


async def test_a_first_workspace_is_created_in_the_page_and_a_reader_cannot(web: Web) -> None:
    async with web.visit("?all", expected=["409"]) as page:
        await page.get_by_label("Name").fill("made-here")
        await check_accessibility(page)
        await page.get_by_role("button", name="Create").click()
        await expect(page.get_by_role("heading", name="Documents")).to_be_focused()
        assert page.url == f"{web.url}/ui/made-here/documents"
        await page.get_by_role("link", name="made-here").click()
        await page.get_by_label("Name").fill("made-here")
        await page.get_by_role("button", name="Create").click()
        await expect(page.get_by_role("alert")).to_contain_text("already exists")
    key = await web.site.server.key("read", "made-here", "carol")
    async with web.visit("?all", key=key) as page:
        await expect(page.get_by_role("link", name="made-here")).to_be_visible()
        await expect(page.get_by_role("button", name="Create")).to_have_count(0)
        await page.goto(f"{web.url}/ui/carol/documents")
        await expect(row(page, BOOK)).to_be_visible()
        await expect(page.get_by_role("checkbox")).to_have_count(0)
        await expect(page.get_by_role("button", name="Add files")).to_have_count(0)


async def test_a_hostile_document_is_shown_as_text_with_exact_highlights(web: Web) -> None:
    where = HOSTILE.index("Ada Lovelace saw")
    span = urlencode({"uri": HOSTILE_NAME, "start": where, "end": where + len("Ada Lovelace saw")})
    async with room(web, "hostile", capitals=True), web.visit("hostile/documents") as page:
        await add(page, file(HOSTILE_NAME, HOSTILE))
        for width in (NARROW, 1360):
            await page.set_viewport_size({"width": width, "height": 900})
            await check_width(page)
        await page.get_by_role("link", name="<script>alert(1)</script> 😀").click()
        await expect(page.get_by_role("heading", name="<script>alert(1)</script> 😀")).to_be_focused()
        await check_looks(page)
        await page.goto(f"{web.url}/ui/hostile/document?{span}")
        await expect(page.locator("mark")).to_have_text("Ada Lovelace saw")
        await expect(page.locator("mark")).to_be_in_viewport()
        assert await page.locator("article img, article script, article a[href^='javascript']").count() == 0
        await page.keyboard.press("n")
        await expect(page.locator("[data-at]:focus")).to_have_text("Charles Babbage")
        await expect(page.get_by_role("status").filter(has_text="Charles Babbage")).to_be_visible()
        await page.keyboard.press("p")
        await expect(page.locator("[data-at]:focus")).to_have_text("Ada Lovelace")


async def test_the_reader_has_an_outline_and_mentions_of_one_entity(web: Web) -> None:
    chapters = "\n\n".join(f"# Chapter {n}\n\n" + f"{ADA} {TURIN} " * 40 for n in range(1, 41))
    async with room(web, "long", {"long.md": chapters}), web.visit("long/document?uri=long.md") as page:
        await expect(page.get_by_role("heading", name="Chapter 1")).to_be_visible()
        await page.keyboard.press("o")
        await expect(page.get_by_role("link", name="Chapter 1", exact=True)).to_be_focused()
        await page.get_by_role("link", name="Chapter 39", exact=True).click()
        await expect(page.locator("[dir=auto]", has_text=re.compile("^# Chapter 39")).first).to_be_in_viewport()
        await page.get_by_role("button", name="Luigi Menabrea").click()
        await expect(page.locator("[data-at]", has_text="Ada Lovelace")).to_have_count(0)
        await page.keyboard.press("n")
        await expect(page.locator("[data-at]:focus")).to_have_text("Luigi Menabrea")
        await page.get_by_text("Underline mentions").click()
        await expect(page.locator("[data-at]")).to_have_count(0)
        assert "mentions=off" in page.url
        await check_looks(page)
        await page.set_viewport_size({"width": NARROW, "height": 900})
        await page.get_by_role("button", name="Outline").click()
        await page.get_by_role("dialog").get_by_role("link", name="Chapter 2", exact=True).click()
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await expect(page.locator("[dir=auto]", has_text=re.compile("^# Chapter 2")).first).to_be_in_viewport()
    async with web.visit("long/document?uri=gone.md", expected=["404"]) as page:
        await expect(page.get_by_role("alert")).to_contain_text("There is no document 'gone.md'.")
        await check_accessibility(page)
        await page.get_by_role("link", name="All documents").click()
        await expect(row(page, "long.md")).to_be_visible()
