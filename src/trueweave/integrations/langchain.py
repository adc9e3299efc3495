"""A retriever for LangChain, and its models for Trueweave.

from trueweave import Trueweave
from trueweave.integrations.langchain import LangChainRetriever

with Trueweave() as trueweave:
    retriever = LangChainRetriever(trueweave=trueweave, method="fuse", parameters={"top_k": 8})
    documents = retriever.invoke("Who wrote to Babbage?")
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

try:
    from langchain_core.callbacks.manager import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
except ModuleNotFoundError as error:
    from trueweave.integrations.passages import not_installed

    raise not_installed("LangChain", "langchain", error) from error
from pydantic import PrivateAttr

from trueweave.core.evidence import Filter, Passage
from trueweave.engine.sync import Trueweave
from trueweave.engine.trueweave import AsyncTrueweave
from trueweave.integrations.passages import PassageSearch, metadata
from trueweave.models.langchain import LangChainChat, LangChainEmbedder
from trueweave.retrieval.context import Method

__all__ = ["LangChainChat", "LangChainEmbedder", "LangChainRetriever"]


class LangChainRetriever(BaseRetriever):
    """Retrieves passages from an open workspace with one method, as LangChain documents.

    `invoke` also takes a `filter` for one question. Metadata has `uri`, `title`, `date`, `source`, `page`, `headings`,
    `start`, `end`, `score` and `chunk_id`. With an `AsyncTrueweave`, create it inside the event loop, and call
    `ainvoke` there. It has an open connection, so LangChain cannot save it.
    """

    trueweave: Trueweave | AsyncTrueweave
    method: str | Method | None = None
    parameters: dict[str, Any] | None = None
    filter: Filter | None = None
    rerank: bool = False
    _search: PassageSearch = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        super().model_post_init(context)
        self._search = PassageSearch(self.trueweave, self.method, self.parameters, self.filter, rerank=self.rerank)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, filter: Filter | None = None
    ) -> list[Document]:
        return _documents(self._search.find(query, filter))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, filter: Filter | None = None
    ) -> list[Document]:
        return _documents(await self._search.find_async(query, filter))


def _documents(passages: Sequence[Passage]) -> list[Document]:
    return [Document(passage.text, id=str(passage.id), metadata=metadata(passage)) for passage in passages]
