"""Signed certificates that documents were erased. See docs/adr/0060-certificates.md."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from trueweave.core.errors import CertificateRefused, InvalidArgument, UnknownDocument
from trueweave.core.events import StepListener, unheard, unseen
from trueweave.core.graph import Verdict
from trueweave.core.signing import read_key, signed, write_whole
from trueweave.engine.core import OpenWorkspace
from trueweave.engine.rebuilding import rebuilt
from trueweave.engine.restricted import refuse_restricted
from trueweave.index.verify import compare_with, moment
from trueweave.ingest.folders import matching
from trueweave.store.postgres.cluster import temporary_workspaces
from trueweave.store.postgres.projection import projections
from trueweave.store.postgres.public_errors import own_errors
from trueweave.store.postgres.record import certificates, erasing
from trueweave.store.postgres.record.certificates import PendingCertificate, StandbyReach
from trueweave.store.postgres.record.leftovers import Leftovers, Lookup, search
from trueweave.store.postgres.view import digest
from trueweave.store.projection.projector import Projector
from trueweave.store.projection.remains import SearchedCopy, search_copy
from trueweave.text.uris import Naming
from trueweave.text.windows import WORDS

FORMAT = "trueweave erasure certificate 1"


def _places(*columns: tuple[str, str]) -> frozenset[str]:
    """Columns as a search names them."""
    return frozenset(map(".".join, columns))


_LOOK_AGAIN = 0.2  # seconds
_VERIFY_TRIES = 10
_STANDBY_PATIENCE = 10.0  # seconds
_ADDED_AGAIN = _places(("document", "uri"), ("source", "uri"))
_PASSING = _places(("job", "payload"), ("reply", "payload"))
_PATIENCE = 600.0  # seconds with those
# The logs of changes hold ids of what was removed, for copies that have yet to remove it. They hold no text.
_LOGS = _places(("outbox", "ids"), ("removed_vector", "id"))
_NOT_COVERED = (
    "backups, archives of the write-ahead log, and standbys that are listed as behind or unknown",
    "dead rows in the files of PostgreSQL until VACUUM has removed them, and free space on disks",
    "log files of Trueweave, PostgreSQL and proxies",
    "copies at providers of models that the documents were sent to",
    "the files that the documents were read from, and copies that others made",
    "temporary workspaces of verify and bulk loads, until they expire",
    "paraphrases, and quotations of fewer words than are searched for",
)


class _Searched(NamedTuple):
    """What a search of the workspace found, and when."""

    leftovers: Leftovers
    lookup: Lookup
    workspace: str
    at: str


@own_errors
@refuse_restricted("certificates")
class AsyncCertificatesGroup:
    """Certificates of erasure: `trueweave.certificates`."""

    def __init__(self, core: OpenWorkspace) -> None:
        self._core = core

    async def erase(self, *what: str | Path, file: Path, told: StepListener = unheard) -> dict[str, Any]:
        """Remove documents as `remove` with `erase` does, and write a signed certificate to `file` that nothing of them
        is left. Returns the certificate's statement. `what` are files, folders, patterns or uris, as for `matching`.

        The whole workspace and its copies in other stores are searched, and the index is compared with a rebuild, so
        this takes longer than `verify`. It waits for work on the documents that is still under way, and calls `told`
        with what it does. If the process is killed, the same call continues; there is no certificate before all is
        done. Raises CertificateRefused if something is left, or if a document was added again meanwhile.
        """
        request = certificates.request_of(map(str, what))
        uris = await self._matching(what)
        key = read_key(self._core.settings.signing_key_file)
        async with self._core.workspace.transaction() as tx:
            earlier = await certificates.pending(tx, request)
        self._check(what, uris, file, earlier)
        stores = await self._stores()
        if uris:
            told("Searching the documents")
            view = earlier.view if earlier else await digest.digest(self._core.workspace)
            while not await certificates.withdraw_noted(self._core.workspace, request, uris, view):
                told("A document has changed: searching again")
        told("Erasing the documents")
        await temporary_workspaces.drop_past(self._core.workspace)
        await self._until_erased(told)
        for store in stores:
            told(f"Waiting for the copy in {store}")
            await self._projector(store).catch_up()
        told("Rebuilding the index, to compare it")
        verdict, compared = await self._compared(told)
        async with self._core.workspace.transaction() as tx:
            pending = await certificates.pending(tx, request)
        assert pending, "it is deleted by this call alone"
        told("Searching the workspace")
        searched = await self._searched(pending, told)
        told("Waiting for standbys")
        standbys = await self._standbys()
        copies: dict[str, SearchedCopy] = {}
        for store in stores:
            told(f"Searching the copy in {store}")
            copies[store] = await self._searched_copy(store, searched.lookup)
        statement = _statement(pending, verdict, compared, searched, copies, standbys)
        await asyncio.to_thread(write_whole, file, signed(statement, key))
        await certificates.issued(self._core.workspace, request)
        return statement

    async def _matching(self, what: Sequence[str | Path]) -> list[str]:
        naming = Naming(self._core.settings.project_folder)
        found = await matching(self._core.workspace, [str(one) for one in what], naming, former=True)
        return sorted({uri for uris in found.values() for uri in uris})

    def _check(
        self, what: Sequence[str | Path], uris: Sequence[str], file: Path, earlier: PendingCertificate | None
    ) -> None:
        if not uris and earlier is None:
            raise UnknownDocument(f"there is no document {', '.join(map(str, what))}. Nothing was removed.")
        if not file.absolute().parent.is_dir():
            raise InvalidArgument(f"there is no folder {file.absolute().parent}. Nothing was removed.")
        if file.exists() and earlier is None:
            raise InvalidArgument(f"the file {file} exists. Nothing was removed. Name a new file for the certificate.")

    async def _stores(self) -> list[str]:
        """The other stores with a copy; ConfigError if one cannot be reached with the settings here."""
        async with self._core.workspace.transaction() as tx:
            stores = [one.store for one in await projections.listed(tx)]
        for store in stores:
            self._core.target(store)
        return list(stores)

    def _projector(self, store: str) -> Projector:
        workspace = self._core.workspace
        return Projector(workspace.database, self._core.target(store), only=workspace)

    async def _until_erased(self, told: StepListener) -> None:
        """Settle and erase until nothing is left to do, by this process or another."""
        while True:
            await self._core.settle()
            if await certificates.is_erased(self._core.workspace):
                return
            told("Waiting for another process that still works on removed documents")
            await asyncio.sleep(_LOOK_AGAIN)

    async def _compared(self, told: StepListener) -> tuple[Verdict, str]:
        """The comparison with a rebuild, repeated if the index changed meanwhile, and when it was made."""
        workspace = self._core.workspace
        await temporary_workspaces.drop_expired(await workspace.placed())
        for _ in range(_VERIFY_TRIES):
            before = await moment(workspace)
            async with rebuilt(self._core, unseen) as beside:
                verdict = await compare_with(workspace, beside.workspace, before)
            if not verdict.changed:
                break
            told("The index has changed: comparing it again")
        if verdict.changed:
            raise CertificateRefused(
                "the documents are erased, but the index changes all the time, so it could not be compared with a "
                "rebuild. Stop adding documents, and run the same command again."
            )
        if not verdict.exact:
            raise CertificateRefused(
                "the documents are erased, but the index does not match its documents. `trueweave verify` shows where."
            )
        async with workspace.transaction() as tx:
            return verdict, (await certificates.moment(tx))[1].isoformat()

    async def _searched(self, pending: PendingCertificate, told: StepListener) -> _Searched:
        """The search of the workspace, repeated while jobs and questions end that began before the removal."""
        begun = time.monotonic()
        while True:
            async with self._core.workspace.transaction(snapshot=True, unhurried=True) as tx:
                name, at = await certificates.moment(tx)
                leftovers, lookup = await search(tx, pending.fingerprints)
            found = {place: rows for place, rows in leftovers.found.items() if place not in _LOGS}
            if not found:
                return _Searched(leftovers, lookup, name, at.isoformat())
            if not found.keys() <= _PASSING or time.monotonic() - begun > _PATIENCE:
                raise _refusal(found)
            told("Waiting for work on the documents that another process has begun")
            await erasing.forget_answers(self._core.workspace)
            await asyncio.sleep(_LOOK_AGAIN)

    async def _standbys(self) -> Sequence[StandbyReach]:
        """The standbys, once they have everything that was searched, or once they had time for it."""
        begun = time.monotonic()
        async with self._core.workspace.transaction() as tx:
            position = await certificates.written(tx)
        while True:
            async with self._core.workspace.transaction() as tx:
                found = await certificates.standbys(tx, position)
            if all(one.has_all is not False for one in found) or time.monotonic() - begun > _STANDBY_PATIENCE:
                return found
            await asyncio.sleep(_LOOK_AGAIN)

    async def _searched_copy(self, store: str, lookup: Lookup) -> SearchedCopy:
        copy, _ = await projections.live(self._core.workspace, store)
        if copy is None:
            raise CertificateRefused(
                f"the documents are erased, but {store} has no complete copy that could be searched. Run `trueweave "
                f"project start {store}`, and then the same command again."
            )
        found = await search_copy(self._core.target(store), copy, lookup)
        if found.found:
            raise CertificateRefused(
                f"the documents are erased, but {found.found} items in {store} still hold text or ids of them. Run "
                f"`trueweave project rebuild {store}`, and then the same command again.",
                {store: found.found},
            )
        return found


def _refusal(found: Mapping[str, int]) -> CertificateRefused:
    places = ", ".join(f"{rows} in {place}" for place, rows in sorted(found.items()))
    if again := found.keys() & _ADDED_AGAIN:
        rows = sum(found[place] for place in again)
        return CertificateRefused(
            f"{rows} of the erased documents were added again meanwhile, so no certificate was written. Run the same "
            "command again to remove them again.",
            found,
        )
    return CertificateRefused(
        f"the documents are erased, but the workspace still has rows with text, uris or ids of them: {places}. No "
        "certificate was written. Remove what quotes them, and run the same command again.",
        found,
    )


def _statement(
    pending: PendingCertificate,
    verdict: Verdict,
    compared: str,
    searched: _Searched,
    copies: Mapping[str, SearchedCopy],
    standbys: Sequence[StandbyReach],
) -> dict[str, Any]:
    """What is signed. Everything in it is a text, a whole number, a truth value, a list or an object."""
    leftovers, marks = searched.leftovers, pending.fingerprints
    return {
        "format": FORMAT,
        "trueweave": version("trueweave"),
        "workspace": searched.workspace,
        "asked": pending.asked.isoformat(),
        "finished": searched.at,
        "documents": [dict(one) for one in pending.documents],
        "search": {
            "words": WORDS,
            "windows": int(marks.windows.size),
            "windows_in_other_documents": leftovers.elsewhere,
            "too_short": marks.short,
            "ids": int(marks.named.size),
            "columns": leftovers.columns,
            "columns_not_readable": list(leftovers.unreadable),
            "rows": leftovers.rows,
            "found_before": dict(pending.before),
            "found": {},
            "ids_in_logs": {place: rows for place, rows in leftovers.found.items() if place in _LOGS},
        },
        "view": {
            "before": pending.view,
            "after": verdict.digest,
            "rebuilt": verdict.rebuilt,
            "not_compared": list(verdict.left_out),
            "compared": compared,
        },
        "copies": {store: one._asdict() for store, one in copies.items()},
        "standbys": [one._asdict() for one in standbys],
        "not_covered": list(_NOT_COVERED),
    }
