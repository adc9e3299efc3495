"""Mails of a Maildir folder: `maildir:///home/ada/Maildir`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from trueweave.core.connectors import ConnectorContext, Fetched, Item
from trueweave.core.errors import ConfigError, ItemGone, SourceUnavailable
from trueweave.core.events import Skipped, Unreadable
from trueweave.core.record import Json, is_storable
from trueweave.ingest.loading.mail import Mail
from trueweave.ingest.parser_session import ParserSession
from trueweave.ingest.parsing import ParserLimits

_FOLDERS = ("new", "cur")  # mails are moved in this order, so none is overlooked
_FLAGS = ":"  # between the name of a mail, which stays, and its flags


class Maildir:
    """The mails in one folder. A mail keeps its name when it is read, flagged or moved from `new` to `cur`."""

    is_complete = True

    def __init__(self, address: str, context: ConnectorContext) -> None:
        context.check_secrets()
        parts = urlsplit(address)
        if parts.netloc or parts.query or parts.fragment or not parts.path.startswith("/"):
            raise ConfigError(f"{address} is not the address of a folder. Write maildir:///home/ada/Maildir.")
        self._folder = Path(unquote(parts.path))
        self._uri = f"maildir://{parts.path.rstrip('/')}"
        self._most = context.max_bytes
        self._session = ParserSession(ParserLimits())

    def close(self) -> None:
        self._session.close()

    def items(self) -> Iterator[Item | Unreadable | Skipped]:
        for folder in _FOLDERS:
            try:
                with os.scandir(self._folder / folder) as entries:
                    for entry in entries:
                        yield from self._listed(folder, entry)
            except (FileNotFoundError, NotADirectoryError) as error:
                raise SourceUnavailable(
                    f"{self._folder} is not a Maildir folder: it has no folder {folder!r}. Check the path."
                ) from error
            except OSError as error:
                raise SourceUnavailable(f"{self._folder} cannot be listed: {error.strerror}.") from error

    def _listed(self, folder: str, entry: os.DirEntry[str]) -> Iterator[Item | Skipped]:
        if entry.name.startswith(".") or not entry.is_file(follow_symlinks=False):
            return
        if not is_storable(entry.name):
            yield Skipped(ascii(entry.name), "having a name that is not UTF-8")
            return
        uri = f"{self._uri}/{quote(entry.name.partition(_FLAGS)[0], safe='.,=+-_')}"
        where: dict[str, Json] = {"path": f"{folder}/{entry.name}"}
        try:
            found = entry.stat(follow_symlinks=False)
        except FileNotFoundError:  # another program has moved it; `fetch` looks where it is
            yield Item(uri, "", where)
            return
        if found.st_size > self._most:
            yield Skipped(uri, f"larger than {self._most:,} bytes")
        else:
            yield Item(uri, f"{found.st_mtime_ns}-{found.st_size}", where)

    def fetch(self, item: Item, folder: Path, validator: str) -> Fetched | None:
        path = folder / "mail.eml"
        try:
            shutil.copyfile(self._path(str(item.metadata["path"])), path, follow_symlinks=False)
        except FileNotFoundError as error:
            raise ItemGone(f"{item.uri} no longer exists.") from error
        return Fetched(path, loader=Mail(session=self._session))

    def _path(self, listed: str) -> Path:
        """Where a mail is now: programs rename it when they change its flags."""
        path = self._folder / listed
        if path.exists():
            return path
        name = path.name.partition(_FLAGS)[0]
        for folder in _FOLDERS:
            with os.scandir(self._folder / folder) as entries:
                for entry in entries:
                    if entry.name.partition(_FLAGS)[0] == name:
                        return Path(entry.path)
        return path
