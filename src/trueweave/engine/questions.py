"""Questions."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from trueweave.answering.conversations import AsyncConversation
from trueweave.core.answers import Answer, AnswerOptions, Compared, Comparison
from trueweave.core.errors import ConfigError, ModelFilesMissing, WorkspaceReplaced
from trueweave.core.events import Listener, ignore, in_run
from trueweave.core.evidence import Evidence, Filter, Passage, Query
from trueweave.core.model_calls import Message
from trueweave.core.protocols import Embedder, Verifier
from trueweave.core.streams import Stream
from trueweave.engine.core import OpenWorkspace
from trueweave.retrieval.context import Method
from trueweave.store.postgres.public_errors import own_errors, translated
from trueweave.text.names import storable

if TYPE_CHECKING:
    from trueweave.answering.ask import Answering
    from trueweave.engine.asking import Asking


@own_errors
class QuestionCalls:
    """What `AsyncTrueweave` does with questions."""

    _core: OpenWorkspace

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
        from trueweave.engine.asking import whole

        answering = partial(
            self._answering,
            use_cot=use_cot,
            numerical_answer=numerical_answer,
            extractive=extractive,
            repair=repair,
            verifiers=verifiers,
            options=options,
        )
        with in_run(listener, is_question=True):
            return await whole(
                self._stream(question, method, filter, history, answering, rerank=rerank, context_only=context_only)
            )

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
        answering = partial(
            self._answering,
            use_cot=use_cot,
            numerical_answer=numerical_answer,
            extractive=extractive,
            repair=repair,
            verifiers=verifiers,
            options=options,
        )
        pieces = self._stream(question, method, filter, history, answering, rerank=rerank, context_only=False)
        return self._core.streams.hand_out(pieces, listener)

    async def _stream(
        self,
        question: str,
        method: str | Method | None,
        filter: Filter | None,
        history: Sequence[Message],
        answering: Callable[[], Awaitable[Answering]],
        *,
        rerank: bool,
        context_only: bool,
    ) -> AsyncGenerator[str | Answer, None]:
        has_begun = False
        for may_begin_again in (True, False):
            try:
                with translated():
                    asking, query, chosen = await self._prepare_question(question, method, filter, rerank=rerank)
                    stream = asking.stream(query, chosen, await answering(), history, context_only=context_only)
                    async with aclosing(stream) as pieces:
                        async for piece in pieces:
                            has_begun = True
                            yield piece
            except WorkspaceReplaced:  # it was noticed just now: the next try uses the new index
                if has_begun or not may_begin_again:
                    raise
            else:
                return

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
        with in_run(listener, is_question=True):
            try:
                return await self._retrieve(question, method, filter, rerank=rerank)
            except WorkspaceReplaced:  # it was noticed just now: the next try uses the new index
                return await self._retrieve(question, method, filter, rerank=rerank)

    async def _retrieve(
        self, question: str, method: str | Method | None, filter: Filter | None, *, rerank: bool
    ) -> Evidence:
        asking, query, chosen = await self._prepare_question(question, method, filter, rerank=rerank)
        return await asking.retrieve(query, chosen)

    async def search(self, text: str, limit: int = 10, *, filter: Filter | None = None) -> list[Passage]:
        """The passages that fit a text best: by meaning and by words, or by words alone where nothing is embedded."""
        from trueweave.retrieval.methods.auto import Search

        return list((await self.retrieve(text, Search(top_k=limit), filter=filter)).passages)

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
        from trueweave.engine.asking import chosen
        from trueweave.retrieval.methods import registry

        wanted = [chosen(method) for method in methods or registry.names()]
        query = Query(storable(question), filter or Filter())
        with in_run(listener, is_question=True):
            asking = await self._asking()
            compared = await asking.compare(query, wanted, await self._answering() if answers else None)
        broken = (
            () if methods else tuple(Compared(one.name, Evidence(), problem=one.problem) for one in registry.broken())
        )
        return Comparison(compared.question, compared.rows + broken)

    @property
    def method(self) -> str:
        """The method that answers where none is named: that of the settings, or auto."""
        return self._core.settings.method or "auto"

    @property
    def has_model(self) -> bool:
        """Whether there is a language model to answer with."""
        return self._core.llm is not None or bool(self._core.settings.model_for("answer"))

    def conversation(
        self,
        method: str | Method | None = None,
        *,
        filter: Filter | None = None,
        history: Sequence[Message] = (),
    ) -> AsyncConversation:
        """A conversation: questions one after the other, each understood from what was said before, which may begin
        with a `history`."""
        return AsyncConversation(self, self._core.streams.hand_out, method, filter, history)

    async def _answering(
        self,
        *,
        use_cot: bool = False,
        numerical_answer: bool = False,
        extractive: bool = False,
        repair: bool | None = None,
        verifiers: Sequence[str | Verifier] | None = None,
        options: AnswerOptions | None = None,
    ) -> Answering:
        from trueweave.answering.ask import Answering

        settings = self._core.settings
        chosen = settings.verifiers if verifiers is None else verifiers
        return Answering(
            use_cot,
            numerical_answer,
            extractive,
            settings.repair if repair is None else repair,
            settings.max_context_tokens,
            settings.max_answer_tokens,
            tuple([await self._verifier(one) if isinstance(one, str) else one for one in chosen]),
            await self._core.prompts(),
            options or AnswerOptions(),
            settings.question_tokens - settings.max_context_tokens,
        )

    async def _verifier(self, name: str) -> Verifier:
        from trueweave.answering.verifiers import EntailmentVerifier, JudgeVerifier, RulesVerifier
        from trueweave.models.question import QuestionLLM

        if name == "rules":
            return RulesVerifier()
        if name != "llm":
            return EntailmentVerifier(await (await self._core.models()).entailment(name))
        llm = await self._core.chat("judge")
        if llm is None:
            raise ConfigError(
                'the verifier llm needs a model. Set one in trueweave.toml, as in model = "ollama/llama3.1:8b", or '
                "choose another: rules needs no model."
            )
        return JudgeVerifier(QuestionLLM(llm, self._core.settings.question_tokens), await self._core.prompts())

    async def _prepare_question(
        self, question: str, method: str | Method | None, filter: Filter | None, *, rerank: bool
    ) -> tuple[Asking, Query, Method]:
        """A question as it is put: to whom, what, and by which method."""
        from trueweave.engine.asking import chosen

        query = Query(storable(question), filter or Filter())
        return await self._asking(), query, chosen(method or self.method, rerank=rerank)

    async def _embedder(self) -> Embedder | None:
        """The embedder. Where its files are missing, whoever needs it is told so, and methods that search by words are
        not held up."""
        try:
            return await self._core.embedder()
        except ModelFilesMissing as error:
            from trueweave.models.missing import MissingEmbedder

            return MissingEmbedder(error)

    async def _asking(self) -> Asking:
        from trueweave.engine.asking import Asking, Models

        # Not `_embedding`: a question is no reason to embed everything.
        models = Models(await self._embedder(), await self._core.chat("answer"), await self._core.chat("keywords"))
        if name := self._core.settings.reranker:
            models = replace(models, reranker=await (await self._core.models()).reranker(name))
        return Asking(self._core.open_question, models, await self._core.prompts(), self._core.settings.question_tokens)
