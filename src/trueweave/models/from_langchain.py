"""Models of LangChain that a program passes in. LangChain is imported only if there are any."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trueweave.core.protocols import LangChainChatModel, LangChainEmbeddings
from trueweave.core.settings import Settings

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from trueweave.models.langchain import LangChainChat, LangChainEmbedder


def is_chat_model(given: object) -> TypeIs[LangChainChatModel]:
    """Whether this is a chat model of LangChain."""
    return _is_one(given, "langchain_core.language_models.chat_models", "BaseChatModel")


def is_embeddings(given: object) -> TypeIs[LangChainEmbeddings]:
    """Whether this is an embedding model of LangChain."""
    return _is_one(given, "langchain_core.embeddings.embeddings", "Embeddings")


def _is_one(given: object, module: str, name: str) -> bool:
    # Whoever has made such an object has imported its class.
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(given, kind)


@dataclass(frozen=True)
class LangChainModels:
    """The models of LangChain that a program has passed in."""

    chat: LangChainChatModel | None = None
    embeddings: LangChainEmbeddings | None = None

    @classmethod
    def among(cls, llm: object, embedder: object) -> LangChainModels:
        """Those of these models that are LangChain's."""
        return cls(llm if is_chat_model(llm) else None, embedder if is_embeddings(embedder) else None)

    def over(self, settings: Settings) -> Settings:
        """The settings with the names of these models in the place of those that they name."""
        chat = self.opened_chat(settings)
        names = {"model": chat.model if chat else None, "embedding_model": self.embedding_name}
        given = {name: value for name, value in names.items() if value}
        return settings.given(given) if given else settings

    def opened_chat(self, settings: Settings) -> LangChainChat | None:
        """The chat model, with the deadline of the settings."""
        if self.chat is None:
            return None
        from trueweave.models.langchain import LangChainChat

        return LangChainChat(self.chat, deadline=settings.deadline)

    @property
    def embedding_name(self) -> str | None:
        """The name of the embedding model."""
        if self.embeddings is None:
            return None
        from trueweave.models.langchain import LangChainEmbedder

        return LangChainEmbedder(self.embeddings, 0).model


async def opened_embeddings(embeddings: LangChainEmbeddings, settings: Settings) -> LangChainEmbedder:
    """An embedding model of LangChain, which is called to find its dimension."""
    from trueweave.models.langchain import LangChainEmbedder

    return await LangChainEmbedder.open(embeddings, deadline=settings.deadline)
