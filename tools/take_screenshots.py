"""Takes the pictures of docs/how-to/web-ui.md anew: the real pages in Chromium, with a real book and scripted answers.

python tools/take_screenshots.py    # `make screenshots`, after `make web`
"""

from __future__ import annotations

import asyncio
import re
import shutil
import sys
import tempfile
from contextlib import aclosing
from io import BytesIO
from pathlib import Path
from urllib.parse import urlencode
from uuid import UUID

from PIL import Image
from playwright.async_api import FilePayload, async_playwright, expect

sys.path.append(str(Path(__file__).parents[1]))
sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

import corpora
from served import served

from tests.browser.pages import SOFTWARE_RENDERING, Theme, Web
from tests.browser.site import MODELS, PARTNERS, Site, add_questions, site
from tests.integration.index.test_history import age
from trueweave import AsyncTrueweave, Chunk, Document, Link, Mention, Settings
from trueweave.bench.own import run_own
from trueweave.testing import Databases

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "images"
WIDTH, HEIGHT = 1360, 860
ASK = f"carol/ask?{urlencode({'q': PARTNERS, 's': '3', 'tab': 'search'})}"
COMPARE = f"carol/compare?{urlencode([('q', PARTNERS), ('m', 'naive'), ('m', 'fuse'), ('m', 'weave')])}"
FILES: dict[str, str] = {
    "engine.md": "# The engine\n\nAda Lovelace wrote notes on the Analytical Engine of Charles Babbage.",
    "letters/menabrea.txt": "Luigi Menabrea met Charles Babbage in Turin.",
    "people.csv": "id,text\n1,Ada Lovelace knew Mary Somerville.\n2,Mary Somerville wrote on astronomy.",
}
MOST = 150_000  # bytes of a picture
expect.set_options(timeout=60_000)  # milliseconds: the pictures are also taken on busy machines


async def take(server_url: str, place: Path) -> None:
    """Write all pictures."""
    databases = Databases(server_url)
    await databases.prepare()
    async with site(databases.make(), corpora.BENCH, place) as found, async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=shutil.which("chromium"))
        web = Web(found, browser)
        themes: tuple[Theme, ...] = ("light", "dark")
        for theme in themes:
            async with web.visit(ASK, theme=theme) as page:
                await page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
                await expect(page.get_by_text("(checked by rules)")).to_be_visible()
                await expect(page.locator("[data-sentence]").first).to_be_visible()
                save(f"ask-{theme}", await page.screenshot())
                if theme == "light":
                    await page.get_by_role("link", name="open in document").click()
                    await expect(page.locator("article mark")).to_be_in_viewport()
                    await page.mouse.move(0, 0)
                    save("reader", await page.screenshot())
        async with web.visit(COMPARE) as page:
            await page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
            await expect(page.get_by_text("All methods have finished")).to_be_attached()
            save("compare", await page.screenshot())
        async with web.visit("carol/communities") as page:
            await page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
            await write_some_reports(found)
            await page.reload()
            await expect(page.get_by_role("group", name="Communities by size")).to_be_visible()
            save("communities", await page.screenshot())
        async with web.visit(f"carol/bench/{await measured(found)}?a=keyword&b=naive&found=a") as page:
            await page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
            await page.get_by_role("button", name="second father").click()
            await expect(page.get_by_role("region", name="Right passages")).to_be_visible()
            await page.evaluate("scrollTo(0, 0)")
            save("bench", await page.screenshot())
        async with web.visit("carol/settings/types") as page:
            await page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
            await expect(page.get_by_label("Entity types")).to_be_visible()
            save("settings", await page.screenshot())
        async with web.visit("carol/ask") as page:
            await page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
            await expect(page.get_by_label("Question", exact=True)).to_be_visible()
            await page.keyboard.press("Control+k")
            await expect(page.get_by_role("dialog").get_by_role("searchbox")).to_be_focused()
            await page.keyboard.type("fezziwig")
            await expect(page.get_by_role("menuitem").nth(2)).to_have_text("FEZZIWIGentity, PERSON")
            for key in ("ArrowDown", "ArrowDown", "Enter"):
                await page.keyboard.press(key)
            await expect(page.locator("main mark").first).to_be_visible()
            save("entity", await page.screenshot())
        async with web.visit("carol/graph", expected=[SOFTWARE_RENDERING]) as page:
            await page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
            await expect(page.locator("[data-drawn=true]")).to_be_visible()
            await page.get_by_role("button", name="Enlarge").click()
            await expect(page).to_have_url(re.compile("z=1.5"))
            await expect(page.get_by_role("region", name="Map")).to_have_attribute("aria-busy", "false")
            await expect(page.locator("[data-moving=false]")).to_be_visible()
            await page.mouse.move(0, 0)
            save("map", await page.screenshot())
            await page.get_by_role("button", name="SCROOGE").first.click()
            await expect(page.locator("[data-laid-out=true]")).to_be_visible()
            await page.mouse.move(0, 0)
            save("graph", await page.screenshot())
        async with web.visit("carol/review?min=80") as page:
            await page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
            await expect(
                page.get_by_role("region", name="What a merge would change").locator("li").first
            ).to_be_visible()
            save("review", await page.screenshot())
        await fill_ships(found)
        for name, shown in (
            ("conflicts", "Elsa Nyberg born in"),
            ("changes", "Removed crew/pilot.md"),
            ("watches/alerts", "Jon Aas is the master of the Borea."),
        ):
            async with web.visit(f"ships/{name}") as page:
                await page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
                await expect(page.get_by_role("main").get_by_text(shown).first).to_be_visible()
                save(name.replace("/", "-"), await page.screenshot())
        async with web.visit("empty/documents") as page:
            await page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
            await page.get_by_label("Files to add").set_input_files(
                [FilePayload(name=name, mimeType="text/plain", buffer=text.encode()) for name, text in FILES.items()]
            )
            await expect(page.get_by_role("button", name="Add 4 documents")).to_be_enabled()
            save("documents", await page.screenshot())
        await browser.close()


async def fill_ships(at: Site) -> None:
    """Make a workspace whose documents contradict each other and have changed since last month."""
    async with aclosing(await AsyncTrueweave.enter(at.server.database, "ships")) as trueweave:
        await trueweave.maintenance.change_settings(
            {
                "extractor": "capitals",
                "functional_relations": {"born in": "one target", "master of": "one source at a time"},
            }
        )
        await trueweave.add_documents(
            [
                fact("crew/master.md", "1898-04-02", "Elsa Nyberg", "master of", "Borea"),
                fact("crew/pilot.md", "1898-04-02", "Jon Aas", "pilot of", "Borea"),
                fact("letters/nyberg.md", "1899-01-17", "Elsa Nyberg", "born in", "Kalmar"),
            ]
        )
        await trueweave.history.keep()
        await age(trueweave, days=30)
        await trueweave.watches.add("Who is the master of the Borea?", name="master", method="keyword", passages=2)
        await trueweave.add_documents(
            [
                fact("crew/master.md", "1901-09-30", "Jon Aas", "master of", "Borea"),
                fact("papers/register.md", "1902-05-08", "Elsa Nyberg", "born in", "Visby"),
            ]
        )
        await trueweave.remove(["crew/pilot.md"])
        await trueweave.watches.check()


def fact(uri: str, date: str, subject: str, relation: str, value: str) -> Document:
    """A document that states one fact."""
    said = (
        f"{subject} was {relation} {value}." if relation == "born in" else f"{subject} is the {relation} the {value}."
    )
    link = Link(subject, value, said, (relation,))
    return Document(
        uri, (Chunk(said, mentions=(Mention(subject), Mention(value)), links=(link,)),), metadata={"date": date}
    )


async def write_some_reports(at: Site) -> None:
    """Have reports on three of four communities, without a model, and let one be stale."""
    how = Settings(embedding_model=MODELS["embedding_model"], embedding_url=at.model.url)
    async with aclosing(await AsyncTrueweave.enter(at.server.database, "carol", settings=how)) as trueweave:
        await trueweave.communities.find()
        large = [one for one in await trueweave.communities.select(limit=100) if one.written != "small"]
        for at_, one in enumerate(large):
            if at_ % 4 != 2:
                await trueweave.communities.write_report(one.id)
        people = Mention("BOB CRATCHIT", "PERSON"), Mention("MARTHA", "PERSON")
        said = Chunk("Bob Cratchit told Martha.", mentions=people, links=(Link("BOB CRATCHIT", "MARTHA", "told"),))
        await trueweave.add_documents([Document("more.txt", (said,))])
        await trueweave.communities.find()


async def measured(at: Site) -> UUID:
    """Measure methods on questions on the book; returns the id of the run."""
    async with aclosing(await AsyncTrueweave.enter(at.server.database, "carol", settings=at.models)) as trueweave:
        await add_questions(trueweave)
        return (await run_own(trueweave, ["naive", "keyword", "fuse", "weave", "walk"], "")).id


def save(name: str, picture: bytes) -> None:
    """Write a picture with 256 colours, which is half as large and looks the same."""
    path = FOLDER / f"{name}.png"
    Image.open(BytesIO(picture)).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
    size = path.stat().st_size
    print(f"{path.relative_to(ROOT)}: {size:,} bytes")
    if size > MOST:
        sys.exit(f"{path.name} has more than {MOST:,} bytes: show less in it")


def main() -> None:
    if problem := corpora.missing():
        sys.exit(problem)
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place, served(Path(place)) as server:
        asyncio.run(take(server.url, Path(place)))


if __name__ == "__main__":
    main()
