"""Conversations: what is asked, and when."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import urlencode

from playwright.async_api import Request, Route, expect

from tests.browser.pages import Web
from tests.browser.site import FOLLOW_UP, PARTNERS

PARTNERS_CHECKED = "1 contradicted (checked by rules)"


async def test_every_question_of_a_conversation_is_asked_once(web: Web) -> None:
    """A regression: the turns changed before the address did, and the question before was asked again with them."""
    async with web.visit(f"carol/ask?{urlencode({'q': PARTNERS})}") as page:
        await expect(page.get_by_text(PARTNERS_CHECKED)).to_be_visible()
        asked: list[tuple[str, int]] = []

        def note(request: Request) -> None:
            if request.url.endswith("/ask") and request.method == "POST":
                body: Any = request.post_data_json
                asked.append((body["question"], len(body.get("history", ()))))

        page.on("request", note)
        for _ in range(2):
            await page.get_by_label("Follow-up question").fill(FOLLOW_UP)
            await page.keyboard.press("Enter")
            await expect(page.get_by_text("1 sentence: 1 quoted (checked by rules)")).to_be_visible()
        await page.get_by_label("Question", exact=True).fill(PARTNERS)
        await page.keyboard.press("Enter")
        await expect(page.get_by_text(PARTNERS_CHECKED)).to_be_visible()
        await expect(page.get_by_label("Conversation so far")).to_have_count(0)
        assert asked == [(FOLLOW_UP, 2), (FOLLOW_UP, 4), (PARTNERS, 0)]


async def test_stop_stops_the_answer_and_asks_nothing(web: Web) -> None:
    """A regression: the click on Stop reached the button that took its place, which asked again."""
    async with web.visit("carol/ask") as page:
        arrived, released = asyncio.Event(), asyncio.Event()
        asked: list[Any] = []

        async def held(route: Route) -> None:
            asked.append(route.request.post_data_json)
            arrived.set()
            await released.wait()
            await route.abort()

        await page.route("**/ask", held)
        await page.get_by_label("Question", exact=True).fill(PARTNERS)
        await page.keyboard.press("Enter")
        await asyncio.wait_for(arrived.wait(), 30)
        await page.get_by_role("button", name="Stop").click()
        await expect(page.get_by_text("Stopped. The answer is not complete and was not checked.")).to_be_visible()
        await expect(page.get_by_role("button", name="Ask", exact=True)).to_be_visible()
        released.set()
        assert len(asked) == 1
