"""Certificates of erasure that are not issued yet: what was asked for, and hashes by which to search for what is left.

A row is written before anything is removed, and deleted when the certificate is written, so that the same command
continues after its process was killed.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import numpy as np
from psycopg.types.json import Jsonb

from trueweave.core.errors import InvalidArgument
from trueweave.store.postgres.binary_params import Ids, Texts
from trueweave.store.postgres.db import Transaction, Workspace
from trueweave.store.postgres.locks import nothing_arrives
from trueweave.store.postgres.record import erasing
from trueweave.store.postgres.record.leftovers import Fingerprints, fingerprints, search
from trueweave.store.postgres.record.record import withdraw_in
from trueweave.text.windows import Hashes

_MOST_WINDOWS = 10_000_000
_AT_ONCE = 100  # documents read together


@dataclass(frozen=True)
class PendingCertificate:
    """A removal whose certificate is not written yet. `documents` are the hashes of uris and contents, `before` the
    rows that the search found before the removal."""

    asked: datetime
    documents: Sequence[Mapping[str, str]]
    view: str
    fingerprints: Fingerprints
    before: Mapping[str, int]


class StandbyReach(NamedTuple):
    """A standby, and whether it has everything up to a position; None if the owner of the schema may not know."""

    name: str
    has_all: bool | None


def request_of(what: Iterable[str]) -> bytes:
    """The hash of what is to be removed, in any order."""
    return hashlib.sha256("\n".join(sorted(set(what))).encode()).digest()


async def pending(tx: Transaction, request: bytes) -> PendingCertificate | None:
    """The pending certificate of a request, if there is one."""
    rows = await tx.rows("certificate.pending", request=request)
    if not rows:
        return None
    [(secret, asked, documents, view, sizes, windows, named, short, before)] = rows
    marks = Fingerprints(secret, tuple(sizes), _unpacked(windows), _unpacked(named), short)
    return PendingCertificate(asked, documents, view, marks, before)


async def withdraw_noted(workspace: Workspace, request: bytes, uris: Sequence[str], view: str) -> bool:
    """Note what is to be erased, and withdraw it, in one transaction. False if a new version of one of the documents
    was stored meanwhile: then nothing was changed, and it can be tried again."""
    async with workspace.transaction(snapshot=True, unhurried=True) as tx:
        earlier = await pending(tx, request)
        secret = earlier.fingerprints.secret if earlier else secrets.token_bytes(32)
        seen, documents, marks = await _read(tx, secret, sorted(set(uris)))
        if earlier:
            marks = earlier.fingerprints.merged(marks)
            known = [dict(one) for one in earlier.documents]
            documents = [*known, *(one for one in documents if one not in known)]
        if marks.windows.size > _MOST_WINDOWS:
            raise InvalidArgument(
                f"these documents have more than {_MOST_WINDOWS:,} different runs of words, which do not fit into one "
                "certificate. Nothing was removed. Remove them in several parts."
            )
        before, _ = await search(tx, marks)
    async with workspace.transaction(unhurried=True) as tx:
        await nothing_arrives(tx)
        if {row[1] for row in await tx.rows("certificate.documents", uris=Texts(uris))} != seen:
            return False
        await tx.run(
            "certificate.note",
            request=request,
            secret=secret,
            documents=Jsonb(documents),
            view=earlier.view if earlier else view,
            sizes=list(marks.sizes),
            windows=marks.windows.astype("<u8").tobytes(),
            named=marks.named.astype("<u8").tobytes(),
            short=marks.short,
            before=Jsonb(dict(earlier.before if earlier else before.found)),
        )
        await withdraw_in(tx, uris, erase=True)
    return True


async def _read(
    tx: Transaction, secret: bytes, uris: Sequence[str]
) -> tuple[set[UUID], list[dict[str, str]], Fingerprints]:
    """The ids of all versions of some documents, their hashes for the certificate, and their fingerprints."""
    seen: set[UUID] = set()
    documents: list[dict[str, str]] = []
    marks = fingerprints(secret, (), ())
    for start in range(0, len(uris), _AT_ONCE):
        texts: list[str] = []
        named: list[object] = []
        stored: list[UUID] = []
        for uri, id_, content, source, title, text in await tx.rows(
            "certificate.documents", uris=Texts(uris[start : start + _AT_ONCE])
        ):
            seen.add(id_)
            named += [one for one in (uri, id_, content, source) if one is not None]
            texts += [title, *([] if text is None else [text])]
            if text is None:
                stored.append(id_)
            documents.append({"uri_sha256": _hashed(uri), "content": (content or id_).hex})
        for _, id_, hash_, text in await tx.rows("certificate.chunks", documents=Ids(stored)):
            named += [id_, hash_]
            texts.append(text)
        marks = marks.merged(fingerprints(secret, [text for text in texts if text], named))
    return seen, sorted(documents, key=lambda one: (one["uri_sha256"], one["content"])), marks


async def is_erased(workspace: Workspace) -> bool:
    """Whether nothing is left to be erased of documents that were removed."""
    await erasing.erase(workspace)
    async with workspace.transaction() as tx:
        return not await erasing.any_left(tx)


async def issued(workspace: Workspace, request: bytes) -> None:
    """Forget a pending certificate, as it is written."""
    async with workspace.transaction() as tx:
        await tx.run("certificate.issued", request=request)


async def moment(tx: Transaction) -> tuple[str, datetime]:
    """The name of the workspace, and the time by the database's clock."""
    [(name, at)] = await tx.rows("certificate.moment")
    return name, at


async def written(tx: Transaction) -> str:
    """The position up to which the server has written its log, which standbys replay."""
    return str(await tx.value("certificate.written"))


async def standbys(tx: Transaction, position: str) -> list[StandbyReach]:
    """The standbys of this server, and whether they have replayed its log up to a position."""
    return [StandbyReach(*row) for row in await tx.rows("certificate.standbys", position=position)]


def _hashed(uri: str) -> str:
    return hashlib.sha256(uri.encode()).hexdigest()


def _unpacked(hashes: bytes) -> Hashes:
    return np.frombuffer(hashes, "<u8").astype(np.uint64)
