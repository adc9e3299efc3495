"""The vectors that come with the demo, and what happens to texts that have none."""

import json
from pathlib import Path

import numpy as np
import pytest

from trueweave.demo import DOCUMENTS, QUESTIONS, VECTORS
from trueweave.demo.vectors import ShippedVectors, write
from trueweave.errors import ModelFilesMissing
from trueweave.models.demo import DemoEmbedder

ASKED = [json.loads(line)["question"] for line in QUESTIONS.read_text("utf-8").splitlines()]


async def test_the_vectors_of_all_questions_are_there(tmp_path: Path) -> None:
    embedder = DemoEmbedder(tmp_path)
    vectors = await embedder.embed(ASKED, "query")
    assert vectors.shape == (25, embedder.dimensions) == (25, 384)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert VECTORS.stat().st_size < 2_000_000


async def test_a_question_without_a_vector_says_which_model_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ModelFilesMissing, match="models fetch bge-small"):
        await DemoEmbedder(tmp_path).embed([ASKED[0], "Who was the keeper's cat?"], "query")
    with pytest.raises(ModelFilesMissing):
        await DemoEmbedder(tmp_path).embed([ASKED[0]], "document")  # its vector is that of a query


def test_stored_vectors_keep_their_direction(tmp_path: Path) -> None:
    given = np.random.default_rng(1).normal(size=(50, 384)).astype(np.float32)
    texts = [(f"text {n}", "document") for n in range(50)]
    write(tmp_path / "vectors.npz", "some/model", texts, given)
    stored = ShippedVectors.read(tmp_path / "vectors.npz")
    assert (stored.model, stored.dimensions, len(stored)) == ("some/model", 384, 50)
    for (text, role), row in zip(texts, given, strict=True):
        found = stored.find(text, role)
        assert found is not None
        assert found @ row / np.linalg.norm(row) > 0.999
    assert stored.find("text 1", "query") is None


def test_the_pdf_files_are_those_that_the_tool_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[3] / "tools")
    from write_demo_files import SURVEY, lights, survey

    assert lights(tmp_path).read_bytes() == (DOCUMENTS / "lights-1911.pdf").read_bytes()
    written, shipped = survey(tmp_path).read_bytes(), (DOCUMENTS / "scanned-survey-1922.pdf").read_bytes()
    # The compressed image may differ between versions of zlib.
    assert all(line.encode() in written and line.encode() in shipped for line in SURVEY)
