"""What the test of a view needs: a page of a user who is logged in, and checks that hold for every view.

    async def test_the_view(web: Web) -> None:
        async with web.visit("carol/ask") as page:
            await expect(page.get_by_role("heading", name="Ask")).to_be_visible()
            await check_looks(page)

Leaving `visit` checks that the page wrote nothing to the console and asked no other host.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from playwright.async_api import Browser, ConsoleMessage, Page, Request

from tests.browser.site import Site

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
WIDE, NARROW = 1360, 390
HEIGHT = 900
COOKIE = "__Host-tw"
# What Chromium writes to the console when it draws without a graphics card.
SOFTWARE_RENDERING = "GPU stall due to ReadPixels"

Theme = Literal["light", "dark"]
# Both widths and both themes, each once: axe takes a second.
SHOWN: tuple[tuple[int, Theme], ...] = ((NARROW, "dark"), (WIDE, "light"))


@dataclass
class Web:
    """The site, and a browser."""

    site: Site
    browser: Browser
    _sessions: dict[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return self.site.server.url

    @asynccontextmanager
    async def visit(
        self,
        path: str | None = "",
        *,
        key: str | None = None,
        origin: str | None = None,
        width: int = WIDE,
        theme: Theme = "light",
        expected: Sequence[str] = (),
        others: Sequence[str] = (),
        **options: Any,
    ) -> AsyncIterator[Page]:
        """A page of `/ui/` in a fresh browser; without a path, it is still blank.

        It is logged in with a key: of the administrator, if none is given; with an empty key, it is not logged in.
        `expected` are patterns of console messages that may appear, such as those about requests that a test lets
        fail. `others` are origins that the page may go to, where it may do as it likes. `options` are Playwright's,
        for the context of the browser.
        """
        origin = origin or self.url
        context = await self.browser.new_context(
            viewport={"width": width, "height": HEIGHT},
            color_scheme=theme,
            reduced_motion="reduce",
            ignore_https_errors=True,
            permissions=["clipboard-read", "clipboard-write"],
            **options,
        )
        context.set_default_timeout(30_000)
        key = self.site.key if key is None else key
        if key:
            session = await self._session(key)
            await context.add_cookies(
                [{"name": COOKIE, "value": session, "url": self.url, "httpOnly": True, "secure": True}]
            )
        page = await context.new_page()
        said: list[str] = []
        hosts: set[str] = set()

        def is_elsewhere() -> bool:
            return page.url.startswith(tuple(others))

        def logged(message: ConsoleMessage) -> None:
            if not is_elsewhere():
                said.append(f"{message.type}: {message.text}")

        def requested(request: Request) -> None:
            if not is_elsewhere():
                hosts.add("/".join(request.url.removeprefix("blob:").split("/")[:3]))

        page.on("console", logged)
        page.on("pageerror", lambda error: said.append(f"uncaught: {error}"))
        page.on("request", requested)
        try:
            if path is not None:
                await page.goto(f"{origin}/ui/{path}")
            yield page
        finally:
            await context.close()
        unexpected = [one for one in said if not any(re.search(pattern, one) for pattern in expected)]
        assert not unexpected, f"on the console: {unexpected}"
        assert hosts <= {origin, *others}, f"requests to {hosts}"

    async def _session(self, key: str) -> str:
        """The cookie of a session that a key opened."""
        if key not in self._sessions:
            async with self.site.server.browser() as client:
                answer = await client.post("/v1/session", json={"key": key})
                assert answer.status_code == 201, answer.text
                self._sessions[key] = answer.cookies[COOKIE]
        return self._sessions[key]


async def check_looks(page: Page) -> None:
    """The page has no serious fault of accessibility and does not scroll sideways, neither narrow and dark nor wide and
    light."""
    before = page.viewport_size
    for width, theme in SHOWN:
        await page.set_viewport_size({"width": width, "height": HEIGHT})
        await page.emulate_media(color_scheme=theme)
        await check_width(page)
        await check_accessibility(page)
    assert before
    await page.set_viewport_size(before)


async def check_width(page: Page) -> None:
    """The page does not scroll sideways."""
    wider = await page.evaluate(
        """() => document.documentElement.scrollWidth <= document.documentElement.clientWidth ? []
          : [...document.querySelectorAll("main *")]
              .filter((one) => one.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
              .map((one) => `${one.tagName}.${one.className}`)"""
    )
    assert not wider, f"too wide at {page.viewport_size}: {wider}"


async def check_accessibility(page: Page) -> None:
    """axe finds no serious or critical fault."""
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(AXE.read_text("utf-8"))
    found = await page.evaluate("() => axe.run(document, { resultTypes: ['violations'] })")
    serious = [
        f"{one['id']}: {node['html'][:200]} {node['failureSummary']}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]
    assert not serious, "\n".join((f"at {page.viewport_size}:", *serious))


async def check_is_text(page: Page) -> None:
    """Nothing that a document contains became an element of the page."""
    made = await page.evaluate(
        """() => [...document.querySelectorAll("main img, main script, main iframe, main [onerror], main [src]")]
          .concat([...document.querySelectorAll("main a")]
            .filter((one) => new URL(one.getAttribute("href"), location).origin !== location.origin))
          .map((one) => one.outerHTML.slice(0, 200))"""
    )
    assert not made, made
