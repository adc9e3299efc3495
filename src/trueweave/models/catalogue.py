"""Embedding models known by name: where their files are, and how to use them.

    local/bge-small-en-v1.5

If `revision` is a commit, the checksums of the files are listed here. For other models, the hub gives the commit and
the checksums when they are downloaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from trueweave.core.errors import ConfigError
from trueweave.models.prefixes import NO_PREFIXES, Prefixes

Pooling = Literal["none", "mean", "first"]

DEFAULT = "bge-small-en-v1.5"  # for `trueweave init`: see docs/adr/0026-models-by-name.md


@dataclass(frozen=True, slots=True)
class HubModel:
    """An embedding model on a hub. Dimensions, tokens, pooling and prefixes are as published by its authors."""

    name: str
    repository: str
    dimensions: int
    most_tokens: int
    pooling: Pooling
    licence: str
    prefixes: Prefixes = NO_PREFIXES
    languages: str = "English"
    revision: str = "main"
    model: str = "onnx/model.onnx"
    tokenizer: str = "tokenizer.json"
    sha256: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def files(self) -> tuple[str, ...]:
        return self.tokenizer, self.model


_SEARCHING = Prefixes("Represent this sentence for searching relevant passages: ")
_E5 = Prefixes("query: ", "passage: ")

_KNOWN = (
    HubModel(
        "bge-small-en-v1.5",
        "BAAI/bge-small-en-v1.5",
        384,
        512,
        "first",
        "MIT",
        _SEARCHING,
        revision="5c38ec7c405ec4b44b94cc5a9bb96e735b38267a",
        sha256={
            "onnx/model.onnx": "828e1496d7fabb79cfa4dcd84fa38625c0d3d21da474a00f08db0f559940cf35",
            "tokenizer.json": "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
        },
    ),
    HubModel("bge-base-en-v1.5", "BAAI/bge-base-en-v1.5", 768, 512, "first", "MIT", _SEARCHING),
    HubModel("all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2", 384, 256, "mean", "Apache-2.0"),
    HubModel("e5-small-v2", "intfloat/e5-small-v2", 384, 512, "mean", "MIT", _E5, model="model.onnx"),
    HubModel(
        "multilingual-e5-small",
        "intfloat/multilingual-e5-small",
        384,
        512,
        "mean",
        "MIT",
        _E5,
        languages="about a hundred",
        revision="614241f622f53c4eeff9890bdc4f31cfecc418b3",
        sha256={"onnx/model.onnx": "ca456c06b3a9505ddfd9131408916dd79290368331e7d76bb621f1cba6bc8665"},
    ),
    HubModel(
        "nomic-embed-text-v1.5",
        "nomic-ai/nomic-embed-text-v1.5",
        768,
        8192,
        "mean",
        "Apache-2.0",
        Prefixes("search_query: ", "search_document: "),
        revision="e9b6763023c676ca8431644204f50c2b100d9aab",
        sha256={"onnx/model.onnx": "147d5aa88c2101237358e17796cf3a227cead1ec304ec34b465bb08e9d952965"},
    ),
    HubModel(
        "snowflake-arctic-embed-s",
        "Snowflake/snowflake-arctic-embed-s",
        384,
        512,
        "first",
        "Apache-2.0",
        _SEARCHING,
    ),
    HubModel(
        "mxbai-embed-large-v1", "mixedbread-ai/mxbai-embed-large-v1", 1024, 512, "first", "Apache-2.0", _SEARCHING
    ),
)
MODELS: Mapping[str, HubModel] = MappingProxyType({model.name: model for model in _KNOWN})


def named(name: str) -> HubModel:
    """The model of that name, with or without `local/` before it."""
    plain = name.removeprefix("local/")
    if plain not in MODELS:
        raise ConfigError(
            f"{plain!r} is no model that Trueweave knows by name. It knows {', '.join(MODELS)}. For another one, "
            "download its model.onnx and tokenizer.json, and name the folder: onnx/FOLDER."
        )
    return MODELS[plain]
