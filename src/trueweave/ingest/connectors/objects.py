"""Objects in a bucket: `s3://bucket/prefix`, `gs://bucket/prefix` or `az://account/container/prefix`."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from importlib import import_module
from ipaddress import ip_network
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

import httpx2

from trueweave.core.connectors import ConnectorContext, Fetched, Item, Network
from trueweave.core.errors import ConfigError, ItemGone, SourceUnavailable, UnreadableFile
from trueweave.core.events import Skipped, Unreadable
from trueweave.ingest.connectors.checked_proxy import CheckedProxy

_PIECE = 2**20
_LISTED_AT_ONCE = 1000
_LARGEST_LIST = 32 * 2**20  # bytes received for the objects listed at once
_SPARE = 2**20  # bytes received beside an object: credentials and encryption
_REGION = re.compile(r"[A-Za-z0-9-]{0,64}")
_ACCOUNT = re.compile(r"[a-z0-9]{3,24}")
_CONTAINER = re.compile(r"[a-z0-9$-]{1,63}")
# Where cloud machines, containers and pods get their credentials.
_METADATA = tuple(
    ip_network(one) for one in ("169.254.169.254", "169.254.170.2", "169.254.170.23", "fd00:ec2::23", "fd00:ec2::254")
)


@dataclass(frozen=True)
class _Given:
    """Credentials that the caller gave: to be returned by a provider of credentials, or for the configuration."""

    credentials: Mapping[str, str | None] | None = None
    config: Mapping[str, str] | None = None


@dataclass(frozen=True)
class _Provider:
    """What differs between providers: the library's class, options with their names in it, secrets, and how they are
    used."""

    store: str
    options: Mapping[str, str]
    secrets: tuple[str, ...]
    given: Callable[[ConnectorContext], _Given]


class Bucket:
    """The objects of a bucket, or of a container of Azure, whose names begin with a prefix. Credentials, endpoint and
    region are those of the provider's usual variables, unless they are given."""

    is_complete = True

    def __init__(self, address: str, context: ConnectorContext) -> None:
        try:
            import_module("obstore")
        except ModuleNotFoundError as error:
            raise ConfigError(
                f'reading buckets needs {error.name}, which is not installed. Run: pip install "trueweave[s3]".'
            ) from error
        parts = urlsplit(address)
        provider = _PROVIDERS[parts.scheme]
        context.check_secrets(*provider.secrets)
        options = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if unknown := sorted(options.keys() - provider.options.keys()):
            known = " and ".join(provider.options)
            raise ConfigError(f"{address} has an unknown option {unknown[0]!r}. Options of {parts.scheme}://: {known}.")
        _check_options(options)
        self._address = parts._replace(query="", fragment="").geturl()
        self._bucket, self._prefix, config = _place(parts)
        self._context = context
        with ExitStack() as stack:
            self._proxy = CheckedProxy(_networks(context, options))
            stack.callback(self._proxy.close)
            config |= {provider.options[name]: value for name, value in options.items()}
            self._store = _store(self._bucket, provider, config, context, self._proxy)
            self._opened = stack.pop_all()

    def close(self) -> None:
        self._opened.close()

    def items(self) -> Iterator[Item | Unreadable | Skipped]:
        from obstore.exceptions import BaseError

        try:
            for batch in self._batches():
                for found in batch:
                    yield from self._listed(dict(found))
        except BaseError as error:
            raise SourceUnavailable(f"{self._address} cannot be listed: {self._reason(error)}") from error

    def _batches(self) -> Iterator[Any]:
        """The objects in batches, each within the limits: a server may send any number of pages without objects."""
        batches = self._store.list(self._prefix or None, chunk_size=_LISTED_AT_ONCE)
        while True:
            self._proxy.allow(_LARGEST_LIST, self._context.seconds)
            batch = next(batches, None)
            if batch is None:
                return
            yield batch

    def _listed(self, found: dict[str, Any]) -> Iterator[Item | Skipped]:
        uri = f"{self._bucket}/{found['path']}"
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
        self._proxy.allow(self._context.max_bytes + _SPARE, self._context.seconds)
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
            raise UnreadableFile(f"{item.uri} cannot be fetched: {self._reason(error)}") from error
        return Fetched(path)

    def _reason(self, error: Exception) -> str:
        """Why a request failed: by the proxy, if it refused something, and else by the library."""
        problem = self._proxy.problem.removesuffix(".")
        is_ambient = self._context.ambient_credentials and not self._context.secrets
        if is_ambient and any(f"address {one.network_address}," in problem for one in _METADATA):
            # Allowing the address, as the problem advises, would let the endpoint redirect to it.
            return (
                "there are no credentials for the endpoint. Give them as secrets; those of the machine are used "
                "without an endpoint only."
            )
        return f"{problem}." if problem else _reason(error)


def _networks(context: ConnectorContext, options: dict[str, str]) -> tuple[Network, ...]:
    """The networks that a bucket may be read from. The library gets credentials of the machine at private addresses.
    They are allowed only if it may use such credentials, and if no endpoint is given, which could redirect to them."""
    is_ambient = context.ambient_credentials and not context.secrets and "endpoint" not in options
    return context.networks + (_METADATA if is_ambient else ())


def _place(parts: SplitResult) -> tuple[str, str, dict[str, Any]]:
    """The address of a bucket, which begins the uris of its objects, the prefix, and the configuration that names the
    bucket."""
    if not parts.netloc:
        raise ConfigError(f"{parts.geturl()} has no name of a bucket.")
    if parts.scheme != "az":
        return f"{parts.scheme}://{parts.netloc}", unquote(parts.path).strip("/"), {"bucket": parts.netloc}
    # An account is part of the address, because its containers have names that other accounts may have, too.
    container, _, prefix = parts.path.lstrip("/").partition("/")
    if not _ACCOUNT.fullmatch(parts.netloc) or not _CONTAINER.fullmatch(container):
        raise ConfigError(f"{parts.geturl()} is not the address of a container. Write az://ACCOUNT/CONTAINER/PREFIX.")
    config = {"account_name": parts.netloc, "container_name": container}
    return f"az://{parts.netloc}/{container}", unquote(prefix).strip("/"), config


def _store(
    bucket: str, provider: _Provider, config: dict[str, Any], context: ConnectorContext, proxy: CheckedProxy
) -> Any:
    from obstore.exceptions import BaseError

    given = provider.given(context)
    if not given.credentials and not given.config and not context.ambient_credentials:
        config["skip_signature"] = True
    seconds = timedelta(seconds=context.seconds)
    client: dict[str, Any] = {"timeout": seconds, "connect_timeout": seconds, "proxy_url": proxy.url}
    if any(str(value).startswith("http://") for value in config.values()):
        client |= {"allow_http": True, "pool_max_idle_per_host": "0"}  # the proxy serves one request per connection
    how: dict[str, Any] = {"client_options": client, "retry_config": {"max_retries": 2}}
    if given.credentials:  # not by `config`, to which the library adds what it finds in the environment
        how["credential_provider"] = lambda: {**given.credentials, "expires_at": None}
    try:
        return getattr(import_module("obstore.store"), provider.store)(config={**config, **(given.config or {})}, **how)
    except BaseError as error:
        raise ConfigError(f"{bucket} cannot be opened: {_reason(error)}") from error


def _given_to_amazon(context: ConnectorContext) -> _Given:
    id_, key, token = map(context.secret, ("access_key_id", "secret_access_key", "session_token"))
    if not id_ and not key and not token:
        return _Given()
    if not id_ or not key:
        raise ConfigError("reading a bucket takes both secrets, access_key_id and secret_access_key, or neither.")
    return _Given({"access_key_id": id_, "secret_access_key": key, "token": token})


def _given_to_google(context: ConnectorContext) -> _Given:
    key = context.secret("service_account_key")
    if not key:
        return _Given()
    if any(name.upper() == "GOOGLE_BEARER_TOKEN" for name in os.environ):
        raise ConfigError(
            "the variable GOOGLE_BEARER_TOKEN is set, which the library would use in place of service_account_key. "
            "Unset it."
        )
    try:
        found = json.loads(key)
    except ValueError:
        found = None
    if not isinstance(found, dict) or not {"client_email", "private_key", "private_key_id"} <= found.keys():
        raise ConfigError("service_account_key is not a key of a service account: the content of its JSON file.")
    return _Given(config={"service_account_key": key})


def _given_to_azure(context: ConnectorContext) -> _Given:
    key, token = context.secret("account_key"), context.secret("sas_token")
    if key and token:
        raise ConfigError("reading a container takes one of the secrets account_key and sas_token, not both.")
    if key:
        return _Given({"access_key": key})
    return _Given({"sas_token": token.removeprefix("?")} if token else None)


_PROVIDERS = {
    "s3": _Provider(
        "S3Store",
        {"endpoint": "endpoint", "region": "region"},
        ("access_key_id", "secret_access_key", "session_token"),
        _given_to_amazon,
    ),
    "gs": _Provider("GCSStore", {"endpoint": "base_url"}, ("service_account_key",), _given_to_google),
    "az": _Provider("AzureStore", {"endpoint": "endpoint"}, ("account_key", "sas_token"), _given_to_azure),
}


def _check_options(options: dict[str, str]) -> None:
    """ConfigError if an option is invalid. The library puts the region into the name of the host, and panics if it gets
    an invalid url."""
    region, endpoint = options.get("region", ""), options.get("endpoint")
    if not _REGION.fullmatch(region):
        raise ConfigError(f"{region[:100]!r} is not a region. Regions look like us-east-1.")
    if endpoint is not None and not _is_url(endpoint):
        raise ConfigError(f"the endpoint {endpoint[:100]!r} is not an address of HTTP.")


def _is_url(text: str) -> bool:
    """Whether a text is a valid url of HTTP."""
    try:
        httpx2.URL(text)
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and text.isascii()
    except (httpx2.InvalidURL, ValueError):
        return False


def _reason(error: Exception) -> str:
    """The first line of an error, which names the problem."""
    return f"{str(error).partition(chr(10))[0].strip().removesuffix('.')[:500]}."
