"""What documents, names and models contain is shown as text: nothing runs, nothing is fetched, and the layout holds."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from playwright.async_api import expect

from tests.browser import hostile
from tests.browser.pages import NARROW, WIDE, Web, check_accessibility, check_is_text, check_width

ASK = f"breaking/ask?{urlencode({'q': hostile.QUESTION, 'method': 'mix'})}"


@pytest.mark.parametrize("width", [WIDE, NARROW])
async def test_an_answer_about_hostile_documents_is_text(web: Web, width: int) -> None:
    async with web.visit(ASK, width=width) as page:
        sources = page.get_by_role("complementary")
        await expect(sources.locator("mark")).to_have_text(hostile.QUOTE)
        for tab in ("Passages", "Facts", "Paths", "Search", "Context"):
            await page.get_by_role("tab", name=tab).click()
            await expect(page.get_by_role("tab", name=tab)).to_have_attribute("aria-selected", "true")
            await check_is_text(page)
            await check_width(page)
        await check_accessibility(page)
        await sources.get_by_role("link", name="open in document").click()
        await expect(page.locator("mark")).to_have_text(hostile.QUOTE)
        await expect(page.locator("mark")).to_be_in_viewport()
        await check_is_text(page)
        await check_width(page)
        await check_accessibility(page)


async def test_an_example_question_about_hostile_names_is_text(web: Web) -> None:
    async with web.visit("breaking/ask", width=NARROW) as page:
        await expect(page.get_by_role("button", name=hostile.SCRIPT).first).to_be_visible()
        await check_is_text(page)
        await check_width(page)
