"""Signed records of answers, and comparing them with what is found now. See docs/adr/0062-records-of-answers.md."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, Mapping
from datetime import datetime
from importlib.metadata import version
from operator import itemgetter
from pathlib import Path
from typing import Any
from uuid import UUID

from trueweave.answering.options import AskOptions
from trueweave.answering.recording import FORMAT, RecordedIn, method_statement, record_statement
from trueweave.core.answers import Answer
from trueweave.core.errors import InvalidArgument, SignatureInvalid, UnreadableFile
from trueweave.core.evidence import Evidence, Filter
from trueweave.core.json_forms import filter_of_json
from trueweave.core.records import CitationState, Replay, ReplayedCitation
from trueweave.core.signing import checked, read_key, signed, write_whole
from trueweave.engine.core import OpenWorkspace
from trueweave.engine.restricted import refuse_restricted
from trueweave.models import prompts
from trueweave.retrieval.context import Method
from trueweave.retrieval.methods import registry
from trueweave.store.postgres.db import Transaction
from trueweave.store.postgres.public_errors import own_errors
from trueweave.store.postgres.record import certificates, history
from trueweave.store.postgres.view.cited import CitedNow, CitedPassage, cited_now

_CITATION = itemgetter("number", "uri", "quote", "passage")

Retrieve = Callable[..., Awaitable[Evidence]]


@own_errors
@refuse_restricted("records")
class AsyncRecordsGroup:
    """Signed records of answers: `trueweave.records`."""

    def __init__(self, core: OpenWorkspace, retrieve: Retrieve, retrieve_as_of: Retrieve) -> None:
        self._core = core
        self._retrieve = retrieve
        self._retrieve_as_of = retrieve_as_of

    async def check(self, asked: AskOptions, file: Path) -> None:
        """Raise an error if the answer to this question could not be recorded in `file`: there is no key, the file
        exists, the question belongs to a conversation, or its method has no name. Call it before asking."""
        read_key(self._core.settings.signing_key_file)
        method_statement(self._method(asked), rerank=asked.rerank)
        if asked.history:
            raise InvalidArgument(
                "a question of a conversation cannot be recorded, because it is only understood with what was said "
                "before. Ask a question that can stand alone, without a history."
            )
        _check_new(file)

    async def write(self, answer: Answer, asked: AskOptions, file: Path) -> dict[str, Any]:
        """Write a signed record of an answer to a new file: question, method, passages, models, prompts, citations, the
        result of the check, and cost. Returns the record's statement. `asked` is what was asked."""
        await self.check(asked, file)
        async with self._core.workspace.transaction(snapshot=True) as tx:
            name, at = await certificates.moment(tx)
            state = await _state(tx)
        models = await self._models()
        used = (await self._core.prompts()).load
        versions = {one: used(one).version for one in prompts.names()}
        of = RecordedIn(version("trueweave"), name, at, state, models, versions)
        statement = record_statement(answer, asked, self._method(asked), of)
        file_bytes = signed(statement, read_key(self._core.settings.signing_key_file))
        await asyncio.to_thread(write_whole, file, file_bytes)
        return statement

    async def replay(self, file: Path) -> Replay:
        """Check the signature of a record, search for its question again as it was searched for then, and say for each
        citation what has become of it. If the workspace keeps history since then, the index of that time is searched,
        too. The question is not answered again. Raises SignatureInvalid if the record was changed."""
        record = checked(await asyncio.to_thread(_read, file))
        said = record.statement
        if said.get("format") != FORMAT:
            raise SignatureInvalid(f"{file} is signed, but it is not a {FORMAT!r}. Name a record of an answer.")
        cited = said["answer"]["citations"]
        asked = [CitedPassage(one["uri"], UUID(one["passage"]), one["text_sha256"], one["quote"]) for one in cited]
        how = said["method"]
        method = registry.make(how["name"], how["parameters"])
        wanted = filter_of_json(json.loads(said["filter"]))
        found = await self._retrieve(said["question"], method, filter=wanted, rerank=how["rerank"])
        async with self._core.workspace.transaction(snapshot=True) as tx:
            now, state = await cited_now(tx, asked), await _state(tx)
        before, after = {one["id"] for one in said["passages"]}, {str(one.id) for one in found.passages}
        return Replay(
            said["question"],
            said["answer"]["text"],
            said["workspace"],
            datetime.fromisoformat(said["recorded"]),
            record.public_key,
            state != said["index"],
            tuple(
                ReplayedCitation(number, uri, quote, _state_of(there, after, passage), there.quote)
                for (number, uri, quote, passage), there in zip(map(_CITATION, cited), now, strict=True)
            ),
            len(before),
            len(after),
            len(before & after),
            await self._reproduced(said, method, wanted, before),
        )

    async def _reproduced(
        self, said: Mapping[str, Any], method: Method, wanted: Filter, before: Collection[str]
    ) -> int | None:
        """How many of these passages the index as it was then finds; None if it is not known."""
        recorded = datetime.fromisoformat(said["recorded"])
        async with self._core.workspace.transaction() as tx:
            kept = await history.settings(tx)
        if kept is None or recorded < kept.oldest:
            return None
        how = {"filter": wanted, "rerank": said["method"]["rerank"]}
        found = await self._retrieve_as_of(recorded, said["question"], method, **how)
        return len({str(one.id) for one in found.passages} & {*before})

    def _method(self, asked: AskOptions) -> Method:
        given = asked.method or self._core.settings.method or "auto"
        return registry.make(given) if isinstance(given, str) else given

    async def _models(self) -> dict[str, str]:
        """The models of questions by their role, as far as there are some."""
        settings, llm = self._core.settings, await self._core.chat("answer")
        embedder = await self._core.embedder()
        found = {
            "answer": llm.model if llm else "",
            "embedding": embedder.model if embedder else "",
            "reranker": settings.reranker or "",
        }
        return {role: name for role, name in found.items() if name}


def _state_of(there: CitedNow, found: Collection[str], passage: str) -> CitationState:
    if not there.document:
        return "gone"
    if not there.passage:
        return "changed"
    return "same" if passage in found else "not retrieved"


def _check_new(file: Path) -> None:
    if not file.absolute().parent.is_dir():
        raise InvalidArgument(f"there is no folder {file.absolute().parent}. Name a file in one that exists.")
    if file.exists():
        raise InvalidArgument(f"the file {file} exists. Name a new file for the record.")


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise UnreadableFile(f"{file} cannot be read: {error.strerror}. Name the file of a record.") from error


async def _state(tx: Transaction) -> str:
    return str(await tx.value("read.state"))
