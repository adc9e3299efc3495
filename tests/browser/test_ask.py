"""Asking: the answer with its checked sentences and sources, by pointer and by keyboard; and what goes wrong."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlencode

from playwright.async_api import Page, expect

from tests.browser.pages import Web, check_accessibility, check_looks
from tests.browser.site import (
    BOOK,
    COMMON,
    DOUBTFUL,
    FOLLOW_UP,
    PARTNERS,
    QUOTED,
    SKIN_CANCER,
    STANDS_ALONE,
    UNCITED,
)
from trueweave.testing import Fault, Trouble

SUMMARY = "4 sentences: 2 quoted, 1 not checked, 1 contradicted (checked by rules)"


def address(**parameters: str) -> str:
    return f"carol/ask?{urlencode({'q': PARTNERS, **parameters})}"


async def ask(page: Page, question: str) -> None:
    await page.get_by_label("Question", exact=True).fill(question)
    await page.keyboard.press("Enter")


@contextmanager
def trouble(web: Web, found: Trouble) -> Iterator[None]:
    """The model has this trouble."""
    web.site.model.trouble, before = found, web.site.model.trouble
    try:
        yield
    finally:
        web.site.model.trouble = before


async def test_an_answer_shows_the_status_of_each_sentence_and_the_words_it_rests_on(web: Web) -> None:
    async with web.visit("carol/ask") as page:
        await ask(page, PARTNERS)
        answer, sources = page.get_by_role("region", name="Answer"), page.get_by_role("complementary")
        await expect(answer.get_by_text(SUMMARY)).to_be_visible()
        await expect(answer.locator("[data-sentence]").first).to_be_visible()
        kinds = await answer.locator("[data-sentence]").evaluate_all("all => all.map((one) => one.dataset.kind)")
        assert kinds == ["quoted", "quoted", "contradicted", "not-checked"]
        doubts = answer.get_by_label("Sentences that are not confirmed")
        await expect(doubts.get_by_role("listitem")).to_have_text(
            [f"“{DOUBTFUL} [1].” contradicted: the passage denies it", f"“{UNCITED}” not checked: it cites no passage"]
        )
        await answer.get_by_text(QUOTED).click()
        await expect(sources.locator("mark")).to_have_text(QUOTED)
        await answer.get_by_text(DOUBTFUL).first.click()
        await expect(sources.locator("mark")).to_have_text("Scrooge never painted out Old Marley's name")
        await expect(sources.get_by_text("the passage denies it")).to_be_visible()
        await check_looks(page)


async def test_a_cited_sentence_leads_to_its_words_in_the_document(web: Web) -> None:
    async with web.visit(address(s="2")) as page:
        await page.get_by_role("link", name="open in document").click()
        await expect(page.get_by_role("heading", name="A Christmas Carol")).to_be_focused()
        await expect(page.locator("mark")).to_have_text(QUOTED)
        await expect(page.locator("mark")).to_be_in_viewport()
        assert f"uri={BOOK}" in page.url
        await page.go_back()
        await expect(page.get_by_role("complementary").locator("mark")).to_have_text(QUOTED)


async def test_an_answer_can_be_taken_elsewhere(web: Web) -> None:
    async with web.visit(address(method="fuse", p='{"top_k": 4}')) as page:
        await page.get_by_role("button", name="Copy as Markdown").click()
        await expect(page.get_by_role("button", name="Copied")).to_be_visible()
        copied = await page.evaluate("navigator.clipboard.readText()")
        assert copied.startswith(f"# {PARTNERS}\n\nMarley was dead, to begin with [1].")
        assert f"[1] A Christmas Carol ({BOOK}): “{QUOTED}”" in copied
        assert f"- {UNCITED} (not checked: it cites no passage)" in copied
        await page.get_by_role("button", name="As a command").click()
        await expect(page.get_by_role("dialog")).to_contain_text("trueweave ask")
        await expect(page.get_by_role("dialog")).to_contain_text("--method fuse --set top_k=4")
        await page.keyboard.press("Escape")
        await page.get_by_role("button", name="As JSON").click()
        await expect(page.get_by_role("dialog")).to_contain_text('"top_k": 4')
        await check_accessibility(page)


async def test_a_pasted_address_shows_the_same_question_method_sentence_and_tab(web: Web) -> None:
    async with web.visit(address(method="mix", s="3", tab="facts", filter=f'{{"uris": ["{BOOK}"]}}')) as page:
        await expect(page.get_by_label("Question", exact=True)).to_have_value(PARTNERS)
        await expect(page.get_by_role("button", name="mix")).to_be_visible()
        await expect(page.get_by_role("button", name=f"Remove {BOOK}")).to_be_visible()
        await expect(page.locator("[data-sentence='2']").first).to_have_attribute("data-focus", "true")
        await expect(page.get_by_role("tab", name="Facts")).to_have_attribute("aria-selected", "true")
        await expect(page.get_by_role("tabpanel").get_by_text("EBENEZER SCROOGE").first).to_be_visible()
        await expect(page.get_by_role("img", name="entities and")).to_be_visible()
        assert await page.title() == f"{PARTNERS} · carol · Trueweave"
        await check_looks(page)
        for tab in ("Search", "Context"):
            await page.get_by_role("tab", name=tab).click()
            await check_accessibility(page)


async def test_an_answer_from_a_large_graph_shows_facts_and_what_was_walked(web: Web, medical: str) -> None:
    found = urlencode({"q": SKIN_CANCER, "method": "hybrid", "tab": "facts"})
    async with web.visit(f"{medical}/ask?{found}") as page:
        await expect(page.get_by_text("1 sentence: 1 quoted (checked by rules)")).to_be_visible()
        await expect(page.get_by_role("complementary").locator("mark")).to_have_text(COMMON)
        facts = page.get_by_role("tabpanel").get_by_role("listitem")
        await expect(facts.filter(has_text="Basal Cell Skin Cancer").first).to_be_visible()
        await expect(page.get_by_role("img", name="entities and")).to_be_visible()
        await check_looks(page)


async def test_the_keyboard_alone_leads_from_the_question_to_the_document_and_back(web: Web) -> None:
    async with web.visit("carol/ask") as page:
        await expect(page.get_by_text("For example")).to_be_visible()
        await page.keyboard.press("/")
        await page.keyboard.type(PARTNERS)
        await page.keyboard.press("Enter")
        await expect(page.get_by_text(SUMMARY)).to_be_visible()
        await page.keyboard.press("Escape")
        for key, sentence in (("j", 0), ("j", 1), ("]", 2), ("j", 3), ("[", 2), ("k", 1)):
            await page.keyboard.press(key)
            await expect(page.locator("[data-focus][data-sentence]").first).to_have_attribute(
                "data-sentence", str(sentence)
            )
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("link", name="open in document")).to_be_focused()
        await page.keyboard.press("Backspace")
        await expect(page.get_by_role("link", name="open in document")).not_to_be_focused()
        await page.keyboard.press("Enter")
        await page.keyboard.press("Enter")
        await expect(page.locator("mark")).to_have_text(QUOTED)
        await page.keyboard.press("g")
        await page.keyboard.press("a")
        await expect(page.get_by_label("Question", exact=True)).to_be_visible()


async def test_a_follow_up_question_is_understood_in_the_conversation(web: Web) -> None:
    async with web.visit(address()) as page:
        await page.get_by_label("Follow-up question").fill(FOLLOW_UP)
        await page.keyboard.press("Enter")
        await expect(page.get_by_text(f"Searched for: {STANDS_ALONE}")).to_be_visible()
        await expect(page.get_by_text("1 sentence: 1 quoted (checked by rules)")).to_be_visible()
        before = page.get_by_label("Conversation so far")
        await before.get_by_text(PARTNERS).click()
        await expect(before).to_contain_text(UNCITED)
        await check_accessibility(page)


async def test_what_was_found_stays_when_the_answer_is_stopped(web: Web) -> None:
    async with web.site.server.client(web.site.key) as client:  # so that the workspace is open, with its models
        await client.post("/v1/workspaces/carol/retrieve", json={"question": PARTNERS})
    with trouble(web, Trouble(share={Fault.SLOW: 1.0}, pause=1.0)):
        async with web.visit(address(method="keyword")) as page:
            await expect(page.get_by_text("Waiting for the model…")).to_be_visible()
            await page.get_by_role("button", name="Stop").click()
            await expect(page.get_by_text("The answer is not complete and was not checked.")).to_be_visible()
            await expect(page.get_by_role("tab", name="Passages 5")).to_be_visible()
            await expect(page.get_by_text("(checked by")).to_have_count(0)


async def test_a_model_that_fails_is_named_and_asked_again(web: Web) -> None:
    async with web.visit("carol/ask") as page:
        with trouble(web, Trouble.always(Fault.BAD_KEY)):
            await page.goto(f"{web.url}/ui/{address(method='keyword')}")
            alert = page.get_by_role("alert")
            await expect(alert).to_contain_text("The model's server refuses")
            await expect(alert.get_by_text("Request id:")).to_be_visible()
            await expect(page.get_by_role("tab", name="Passages 5")).to_be_visible()
            await check_looks(page)
        await alert.get_by_role("button", name="Try again").click()
        await expect(page.get_by_text(SUMMARY)).to_be_visible()
        await expect(alert).to_have_count(0)


async def test_a_server_that_is_gone_is_told_and_asked_again(web: Web) -> None:
    async with web.visit("carol/ask", expected=["ERR_INTERNET_DISCONNECTED"]) as page:
        await expect(page.get_by_text("For example")).to_be_visible()
        await page.context.set_offline(True)
        await ask(page, PARTNERS)
        await expect(page.get_by_role("alert")).to_contain_text("The server cannot be reached.")
        await page.context.set_offline(False)
        await page.get_by_role("button", name="Try again").click()
        await expect(page.get_by_text(SUMMARY)).to_be_visible()


async def test_without_documents_the_page_says_how_to_add_some(web: Web) -> None:
    async with web.visit("empty/ask") as page:
        await expect(page.get_by_text("There are no documents here yet")).to_be_visible()
        await check_looks(page)


async def test_an_address_that_cannot_be_understood_is_refused_with_the_reason(web: Web) -> None:
    async with web.visit(address(p="[1]")) as page:
        await expect(page.get_by_role("alert")).to_contain_text("The parameter p of this address is not a JSON object")
    async with web.visit("nowhere/ask", expected=["status of 404"]) as page:
        await expect(page.get_by_role("alert")).to_contain_text("There is no such workspace")
