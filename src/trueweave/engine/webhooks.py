"""Alerts sent to webhooks, in the form of Standard Webhooks (standardwebhooks.com), signed with Ed25519."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from trueweave.core.connectors import ConnectorContext, Network
from trueweave.core.errors import AlertNotSent, InvalidArgument, UnreadableFile, WebhookNotAllowed
from trueweave.core.parameters import values
from trueweave.core.settings import Settings
from trueweave.core.signing import read_key
from trueweave.core.watches import Alert
from trueweave.ingest.connectors.http import HttpFetcher, checked_addresses

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_SECONDS = 10.0  # for a whole request
_LONGEST = 2000  # characters of an address
_ALL = "*"
_PORTS = {"http": 80, "https": 443}
_FIRST_REFUSED, _FIRST_ACCEPTED = 300, 200


@dataclass(frozen=True)
class Webhook:
    """An address that alerts are sent to, the key that they are signed with, and the private networks that may be
    reached."""

    url: str
    key: Ed25519PrivateKey
    networks: tuple[Network, ...]

    @classmethod
    def of(cls, settings: Settings, workspace: str, url: str, *, is_caller: bool) -> Webhook:
        """The webhook at an address. InvalidArgument if that is no address of HTTP, ConfigError if there is no key to
        sign with. Those of callers of a server must be on hosts that the settings allow: WebhookNotAllowed."""
        try:
            parts = urlsplit(url)
            host, is_http = parts.hostname, parts.scheme in _PORTS
            _ = parts.port
        except ValueError:
            host, is_http = None, False
        if not (host and is_http) or len(url) > _LONGEST or parts.username is not None:
            raise InvalidArgument(f"{url[:200]!r} cannot be a webhook. Give an address that begins with https://.")
        allowed = {*settings.webhook_hosts.get(_ALL, ()), *settings.webhook_hosts.get(workspace, ())}
        if is_caller and host not in allowed:
            raise WebhookNotAllowed(
                f"webhooks at {host} are not allowed in the workspace {workspace}: the setting webhook_hosts does not "
                "have this host for it."
            )
        return cls(url, read_key(settings.signing_key_file), settings.source_networks)

    def send(self, workspace: str, alert: Alert) -> None:
        """Send an alert; AlertNotSent if it is not accepted within ten seconds. Redirects are not followed."""
        body = json.dumps(payload(workspace, alert), ensure_ascii=False, separators=(",", ":")).encode()
        headers = {"content-type": "application/json", **self.signature(f"{workspace}-{alert.id}", body)}
        fetcher = HttpFetcher(ConnectorContext({}, self.networks, seconds=_SECONDS, pause=0.0))
        try:
            self._check_plain()
            with fetcher.request("POST", self.url, headers, body, redirects=0) as (response, _):
                status = response.status
        except UnreadableFile as error:
            raise AlertNotSent(str(error)) from error
        finally:
            fetcher.close()
        if not _FIRST_ACCEPTED <= status < _FIRST_REFUSED:
            raise AlertNotSent(f"{self.url} answered with status {status}.")

    def signature(self, id_: str, body: bytes) -> Mapping[str, str]:
        """The headers of Standard Webhooks for a message."""
        at = str(int(time.time()))
        signed = self.key.sign(b".".join((id_.encode(), at.encode(), body)))
        return {
            "webhook-id": id_,
            "webhook-timestamp": at,
            "webhook-signature": f"v1a,{base64.b64encode(signed).decode()}",
        }

    def _check_plain(self) -> None:
        """Without TLS, alerts are sent only to the private networks of the settings."""
        parts = urlsplit(self.url)
        if parts.scheme == "https" or parts.hostname is None:
            return
        for address in checked_addresses(parts.hostname, parts.port or _PORTS["http"], self.networks):
            found = ip_address(address)
            if not any(one.version == found.version and found in one for one in self.networks):
                raise AlertNotSent(
                    f"{self.url} is not encrypted, and not in the private networks of the setting source_networks. "
                    "Use https."
                )


def payload(workspace: str, alert: Alert) -> dict[str, Any]:
    """The body of a request: an event with the alert as the REST API shows it."""
    data = values(alert)
    data |= {"at": alert.at.isoformat(), "passages": [values(one) for one in alert.passages], "workspace": workspace}
    del data["delivery"]
    return {"type": "alert", "timestamp": alert.at.isoformat(), "data": data}
