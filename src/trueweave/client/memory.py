"""What agents remember, in a workspace of a server."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from trueweave.client.forms import moment, part, read
from trueweave.client.requests import WorkspaceRequests
from trueweave.core.evidence import Passage
from trueweave.core.model_calls import Message


class ClientMemoryCalls:
    """The calls of `AsyncClient` about what agents remember."""

    _requests: WorkspaceRequests

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
        messages = [] if isinstance(said, str) else [{"role": one.role, "content": one.content} for one in said]
        body = {
            "text": said if isinstance(said, str) else "",
            "messages": messages,
            "by": by,
            "source": source,
            "date": moment(date),
            "conversation": conversation,
            "readers": None if readers is None else list(readers),
        }
        return str(part(await self._requests.write("/memories", body), "uri"))

    async def recall(self, text: str, limit: int = 10, *, by: str = "", since: datetime | None = None) -> list[Passage]:
        """The passages of memories that match a text best; optionally only what one person told, or what was said since
        a time. The title of each says who told it and when."""
        body = {"text": text, "limit": limit, "by": by, "since": moment(since)}
        return read(list[Passage], part(await self._requests.ask("/memories/recall", body), "passages"))

    async def forget(self, *uris: str) -> int:
        """Remove memories by their uris, and erase their text everywhere. Returns how many of them existed. Raises
        InvalidArgument, and removes nothing, if one is the uri of another document."""
        if not uris:
            return 0
        return int(part(await self._requests.write("/memories/forget", {"uris": list(uris)}), "removed"))
