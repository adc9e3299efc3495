"""Writes src/trueweave/demo/vectors.npz: vectors of all texts that the demo embeds, made by the real model.

Needs the model that `make models` fetches. The acts of the demo run once with it, and so do all methods that need no
language model, on all its questions; whatever is embedded on the way is stored.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

from jars import BGE

from trueweave.cli.demo import acts, script
from trueweave.cli.demo.folder import DemoFolder
from trueweave.core.model_calls import TextRole
from trueweave.core.protocols import Vectors
from trueweave.demo import MODEL, VECTORS
from trueweave.demo.vectors import Row, write
from trueweave.engine.database import opened_database
from trueweave.engine.trueweave import AsyncTrueweave
from trueweave.models import catalogue
from trueweave.models.embedder_wrapper import EmbedderWrapper
from trueweave.models.onnx import OnnxEmbedder


@dataclass(frozen=True)
class Recorder(EmbedderWrapper):
    """Keeps every vector that it gives."""

    seen: dict[tuple[str, str], Row] = field(default_factory=dict)

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        found = await self.embedder.embed(texts, role)
        self.seen.update({(text, role): row for text, row in zip(texts, found, strict=True)})
        return found


async def model() -> OnnxEmbedder:
    """The model under the name and with the settings that users have it with."""
    known = catalogue.named(MODEL)
    return await OnnxEmbedder.open(
        BGE.unpacked(),
        name=f"local/{MODEL}",
        pooling=known.pooling,
        most_tokens=known.most_tokens,
        prefixes=known.prefixes,
    )


async def record(folder: DemoFolder) -> Recorder:
    """Play the demo in this folder with the real model, and return what was embedded."""
    recorder = Recorder(await model())
    settings = folder.make()
    asked = script.questions()
    async with opened_database(settings, make=True) as database:
        enter = partial(AsyncTrueweave.enter, database, settings.workspace, recorder, settings=settings)
        async with aclosing(await enter(llm=script.ScriptedModel())) as trueweave:
            await acts.build(trueweave, folder.documents, asked)
            await acts.check(trueweave, asked[0])
            await acts.remove(trueweave, folder.path, asked[0])
        async with aclosing(await enter()) as trueweave:
            for method in [one.name for one in await trueweave.methods() if not one.problem]:
                for question in asked:
                    await trueweave.retrieve(question.question, method)
    return recorder


def main() -> None:
    """Play the demo in a temporary folder, and write the file."""
    with tempfile.TemporaryDirectory(prefix="trueweave-demo-") as place:
        Path(place).chmod(0o755)  # the server may run as another user
        folder = DemoFolder(Path(place) / "demo")
        try:
            recorder = asyncio.run(record(folder))
        finally:
            folder.server.stop()
    write(VECTORS, recorder.model, recorder.seen, np.array(list(recorder.seen.values())))
    print(f"{VECTORS}: {len(recorder.seen):,} vectors, {VECTORS.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
