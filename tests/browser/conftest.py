"""One server over TLS with real data, and one browser, for all tests of the web pages."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, async_playwright, expect

from tests.browser.pages import AXE, Web
from tests.browser.site import add_medical, site
from trueweave.server.routes import ui
from trueweave.testing import Databases

expect.set_options(timeout=30_000)  # milliseconds, as machines that run all tests are busy


@pytest.fixture(scope="package")
async def chromium() -> AsyncIterator[Browser]:
    """Debian's Chromium, without a window."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if not program:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program)
        yield browser
        await browser.close()


@pytest.fixture(scope="package")
async def web(
    databases: Databases, bench: Path, chromium: Browser, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Web]:
    """The server with its data, and a browser for its pages."""
    if not ui.is_built() or not AXE.is_file():
        pytest.skip("The web UI is not built here: run `make web`.")
    url = databases.make()
    async with site(url, bench, tmp_path_factory.mktemp("site")) as found:
        yield Web(found, chromium)
    databases.drop(url)


@pytest.fixture(scope="package")
async def medical(web: Web) -> str:
    """A workspace with texts for patients and their graph: 199 documents, 1,764 entities, 1,904 relations."""
    await add_medical(web.site)
    return "medical"
