"""The bench: questions collected where answers are wrong, methods measured on them, and compared question by question;
and others who act meanwhile."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from urllib.parse import urlencode

from playwright.async_api import Page, Route, expect

from tests.browser import hostile
from tests.browser.pages import NARROW, WIDE, Web, check_accessibility, check_is_text, check_looks, check_width
from tests.browser.site import PARTNERS, QUESTIONS, add_questions
from trueweave import AsyncTrueweave, Chunk, Document
from trueweave.bench.own import run_own
from trueweave.core.bench import BenchPassage


@asynccontextmanager
async def entered(web: Web, workspace: str) -> AsyncIterator[AsyncTrueweave]:
    """A workspace, from which all questions and runs are removed at the end."""
    found = await AsyncTrueweave.enter(web.site.server.database, workspace, settings=web.site.models)
    async with aclosing(found) as trueweave:
        try:
            yield trueweave
        finally:
            for question in await trueweave.bench.questions(200):
                await trueweave.bench.remove_question(question.id)
            for run in await trueweave.bench.runs(200):
                await trueweave.bench.remove_run(run.id)


async def press(page: Page, *keys: str) -> None:
    for key in keys:
        await page.keyboard.press(key)


async def test_a_wrong_answer_becomes_a_question_on_which_methods_are_measured(web: Web) -> None:
    async with entered(web, "carol") as trueweave, web.visit(f"carol/ask?{urlencode({'q': PARTNERS})}") as page:
        await page.get_by_role("button", name="This answer is wrong").click()
        dialog = page.get_by_role("dialog")
        await expect(dialog.get_by_role("textbox", name="Question", exact=True)).to_have_value(PARTNERS)
        await expect(dialog.get_by_role("button", name="Save the question")).to_be_disabled()
        await dialog.get_by_role("checkbox").first.check()
        await check_looks(page)
        await dialog.get_by_role("searchbox").fill("Old Fezziwig laid down his pen")
        await expect(dialog.get_by_role("checkbox").nth(9)).to_be_visible()  # the answer rests on five at most
        await dialog.get_by_role("checkbox", checked=False).first.click()
        await expect(dialog.get_by_text("Right passages (2 chosen)")).to_be_visible()
        await dialog.get_by_role("button", name="Save the question").click()
        await expect(page.get_by_role("dialog", name="The question is saved")).to_be_visible()
        await page.get_by_role("dialog").get_by_role("link", name="My questions").click()
        await expect(page.get_by_role("heading", name=PARTNERS)).to_be_visible()
        [question] = await trueweave.bench.questions()
        assert (question.question, len(question.passages)) == (PARTNERS, 2)
        await check_looks(page)
        await page.get_by_role("button", name="Edit").click()
        await dialog.get_by_role("checkbox").first.uncheck()
        await dialog.get_by_role("textbox", name="Right answer (optional)").fill("For years.")
        await dialog.get_by_role("button", name="Save the question").click()
        await dialog.get_by_role("button", name="Close").last.click()
        await expect(page.get_by_text("answer: For years.")).to_be_visible()
        await page.get_by_role("button", name="Measure methods").click()
        await dialog.get_by_role("checkbox", name="walk").check()
        await dialog.get_by_role("button", name="Measure", exact=True).click()
        await expect(page).to_have_url(re.compile(r"/carol/bench/[0-9a-f-]{36}$"))
        await expect(page.get_by_role("list", name=re.compile("recall@5 of each method"))).to_contain_text("walk")
        [run] = await trueweave.bench.runs()
        assert {one.name for one in run.methods} == {"naive", "keyword", "fuse", "weave", "walk"}
        await page.get_by_role("button", name="Remove this run").click()
        await dialog.get_by_role("button", name="Remove", exact=True).click()
        await expect(page.get_by_text("No benchmark has been run here yet")).to_be_visible()
        await check_accessibility(page)


async def test_two_methods_are_compared_at_a_pasted_address_and_by_keyboard(web: Web) -> None:
    async with entered(web, "carol") as trueweave:
        await add_questions(trueweave)
        first = await run_own(trueweave, ["keyword", "naive"], "me")
        second = await run_own(trueweave, ["fuse", "naive"], "me")
        compared = await trueweave.bench.compare(first.id, "keyword", first.id, "naive", found_by="a")
        assert compared.questions, "the words of the questions are in the book, and hashed vectors are poor"
        opened = compared.questions[0]
        where = urlencode({"a": "keyword", "b": "naive", "found": "a", "question": opened.n_a + 1})
        async with web.visit(f"carol/bench/{first.id}?{where}", expected=["status of 404"]) as page:
            await expect(page.get_by_text(compared.verdict)).to_be_visible()
            button = page.get_by_role("button", name=opened.question)
            await expect(button).to_have_attribute("aria-expanded", "true")
            await expect(page.get_by_role("region", name="Found by A").get_by_text("✓ right").first).to_be_visible()
            await expect(page.get_by_role("region", name="Right passages").get_by_role("link")).to_have_count(1)
            await check_looks(page)
            await page.get_by_role("link", name=f"All ({len(QUESTIONS)})").click()
            await expect(page.get_by_role("button", name=re.compile(r"A \d+\.\d · B"))).to_have_count(len(QUESTIONS))
            await page.get_by_role("heading", level=1).focus()
            await press(page, "j", "j")
            await expect(page).to_have_url(re.compile("question=2"))
            await press(page, "k")
            await expect(page).to_have_url(re.compile("question=1"))
            await press(page, "Escape")
            await expect(page).not_to_have_url(re.compile("question="))
            await page.get_by_role("combobox", name="B is from").select_option(str(second.id))
            await page.get_by_role("combobox", name="B", exact=True).select_option("fuse")
            await expect(page).to_have_url(re.compile(f"other={second.id}"))
            across = await trueweave.bench.compare(first.id, "keyword", second.id, "fuse")
            await expect(page.get_by_text(across.verdict)).to_be_visible()
            # Somebody removes the other run, and then this one.
            await trueweave.bench.remove_run(second.id)
            await page.get_by_role("link", name=re.compile("^Neither")).click()
            await page.reload()
            await expect(page.get_by_text("This run does not exist")).to_be_visible()
        await trueweave.bench.remove_run(first.id)
        async with web.visit(f"carol/bench/{first.id}", expected=["status of 404"]) as page:
            await expect(page.get_by_text("This run does not exist")).to_be_visible()
            await page.get_by_role("link", name="Show all runs").click()
            await expect(page.get_by_text("No benchmark has been run here yet")).to_be_visible()
            await press(page, "g", "a", "g", "b")
            await expect(page.get_by_role("heading", name="Bench")).to_be_focused()


async def test_a_document_that_is_removed_meanwhile_is_said_to_be_gone(web: Web) -> None:
    async with entered(web, "vanishing") as trueweave:
        texts = {"acme": "Acme was founded by Ada Lund in Oslo.", "rome": "Bob Hill sells hats in Rome."}
        await trueweave.add_documents([Document(uri, (Chunk(text),)) for uri, text in texts.items()])
        [right] = (await trueweave.document("rome")).passages
        await trueweave.bench.add_question("Who sells hats?", [BenchPassage("rome", right.id)])
        run = await run_own(trueweave, ["keyword", "naive"], "")
        async with (
            web.visit("vanishing/bench?part=questions") as mine,
            web.visit(f"vanishing/bench/{run.id}?question=1") as page,
        ):
            for one in (mine, page):
                await expect(one.get_by_text("Bob Hill sells hats in Rome.").first).to_be_visible()
            await trueweave.remove(["rome"])
            for one in (mine, page):
                await expect(one.get_by_text("The document of this passage was removed.").first).to_be_visible()
                await expect(one.get_by_text("Bob Hill sells hats in Rome.")).to_have_count(0)
            await expect(mine.get_by_text("left out of new runs until you choose its passages again")).to_be_visible()
            await mine.get_by_role("button", name="Measure methods").click()
            await mine.get_by_role("dialog").get_by_role("button", name="Measure", exact=True).click()
            await expect(mine.get_by_role("alert")).to_contain_text("No question can be measured")
            await check_accessibility(mine)


async def test_without_runs_and_without_a_server_there_is_a_next_step(web: Web) -> None:
    async with web.visit("carol/bench") as page:
        await expect(page.get_by_text("No benchmark has been run here yet")).to_be_visible()
        await check_looks(page)
        await page.get_by_role("navigation", name="Parts").get_by_role("link", name="My questions").click()
        await expect(page.get_by_text("There are no questions yet")).to_be_visible()
    async with web.visit("empty/bench") as page:
        await expect(page.get_by_text("There are no documents here yet")).to_be_visible()
    async with web.visit("carol/bench?part=questions", key=await web.site.server.key("read")) as page:
        await expect(page.get_by_text("Your key may only read")).to_be_visible()
        await expect(page.get_by_role("button", name="Add a question")).to_have_count(0)
    async with web.visit(None, expected=["status of 503"]) as page:
        problem = {"detail": "the database is unavailable.", "next_step": "Try again later.", "request_id": "r1"}

        async def fails(route: Route) -> None:
            await route.fulfill(status=503, json=problem)

        await page.route(re.compile("/bench\\?"), fails)
        await page.goto(f"{web.url}/ui/carol/bench")
        await expect(page.get_by_role("alert")).to_contain_text("The database is unavailable.")
        await page.unroute(re.compile("/bench\\?"))
        await page.get_by_role("button", name="Try again").click()
        await expect(page.get_by_text("No benchmark has been run here yet")).to_be_visible()


async def test_hostile_questions_and_passages_are_text(web: Web) -> None:
    async with entered(web, "breaking") as trueweave:
        [right, *_] = (await trueweave.document(hostile.URI)).passages
        await trueweave.bench.add_question(
            hostile.QUESTION + hostile.LONG, [BenchPassage(hostile.URI, right.id)], answers=[hostile.LONG]
        )
        run = await run_own(trueweave, ["keyword", "naive"], hostile.IMAGE)
        for path in ("bench", "bench?part=questions", f"bench/{run.id}?question=1"):
            async with web.visit(f"breaking/{path}") as page:
                await expect(page.get_by_text("<img src=x").filter(visible=True).first).to_be_visible()
                for width in (NARROW, WIDE):
                    await page.set_viewport_size({"width": width, "height": 900})
                    await check_is_text(page)
                    await check_width(page)
                    await check_accessibility(page)
