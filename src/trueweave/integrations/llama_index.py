"""A retriever for LlamaIndex.

from trueweave import Trueweave
from trueweave.integrations.llama_index import LlamaIndexRetriever

with Trueweave() as trueweave:
    retriever = LlamaIndexRetriever(trueweave, "fuse", {"top_k": 8})
    nodes = retriever.retrieve("Who wrote to Babbage?")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

try:
    from llama_index.core.callbacks.base import CallbackManager
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeRelationship, NodeWithScore, QueryBundle, RelatedNodeInfo, TextNode
except ModuleNotFoundError as error:
    from trueweave.integrations.passages import not_installed

    raise not_installed("LlamaIndex", "llama-index", error) from error

from trueweave.core.evidence import Filter, Passage
from trueweave.engine.sync import Trueweave
from trueweave.engine.trueweave import AsyncTrueweave
from trueweave.integrations.passages import PassageSearch, metadata
from trueweave.retrieval.context import Method

# Metadata that a model does not see, because it says nothing about the text.
_NOT_SHOWN = ["uri", "title", "date", "page", "headings", "start", "end", "score", "chunk_id"]


class LlamaIndexRetriever(BaseRetriever):
    """Retrieves passages from an open workspace with one method, as LlamaIndex nodes.

    Metadata has `uri`, `title`, `date`, `source`, `page`, `headings`, `start`, `end`, `score` and `chunk_id`; a
    language model only sees `source`, which has the title and the page or headings. With an `AsyncTrueweave`, create it
    inside the event loop, and call `aretrieve` there.
    """

    def __init__(
        self,
        trueweave: Trueweave | AsyncTrueweave,
        method: str | Method | None = None,
        parameters: Mapping[str, object] | None = None,
        filter: Filter | None = None,
        *,
        rerank: bool = False,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        super().__init__(callback_manager)
        self._search = PassageSearch(trueweave, method, parameters, filter, rerank=rerank)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return _nodes(self._search.find(query_bundle.query_str))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return _nodes(await self._search.find_async(query_bundle.query_str))


def _nodes(passages: Sequence[Passage]) -> list[NodeWithScore]:
    return [NodeWithScore(node=text_node(passage), score=passage.score) for passage in passages]


def text_node(passage: Passage) -> TextNode:
    """A passage as a node of LlamaIndex."""
    return TextNode(
        id_=str(passage.id),
        text=passage.text,
        metadata=metadata(passage),
        excluded_llm_metadata_keys=_NOT_SHOWN,
        excluded_embed_metadata_keys=_NOT_SHOWN,
        start_char_idx=passage.start,
        end_char_idx=passage.end,
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=passage.uri)},
    )
