"""Models that score how well texts answer a question: on a server, on this machine, or a language model."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, Field, ValidationError

from trueweave.core.errors import BadReply, ConfigError
from trueweave.core.model_calls import Message, Prompt, Purpose, Reply
from trueweave.core.protocols import LLM, Vectors
from trueweave.models.chat import DEADLINE
from trueweave.models.failures import UselessReply
from trueweave.models.local import BATCH_TOKENS, LocalModel, Mask
from trueweave.models.names import Endpoint
from trueweave.models.prompts import BUILT_IN, PromptSet, fence, object_schema
from trueweave.models.server import MOST_BYTES, Server
from trueweave.models.telemetry import observed

MOST_TOKENS = 512  # of question and text together, if neither the caller nor the model's folder sets it

_RERANK = Purpose("rerank")
_SENT_BACK = 8  # factor for the bytes of a text, for servers that return it as JSON
_TOKENS_A_GRADE = 32  # of JSON, generously
_SHOWN = 200  # characters of a reply
_BEST = 10.0


# --- on a server --------------------------------------------------------------------------------------


class RerankServer:
    """A model behind `POST /rerank`, as with Jina, Cohere, vLLM, llama.cpp and many gateways."""

    def __init__(self, endpoint: Endpoint, *, deadline: float = DEADLINE) -> None:
        self.endpoint = endpoint
        self._server = Server(endpoint, deadline)

    @property
    def model(self) -> str:
        return self.endpoint.name

    async def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """One score per text, in order. Raises ModelUnavailable, UselessReply or ModelRefused: see failures.py."""
        if not texts:
            return []
        # Servers reject empty texts.
        body = {"model": self.endpoint.model, "query": question, "documents": [text or " " for text in texts]}
        most = MOST_BYTES + _SENT_BACK * sum(len(text.encode()) for text in texts)
        found = await self._server.post("/rerank", body, most)
        return self._scores(found.get("results"), len(texts))

    async def close(self) -> None:
        """Close the connections."""
        await self._server.close()

    def _scores(self, results: object, count: int) -> list[float]:
        rows = [row for row in results if isinstance(row, dict)] if isinstance(results, list) else []
        scores = [(row.get("index"), row.get("relevance_score")) for row in rows]
        numbers = {index: _number(score) for index, score in scores if isinstance(index, int)}
        if len(rows) != count or numbers.keys() != set(range(count)):
            raise self._useless(f"sent {len(rows)} scores for {count} texts, or not one for each")
        if wrong := [score for _, score in scores if math.isnan(_number(score))]:
            raise self._useless(f"sent a score that is not a number: {wrong[0]!r}")
        return [numbers[index] for index in range(count)]

    def _useless(self, problem: str) -> UselessReply:
        return UselessReply(f"{self.endpoint} {problem}. Is it a model that reranks?", charged=True)


def _number(given: Any) -> float:
    """The value, if it is a finite number; otherwise NaN."""
    is_number = isinstance(given, int | float) and not isinstance(given, bool) and math.isfinite(given)
    return float(given) if is_number else math.nan


# --- on this machine ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class OnnxReranker:
    """A cross-encoder in this process. `await OnnxReranker.open(folder)` makes one.

    If a question and a text have more than `most_tokens` together, the end of the longer one is cut off.
    """

    _local: LocalModel

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
        """The model in a folder, or in a .onnx file with its `tokenizer` elsewhere. Scores one pair of words, as only
        the output shows whether it is a cross-encoder."""
        local = await LocalModel.open(
            path,
            usual_tokens=MOST_TOKENS,
            tokenizer=tokenizer,
            most_tokens=most_tokens,
            threads=threads,
            batch_tokens=batch_tokens,
        )
        opened = cls(local)
        await asyncio.to_thread(opened._score, [("trueweave", "trueweave")])
        return opened

    @property
    def model(self) -> str:
        return self._local.name

    @property
    def most_tokens(self) -> int:
        return self._local.most_tokens

    async def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """One score per text, in order."""
        if not texts:
            return []
        with observed("rerank", self.model, {"trueweave.texts": len(texts)}):
            return await asyncio.to_thread(self._score, [(question, text) for text in texts])

    def _score(self, pairs: list[tuple[str, str]]) -> list[float]:
        encoded = self._local.tokenizer.encode_batch_fast(pairs)
        return [float(score) for score in self._local.run(encoded, self._as_scores)[:, 0]]

    def _as_scores(self, found: Vectors, mask: Mask) -> Vectors:
        pairs = len(mask)
        if found.shape not in ((pairs,), (pairs, 1)):
            raise ConfigError(
                f"{self.model} gives an output of the form {found.shape} for {pairs} pairs of texts, and not one "
                "number for each. Is it a cross-encoder?"
            )
        return found.reshape(pairs, 1)


# --- by a language model ------------------------------------------------------------------------------


class _Grade(BaseModel):
    passage: int
    grade: Annotated[float, Field(allow_inf_nan=False)]


class _Grades(BaseModel):
    grades: list[_Grade]


class LLMReranker:
    """A language model that is shown all texts at once, and grades each from 0 to 10.

    For an unusable reply, `forget` is called, so that the next try asks the model again.
    """

    def __init__(
        self,
        llm: LLM,
        *,
        forget: Callable[[Prompt], Awaitable[None]] | None = None,
        prompts: PromptSet = BUILT_IN,
    ) -> None:
        self._llm = llm
        self._instructions = prompts.load("rerank").text
        self._forget = forget

    @property
    def model(self) -> str:
        return self._llm.model

    async def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """One grade per text, in order; 0 for a text that the model leaves out. Raises BadReply if it grades none."""
        if not texts:
            return []
        prompt = self._prompt(question, texts)
        reply = await self._llm.complete(prompt, _RERANK)
        grades = _read(reply.text)
        if grades.keys().isdisjoint(range(1, len(texts) + 1)):
            if self._forget:
                await self._forget(prompt)
            raise BadReply(self._failure(reply, len(texts)))
        return [grades.get(number, 0.0) for number in range(1, len(texts) + 1)]

    def _prompt(self, question: str, texts: Sequence[str]) -> Prompt:
        parts = [("Question", question), *((f"Passage {number}", text) for number, text in enumerate(texts, 1))]
        shown = "\n\n".join(f"{title}\n{fence(text)}" for title, text in parts)
        messages = Message("system", self._instructions), Message("user", shown)
        return Prompt(messages, _TOKENS_A_GRADE * (len(texts) + 4), _SCHEMA)

    def _failure(self, reply: Reply, count: int) -> str:
        problem = "was cut off" if reply.finish == "length" else "is unusable"
        return (
            f"{self.model} was to grade {count} passages, and its reply {problem}. It begins {reply.text[:_SHOWN]!r}. "
            "Ask again, or set another reranker."
        )


def _read(text: str) -> dict[int, float]:
    """The grades in a reply by passage number; none if it has no JSON of that form."""
    try:
        found = _Grades.model_validate_json(text[text.find("{") : text.rfind("}") + 1])
    except ValidationError:
        return {}
    # If a passage is graded twice, keep the first grade.
    return {one.passage: min(_BEST, max(0.0, one.grade)) for one in reversed(found.grades)}


_GRADE = object_schema({"passage": {"type": "integer"}, "grade": {"type": "integer"}})
_SCHEMA = json.dumps(object_schema({"grades": {"type": "array", "items": _GRADE}}))
