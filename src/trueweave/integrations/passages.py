"""Finds passages with one method, for synchronous and asynchronous callers: shared by the retrievers of all
frameworks."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from trueweave.core.errors import ConfigError, TrueweaveError
from trueweave.core.evidence import Filter, Passage
from trueweave.engine.sync import Trueweave
from trueweave.engine.trueweave import AsyncTrueweave
from trueweave.retrieval.context import Method
from trueweave.retrieval.methods import registry


class PassageSearch:
    """Finds passages in an open workspace, with one method and one filter.

    `method` is a name, with or without `parameters`, or a method object. An `AsyncTrueweave` belongs to the event loop
    in which this is created: it is called there, whichever thread or loop a question comes from.
    """

    def __init__(
        self,
        trueweave: Trueweave | AsyncTrueweave,
        method: str | Method | None = None,
        parameters: Mapping[str, object] | None = None,
        filter: Filter | None = None,
        *,
        rerank: bool = False,
    ) -> None:
        self._trueweave = trueweave
        self._method = chosen(method, parameters)
        self._filter = filter
        self._rerank = rerank
        self._loop = _running_loop() if isinstance(trueweave, AsyncTrueweave) else None

    def find(self, question: str, filter: Filter | None = None) -> tuple[Passage, ...]:
        """The passages for a question, best first. A `filter` given here replaces that of the search."""
        if isinstance(self._trueweave, Trueweave):
            under = self._filter if filter is None else filter
            return self._trueweave.retrieve(question, self._method, filter=under, rerank=self._rerank).passages
        loop = self._its_loop()
        if loop is None or loop is _running_loop():
            raise TrueweaveError(
                "a synchronous call cannot wait for an AsyncTrueweave inside its own event loop, or without one. "
                "Use the asynchronous call, or create the retriever with a Trueweave."
            )
        return asyncio.run_coroutine_threadsafe(self._ask(self._trueweave, question, filter), loop).result()

    async def find_async(self, question: str, filter: Filter | None = None) -> tuple[Passage, ...]:
        """The same, without blocking the event loop."""
        if isinstance(self._trueweave, Trueweave):
            return await asyncio.to_thread(self.find, question, filter)
        loop = self._its_loop()
        asking = self._ask(self._trueweave, question, filter)
        if loop is None or loop is asyncio.get_running_loop():
            return await asking
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(asking, loop))

    def _its_loop(self) -> asyncio.AbstractEventLoop | None:
        """The event loop of the AsyncTrueweave; None if the search was created outside of any."""
        if self._loop and not self._loop.is_running():
            raise TrueweaveError(
                "the event loop in which the retriever was created has ended, and its AsyncTrueweave with it. "
                "Create both in the loop that uses them, or create the retriever with a Trueweave."
            )
        return self._loop

    async def _ask(self, trueweave: AsyncTrueweave, question: str, filter: Filter | None) -> tuple[Passage, ...]:
        under = self._filter if filter is None else filter
        return (await trueweave.retrieve(question, self._method, filter=under, rerank=self._rerank)).passages


def metadata(passage: Passage) -> dict[str, Any]:
    """Where a passage is from, and its score, as JSON values."""
    return {
        "uri": passage.uri,
        "title": passage.title,
        "date": passage.date,
        "source": passage.source,
        "page": passage.page,
        "headings": list(passage.headings),
        "start": passage.start,
        "end": passage.end,
        "score": passage.score,
        "chunk_id": str(passage.id),
    }


def chosen(method: str | Method | None, parameters: Mapping[str, object] | None) -> Method | None:
    """The method to use; None for that of the workspace. Methods in `parameters` may be given as `saved` returns
    them."""
    if isinstance(method, str):
        return registry.make(method, {name: _unpacked(value) for name, value in (parameters or {}).items()})
    if parameters:
        raise ConfigError('parameters need the name of a method, as in method="naive", parameters={"top_k": 8}.')
    return method


def saved(method: Method) -> tuple[str, dict[str, Any]]:
    """The name of a method and all its parameters, as JSON values."""
    name = registry.name_of(method)
    if name not in registry.names() or type(registry.make(name)) is not type(method):
        raise ConfigError(
            f"the method {type(method).__name__} cannot be saved, because no package registers it under a name. "
            "Declare it as an entry point in the group trueweave.methods."
        )
    kind: type[Any] = type(method)
    declared = fields(kind) if is_dataclass(kind) else ()
    return name, {field.name: _packed(getattr(method, field.name)) for field in declared}


def _packed(value: object) -> Any:
    if isinstance(value, Method):
        name, parameters = saved(value)
        return {"method": name, "parameters": parameters}
    return [_packed(one) for one in value] if isinstance(value, list | tuple) else value


def _unpacked(value: object) -> object:
    if isinstance(value, Mapping) and value.keys() == {"method", "parameters"}:
        return chosen(value["method"], value["parameters"])
    return tuple(_unpacked(one) for one in value) if isinstance(value, list | tuple) else value


def not_installed(library: str, extra: str, error: ModuleNotFoundError) -> ModuleNotFoundError:
    """The error to raise if a framework cannot be imported."""
    missing = (error.name or library).partition(".")[0]
    return ModuleNotFoundError(
        f'the retriever for {library} needs {missing}: pip install "trueweave[{extra}]"', name=error.name
    )


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
