"""Embedding on this machine: any folder with model.onnx and tokenizer.json. Needs the extra `local`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from trueweave.core.errors import ConfigError
from trueweave.core.events import Windowed, tell
from trueweave.core.graph import Metric
from trueweave.core.model_calls import TextRole
from trueweave.core.protocols import Vectors
from trueweave.models.catalogue import Pooling
from trueweave.models.local import BATCH_TOKENS, LocalModel, Mask, settings
from trueweave.models.prefixes import NO_PREFIXES, Prefixes
from trueweave.models.telemetry import observed

if TYPE_CHECKING:
    from onnxruntime import InferenceSession  # type: ignore[import-untyped]
    from tokenizers import Encoding

MOST_TOKENS = 256  # of a text, if neither the caller nor the model's folder sets it
MOST_AT_ONCE = 2048  # tokens that a model known by name reads at once: memory grows with their square
WINDOWS = "equal windows, mean by tokens"  # how longer texts are embedded; another rule gives another embedding space


class Window(NamedTuple):
    """What the model reads at once. `weight` is the number of tokens of the text in it."""

    ids: list[int]
    attention_mask: list[int]
    type_ids: list[int]
    weight: int


@dataclass(frozen=True)
class OnnxEmbedder:
    """An embedding model in this process. `await OnnxEmbedder.open(folder)` makes one.

    Vectors have length one. A text of more than `most_tokens` is divided into as few windows as possible, of equal
    length and without overlap, each with the prefix; its vector is their mean, weighted by tokens and scaled to length
    one. The listener of the current run receives the number of texts that were divided.
    """

    model: str
    dimensions: int
    _local: LocalModel
    _pooling: Pooling
    prefixes: Prefixes = NO_PREFIXES
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
        prefixes: Prefixes = NO_PREFIXES,
        pooling: Pooling | None = None,
        name: str | None = None,
    ) -> Self:
        """The model in a folder, or in a .onnx file with its `tokenizer` elsewhere.

        `most_tokens` defaults to the model's own limit; `threads` is the number used for one run of the model.
        `prefixes` are put before the texts. `pooling` defaults to what the folder says, and `name` to that of the
        folder; the digits after it cover everything that vectors depend on.
        """
        local = await LocalModel.open(
            path,
            usual_tokens=MOST_TOKENS,
            name=name,
            tokenizer=tokenizer,
            most_tokens=most_tokens,
            threads=threads,
            batch_tokens=batch_tokens,
        )
        local.tokenizer.no_truncation()
        found, dimensions = _pooling(local.session, local.folder, pooling)
        plain, _, files = local.name.rpartition("@")
        digest = sha256("\0".join((files, found, str(prefixes), WINDOWS)).encode()).hexdigest()[:12]
        opened = cls(f"{plain}@{digest}", dimensions, local, found, prefixes)
        if not opened._room():
            raise ConfigError(f"{plain} reads {local.most_tokens} tokens at once, and its prefix has no fewer.")
        if dimensions:
            return opened
        # Graphs may leave their dimension open.
        vectors, _ = await asyncio.to_thread(opened._embed, ["trueweave"], prefixes.document)
        return replace(opened, dimensions=vectors.shape[1])

    @property
    def most_tokens(self) -> int:
        """How many tokens the model reads at once."""
        return self._local.most_tokens

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        """One row per text, in order."""
        about = {"gen_ai.embeddings.dimension.count": self.dimensions, "trueweave.texts": len(texts)}
        with observed("embeddings", self.model, about):
            vectors, divided = await asyncio.to_thread(self._embed, list(texts), self.prefixes.of(role))
        if divided:
            tell(Windowed(self.model, self.most_tokens, divided))
        return vectors

    def _embed(self, texts: list[str], prefix: str) -> tuple[Vectors, int]:
        """The vectors, and how many of them are means of several windows."""
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32), 0
        outputs = None if self._pooling != "none" else ["sentence_embedding"]
        encoded = self._local.tokenizer.encode_batch_fast([prefix + text for text in texts])
        prefix_tokens = self._tokens(prefix)
        windows = [list(self._windows(one, prefix_tokens)) for one in encoded]
        found = self._local.run([one for some in windows for one in some], self._vectors, outputs)
        if len(found) == len(texts):
            return found, 0
        rows = np.repeat(np.arange(len(texts)), [len(some) for some in windows])
        weights = np.array([one.weight for some in windows for one in some], dtype=np.float32)
        means = np.zeros((len(texts), found.shape[1]), dtype=np.float32)
        np.add.at(means, rows, found * weights[:, None])
        return _scaled(means), sum(len(some) > 1 for some in windows)

    def _windows(self, encoded: Encoding, prefix_tokens: int) -> Iterator[Window]:
        """A text in windows that the model can read, each with special tokens and the prefix."""
        ids, types = encoded.ids, encoded.type_ids
        if len(ids) <= self.most_tokens:
            yield Window(ids, [1] * len(ids), types, 1)
            return
        special = encoded.special_tokens_mask
        head = next(at for at, is_special in enumerate(special) if not is_special) + prefix_tokens
        tail = len(ids) - next(at for at, is_special in enumerate(reversed(special)) if not is_special)
        parts = -(-(tail - head) // (self.most_tokens - head - (len(ids) - tail)))
        ends = [head + (tail - head) * part // parts for part in range(parts + 1)]
        for start, end in pairwise(ends):
            window = [*ids[:head], *ids[start:end], *ids[tail:]]
            yield Window(window, [1] * len(window), [0] * len(window), end - start)

    def _room(self) -> bool:
        """Whether the longest prefix leaves room for text."""
        longest = max(self.prefixes.query, self.prefixes.document, key=self._tokens)
        return len(self._local.tokenizer.encode(longest).ids) < self.most_tokens

    def _tokens(self, prefix: str) -> int:
        return len(self._local.tokenizer.encode(prefix.rstrip(), add_special_tokens=False).ids) if prefix else 0

    def _vectors(self, found: Vectors, mask: Mask) -> Vectors:
        return _scaled(_pool(found, mask, self._pooling))


def _pooling(session: InferenceSession, folder: Path, given: Pooling | None) -> tuple[Pooling, int]:
    """How the model's output becomes one vector, and its dimension; 0 if the graph leaves it open."""
    outputs = {node.name: node.shape for node in session.get_outputs()}
    shape = outputs.get("sentence_embedding") or next(iter(outputs.values()))
    if not 2 <= len(shape) <= 3:
        raise ConfigError(f"the model's output has {len(shape)} axes. Is it an embedding model?")
    dimensions = shape[-1] if isinstance(shape[-1], int) else 0
    if "sentence_embedding" in outputs:
        return "none", dimensions
    if given:
        return given, dimensions
    said = settings(folder / "1_Pooling" / "config.json")
    modes = {name for name, on in said.items() if name.startswith("pooling_mode_") and on is True}
    if modes - {"pooling_mode_mean_tokens", "pooling_mode_cls_token"} or len(modes) > 1:
        raise ConfigError(f"{folder} wants {', '.join(sorted(modes))}; Trueweave pools by mean or by first token only.")
    return ("first" if "pooling_mode_cls_token" in modes else "mean"), dimensions


def _pool(found: Vectors, mask: Mask, pooling: Pooling) -> Vectors:
    if pooling == "none":
        return found
    if pooling == "first":
        return found[:, 0]
    weights = mask.astype(np.float32)
    summed: Vectors = np.einsum("bsd,bs->bd", found, weights)
    mean: Vectors = summed / np.maximum(weights.sum(axis=1, keepdims=True), 1)
    return mean


def _scaled(rows: Vectors) -> Vectors:
    """Rows scaled to length one."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, np.where(lengths == 0, 1, lengths), dtype=np.float32)
