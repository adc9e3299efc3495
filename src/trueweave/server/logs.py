"""Log lines with their request and workspace, as text or as JSON objects."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Literal

from opentelemetry import trace

LogFormat = Literal["text", "json"]

_FORMAT = "%(asctime)s %(levelname)s %(request)s %(name)s: %(message)s"
_request: ContextVar[str] = ContextVar("request", default="-")
_state: ContextVar[Mapping[str, Any] | None] = ContextVar("state", default=None)

_SECRETS = re.compile(r"(twk_[0-9a-f]+_)[\w-]+|(://[^:/@\s]+:)[^@/\s]+(?=@)")

# Attributes of every record. All others were given as `extra` and become fields.
_COMMON = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "request", "taskName", "color_message"}


def begin_request(request_id: str, state: Mapping[str, Any] | None = None) -> None:
    """Attribute log lines from here on, and in tasks started from here, to this request. Its state has the workspace
    once that is known."""
    _request.set(request_id)
    _state.set(state)


def current_request() -> tuple[str, Mapping[str, Any]]:
    """The id and the state of the current request; a dash and an empty mapping outside of requests."""
    return _request.get(), _state.get() or {}


class RequestFilter(logging.Filter):
    """Adds the id of its request to each record as `request`, or a dash outside of requests; and the number of its
    workspace as `workspace`, if the record does not name one."""

    def filter(self, record: logging.LogRecord) -> bool:
        if not hasattr(record, "request"):
            record.request = _request.get()
        if not hasattr(record, "workspace"):
            record.workspace = (_state.get() or {}).get("workspace")
        return True


class OneLineFormatter(logging.Formatter):
    """Formats a record as one line: control characters in messages are escaped. Tracebacks follow."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (of the library)
        line = super().formatMessage(record)
        if line.isprintable():
            return line
        return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in line)

    def format(self, record: logging.LogRecord) -> str:
        return redacted(super().format(record))


class JsonFormatter(logging.Formatter):
    """Formats a record as one JSON object on one line, including a traceback."""

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC)
            .isoformat(timespec="milliseconds")
            .replace("+00:00", "Z"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if (request := getattr(record, "request", "-")) != "-":
            fields["request"] = request
        if (traced := trace.get_current_span().get_span_context()).is_valid:
            fields |= {"trace_id": f"{traced.trace_id:032x}", "span_id": f"{traced.span_id:016x}"}
        fields |= {
            name: value for name, value in vars(record).items() if name not in _COMMON and value not in (None, "")
        }
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        if record.stack_info:
            fields["stack"] = record.stack_info
        return redacted(json.dumps(fields, default=str))


def redacted(line: str) -> str:
    """A line with the secrets that an error may quote masked: those of keys, and passwords in URLs."""
    return _SECRETS.sub(lambda found: f"{found[1] or found[2]}***", line)


def log_to_stderr(form: LogFormat = "text") -> None:
    """Log only to stderr, each line with its request id."""
    handler = logging.StreamHandler()
    handler.addFilter(RequestFilter())
    handler.setFormatter(JsonFormatter() if form == "json" else OneLineFormatter(_FORMAT))
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.getLogger("trueweave.server").setLevel(logging.INFO)
