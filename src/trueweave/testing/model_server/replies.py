"""The replies of the model server, in OpenAI's and Ollama's forms, with the chosen faults."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from email.utils import formatdate
from typing import Any

from trueweave.core.model_calls import Image, Message
from trueweave.testing.embedder import HashEmbedder
from trueweave.testing.model_server.faults import Fault, Trouble
from trueweave.testing.model_server.http import HttpReply, bomb, endless, packed, pieces_of, refusal, slowly, whole
from trueweave.testing.model_server.scripts import Asked, Ranker, Script, Unscripted, smallest
from trueweave.testing.model_server.streams import events, lines
from trueweave.text import tokens

ELSEWHERE = "http://localhost:9/v1/chat/completions?token=secret"  # where a redirect leads

_PER_MESSAGE = 4  # tokens around a message


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A call that the server received. `key` is the same for equal requests; `texts` counts those to embed; `body` is
    the JSON of the request."""

    id: str
    kind: str
    key: str
    texts: int
    fault: Fault | None
    headers: Mapping[str, str] = field(repr=False)
    body: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Model:
    """Stands in for a model: a script, an embedder, a ranker, and an Ollama that may ignore the requested context."""

    script: Script
    embedder: HashEmbedder
    ranker: Ranker
    context: int
    ignores_context: bool
    usage: Mapping[str, Any] | None = None

    async def answer(self, call: ModelCall, body: Mapping[str, Any], trouble: Trouble) -> HttpReply:
        """The response to a call, with the fault of that call."""
        answer = _refused(call, body, trouble.retry_after) or await self._replied(call, body)
        if call.fault is Fault.PACKED:
            return await packed(answer)
        if call.fault is Fault.SLOW:
            return replace(answer, pieces=slowly(answer.pieces, trouble.pause))
        return replace(answer, breaks=call.fault is Fault.DROP_MIDDLE)

    def look_up(self, kind: str) -> dict[str, Any]:
        """What the server says about the model: `models`, or Ollama's `show` and `ps`."""
        if kind == "show":
            return {"model_info": {"general.architecture": "any", "any.context_length": self.context}}
        if kind == "ps":
            loaded = 4096 if self.ignores_context else self.context
            return {"models": [{"name": "any:latest", "context_length": loaded}]}
        return {"object": "list", "data": [{"id": "any", "object": "model", "max_model_len": self.context}]}

    async def _replied(self, call: ModelCall, body: Mapping[str, Any]) -> HttpReply:
        if call.fault is Fault.NOT_JSON:
            page = b"<html><body>Sign in to the network</body></html>"
            return HttpReply(200, pieces_of([page]), len(page), type=b"text/html")
        if call.fault is Fault.ENDLESS and not _is_streamed(call.fault, body):
            return HttpReply(200, endless(), None)
        if call.kind == "embed":
            return await self._embed(call.fault, body)
        if call.kind == "rerank":
            return self._rerank(call.fault, body)
        try:
            return self._ollama(call.fault, body) if call.kind == "ollama" else self._chat(call.fault, body)
        except Unscripted as error:
            return refusal(400, str(error))

    def _chat(self, fault: Fault | None, body: Mapping[str, Any]) -> HttpReply:
        form = (body.get("response_format") or {}).get("json_schema") or {}
        limit = int(body.get("max_tokens") or body.get("max_completion_tokens") or 1024)
        asked = Asked(str(body["model"]), _messages(body), limit, form.get("schema"))
        text, finish = self._text(asked, fault)
        usage = self.usage or _usage(10 if fault is Fault.MISCOUNTED else _prompt_tokens(asked), tokens.count(text))
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if fault is Fault.DECLINED:
            message = {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
        if fault is Fault.FILTERED:
            finish = "content_filter"
        choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": finish}
        if fault is Fault.NO_CHOICES:
            choice = {}
        if _is_streamed(fault, body):
            is_counted = (body.get("stream_options") or {}).get("include_usage") and fault is not Fault.NO_USAGE
            return events(choice, usage if is_counted else None, fault)
        found = {"object": "chat.completion", "choices": [choice] if choice else [], "usage": usage}
        if fault is Fault.NO_USAGE:
            del found["usage"]
        return whole(200, found)

    def _ollama(self, fault: Fault | None, body: Mapping[str, Any]) -> HttpReply:
        options = body.get("options") or {}
        asked = Asked(str(body["model"]), _messages(body), int(options.get("num_predict", 128)), body.get("format"))
        context = 4096 if self.ignores_context else int(options.get("num_ctx", 4096))
        sent = _prompt_tokens(asked)
        if sent > context and body.get("truncate") is False and not self.ignores_context:
            problem = f"request ({sent} tokens) exceeds the available context size ({context} tokens)"
            return whole(400, {"error": json.dumps({"error": {"code": 400, "message": problem}})})
        text, finish = self._text(asked, fault)
        found: dict[str, Any] = {"message": {"role": "assistant", "content": text}, "done": True, "done_reason": finish}
        if fault is not Fault.NO_USAGE:
            seen = 10 if fault is Fault.MISCOUNTED else min(sent, context)
            found |= {"prompt_eval_count": seen, "eval_count": tokens.count(text), **(self.usage or {})}
        return lines(found, fault) if _is_streamed(fault, body) else whole(200, found)

    def _text(self, asked: Asked, fault: Fault | None) -> tuple[str, str]:
        return _spoiled(smallest(asked) if fault is Fault.EMPTY else self.script(asked), fault)

    async def _embed(self, fault: Fault | None, body: Mapping[str, Any]) -> HttpReply:
        given = body["input"]
        texts: list[str] = [given] if isinstance(given, str) else given
        size = int(body.get("dimensions") or self.embedder.dimensions) + (fault is Fault.OTHER_DIMENSION)
        vectors = await replace(self.embedder, dimensions=size).embed(texts, "document")
        is_packed = body.get("encoding_format") == "base64"
        data = [
            {
                "object": "embedding",
                "index": index,
                "embedding": base64.b64encode(row.tobytes()).decode() if is_packed else row.tolist(),
            }
            for index, row in enumerate(vectors)
        ]
        if fault is Fault.FEWER_VECTORS:
            data.pop()
        if fault is Fault.SHUFFLED:
            data.reverse()
        found: dict[str, Any] = {"object": "list", "data": data}
        if fault is not Fault.NO_USAGE:
            found["usage"] = {"prompt_tokens": sum(map(tokens.count, texts)), "total_tokens": 0}
        return whole(200, found)

    def _rerank(self, fault: Fault | None, body: Mapping[str, Any]) -> HttpReply:
        texts: list[str] = body["documents"]
        scores = enumerate(self.ranker(str(body["query"]), texts))
        results = [{"index": index, "relevance_score": score} for index, score in scores]
        results.sort(key=lambda result: result["relevance_score"], reverse=True)
        if fault is Fault.FEWER_VECTORS:
            results.pop()
        return whole(200, {"results": results[: body.get("top_n")]})


def _refused(call: ModelCall, body: Mapping[str, Any], wait: float) -> HttpReply | None:
    limit = "too many requests"
    match call.fault:
        case Fault.RATE_LIMIT:
            return refusal(429, limit, code="rate_limit_exceeded")
        case Fault.RATE_LIMIT_SECONDS:
            return refusal(429, limit, ("Retry-After", f"{wait:g}"), code="rate_limit_exceeded")
        case Fault.RATE_LIMIT_DATE:
            date = formatdate(time.time() + wait, usegmt=True)
            return refusal(429, limit, ("Retry-After", date), code="rate_limit_exceeded")
        case Fault.NO_CREDIT:
            return refusal(429, "you exceeded your current quota", code="insufficient_quota")
        case Fault.BROKEN:
            return refusal(500, "something broke")
        case Fault.OVERLOADED:
            return refusal(503, "overloaded")
        case Fault.BAD_KEY:
            return refusal(401, f"incorrect key: {call.headers.get('authorization')}", code="invalid_api_key")
        case Fault.NO_MODEL:
            return refusal(404, f"the model {body.get('model')} does not exist", code="model_not_found")
        case Fault.TOO_LONG:
            return refusal(400, "this model's maximum context length is 8192", code="context_length_exceeded")
        case Fault.OTHER_DIALECT if "max_tokens" in body:
            return refusal(400, "use max_completion_tokens", code="unsupported_parameter", param="max_tokens")
        case Fault.OTHER_DIALECT if "temperature" in body:
            return refusal(400, "no temperature", code="unsupported_value", param="temperature")
        case Fault.REDIRECT:
            return refusal(307, "gone elsewhere", ("Location", ELSEWHERE))
        case Fault.HUGE_ERROR:
            return HttpReply(400, endless(b'{"error": {"message": "'), None)
        case Fault.BOMB:
            return bomb(200)
        case Fault.ERROR_BOMB:
            return bomb(400)
        case Fault.ERROR_IN_200:
            return whole(200, {"error": {"message": "upstream is busy", "code": 429}})
    return None


def _spoiled(text: str, fault: Fault | None) -> tuple[str, str]:
    """The text that is sent with this fault, and its finish reason."""
    match fault:
        case Fault.CUT:
            return text[: len(text) // 2], "length"
        case Fault.TRUNCATED:
            return text[: len(text) // 2], "stop"
        case Fault.PROSE:
            return f"Sure, here is the JSON:\n{text}\nTell me if you need more.", "stop"
        case Fault.FENCES:
            return f"```json\n{text}\n```", "stop"
        case Fault.WRONG_SCHEMA:
            return '{"unexpected": [1, null, {"deep": true}]}', "stop"
    return text, "stop"


def _is_streamed(fault: Fault | None, body: Mapping[str, Any]) -> bool:
    return body.get("stream") is True and fault is not Fault.NOT_STREAMED


def _messages(body: Mapping[str, Any]) -> tuple[Message, ...]:
    return tuple(_message(message) for message in body["messages"])


def _message(given: Mapping[str, Any]) -> Message:
    """A message in OpenAI's form, whose content may have parts, or in Ollama's, with images beside it. The size of
    images is not known."""
    if isinstance(given["content"], str):
        images = tuple(Image("", base64.b64decode(one), 0, 0) for one in given.get("images", ()))
        return Message(given["role"], given["content"], images)
    texts = [part["text"] for part in given["content"] if part["type"] == "text"]
    urls = [part["image_url"]["url"] for part in given["content"] if part["type"] == "image_url"]
    halves = (url.removeprefix("data:").split(";base64,") for url in urls)
    return Message(
        given["role"], "".join(texts), tuple(Image(type_, base64.b64decode(data), 0, 0) for type_, data in halves)
    )


def _prompt_tokens(asked: Asked) -> int:
    return sum(tokens.count(message.content) + _PER_MESSAGE for message in asked.messages)


def _usage(tokens_in: int, tokens_out: int) -> dict[str, int]:
    return {"prompt_tokens": tokens_in, "completion_tokens": tokens_out, "total_tokens": tokens_in + tokens_out}
