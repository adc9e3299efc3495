"""The calls of AsyncTrueweave about questions."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

from trueweave.answering.conversations import AsyncConversation
from trueweave.answering.options import AskOptions, RetrieveOptions
from trueweave.core.answers import Answer, AnswerOptions, Compared, Comparison
from trueweave.core.errors import ConfigError, InvalidArgument, ModelFilesMissing, NotForRestricted, WorkspaceReplaced
from trueweave.core.events import Listener, ignore, in_run
from trueweave.core.evidence import Evidence, Filter, MethodInfo, Passage, Query
from trueweave.core.model_calls import Message
from trueweave.core.parameters import takes
from trueweave.core.protocols import Embedder, Readers, Verifier
from trueweave.core.streams import Stream
from trueweave.engine.core import OpenWorkspace
from trueweave.retrieval.context import Method
from trueweave.store.postgres.public_errors import own_errors, translated
from trueweave.text.names import storable

if TYPE_CHECKING:
    from trueweave.answering.ask import Answering
    from trueweave.engine.asking import Asking


# Noticed just now: a bulk load has replaced the index, or the first document got readers. The next try knows it.
_CHANGED = (WorkspaceReplaced, NotForRestricted)


@own_errors
class QuestionCalls:
    """The calls of `AsyncTrueweave` about questions."""

    _core: OpenWorkspace

    def _open_readers(self, filter: Filter) -> Readers:
        return self._core.open_question(filter)

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
        from trueweave.engine.asking import whole

        with in_run(asked.listener, is_question=True):
            return await whole(self._stream(asked))

    @takes(AskOptions)
    def stream(self, asked: AskOptions) -> Stream[str | Answer]:
        """The answer in pieces as the model writes them, and at the end the complete, checked answer: see `ask`.

        You can close the stream early, or drop it: either cancels generation.
        """
        return self._core.streams.hand_out(self._stream(asked), asked.listener)

    async def _stream(self, asked: AskOptions) -> AsyncGenerator[str | Answer, None]:
        has_begun = False
        for may_begin_again in (True, False):
            try:
                with translated():
                    asking, query, method = await self._prepare_question(asked)
                    answering = await self._answering(asked)
                    stream = asking.stream(query, method, answering, asked.history, context_only=asked.context_only)
                    async with aclosing(stream) as pieces:
                        async for piece in pieces:
                            has_begun = True
                            yield piece
            except _CHANGED:
                if has_begun or not may_begin_again:
                    raise
            else:
                return

    @takes(RetrieveOptions)
    async def retrieve(self, asked: RetrieveOptions) -> Evidence:
        """What a method finds for a question, with a trace of how, but without an answer."""
        with in_run(asked.listener, is_question=True):
            try:
                return await self._retrieve(asked)
            except _CHANGED:
                return await self._retrieve(asked)

    async def _retrieve(self, asked: RetrieveOptions) -> Evidence:
        asking, query, method = await self._prepare_question(asked)
        return await asking.retrieve(query, method)

    async def search(
        self, text: str | Sequence[str], limit: int = 10, *, filter: Filter | None = None
    ) -> list[Passage]:
        """The passages that match a text best: by meaning and by words, or by words alone if nothing is embedded. Of
        several texts, the passages that most of them have near the top."""
        from trueweave.retrieval.methods.auto import Search
        from trueweave.retrieval.methods.combine import Each

        if isinstance(text, str):
            return list((await self.retrieve(text, Search(top_k=limit), filter=filter)).passages)
        texts = tuple(map(storable, text))
        if not texts:
            raise InvalidArgument("there is no text to search for. Give one or more.")
        found = await self.retrieve("; ".join(texts), Each(texts, Search(top_k=limit)), filter=filter)
        return list(found.passages)

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
        from trueweave.engine.asking import chosen
        from trueweave.retrieval.methods import registry

        wanted = [chosen(method) for method in methods or registry.names()]
        query = Query(storable(question), filter or Filter())
        with in_run(listener, is_question=True):
            asking = await self._asking()
            answering = await self._answering(AskOptions(question)) if answers else None
            compared = await asking.compare(query, wanted, answering)
        broken = (
            () if methods else tuple(Compared(one.name, Evidence(), problem=one.problem) for one in registry.broken())
        )
        return Comparison(compared.question, compared.rows + broken)

    async def methods(self) -> list[MethodInfo]:
        """All methods, each with its parameters as a JSON schema. `problem` says why a method cannot be used in this
        workspace, such as without vectors or reports; it is empty if the method can be used."""
        return await (await self._asking()).methods(self.method)

    @property
    def method(self) -> str:
        """The method used when none is named: that of the settings, or auto."""
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
        """A conversation: a series of questions, each understood in the light of what was said before. It may begin
        with a `history`."""
        return AsyncConversation(self, self._core.streams.hand_out, method, filter, history)

    async def _answering(self, asked: AskOptions) -> Answering:
        from trueweave.answering.ask import Answering

        settings = self._core.settings
        chosen = settings.verifiers if asked.verifiers is None else asked.verifiers
        return Answering(
            asked.use_cot,
            asked.numerical_answer,
            asked.extractive,
            settings.repair if asked.repair is None else asked.repair,
            settings.max_context_tokens,
            settings.max_answer_tokens,
            tuple([await self._verifier(one) if isinstance(one, str) else one for one in chosen]),
            await self._core.prompts(),
            asked.options or AnswerOptions(),
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

    async def _prepare_question(self, asked: RetrieveOptions) -> tuple[Asking, Query, Method]:
        """The asking object, query and method for a question."""
        from trueweave.engine.asking import chosen

        query = Query(storable(asked.question), asked.filter or Filter())
        return await self._asking(), query, chosen(asked.method or self.method, rerank=asked.rerank)

    async def _embedder(self) -> Embedder | None:
        """The embedder. If its files are missing, methods that need it get an error that says so, and methods that
        search by words still work."""
        try:
            return await self._core.embedder()
        except ModelFilesMissing as error:
            from trueweave.models.missing import MissingEmbedder

            return MissingEmbedder(error)

    async def _asking(self) -> Asking:
        from trueweave.engine.asking import Asking, Models
        from trueweave.engine.conflicts import with_disagreements

        # `embedder`, not `embedding`: a question is no reason to embed everything.
        models = Models(await self._embedder(), await self._core.chat("answer"), await self._core.chat("keywords"))
        if name := self._core.settings.reranker:
            models = replace(models, reranker=await (await self._core.models()).reranker(name))
        core = self._core

        async def disagreeing(filter: Filter, answer: Answer) -> Answer:
            return await with_disagreements(core.under(filter).workspace, core.settings.functional_relations, answer)

        return Asking(self._open_readers, models, disagreeing, await core.prompts(), core.settings.question_tokens)
