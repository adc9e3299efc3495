"""Models that run on this machine: any folder with model.onnx and tokenizer.json. Needs the extra `local`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from trueweave.core.errors import ConfigError
from trueweave.core.protocols import Vectors

if TYPE_CHECKING:
    from onnxruntime import InferenceSession  # type: ignore[import-untyped]
    from tokenizers import Tokenizer

BATCH_TOKENS = 512  # in one run of the model, including padding; measured as the fastest on one core

Mask = NDArray[np.int64]


class Encoded(Protocol):
    """An encoded text, without padding."""

    @property
    def ids(self) -> list[int]: ...
    @property
    def attention_mask(self) -> list[int]: ...
    @property
    def type_ids(self) -> list[int]: ...


@dataclass(frozen=True)
class LocalModel:
    """A model and its tokenizer in this process. `folder` is where the tokenizer and its settings are."""

    name: str
    folder: Path
    most_tokens: int
    session: InferenceSession
    tokenizer: Tokenizer
    batch_tokens: int
    width: int = 0  # number of tokens of every input, if the graph fixes it

    @classmethod
    async def open(
        cls,
        path: Path,
        *,
        usual_tokens: int,
        name: str | None = None,
        tokenizer: Path | None = None,
        most_tokens: int | None = None,
        threads: int = 1,
        batch_tokens: int = BATCH_TOKENS,
    ) -> Self:
        """The model in a folder, or in a .onnx file with its `tokenizer` elsewhere.

        `most_tokens` defaults to the model's own limit, or to `usual_tokens` if the folder has none; `threads` is the
        number used for one run of the model. A fingerprint of the files is appended to `name`.
        """
        if missing := [name for name in ("onnxruntime", "tokenizers") if find_spec(name) is None]:
            raise ConfigError(f'a model on this machine needs {" and ".join(missing)}: pip install "trueweave[local]"')
        return await asyncio.to_thread(
            cls._load, path, name, tokenizer, most_tokens, usual_tokens, threads, batch_tokens
        )

    @classmethod
    def _load(
        cls,
        path: Path,
        name: str | None,
        tokenizer_path: Path | None,
        most_tokens: int | None,
        usual_tokens: int,
        threads: int,
        batch_tokens: int,
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
        strange = {node.name for node in session.get_inputs()} - {"input_ids", "attention_mask", "token_type_ids"}
        if strange:
            raise ConfigError(f"{file} wants {', '.join(sorted(strange))}, which no text has. Is it a model of texts?")
        tokenizer = Tokenizer.from_file(str(words))
        width = _fixed_width(session)
        most = most_tokens or _most_tokens(words.parent, tokenizer) or usual_tokens
        most = min(most, width) if width else most
        tokenizer.no_padding()
        tokenizer.enable_truncation(most)
        full_name = f"{name or f'onnx/{file.parent.name}'}@{_fingerprint(file, words, most)}"
        return cls(full_name, words.parent, most, session, tokenizer, batch_tokens, width)

    def run(
        self,
        encoded: Sequence[Encoded],
        as_rows: Callable[[Vectors, Mask], Vectors],
        outputs: Sequence[str] | None = None,
    ) -> Vectors:
        """One row per encoded text, in order. `as_rows` makes rows from the model's first output and the mask."""
        order = sorted(range(len(encoded)), key=lambda row: len(encoded[row].ids))
        pieces = [
            self._run([encoded[row] for row in batch], as_rows, outputs) for batch in self._batches(order, encoded)
        ]
        rows = np.empty((len(encoded), pieces[0].shape[1]), dtype=np.float32)
        rows[order] = np.concatenate(pieces)
        return rows

    def _batches(self, order: list[int], encoded: Sequence[Encoded]) -> Iterator[list[int]]:
        """Rows of similar length, to save padding."""
        batch: list[int] = []
        for row in order:
            if batch and (len(batch) + 1) * (self.width or len(encoded[row].ids)) > self.batch_tokens:
                yield batch
                batch = []
            batch.append(row)
        yield batch

    def _run(
        self, encoded: list[Encoded], as_rows: Callable[[Vectors, Mask], Vectors], outputs: Sequence[str] | None
    ) -> Vectors:
        width = self.width or max(len(one.ids) for one in encoded)
        given = {
            "input_ids": _padded([one.ids for one in encoded], width),
            "attention_mask": _padded([one.attention_mask for one in encoded], width),
            "token_type_ids": _padded([one.type_ids for one in encoded], width),
        }
        wanted = {node.name for node in self.session.get_inputs()}
        found = self.session.run(outputs, {name: given[name] for name in wanted})[0]
        return as_rows(np.asarray(found, dtype=np.float32), given["attention_mask"])


def settings(path: Path) -> dict[str, Any]:
    """The contents of a settings file of a model; empty if there is none."""
    found = json.loads(path.read_bytes()) if path.is_file() else {}
    return found if isinstance(found, dict) else {}


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
    """The limit the model was made for, else the tokenizer's; 0 if neither has one."""
    said = settings(folder / "sentence_bert_config.json").get("max_seq_length")
    return int(said or (tokenizer.truncation or {}).get("max_length") or 0)


def _fixed_width(session: InferenceSession) -> int:
    """The number of tokens that each input must have; 0 if the graph leaves it open."""
    shape = session.get_inputs()[0].shape
    return shape[1] if len(shape) > 1 and isinstance(shape[1], int) else 0


def _padded(rows: list[list[int]], width: int) -> Mask:
    # The mask hides the padding, so its value does not matter.
    return np.array([row + [0] * (width - len(row)) for row in rows], dtype=np.int64)


def _fingerprint(file: Path, tokenizer: Path, most_tokens: int) -> str:
    """Twelve digits for everything that an output depends on. Large models keep their weights in files beside
    model.onnx."""
    digest = sha256(f"{most_tokens}".encode())
    for part in (*sorted(file.parent.glob(f"{file.name}*")), tokenizer):
        with part.open("rb") as opened:
            for block in iter(partial(opened.read, 1 << 20), b""):
                digest.update(block)
    return digest.hexdigest()[:12]
