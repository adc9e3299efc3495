"""The web pages in Chromium: how soon the first view can be used with a cold cache, how large their scripts are, and
how fast the map of the graph is.

    python benchmarks/ui.py            # some minutes; writes benchmarks/results/ui.json
    python benchmarks/ui.py --smoke    # one visit; writes nothing

A visit is a new browser that is logged in and opens the Ask view of a real book over TLS on loopback; it ends when a
question can be typed. Scripts are counted as gzip makes them, all of them and those that a visit loads before it ends.
A window of the map is asked of the server with the 117,659 entities of WordNet; a frame of it, and all of a large
graph, are drawn by the page from made-up data, by the renderer that is named.

The last line printed is one JSON object with all figures. It fails if a limit is exceeded.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import corpora
from playwright.async_api import Playwright, Response, async_playwright
from served import served

from trueweave.server.routes import ui
from trueweave.testing import Databases

sys.path.append(str(Path(__file__).parents[1]))

import graph_map

from tests.browser.pages import Web
from tests.browser.site import Site, site

Figures = dict[str, Any]
RESULTS = Path(__file__).parent / "results" / "ui.json"
VISITS = 7
MOST_SECONDS = 2.0  # to the first view, at the median
MOST_KILOBYTES, MOST_KILOBYTES_FIRST = 400, 200  # of scripts, gzipped: all, and before the first view
MOST_WINDOW_MS, MOST_WINDOW_KILOBYTES = 150, 300  # of the map of WordNet
MOST_FRAME_MS = 100  # of the map, with 4,000 entities and 8,000 relations
MOST_DRAWING_SECONDS = 8.0  # of 50,000 entities and 200,000 relations


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="one visit, to see that it runs; writes nothing")
    smoke = parser.parse_args().smoke
    if not corpora.are_there(smoke=smoke):
        return
    program = shutil.which("chromium")
    if not program or not ui.is_built():
        missing = "Chromium is not installed" if not program else "the web UI is not built: run `make web`"
        if not smoke:
            sys.exit(missing)
        print(f"skipped: {missing}")
        return
    with tempfile.TemporaryDirectory() as place, served(Path(place)) as server:
        figures = asyncio.run(measured(server.url, Path(place), program, smoke=smoke))
    limits: dict[str, float] = {"kilobytes": MOST_KILOBYTES, "kilobytes_before_first_view": MOST_KILOBYTES_FIRST}
    if not smoke:
        RESULTS.write_text(json.dumps(figures, indent=1) + "\n")
        limits["seconds_to_first_view"] = MOST_SECONDS
        limits |= {"map_window_ms": MOST_WINDOW_MS, "map_window_kilobytes": MOST_WINDOW_KILOBYTES}
        limits |= {"map_frame_ms": MOST_FRAME_MS, "map_seconds_to_draw_all": MOST_DRAWING_SECONDS}
    print(json.dumps(figures))
    if exceeded := [
        f"{name} is {figures[name]}; the limit is {most}" for name, most in limits.items() if figures[name] > most
    ]:
        sys.exit("\n".join(exceeded))


async def measured(server_url: str, place: Path, program: str, *, smoke: bool) -> Figures:
    """The seconds of each visit, the sizes of scripts, and the speed of the map."""
    visits = 1 if smoke else VISITS
    databases = Databases(server_url)
    await databases.prepare()
    seconds: list[float] = []
    loaded: set[str] = set()
    async with site(databases.make(), corpora.BENCH, place) as found, async_playwright() as playwright:
        version = ""
        for _ in range(visits):
            taken, scripts, version = await visited(playwright, program, found)
            seconds.append(taken)
            loaded |= scripts
        browser = await playwright.chromium.launch(executable_path=program)
        drawn = await graph_map.drawing(Web(found, browser), smoke=smoke)
        await browser.close()
    windows = await graph_map.windows(databases.make(), 200 if smoke else None)
    every = sorted(ui.BUILT.glob("assets/*.js"))
    return {
        "seconds_to_first_view": round(median(seconds), 2),
        "slowest_seconds_to_first_view": round(max(seconds), 2),
        "visits": visits,
        "kilobytes": _kilobytes(every),
        "kilobytes_before_first_view": _kilobytes([file for file in every if file.name in loaded]),
        "scripts": len(every),
        "scripts_before_first_view": len(loaded),
        **windows,
        **drawn,
        "chromium": version,
        "processors": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
    }


async def visited(playwright: Playwright, program: str, found: Site) -> tuple[float, set[str], str]:
    """The seconds until a question can be typed, the scripts that were loaded by then, and the browser's version."""
    browser = await playwright.chromium.launch(executable_path=program)
    scripts: set[str] = set()

    def received(response: Response) -> None:
        if response.request.resource_type == "script":
            scripts.add(response.url.rpartition("/")[2])

    async with Web(found, browser).visit(None) as page:
        page.on("response", received)
        began = time.perf_counter()
        await page.goto(f"{found.server.url}/ui/carol/ask", wait_until="commit")
        await page.get_by_label("Question", exact=True).fill("W")
        taken = time.perf_counter() - began
        before = set(scripts)
    version = browser.version
    await browser.close()
    return taken, before, version


def _kilobytes(scripts: list[Path]) -> float:
    return round(sum(script.with_name(f"{script.name}.gz").stat().st_size for script in scripts) / 1000, 1)


if __name__ == "__main__":
    main()
