"""Questions, asked of a server."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any

from trueweave.answering.conversations import AsyncConversation
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
from trueweave.core.evidence import Evidence, Filter, Passage
from trueweave.core.model_calls import Message
from trueweave.core.protocols import Verifier
from trueweave.core.streams import Stream
from trueweave.retrieval.context import Method
from trueweave.text.names import storable


class ClientQuestionCalls:
    """What `AsyncClient` does with questions."""

    _requests: WorkspaceRequests
    _method: str
    _has_model: bool

    async def ask(
        self,
        question: str,
        method: str | Method | None = None,
        *,
        filter: Filter | None = None,
        history: Sequence[Message] = (),
        use_cot: bool = False,
        numerical_answer: bool = False,
        extractive: bool = False,
        repair: bool | None = None,
        verifiers: Sequence[str | Verifier] | None = None,
        options: AnswerOptions | None = None,
        context_only: bool = False,
        rerank: bool = False,
        listener: Listener = ignore,
    ) -> Answer:
        """The answer to a question from what a method finds, every citation checked.

        `method` is a name, or a method with parameters of its own; `filter` says which documents may speak, `history`
        what was said before. With `use_cot` the model thinks first, and its reasoning is kept apart; with
        `numerical_answer` it gives a number and its unit alone, with `extractive` quotes alone; with `context_only` it
        is not asked. `verifiers` check the answer in their order, by name ("rules", "llm", "onnx/FOLDER") or as they
        are, and `repair` gives the model the sentences that they do not vouch for once more; both are as the settings
        say unless given. `options` has further instructions, language, length and temperature of this answer. The
        listener hears what is waited for.
        """
        body = _body(
            question,
            method,
            filter=filter,
            history=history,
            use_cot=use_cot,
            numerical_answer=numerical_answer,
            extractive=extractive,
            repair=repair,
            verifiers=verifiers,
            options=options,
            rerank=rerank,
        )
        if listener is ignore or context_only:
            body["context_only"] = context_only
            found = answer(await self._requests.ask("/ask", body, Repeats.REFUSED))
            listener(Retrieved(found.evidence))
            return found
        last: str | Answer = ""
        async for piece in self._pieces(body, listener):  # what was found is told before it is answered
            last = piece
        assert isinstance(last, Answer), "a stream of pieces ends with the answer"
        return last

    def stream(
        self,
        question: str,
        method: str | Method | None = None,
        *,
        filter: Filter | None = None,
        history: Sequence[Message] = (),
        use_cot: bool = False,
        numerical_answer: bool = False,
        extractive: bool = False,
        repair: bool | None = None,
        verifiers: Sequence[str | Verifier] | None = None,
        options: AnswerOptions | None = None,
        rerank: bool = False,
        listener: Listener = ignore,
    ) -> Stream[str | Answer]:
        """The answer in pieces as the model writes them, and at the end the whole of it, checked: see `ask`.

        Who leaves early may close the stream, or let go of it: the model is hung up on either way.
        """
        body = _body(
            question,
            method,
            filter=filter,
            history=history,
            use_cot=use_cot,
            numerical_answer=numerical_answer,
            extractive=extractive,
            repair=repair,
            verifiers=verifiers,
            options=options,
            rerank=rerank,
        )
        return self._requests.streams.hand_out(self._pieces(body, listener), listener)

    async def _pieces(self, body: dict[str, Any], listener: Listener) -> AsyncGenerator[str | Answer, None]:
        async with self._requests.events("/ask", body) as events:
            async for name, data in events:
                match name:
                    case "rewritten":
                        listener(Rewritten(part(data, "question")))
                    case "evidence":
                        listener(Retrieved(evidence(data)))
                    case "token":
                        yield part(data, "text")
                    case "problem":
                        raise error_of(data)
                    case "answer":
                        yield answer(data)
                        return
        raise ServerUnavailable("the server ended the answer before it was whole. Ask again.")

    async def retrieve(
        self,
        question: str,
        method: str | Method | None = None,
        *,
        filter: Filter | None = None,
        rerank: bool = False,
        listener: Listener = ignore,
    ) -> Evidence:
        """What a method finds for a question, and how, without an answer."""
        body = {
            "question": storable(question),
            **method_body(method),
            "filter": filter_body(filter),
            "rerank": rerank,
        }
        found = evidence(await self._requests.ask("/retrieve", body))
        listener(Retrieved(found))
        return found

    async def search(self, text: str, limit: int = 10, *, filter: Filter | None = None) -> list[Passage]:
        """The passages that fit a text best: by meaning and by words, or by words alone where nothing is embedded."""
        body = {"text": storable(text), "limit": limit, "filter": filter_body(filter)}
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
        """What these methods find for a question, side by side; all methods there are, when none are given.

        A method that cannot be used here is listed with the reason.
        """
        body = {
            "question": storable(question),
            "methods": [one if isinstance(one, str) else method_body(one) for one in methods],
            "filter": filter_body(filter),
            "answers": answers,
        }
        return comparison(await self._requests.ask("/compare", body, Repeats.REFUSED))

    @property
    def method(self) -> str:
        """The method that answers where none is named: that of the settings, or auto."""
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
        """A conversation: questions one after the other, each understood from what was said before, which may begin
        with a `history`."""
        return AsyncConversation(self, self._requests.streams.hand_out, method, filter, history)


def _body(
    question: str,
    method: str | Method | None,
    *,
    filter: Filter | None,
    history: Sequence[Message],
    verifiers: Sequence[str | Verifier] | None,
    options: AnswerOptions | None,
    **how: Any,
) -> dict[str, Any]:
    """A question as the server takes it."""
    wanted = options or AnswerOptions()
    names = ("instructions", "language", "length", "temperature")
    return {
        "question": storable(question),
        **method_body(method),
        "filter": filter_body(filter),
        "history": [{"role": one.role, "content": one.content} for one in history],
        "verifiers": verifier_names(verifiers),
        "options": {name: getattr(wanted, name) for name in names},
        **how,
    }
