"""The map of the graph: how long the server takes for a window of WordNet, and how soon the page draws one."""

from __future__ import annotations

import math
import random
import time
from contextlib import aclosing
from itertools import islice
from statistics import median
from typing import Any
from uuid import UUID

import corpora
from playwright.async_api import Page, Route

from tests.browser.pages import SOFTWARE_RENDERING, Web
from tests.integration.serving import serving
from trueweave import AsyncTrueweave

Figures = dict[str, Any]

WIDTH, HEIGHT = 1360, 900  # pixels of a window
ROUNDS = 3
FRAMES = 20
NEAR = 5  # entities in each direction
NAME = "wordnet"

MOVED = """async (frames) => {
  const picture = document.querySelector("[role=application]");
  const taken = [];
  for (let at = 0; at < frames; at++) {
    const began = performance.now();
    const key = at % 2 ? "ArrowLeft" : "ArrowRight";
    picture.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    await new Promise((done) => requestAnimationFrame(done));
    for (const canvas of document.querySelectorAll("canvas.sigma-nodes, canvas.sigma-edges"))
      canvas.getContext("webgl2").finish();
    taken.push(performance.now() - began);
  }
  return taken.sort((a, b) => a - b)[Math.floor(frames / 2)];
}"""
AFTER = """async () => {
  const canvas = document.querySelector("[data-moving]");
  const seen = (state) => new Promise((done) => {
    const look = () => canvas.dataset.moving === state ? done() : requestAnimationFrame(look);
    look();
  });
  await seen("false");
  const began = performance.now();
  const key = new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true });
  document.querySelector("[role=application]").dispatchEvent(key);
  await seen("true");
  await seen("false");
  for (const one of document.querySelectorAll("canvas.sigma-nodes, canvas.sigma-edges"))
    one.getContext("webgl2").finish();
  return (performance.now() - began) / 1000;
}"""
DRAWN = """async () => {
  for (const canvas of document.querySelectorAll("canvas.sigma-nodes, canvas.sigma-edges"))
    canvas.getContext("webgl2").finish();
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""
RENDERER = """() => {
  const gl = document.createElement("canvas").getContext("webgl2");
  const names = gl.getExtension("WEBGL_debug_renderer_info");
  return gl.getParameter(names ? names.UNMASKED_RENDERER_WEBGL : gl.RENDERER);
}"""


async def windows(url: str, documents: int | None) -> Figures:
    """The slowest and the largest of windows from the whole map to single entities, each the median of rounds."""
    async with serving(url, authenticated=False) as server:
        trueweave = await AsyncTrueweave.enter(server.database, NAME)
        async with aclosing(trueweave), server.client("") as client:
            await trueweave.add_documents(islice(corpora.wordnet(), documents))
            began = time.perf_counter()
            await trueweave.communities.find()
            finding = time.perf_counter() - began
            status = await trueweave.status()
            seconds, sizes, most = [], [], (0, 0)
            for zoom, (x, y) in ((400.0 * 2**step, place) for step in range(9) for place in _places(step)):
                wide, high = WIDTH / zoom / 2, HEIGHT / zoom / 2
                params = {"x0": x - wide, "x1": x + wide, "y0": y - high, "y1": y + high, "zoom": zoom}
                taken = []
                for _ in range(ROUNDS):
                    began = time.perf_counter()
                    answer = await client.get(f"/v1/workspaces/{NAME}/map", params=params)
                    taken.append(time.perf_counter() - began)
                assert answer.status_code == 200, answer.text
                found = answer.json()["map"]
                shown = (
                    len(found["circles"]["ids"]) + len(found["nodes"]["ids"]),
                    len(found["links"]["a"]) + len(found["edges"]["source"]),
                )
                most = max(most, shown)
                seconds.append(median(taken))
                sizes.append(len(answer.content))
        return {
            "map_entities": status.entities,
            "map_relations": status.relations,
            "map_seconds_to_find_communities_and_places": round(finding, 1),
            "map_windows": len(seconds),
            "map_most_shown": list(most),
            "map_window_ms": round(1000 * max(seconds)),
            "map_window_kilobytes": round(max(sizes) / 1000, 1),
        }


def _places(step: int) -> list[tuple[float, float]]:
    return [(0.0, 0.0)] if step == 0 else [(0.0, 0.0), (0.35, 0.2), (-0.3, -0.4)]


async def drawing(web: Web, *, smoke: bool) -> Figures:
    """The milliseconds of a frame (median) at the most that a window has; the same for a graph of 50,000 entities and
    200,000 relations, the seconds until all of it is drawn after the page received it, and those after a movement."""
    async with web.visit(None, expected=[SOFTWARE_RENDERING]) as page:
        await _opened(page, web, *((400, 800) if smoke else (4000, 8000)))
        frame = await page.evaluate(MOVED, 2 if smoke else FRAMES)
        renderer = await page.evaluate(RENDERER)
    async with web.visit(None, expected=[SOFTWARE_RENDERING]) as page:
        seconds = await _opened(page, web, *((500, 2000) if smoke else (50_000, 200_000)))
        frame_of_all = await page.evaluate(MOVED, 2 if smoke else FRAMES)
        after = await page.evaluate(AFTER)
    return {
        "map_frame_ms": round(frame),
        "map_seconds_to_draw_all": round(seconds, 1),
        "map_frame_ms_of_all": round(frame_of_all),
        "map_seconds_to_draw_all_after_a_movement": round(after, 2),
        "renderer": renderer,
    }


async def _opened(page: Page, web: Web, entities: int, relations: int) -> float:
    """Open the map with made-up contents; the seconds from the response until it is drawn."""
    sent = 0.0
    body = {"map": _made_up(entities, relations)}

    async def answer(route: Route) -> None:
        nonlocal sent
        await route.fulfill(json=body)
        sent = sent or time.perf_counter()

    await page.emulate_media(reduced_motion="reduce")  # a key moves the map at once
    await page.route("**/v1/workspaces/carol/map?*", answer)
    await page.goto(f"{web.url}/ui/carol/graph?all=1")
    await page.locator("[data-drawn=true]").wait_for(timeout=120_000)
    await page.evaluate(DRAWN)
    return time.perf_counter() - sent


def _made_up(entities: int, relations: int) -> Figures:
    """A map with so many entities in a square. Four of five relations are with an entity near by, as in a community."""
    chance = random.Random(0)
    side = math.ceil(math.sqrt(entities))

    def related(to: int) -> int:
        if chance.random() < 0.2:
            return chance.randrange(entities)
        return (to + chance.randint(-NEAR, NEAR) + side * chance.randint(1, NEAR)) % entities

    sources = [chance.randrange(entities) for _ in range(relations)]
    return {
        "found": "2026-01-01T00:00:00Z",
        "behind": False,
        "total": entities,
        "entities": entities,
        "circles_total": 0,
        "relations_total": relations,
        "circles": {"ids": [], "titles": [], "sizes": [], "x": [], "y": [], "radius": []},
        "nodes": {
            "ids": [str(UUID(int=n)) for n in range(entities)],
            "names": [f"Entity {n}" for n in range(entities)],
            "types": ["person"] * entities,
            "degrees": [chance.randrange(1, 30) for _ in range(entities)],
            "x": [round(1.4 * (n % side) / side - 0.7, 6) for n in range(entities)],
            "y": [round(1.4 * (n // side) / side - 0.7, 6) for n in range(entities)],
        },
        "edges": {
            "source": sources,
            "target": [related(one) for one in sources],
            "weight": [1.0] * relations,
        },
        "links": {"a": [], "b": [], "relations": [], "weight": []},
    }
