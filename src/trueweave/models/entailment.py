"""Natural language inference on this machine: whether one text implies another. Needs the extra `local`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from trueweave.core.errors import ConfigError
from trueweave.core.protocols import Entailment, Vectors
from trueweave.models.local import BATCH_TOKENS, LocalModel, Mask, settings

MOST_TOKENS = 512  # of both texts together, if neither the caller nor the model's folder sets it

_ENTAILED = ("entailment", "entailed", "entails")
_CONTRADICTED = ("contradiction", "contradicted", "contradicts")
_NEUTRAL = ("neutral", "not_entailment", "not entailment", "unknown")


@dataclass(frozen=True)
class _Classes:
    """Which columns of the output are which class; a model with two classes has no `contradicted`."""

    entailed: int
    neutral: int
    contradicted: int | None
    count: int


@dataclass(frozen=True)
class OnnxEntailment:
    """A cross-encoder for natural language inference in this process. `await OnnxEntailment.open(folder)` makes one.

    If two texts have more than `most_tokens` together, the end of the longer one is cut off.
    """

    _local: LocalModel
    _classes: _Classes

    @classmethod
    async def open(
        cls, path: Path, *, most_tokens: int | None = None, threads: int = 1, batch_tokens: int = BATCH_TOKENS
    ) -> Self:
        """The model in a folder with model.onnx, tokenizer.json and config.json, whose `id2label` names its classes.

        Classifies one pair of words, as only the output shows whether the model has these classes.
        """
        local = await LocalModel.open(
            path, usual_tokens=MOST_TOKENS, most_tokens=most_tokens, threads=threads, batch_tokens=batch_tokens
        )
        opened = cls(local, _classes(settings(local.folder / "config.json"), local.folder))
        await opened.classify([("trueweave", "trueweave")])
        return opened

    @property
    def model(self) -> str:
        return self._local.name

    async def classify(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        """One result per pair of a premise and a hypothesis, in order."""
        return await asyncio.to_thread(self._classify, list(pairs)) if pairs else []

    def _classify(self, pairs: list[tuple[str, str]]) -> list[Entailment]:
        rows = self._local.run(self._local.tokenizer.encode_batch_fast(pairs), self._probabilities)
        known = self._classes
        return [
            Entailment(
                float(row[known.entailed]),
                float(row[known.neutral]),
                0.0 if known.contradicted is None else float(row[known.contradicted]),
            )
            for row in rows
        ]

    def _probabilities(self, found: Vectors, mask: Mask) -> Vectors:
        if found.shape != (len(mask), self._classes.count):
            raise ConfigError(
                f"{self.model} gives an output of the form {found.shape} for {len(mask)} pairs of texts, and its "
                f"config.json names {self._classes.count} classes. Is it a model for natural language inference?"
            )
        odds = np.exp(found - found.max(axis=1, keepdims=True))
        probabilities: Vectors = odds / odds.sum(axis=1, keepdims=True)
        return probabilities


def _classes(said: Mapping[str, Any], folder: Path) -> _Classes:
    labels = said.get("id2label")
    named = {str(name).casefold(): int(place) for place, name in labels.items()} if isinstance(labels, dict) else {}
    entailed, neutral = _place(named, _ENTAILED), _place(named, _NEUTRAL)
    if entailed is None or neutral is None:
        raise ConfigError(
            f"{folder}/config.json names the classes {', '.join(sorted(named)) or 'of no model'}; a model that "
            "verifies has entailment and neutral, and most have contradiction. Choose another model."
        )
    return _Classes(entailed, neutral, _place(named, _CONTRADICTED), len(named))


def _place(named: Mapping[str, int], names: Sequence[str]) -> int | None:
    return next((named[name] for name in names if name in named), None)
