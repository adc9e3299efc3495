"""Logging in with a one-time code, which `trueweave ui` gives to the browser of its own user."""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable
from urllib.parse import quote

from trueweave.core.record import EVERY_GROUP
from trueweave.store.postgres.access.api_keys import ValidKey

_SECONDS = 600.0


class LocalLogin:
    """A code that is valid once, for ten minutes, and the host name that its session is for.

    Every user of a machine can connect to its ports, so a request from this machine proves nothing. Only those who can
    read the code can log in. The host name is random, because browsers send a cookie to all ports of a host.
    """

    def __init__(self, user: str, now: Callable[[], float] = time.monotonic) -> None:
        self.host = f"tw-{secrets.token_hex(8)}.localhost"
        self.caller = ValidKey("local", user, "admin", None, (EVERY_GROUP,))
        self._now = now
        self._code: str | None = secrets.token_urlsafe(32)
        self._ends = now() + _SECONDS

    def address(self, port: int, page: str = "/") -> str:
        """The address at which a browser logs in, to be led to this page of the UI. The code is in its fragment, which
        browsers do not send."""
        then = f"?next={quote(page, safe='/')}" if page != "/" else ""
        return f"http://{self.host}:{port}/ui/login{then}#code={self._code}"

    def take(self, code: str) -> bool:
        """Whether this is the code, and it is still valid. It is not valid again."""
        if self._code is None or self._now() >= self._ends:
            return False
        if not hmac.compare_digest(self._code.encode(), code.encode()):
            return False
        self._code = None
        return True
