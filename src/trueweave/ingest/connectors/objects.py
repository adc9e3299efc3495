"""Objects in a bucket: `s3://bucket/prefix`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

from httpcore2 import ConnectError

from trueweave.core.connectors import ConnectorContext, Fetched, Item
from trueweave.core.errors import ConfigError, ItemGone, SourceUnavailable, UnreadableFile
from trueweave.core.events import Skipped, Unreadable
from trueweave.ingest.connectors.http import ForbiddenAddress, checked_addresses

if TYPE_CHECKING:
    from obstore.store import S3Store

_SECRETS = ("access_key_id", "secret_access_key", "session_token")
_OPTIONS = ("endpoint", "region")
_PIECE = 2**20
_LISTED_AT_ONCE = 1000


class Bucket:
    """The objects of a bucket whose names begin with a prefix. Credentials, endpoint and region are those of the usual
    variables of AWS, unless they are given."""

    is_complete = True

    def __init__(self, address: str, context: ConnectorContext) -> None:
        try:
            import_module("obstore")
        except ModuleNotFoundError as error:
            raise ConfigError(
                f'reading buckets needs {error.name}, which is not installed. Run: pip install "trueweave[s3]".'
            ) from error
        context.check_secrets(*_SECRETS)
        parts = urlsplit(address)
        options = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if unknown := sorted(options.keys() - {*_OPTIONS}):
            raise ConfigError(f"{address} has an unknown option {unknown[0]!r}. There are {' and '.join(_OPTIONS)}.")
        self._address = parts._replace(query="", fragment="").geturl()
        self._bucket = parts.netloc
        self._prefix = unquote(parts.path).strip("/")
        self._context = context
        self._store = _store(self._bucket, context, options)

    def close(self) -> None:
        """Nothing is kept open."""

    def items(self) -> Iterator[Item | Unreadable | Skipped]:
        from obstore.exceptions import BaseError

        try:
            for batch in self._store.list(self._prefix or None, chunk_size=_LISTED_AT_ONCE):
                for found in batch:
                    yield from self._listed(dict(found))
        except BaseError as error:
            raise SourceUnavailable(f"{self._address} cannot be listed: {_reason(error)}") from error

    def _listed(self, found: dict[str, Any]) -> Iterator[Item | Skipped]:
        uri = f"s3://{self._bucket}/{found['path']}"
        if found["size"] > self._context.max_bytes:
            yield Skipped(uri, f"larger than {self._context.max_bytes:,} bytes")
        elif PurePosixPath(found["path"]).name.startswith("."):
            yield Skipped(uri, "hidden")
        else:
            version = found["e_tag"] or found["last_modified"].isoformat()
            yield Item(uri, version, {"path": found["path"]}, found["last_modified"])

    def fetch(self, item: Item, folder: Path, validator: str) -> Fetched | None:
        from obstore.exceptions import BaseError, NotFoundError

        key = str(item.metadata["path"])
        path = folder / PurePosixPath(key).name
        size = 0
        try:
            with path.open("wb") as file:
                for piece in self._store.get(key).stream(_PIECE):
                    size += len(piece)
                    if size > self._context.max_bytes:
                        raise UnreadableFile(f"{item.uri} is larger than {self._context.max_bytes:,} bytes.")
                    file.write(piece)
        except (NotFoundError, FileNotFoundError) as error:
            raise ItemGone(f"{item.uri} is no longer in the bucket.") from error
        except BaseError as error:
            raise UnreadableFile(f"{item.uri} cannot be fetched: {_reason(error)}") from error
        return Fetched(path)


def _store(bucket: str, context: ConnectorContext, options: dict[str, str]) -> S3Store:
    from obstore.exceptions import BaseError
    from obstore.store import S3Store

    if endpoint := options.get("endpoint"):
        _check_endpoint(endpoint, context)
    config: dict[str, Any] = dict(options)
    given = _given_credentials(context)
    if not given and not context.ambient_credentials:
        config["skip_signature"] = True
    seconds = timedelta(seconds=context.seconds)
    client: dict[str, Any] = {"timeout": seconds, "connect_timeout": seconds}
    if options.get("endpoint", "").startswith("http://"):
        client["allow_http"] = True
    how: dict[str, Any] = {"config": config, "client_options": client, "retry_config": {"max_retries": 2}}
    if given:  # not by `config`, to which the library adds a session token that it finds in the environment
        how["credential_provider"] = lambda: {**given, "expires_at": None}
    try:
        return S3Store(bucket, **how)
    except BaseError as error:
        raise ConfigError(f"s3://{bucket} cannot be opened: {_reason(error)}") from error


def _given_credentials(context: ConnectorContext) -> dict[str, str | None]:
    """The credentials that the caller gave; ConfigError if a part is missing."""
    id_, key, token = map(context.secret, _SECRETS)
    if not id_ and not key and not token:
        return {}
    if not id_ or not key:
        raise ConfigError("reading a bucket takes both secrets, access_key_id and secret_access_key, or neither.")
    return {"access_key_id": id_, "secret_access_key": key, "token": token}


def _check_endpoint(endpoint: str, context: ConnectorContext) -> None:
    """ConfigError if an endpoint is at an address that nothing may be fetched from. The library connects by itself, so
    this is checked beforehand."""
    try:
        parts = urlsplit(endpoint)
        checked_addresses(parts.hostname or "", parts.port or 443, context.networks)
    except (ForbiddenAddress, ConnectError, ValueError) as error:
        raise ConfigError(f"the endpoint {endpoint} cannot be used: {str(error).removesuffix('.')}.") from error


def _reason(error: Exception) -> str:
    """The first line of an error, which names the problem."""
    return f"{str(error).partition(chr(10))[0].strip().removesuffix('.')[:500]}."
