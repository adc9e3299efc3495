"""Which request a log line is about."""

from __future__ import annotations

import logging
from contextvars import ContextVar

_FORMAT = "%(asctime)s %(levelname)s %(request)s %(name)s: %(message)s"
_request: ContextVar[str] = ContextVar("request", default="-")


def begin_request(request_id: str) -> None:
    """Let lines that are logged from here on, and in tasks that are begun from here, be about this request."""
    _request.set(request_id)


class RequestFilter(logging.Filter):
    """Gives each record the id of its request, as `request`: a dash where it is about none."""

    def filter(self, record: logging.LogRecord) -> bool:
        if not hasattr(record, "request"):
            record.request = _request.get()
        return True


def log_to_stderr() -> None:
    """Log to stderr, each line with its request."""
    handler = logging.StreamHandler()
    handler.addFilter(RequestFilter())
    handler.setFormatter(logging.Formatter(_FORMAT))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    logging.getLogger("trueweave.server").setLevel(logging.INFO)
