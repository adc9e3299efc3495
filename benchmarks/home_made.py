"""Parts that Trueweave has written itself, beside the libraries that could be there instead (ADR 0023).

    python benchmarks/home_made.py            # a few minutes; writes benchmarks/results/home_made.json
    python benchmarks/home_made.py --smoke    # small pages, few calls and rows; writes nothing
    python benchmarks/home_made.py --only communities,calls

html: the reader of web pages beside lxml and selectolax. `parse` is the library alone; `read` has the same writer
behind each of them, so that all give text with the same gaps and headings. Each runs in a process of its own
(html_readers.py), as some pages are made to break readers; the least of three rounds, in seconds of the processor. A
library that is not installed is left out.
calls: one call of the synchronous API's thread beside anyio's BlockingPortal and asyncio alone, and what Ctrl-C,
closing and the end of a program do.
foreign_keys: storing and deleting rows in copies of Trueweave's tables, with and without foreign keys.
communities: how many communities of real passages have other members when one passage is gone, where large parts are
divided by our Louvain and where the library's Leiden divides all. It needs the benchmark data, and skips without them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from hashlib import md5
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from statistics import mean, median
from typing import Any

import corpora
import numpy as np
import psycopg
from anyio.from_thread import start_blocking_portal
from html_readers import CASES, LIBRARIES, hostile, read
from served import served

from trueweave import Document
from trueweave.core.waiting import LoopThread, WaitingCalls
from trueweave.graph import communities as grouping
from trueweave.graph.communities import NONE, LeidenSettings, Tree
from trueweave.graph.louvain import Graph, merged
from trueweave.store.postgres.schema.migrate import migrate

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "home_made.json"
Figures = dict[str, Any]
HOW = LeidenSettings()

# --- html ---------------------------------------------------------------------------------------------


def _alone(reader: str, what: str, size: int, seconds: int = 20) -> Figures:
    command = [sys.executable, str(HERE / "html_readers.py"), reader, what, str(size)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return {"failed": f"took more than {seconds} s"}
    if done.returncode:
        return {"failed": (done.stderr.splitlines() or [f"ended by signal {-done.returncode}"])[-1]}
    figures: Figures = json.loads(done.stdout.splitlines()[-1])
    return figures


def html(*, smoke: bool) -> Figures:
    readers = ["trueweave", *filter(find_spec, LIBRARIES)]
    for missing in LIBRARIES.keys() - set(readers):
        print(f"{missing} is not installed, so it is left out: uv pip install {missing}", flush=True)
    size, rounds = (20_000, 1) if smoke else (2_000_000, 3)
    runs = [{reader: _alone(reader, "pages", size, 200) for reader in readers} for _ in range(rounds)]
    figures: Figures = {}
    for reader in readers:
        figures[reader] = {
            "version": version(reader),
            "pages": {name: min(run[reader][name] for run in runs) for name in runs[0][reader]},
            "hostile": {} if smoke else {what: _alone(reader, what, 100_000) for what in hostile(1)},
            "wrong": {name: found for name, (page, text) in CASES.items() if (found := read(reader, page)) != text},
        }
        print(f"  {reader}: {json.dumps(figures[reader], ensure_ascii=False)}", flush=True)
    return figures


# --- calls --------------------------------------------------------------------------------------------

Call = Callable[[Callable[[], Coroutine[Any, Any, None]]], None]

_ENDING = """
import sys
sys.path.insert(0, {folder!r})
import home_made
held = home_made.{opened}()
"""


async def _nothing() -> None:
    pass


@asynccontextmanager
async def _resource() -> AsyncIterator[Any]:
    try:
        yield None
    finally:
        print("closed", flush=True)


def opened_by_trueweave() -> object:
    """A resource, opened as a Trueweave is, and not closed."""
    waiting = WaitingCalls(_resource)
    return waiting, waiting.__enter__()


def opened_by_portal() -> object:
    """A resource, opened by a portal, and not closed."""
    starting = start_blocking_portal()
    wrapped = starting.__enter__().wrap_async_context_manager(_resource())
    return starting, wrapped, wrapped.__enter__()


def calls(*, smoke: bool) -> Figures:
    loop = asyncio.new_event_loop()
    bare = threading.Thread(target=loop.run_forever, daemon=True)
    bare.start()
    thread = LoopThread()
    with start_blocking_portal() as portal:
        every: dict[str, Call] = {
            "trueweave": thread.wait_for,
            "portal": portal.call,
            "asyncio": lambda work: asyncio.run_coroutine_threadsafe(work(), loop).result(),
        }
        took: dict[str, list[float]] = {name: [] for name in every}
        for _ in range(100 if smoke else 2_000):
            for name, call in every.items():
                began = time.perf_counter()
                call(_nothing)
                took[name].append(time.perf_counter() - began)
        figures: Figures = {"anyio": version("anyio")}
        figures |= {name: {"median_us": round(1e6 * median(each), 1)} for name, each in took.items()}
        for name in ("trueweave", "portal"):
            figures[name] |= _interrupted(every[name])
            figures[name]["in_a_running_loop"] = asyncio.run(_within(every[name]))
    thread.close()
    loop.call_soon_threadsafe(loop.stop)
    figures["trueweave"] |= _closed_under_way(thread := LoopThread(), thread.wait_for)
    starting = start_blocking_portal()
    with starting as portal:
        figures["portal"] |= _closed_under_way(starting, portal.call)
    for name in () if smoke else ("trueweave", "portal"):
        figures[name]["closed_with_the_program"] = _ended(f"opened_by_{name}")
    return figures


def _interrupted(call: Call) -> Figures:
    """Whether Ctrl-C cancels a call, and whether the caller goes on only when it has ended."""
    seen: list[str] = []

    async def work() -> None:
        try:
            await asyncio.sleep(1)
            seen.append("went on")
        finally:
            await asyncio.sleep(0.05)
            seen.append("ended")

    main = threading.get_ident()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it for what runs in the background
    threading.Timer(0.2, lambda: signal.pthread_kill(main, signal.SIGINT)).start()
    with suppress(KeyboardInterrupt):
        call(work)
    at_once = list(seen)
    time.sleep(1.5)
    return {"interrupt_cancels": "went on" not in seen, "interrupt_waits_for_the_end": "ended" in at_once}


async def _within(call: Call) -> bool:
    call(_nothing)
    return True


def _closed_under_way(closing: Any, call: Call) -> Figures:
    """How long closing takes while another thread waits for a call of one second, and what that thread is told."""
    told: list[str] = []

    def wait() -> None:
        try:
            call(lambda: asyncio.sleep(1))
        except Exception as error:  # noqa: BLE001 (whatever it is told)
            told.append(type(error).__name__)

    waiting = threading.Thread(target=wait)
    waiting.start()
    time.sleep(0.2)
    began = time.perf_counter()
    closing.close() if isinstance(closing, LoopThread) else closing.__exit__(None, None, None)
    took = time.perf_counter() - began
    waiting.join()
    return {"closing_seconds": round(took, 2), "told": told[0] if told else "what came of it"}


def _ended(opened: str) -> str:
    """What a program does that ends without closing what it has opened."""
    code = _ENDING.format(folder=str(HERE), opened=opened)
    try:
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=20)
    except subprocess.TimeoutExpired:
        return "hangs"
    return "closed" if "closed" in done.stdout else "not closed"


# --- foreign keys -------------------------------------------------------------------------------------

TABLES = ("document", "name", "chunk", "mention")
KEYS = """
ALTER TABLE chunk ADD FOREIGN KEY (workspace, document) REFERENCES document;
ALTER TABLE mention ADD FOREIGN KEY (workspace, document, chunk) REFERENCES chunk;
ALTER TABLE mention ADD FOREIGN KEY (workspace, name) REFERENCES name;
"""
FILL = """
INSERT INTO document (workspace, id, uri, title, content_hash, metadata, places, notes, size, current, visible)
SELECT 1, md5('d' || d)::uuid, 'uri ' || d, 'Title', md5('d' || d)::uuid, '{{}}', '[]', '{{}}', 10, true, false
FROM generate_series(1, {documents}) AS d;
INSERT INTO name (workspace, id, written, type)
SELECT 1, md5('n' || n)::uuid, 'Name ' || n, 'person' FROM generate_series(1, {names}) AS n;
INSERT INTO chunk (workspace, document, id, n, start, tokens, text, text_hash)
SELECT 1, md5('d' || d)::uuid, md5('c' || d || ' ' || c)::uuid, c, 0, 100, repeat('text ', 100),
       md5('t' || d || c)::uuid
FROM generate_series(1, {documents}) AS d, generate_series(1, 10) AS c;
INSERT INTO mention (workspace, document, chunk, n, name, written, type, description, description_hash, emphasis, spans)
SELECT 1, md5('d' || d)::uuid, md5('c' || d || ' ' || c)::uuid, m,
       md5('n' || 1 + (d * 7919 + c * 104729 + m * 31) % {names})::uuid,
       'Name', 'person', 'A description of it', md5('x' || m)::uuid, 1, '{{1,2}}'
FROM generate_series(1, {documents}) AS d, generate_series(1, 10) AS c, generate_series(1, 40) AS m;
"""


def foreign_keys(*, smoke: bool) -> Figures:
    with tempfile.TemporaryDirectory() as root, served(Path(root)) as server:
        asyncio.run(migrate(server.url))
        return _keys(server.url, smoke=smoke)


def _keys(url: str, *, smoke: bool) -> Figures:
    documents, names = (50, 500) if smoke else (1_000, 50_000)
    took: dict[str, list[float]] = {}
    with psycopg.connect(url, autocommit=True) as connection:
        for _ in range(1 if smoke else 3):
            for keys in ("without", "with"):
                _copies(connection, keys=keys == "with")
                fill = FILL.format(documents=documents, names=names)
                took.setdefault(f"store_{keys}", []).append(_run(connection, fill))
                connection.execute("ANALYZE mention, chunk, name, document")
                empty = ";".join(f"DELETE FROM {table}" for table in reversed(TABLES))
                took.setdefault(f"delete_{keys}", []).append(_run(connection, empty))
    seconds = {name: round(median(each), 2) for name, each in took.items()}
    return {
        "documents": documents,
        "chunks": documents * 10,
        "mentions": documents * 400,
        "names": names,
        **seconds,
        **{f"{act}_ratio": _ratio(took[f"{act}_with"], took[f"{act}_without"]) for act in ("store", "delete")},
    }


def _copies(connection: psycopg.Connection[Any], *, keys: bool) -> None:
    """Empty tables with the columns and indexes of Trueweave's."""
    connection.execute("DROP SCHEMA IF EXISTS copies CASCADE; CREATE SCHEMA copies; SET search_path = copies")
    for table in TABLES:
        connection.execute(f"CREATE TABLE {table} (LIKE trueweave.{table} INCLUDING ALL)")
    if keys:
        connection.execute(KEYS)


def _run(connection: psycopg.Connection[Any], statements: str) -> float:
    began = time.perf_counter()
    with connection.transaction():
        connection.execute(statements)
    return time.perf_counter() - began


def _ratio(these: list[float], those: list[float]) -> float:
    """In the median of rounds."""
    return round(median(this / that for this, that in zip(these, those, strict=True)), 1)


# --- communities --------------------------------------------------------------------------------------


def communities(*, smoke: bool) -> Figures:
    if not corpora.are_there(smoke=smoke):
        return {}
    documents = corpora.musique_train100()[: 300 if smoke else None]
    whole = _graph(documents)
    drawn = random.Random(0).sample(range(len(documents)), 1 if smoke else 10)
    others = [_graph(documents[:gone] + documents[gone + 1 :]) for gone in drawn]
    figures: Figures = {"documents": len(documents), "entities": len(whole[0]), "draws": len(drawn)}
    large = grouping.LARGE
    for name, limit in (("louvain", large), ("leiden", sys.maxsize)):
        grouping.LARGE = limit
        began = time.process_time()
        tree = grouping.communities(whole[1], HOW)
        took = time.process_time() - began
        before = _members(whole[0], tree)
        gone = [
            len(before - _members(names, grouping.communities(graph, HOW))) / len(before) for names, graph in others
        ]
        figures[name] = {
            "communities": len(before),
            "seconds": round(took, 3),
            "modularity": round(grouping.modularity(whole[1], tree.at(0), HOW.resolution), 4),
            "percent_changed": [round(100 * share, 1) for share in (mean(gone), min(gone), max(gone))],
        }
    grouping.LARGE = large
    return figures


def _graph(documents: list[Document]) -> tuple[list[str], Graph]:
    """Names in the order of their hashes, which are their marks, and how often two are linked."""
    links = [(link.source, link.target) for one in documents for chunk in one.chunks for link in chunk.links]
    hashes = {name: md5(name.encode()).digest() for link in links for name in link}
    names = sorted(hashes, key=hashes.__getitem__)
    place = {name: n for n, name in enumerate(names)}
    ends = np.array([(place[a], place[b]) for a, b in links if a != b], np.int64)
    marks = np.array([int.from_bytes(hashes[name][8:]) for name in names], np.uint64)
    return names, merged(len(names), ends[:, 0], ends[:, 1], np.ones(len(ends)), marks)


def _members(names: list[str], tree: Tree) -> set[frozenset[str]]:
    """The members of every community."""
    inside: list[list[str]] = [[] for _ in tree.parent]
    for name, leaf in zip(names, tree.leaf.tolist(), strict=True):
        while leaf != NONE:
            inside[leaf].append(name)
            leaf = int(tree.parent[leaf])
    return set(map(frozenset, inside))


PARTS: dict[str, Callable[..., Figures]] = {
    "html": html,
    "calls": calls,
    "foreign_keys": foreign_keys,
    "communities": communities,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="small, to see that it runs; writes nothing")
    parser.add_argument("--only", default=",".join(PARTS), help="some parts; the figures of the others stay")
    options = parser.parse_args()
    figures: Figures = {name: PARTS[name](smoke=options.smoke) for name in options.only.split(",")}
    if not options.smoke:
        before = json.loads(RESULTS.read_text("utf-8")) if RESULTS.is_file() else {}
        RESULTS.write_text(json.dumps(before | figures, indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(json.dumps(figures, ensure_ascii=False))


if __name__ == "__main__":
    main()
