"""Embedding on this machine: any folder with model.onnx and tokenizer.json. Needs the extra `local`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from weft.errors import ConfigError
from weft.protocols import Vectors
from weft.types import Metric

if TYPE_CHECKING:
    from onnxruntime import InferenceSession  # type: ignore[import-untyped]
    from tokenizers import Encoding, Tokenizer

MOST_TOKENS = 256  # of a text, where neither the caller nor the model's folder says
BATCH_TOKENS = 512  # in one run of the model, with padding; measured as the fastest on one core

Pooling = Literal["none", "mean", "first"]


@dataclass(frozen=True)
class OnnxEmbedder:
    """An embedding model in this process. `await OnnxEmbedder.open(folder)` makes one.

    Vectors have length one. Of a text longer than `most_tokens` only the beginning is embedded.
    """

    model: str
    dimensions: int
    most_tokens: int
    _session: InferenceSession
    _tokenizer: Tokenizer
    _pooling: Pooling
    _batch_tokens: int
    metric: Metric = "cosine"

    @classmethod
    async def open(
        cls,
        path: Path,
        *,
        tokenizer: Path | None = None,
        most_tokens: int | None = None,
        threads: int = 1,
        batch_tokens: int = BATCH_TOKENS,
    ) -> Self:
        """The model in a folder, or in a .onnx file with its `tokenizer` elsewhere.

        `most_tokens` is the model's own limit unless given; `threads` are those that one run of the model uses.
        """
        if missing := [name for name in ("onnxruntime", "tokenizers") if find_spec(name) is None]:
            raise ConfigError(f'embedding on this machine needs {" and ".join(missing)}: pip install "weft[local]"')
        return await asyncio.to_thread(cls._load, path, tokenizer, most_tokens, threads, batch_tokens)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text, in order."""
        return await asyncio.to_thread(self._embed, list(texts))

    @classmethod
    def _load(
        cls, path: Path, tokenizer_path: Path | None, most_tokens: int | None, threads: int, batch_tokens: int
    ) -> Self:
        from onnxruntime import InferenceSession, SessionOptions
        from tokenizers import Tokenizer

        file = _model_file(path)
        words = tokenizer_path or _first((path, file.parent, file.parent.parent), "tokenizer.json")
        if words is None or not words.is_file():
            raise ConfigError(f"there is no {words or 'tokenizer.json'} for {file}. Put it beside the model.")
        options = SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        session = InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        tokenizer = Tokenizer.from_file(str(words))
        most = most_tokens or _most_tokens(words.parent, tokenizer)
        tokenizer.no_padding()
        tokenizer.enable_truncation(most)
        pooling, dimensions = _pooling(session, words.parent)
        name = f"onnx/{file.parent.name}@{_fingerprint(file, words, most)}"
        opened = cls(name, dimensions, most, session, tokenizer, pooling, batch_tokens)
        # Graphs may leave their dimension open.
        return opened if dimensions else replace(opened, dimensions=opened._embed(["weft"]).shape[1])

    def _embed(self, texts: list[str]) -> Vectors:
        encoded = self._tokenizer.encode_batch_fast(texts)
        if not encoded:
            return np.empty((0, self.dimensions), dtype=np.float32)
        order = sorted(range(len(texts)), key=lambda row: len(encoded[row].ids))
        pieces = [self._run([encoded[row] for row in batch]) for batch in self._batches(order, encoded)]
        vectors = np.empty((len(texts), pieces[0].shape[1]), dtype=np.float32)
        vectors[order] = np.concatenate(pieces)
        return vectors

    def _batches(self, order: list[int], encoded: list[Encoding]) -> Iterator[list[int]]:
        """Rows of about equal length, so that little is spent on padding."""
        batch: list[int] = []
        for row in order:
            if batch and (len(batch) + 1) * len(encoded[row].ids) > self._batch_tokens:
                yield batch
                batch = []
            batch.append(row)
        yield batch

    def _run(self, encoded: list[Encoding]) -> Vectors:
        width = max(len(one.ids) for one in encoded)
        given = {
            "input_ids": _padded([one.ids for one in encoded], width),
            "attention_mask": _padded([one.attention_mask for one in encoded], width),
            "token_type_ids": _padded([one.type_ids for one in encoded], width),
        }
        wanted = {node.name for node in self._session.get_inputs()}
        output = None if self._pooling != "none" else ["sentence_embedding"]
        found = self._session.run(output, {name: given[name] for name in wanted})[0]
        pooled = _pool(np.asarray(found, dtype=np.float32), given["attention_mask"], self._pooling)
        lengths = np.linalg.norm(pooled, axis=1, keepdims=True)
        return np.divide(pooled, np.where(lengths == 0, 1, lengths), dtype=np.float32)


def _model_file(path: Path) -> Path:
    if path.suffix == ".onnx" and path.is_file():
        return path
    found = _first((path, path / "onnx"), "model.onnx")
    if found is None:
        raise ConfigError(f"there is no model.onnx in {path}. Name a folder that has one, and tokenizer.json.")
    return found


def _first(folders: Sequence[Path], name: str) -> Path | None:
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


def _most_tokens(folder: Path, tokenizer: Tokenizer) -> int:
    """What the model was made for; else the tokenizer's own limit."""
    said = _settings(folder / "sentence_bert_config.json").get("max_seq_length")
    return int(said or (tokenizer.truncation or {}).get("max_length") or MOST_TOKENS)


def _pooling(session: InferenceSession, folder: Path) -> tuple[Pooling, int]:
    """How one vector is made of the model's output, and its dimension; 0 where the graph leaves it open."""
    outputs = {node.name: node.shape for node in session.get_outputs()}
    strange = {node.name for node in session.get_inputs()} - {"input_ids", "attention_mask", "token_type_ids"}
    if strange:
        raise ConfigError(f"the model wants {', '.join(sorted(strange))}, which no text has. Is it an embedding model?")
    shape = outputs.get("sentence_embedding") or next(iter(outputs.values()))
    if not 2 <= len(shape) <= 3:
        raise ConfigError(f"the model's output has {len(shape)} axes. Is it an embedding model?")
    dimensions = shape[-1] if isinstance(shape[-1], int) else 0
    if "sentence_embedding" in outputs:
        return "none", dimensions
    said = _settings(folder / "1_Pooling" / "config.json")
    modes = {name for name, on in said.items() if name.startswith("pooling_mode_") and on is True}
    if modes - {"pooling_mode_mean_tokens", "pooling_mode_cls_token"} or len(modes) > 1:
        raise ConfigError(f"{folder} wants {', '.join(sorted(modes))}; Weft pools by mean or by first token only.")
    return ("first" if "pooling_mode_cls_token" in modes else "mean"), dimensions


def _pool(found: Vectors, mask: NDArray[np.int64], pooling: Pooling) -> Vectors:
    if pooling == "none":
        return found
    if pooling == "first":
        return found[:, 0]
    weights = mask.astype(np.float32)
    summed: Vectors = np.einsum("bsd,bs->bd", found, weights)
    mean: Vectors = summed / np.maximum(weights.sum(axis=1, keepdims=True), 1)
    return mean


def _padded(rows: list[list[int]], width: int) -> NDArray[np.int64]:
    # The mask hides the padding, so that any number will do for it.
    return np.array([row + [0] * (width - len(row)) for row in rows], dtype=np.int64)


def _fingerprint(file: Path, tokenizer: Path, most_tokens: int) -> str:
    """Twelve digits of all that a vector depends on. Large models keep their weights in files beside model.onnx."""
    digest = sha256(f"{most_tokens}".encode())
    for part in (*sorted(file.parent.glob(f"{file.name}*")), tokenizer):
        with part.open("rb") as opened:
            for block in iter(partial(opened.read, 1 << 20), b""):
                digest.update(block)
    return digest.hexdigest()[:12]


def _settings(path: Path) -> dict[str, Any]:
    found = json.loads(path.read_bytes()) if path.is_file() else {}
    return found if isinstance(found, dict) else {}
