"""A component for Haystack.

from haystack import Pipeline
from trueweave.integrations.haystack import HaystackRetriever

pipeline = Pipeline()
pipeline.add_component("retriever", HaystackRetriever(method="fuse", parameters={"top_k": 8}))
documents = pipeline.run({"retriever": {"query": "Who wrote to Babbage?"}})["retriever"]["documents"]
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from typing import Any

try:
    from haystack import Document, component, default_from_dict, default_to_dict
except ModuleNotFoundError as error:
    from trueweave.integrations.passages import not_installed

    raise not_installed("Haystack", "haystack", error) from error

from trueweave.core.errors import ConfigError
from trueweave.core.evidence import Filter, Passage
from trueweave.core.json_forms import filter_json
from trueweave.core.ranges import Range
from trueweave.engine.sync import Trueweave
from trueweave.engine.trueweave import AsyncTrueweave
from trueweave.integrations.passages import PassageSearch, chosen, metadata, saved
from trueweave.retrieval.context import Method


@component
class HaystackRetriever:
    """Retrieves passages from a workspace with one method, as Haystack documents.

    Without an open `trueweave`, it opens the workspace of that name with the settings (trueweave.toml and the
    environment) when the pipeline is warmed up, and closes it with the pipeline. A `trueweave` that is given stays
    open. With an `AsyncTrueweave`, create the component inside the event loop, and run the pipeline with `run_async`.

    Meta has `uri`, `title`, `date`, `source`, `page`, `headings`, `start`, `end`, `score` and `chunk_id`.

    A saved pipeline has the name of the workspace, the method with its parameters, the filter and `rerank`; never a
    connection, an address or a key, which come from the settings where it is loaded.
    """

    def __init__(
        self,
        trueweave: Trueweave | AsyncTrueweave | None = None,
        *,
        workspace: str | None = None,
        method: str | Method | None = None,
        parameters: Mapping[str, object] | None = None,
        filter: Filter | None = None,
        rerank: bool = False,
    ) -> None:
        self._given = trueweave
        self._workspace = workspace
        self._method = chosen(method, parameters)
        self._filter = filter
        self._rerank = rerank
        self._lock = threading.Lock()
        self._opened: Trueweave | None = None
        self._search = self._search_in(trueweave) if trueweave else None

    def warm_up(self) -> None:
        """Open the workspace, unless it is already open."""
        with self._lock:
            if self._search is None:
                opened = Trueweave(workspace=self._workspace, make=False)
                opened.__enter__()  # closed by `close`
                self._opened, self._search = opened, self._search_in(opened)

    async def warm_up_async(self) -> None:
        """The same, without blocking the event loop."""
        await asyncio.to_thread(self.warm_up)

    def close(self) -> None:
        """Close the workspace if `warm_up` opened it. The component may be warmed up again."""
        with self._lock:
            if self._opened:
                self._opened.close()
                self._opened = self._search = None

    async def close_async(self) -> None:
        """The same, without blocking the event loop."""
        await asyncio.to_thread(self.close)

    @component.output_types(documents=list[Document])
    def run(self, query: str, filter: Filter | None = None) -> dict[str, list[Document]]:
        """The passages for a question. A `filter` given here replaces that of the component."""
        self.warm_up()
        assert self._search is not None, "it is warmed up"
        return {"documents": _documents(self._search.find(query, filter))}

    @component.output_types(documents=list[Document])
    async def run_async(self, query: str, filter: Filter | None = None) -> dict[str, list[Document]]:
        """The same, without blocking the event loop."""
        await self.warm_up_async()
        assert self._search is not None, "it is warmed up"
        return {"documents": _documents(await self._search.find_async(query, filter))}

    def to_dict(self) -> dict[str, Any]:
        """The form in which the component is saved with a pipeline."""
        if self._given and self._workspace is None:
            raise ConfigError(
                "a retriever with an open workspace can be saved only if it names the workspace to open again: "
                'also pass workspace="NAME".'
            )
        name, parameters = saved(self._method) if self._method else (None, None)
        return default_to_dict(
            self,
            workspace=self._workspace,
            method=name,
            parameters=parameters,
            filter=filter_json(self._filter) if self._filter else None,
            rerank=self._rerank,
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> HaystackRetriever:
        """The component from its saved form."""
        parameters = dict(data.get("init_parameters", {}))
        if given := parameters.get("filter"):
            parameters["filter"] = _filter(given)
        return default_from_dict(cls, {**data, "init_parameters": parameters})

    def _search_in(self, trueweave: Trueweave | AsyncTrueweave) -> PassageSearch:
        return PassageSearch(trueweave, self._method, filter=self._filter, rerank=self._rerank)


def _filter(saved: Mapping[str, Any]) -> Filter:
    """The filter from its saved form."""
    metadata = {key: _read(value) for key, value in saved.get("metadata", {}).items()}
    combined = {name: tuple(map(_filter, saved.get(name, ()))) for name in ("all_of", "any_of", "none_of")}
    return Filter(tuple(saved.get("uris", ())), metadata, saved.get("prefix", ""), **combined)


def _read(value: Any) -> Any:
    """The condition from its plain values."""
    if isinstance(value, dict):
        return Range(**value)
    return [_read(one) for one in value] if isinstance(value, list) else value


def _documents(passages: Sequence[Passage]) -> list[Document]:
    return [
        Document(id=str(passage.id), content=passage.text, meta=metadata(passage), score=passage.score)
        for passage in passages
    ]
