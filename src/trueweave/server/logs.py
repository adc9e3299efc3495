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


class OneLineFormatter(logging.Formatter):
    """A record as one line, whatever a message quotes: control characters are escaped. Tracebacks follow."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (of the library)
        return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in super().formatMessage(record))


def log_to_stderr() -> None:
    """Log to stderr, each line with its request, and nowhere else."""
    handler = logging.StreamHandler()
    handler.addFilter(RequestFilter())
    handler.setFormatter(OneLineFormatter(_FORMAT))
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.getLogger("trueweave.server").setLevel(logging.INFO)
