"""What agents remember: texts and conversations, stored as documents that say who told them and when."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from trueweave.core.errors import InvalidArgument
from trueweave.core.evidence import Filter, Passage, Scalar
from trueweave.core.model_calls import Message
from trueweave.core.ranges import Range
from trueweave.core.record import Json, Source
from trueweave.engine.documents import DocumentCalls
from trueweave.engine.jobs import AsyncJobsGroup
from trueweave.engine.questions import QuestionCalls
from trueweave.engine.restricted import refuse_restricted
from trueweave.store.postgres.public_errors import own_errors
from trueweave.text.names import key, tidy

MEMORY = "memory:"


@own_errors
@refuse_restricted(but=("recall",))
class MemoryCalls(DocumentCalls, QuestionCalls):
    """The calls of `AsyncTrueweave` about what agents remember."""

    jobs: AsyncJobsGroup

    async def remember(
        self,
        said: str | Sequence[Message],
        *,
        by: str = "",
        source: str = "",
        date: datetime | None = None,
        conversation: str = "",
        readers: Sequence[str] | None = None,
    ) -> str:
        """Store a text, or the messages of a conversation, as a document that says who told it (`by`), where it comes
        from (`source`) and when it was said (now, if there is no `date`). Returns the uri of the document, which
        workers index: `jobs.state` says when that is done.

        The same text from the same source by the same person is stored once, with the latest date. With the id of a
        `conversation`, it replaces what was stored of that conversation, so pass all of it; only new parts are
        processed. `readers` are the groups that can read it, as for `add`.
        """
        memory = _memory(said, tidy(by), tidy(source), date or datetime.now(UTC), conversation)
        await self.jobs.submit(memory, readers=readers)
        return memory.uri

    async def recall(self, text: str, limit: int = 10, *, by: str = "", since: datetime | None = None) -> list[Passage]:
        """The passages of memories that match a text best; optionally only what one person told, or what was said since
        a time. The title of each says who told it and when."""
        wanted: dict[str, Scalar | Range] = {"memory": True}
        if by:
            wanted["told_by"] = tidy(by)
        if since:
            wanted["said_at"] = Range(since)
        return await self.search(text, limit, filter=Filter(metadata=wanted))

    async def forget(self, *uris: str) -> int:
        """Remove memories by their uris, and erase their text everywhere. Returns how many of them existed. Raises
        InvalidArgument, and removes nothing, if one is the uri of another document."""
        for uri in uris:
            if not uri.startswith(MEMORY):
                raise InvalidArgument(
                    f"{uri!r} is not a memory: their uris begin with {MEMORY}.",
                    hint="`remove` removes other documents.",
                )
        return await self.remove(uris)


def _memory(said: str | Sequence[Message], by: str, source: str, date: datetime, conversation: str) -> Source:
    text = said if isinstance(said, str) else "\n\n".join(f"{one.role}: {one.content}" for one in said)
    if not text.strip():
        raise InvalidArgument("there is nothing to remember: the text is empty.")
    if date.tzinfo is None:
        raise InvalidArgument(f"the date {date.isoformat()} has no time zone.", hint="Give one, such as UTC.")
    what = f"conversation/{conversation}" if conversation else str(key("memory", by, source, text))
    told = " ".join(("Told", *(("by", by) if by else ()), f"on {date:%Y-%m-%d}"))
    said_at = date.isoformat(timespec="seconds")
    metadata: dict[str, Json] = {"memory": True, "said_at": said_at, "date": said_at}
    metadata |= {name: given for name, given in (("told_by", by), ("source", source)) if given}
    return Source(f"{MEMORY}{what}", text, f"{told}, from {source}" if source else told, metadata)
