"""Chat models of Ollama, through its own API.

Its OpenAI endpoint has no way to set the context length: it uses the server's default, often 4,096 tokens, and cuts
longer prompts silently. `/api/chat` takes `num_ctx`, and with `truncate` and `shift` off it rejects what does not fit.
Older servers do not know these two, and some count only tokens that were not cached; so the token count is checked, and
if it looks wrong, `/api/ps` says which context the model is loaded with.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from typing import Any

from trueweave.core.errors import ModelRefused
from trueweave.core.model_calls import Finish, Message, Prompt, Purpose, Reply
from trueweave.core.model_options import ModelOptions
from trueweave.models.chat import DEADLINE, cut, in_base64, reply_bytes, stream_bytes
from trueweave.models.failures import CutPrompt, UselessReply
from trueweave.models.names import Endpoint
from trueweave.models.options import NO_OPTIONS
from trueweave.models.reply_stream import Stream
from trueweave.models.server import Server
from trueweave.models.usage import counted, prompt_tokens, text_prompt_tokens
from trueweave.text import tokens

CONTEXT = 16_384  # tokens; the same for every call, as Ollama reloads the model if it changes


class OllamaChat:
    """A chat model of Ollama, with a context of `context` tokens, or what the model takes if that is less.

    A prompt that does not fit is an error, here or on the server; none is ever cut.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        context: int = CONTEXT,
        deadline: float = DEADLINE,
        options: ModelOptions = NO_OPTIONS,
    ) -> None:
        self.endpoint = endpoint
        self._options = options
        self._wanted = context
        self._takes: int | None = None
        self._server = Server(endpoint, deadline)

    @property
    def model(self) -> str:
        return self.endpoint.name

    async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        """The model's complete reply. Raises ModelUnavailable, UselessReply or ModelRefused: see failures.py."""
        body = await self._body(prompt, stream=False)
        found = await self._server.post(self._path("chat"), body, reply_bytes(prompt))
        return await self._reply(found, prompt)

    async def stream(self, prompt: Prompt, purpose: Purpose) -> Stream:
        """The pieces of the reply as they arrive, then the complete reply. Raises the same errors as `complete`."""
        body = await self._body(prompt, stream=True)
        heard: list[dict[str, Any]] = []
        async with aclosing(self._server.events(self._path("chat"), body, stream_bytes(prompt), _is_last)) as events:
            async for event in events:
                heard.append(event)
                if piece := _said(event):
                    yield piece
        yield await self._reply(_joined(heard), prompt)

    async def context_length(self) -> int:
        """The maximum tokens of prompt and reply together: the requested context, if the model takes as much."""
        if self._takes is None:
            found = await self._server.post(self._path("show"), {"model": self.endpoint.model}, most_bytes=1 << 24)
            self._takes = self._model_context(found.get("model_info"))
        return min(self._wanted, self._takes)

    async def close(self) -> None:
        """Close the connections."""
        await self._server.close()

    def _path(self, name: str) -> str:
        return f"{self.endpoint.root}/api/{name}"

    def _model_context(self, info: object) -> int:
        sizes = [
            size
            for key, size in (info.items() if isinstance(info, dict) else ())
            if key.endswith(".context_length") and isinstance(size, int)
        ]
        if not sizes:
            raise ModelRefused(
                f"{self.endpoint} does not say how long a prompt it takes. Is it a chat model? Try `ollama show`."
            )
        return max(sizes)

    async def _body(self, prompt: Prompt, *, stream: bool) -> dict[str, Any]:
        context = await self.context_length()
        sent = prompt_tokens(prompt)
        if sent + prompt.max_tokens > context:
            raise UselessReply(
                f"a prompt of about {sent:,} tokens and a reply of up to {prompt.max_tokens:,} do not fit into the "
                f"{context:,} tokens of {self.endpoint}, which takes up to {self._takes:,}. "
                "Raise the model's context, or make chunks smaller.",
                charged=False,
            )
        options: dict[str, Any] = {
            "num_ctx": context,
            "num_predict": prompt.max_tokens,
            "temperature": prompt.temperature,
            **{name: value for name, value in self._options.items() if name != "think"},
        }
        body: dict[str, Any] = {
            "model": self.endpoint.model,
            "messages": [_message(message) for message in prompt.messages],
            "stream": stream,
            "truncate": False,
            "shift": False,
            "options": options,
        }
        if "think" in self._options:
            body["think"] = self._options["think"]
        return {**body, "format": json.loads(prompt.schema)} if prompt.schema else body

    async def _reply(self, found: Mapping[str, Any], prompt: Prompt) -> Reply:
        message = found.get("message")
        if not isinstance(message, dict):
            raise UselessReply(f"{self.endpoint} sent no message. Is the URL that of Ollama?", charged=False)
        text = str(message.get("content") or "")
        sent, context = prompt_tokens(prompt), await self.context_length()
        seen = counted(found.get("prompt_eval_count"), sent, "tokens of the prompt")
        written = counted(found.get("eval_count"), tokens.count(text), "tokens of the reply")
        if (problem := cut(text_prompt_tokens(prompt), seen.tokens)) and await self._loaded_context() < context:
            raise CutPrompt(
                f"{self.endpoint} {problem} It does not load the model with the context of {context:,} tokens that "
                "it is asked for: update Ollama, or set OLLAMA_CONTEXT_LENGTH where it runs."
            )
        finish: Finish = "length" if found.get("done_reason") == "length" else "stop"
        problems = tuple(one.problem for one in (seen, written) if one.problem)
        return Reply(text, seen.tokens, written.tokens, finish, problems=problems)

    async def _loaded_context(self) -> int:
        """The context that the model is currently loaded with; 0 if Ollama does not say."""
        models = (await self._server.get(self._path("ps"))).get("models")
        names = {self.endpoint.model, f"{self.endpoint.model}:latest"}
        ours = [entry for entry in models or () if isinstance(entry, dict) and entry.get("name") in names]
        return max((size for entry in ours if isinstance(size := entry.get("context_length"), int)), default=0)


def _message(message: Message) -> dict[str, Any]:
    said: dict[str, Any] = {"role": message.role, "content": message.content}
    return {**said, "images": [in_base64(image) for image in message.images]} if message.images else said


def _said(event: Mapping[str, Any]) -> str:
    """What a stream event adds to the reply."""
    message = event.get("message")
    said = message.get("content") if isinstance(message, dict) else None
    return said if isinstance(said, str) else ""


def _is_last(event: Mapping[str, Any]) -> bool:
    return event.get("done") is True


def _joined(events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The response that the server would have sent without streaming: its last event has the counts."""
    return {**events[-1], "message": {"content": "".join(map(_said, events))}}
