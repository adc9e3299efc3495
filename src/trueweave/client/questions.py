"""Asks questions through a server."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any

from trueweave.answering.conversations import AsyncConversation
from trueweave.answering.options import AskOptions, RetrieveOptions
from trueweave.client.connection import Repeats
from trueweave.client.forms import (
    answer,
    comparison,
    evidence,
    filter_body,
    method_body,
    part,
    read,
    verifier_names,
)
from trueweave.client.problems import error_of
from trueweave.client.requests import WorkspaceRequests
from trueweave.core.answers import Answer, AnswerOptions, Comparison
from trueweave.core.errors import ServerUnavailable
from trueweave.core.events import Listener, Retrieved, Rewritten, ignore
from trueweave.core.evidence import Evidence, Filter, MethodInfo, Passage
from trueweave.core.model_calls import Message
from trueweave.core.parameters import plain_values, takes, values
from trueweave.core.streams import Stream
from trueweave.retrieval.context import Method
from trueweave.text.names import storable


class ClientQuestionCalls:
    """The calls of `AsyncClient` for questions."""

    _requests: WorkspaceRequests
    _method: str
    _has_model: bool

    @takes(AskOptions)
    async def ask(self, asked: AskOptions) -> Answer:
        """Answer a question from what a method finds, with every citation checked.

        `method` is a name, or a method with its own parameters; `filter` selects documents, and `history` is the
        conversation so far. With `use_cot` the model reasons first, and its reasoning is kept apart; with
        `numerical_answer` it gives only a number and its unit, with `extractive` only quotes; with `context_only` it is
        not called. `verifiers` check the answer in their order, by name ("rules", "llm", "onnx/FOLDER") or as objects,
        and `repair` gives the model one chance to fix the sentences they do not confirm; both default to the settings.
        `options` sets further instructions, language, length and temperature for this answer. The listener receives
        events about what the question is waiting for.
        """
        if asked.listener is ignore or asked.context_only:
            found = answer(await self._requests.ask("/ask", ask_body(asked), Repeats.REFUSED))
            asked.listener(Retrieved(found.evidence))
            return found
        last: str | Answer = ""
        async for piece in self._pieces(asked):  # the listener receives the evidence before the answer is written
            last = piece
        assert isinstance(last, Answer), "a stream of pieces ends with the answer"
        return last

    @takes(AskOptions)
    def stream(self, asked: AskOptions) -> Stream[str | Answer]:
        """The answer in pieces as the model writes them, and at the end the complete, checked answer: see `ask`.

        You can close the stream early, or drop it: either cancels generation.
        """
        return self._requests.streams.hand_out(self._pieces(asked), asked.listener)

    async def _pieces(self, asked: AskOptions) -> AsyncGenerator[str | Answer, None]:
        if asked.context_only:
            yield await self.ask(**values(asked))
            return
        async with self._requests.events("/ask", ask_body(asked)) as events:
            async for name, data in events:
                match name:
                    case "rewritten":
                        asked.listener(Rewritten(part(data, "question")))
                    case "evidence":
                        asked.listener(Retrieved(evidence(data)))
                    case "token":
                        yield part(data, "text")
                    case "problem":
                        raise error_of(data)
                    case "answer":
                        yield answer(data)
                        return
        raise ServerUnavailable("the server ended the answer before it was whole. Ask again.")

    @takes(RetrieveOptions)
    async def retrieve(self, asked: RetrieveOptions) -> Evidence:
        """What a method finds for a question, with a trace of how, but without an answer."""
        found = evidence(await self._requests.ask("/retrieve", retrieve_body(asked)))
        asked.listener(Retrieved(found))
        return found

    async def search(
        self, text: str | Sequence[str], limit: int = 10, *, filter: Filter | None = None
    ) -> list[Passage]:
        """The passages that match a text best: by meaning and by words, or by words alone if nothing is embedded. Of
        several texts, the passages that most of them have near the top."""
        texts = storable(text) if isinstance(text, str) else [storable(one) for one in text]
        body = {"text": texts, "limit": limit, "filter": filter_body(filter)}
        return read(list[Passage], part(await self._requests.ask("/search", body), "passages"))

    async def compare(
        self,
        question: str,
        methods: Sequence[str | Method] = (),
        *,
        filter: Filter | None = None,
        answers: bool = False,
        listener: Listener = ignore,
    ) -> Comparison:
        """What these methods find for a question, side by side; by default, all methods.

        A method that cannot be used here is listed with the reason.
        """
        body = {
            "question": storable(question),
            "methods": [one if isinstance(one, str) else method_body(one) for one in methods],
            "filter": filter_body(filter),
            "answers": answers,
        }
        return comparison(await self._requests.ask("/compare", body, Repeats.REFUSED))

    async def methods(self) -> list[MethodInfo]:
        """All methods, each with its parameters as a JSON schema. `problem` says why a method cannot be used in this
        workspace, such as without vectors or reports; it is empty if the method can be used."""
        found = part(await self._requests.get("/methods"), "methods")
        return read(list[MethodInfo], found)

    @property
    def method(self) -> str:
        """The method used when none is named: that of the settings, or auto."""
        return self._method

    @property
    def has_model(self) -> bool:
        """Whether there is a language model to answer with."""
        return self._has_model

    def conversation(
        self,
        method: str | Method | None = None,
        *,
        filter: Filter | None = None,
        history: Sequence[Message] = (),
    ) -> AsyncConversation:
        """A conversation: a series of questions, each understood in the light of what was said before. It may begin
        with a `history`."""
        return AsyncConversation(self, self._requests.streams.hand_out, method, filter, history)


def retrieve_body(asked: RetrieveOptions) -> dict[str, Any]:
    """The request body for a question, without the options of its answer."""
    return {
        "question": storable(asked.question),
        **method_body(asked.method),
        "filter": filter_body(asked.filter),
        **plain_values(asked),
    }


def ask_body(asked: AskOptions) -> dict[str, Any]:
    """The request body for a question."""
    return {
        **retrieve_body(asked),
        "history": [{"role": one.role, "content": one.content} for one in asked.history],
        "verifiers": verifier_names(asked.verifiers),
        "options": plain_values(asked.options or AnswerOptions()),
    }
