"""Log lines of the server."""

import json
import logging
import sys

from trueweave.server.logs import JsonFormatter, OneLineFormatter, RequestFilter, begin_request


def test_a_line_is_one_line_with_its_request_whatever_a_message_quotes() -> None:
    begin_request("abc")
    quoted = "x\n2026-01-01 INFO forged \x1b[31m é"
    record = logging.LogRecord("trueweave.server", logging.INFO, "", 0, "failed: %s", (quoted,), None)
    assert RequestFilter().filter(record)
    line = OneLineFormatter("%(request)s %(message)s").format(record)
    assert line == "abc failed: x\\n2026-01-01 INFO forged \\x1b[31m é"


def test_as_json_a_record_is_one_line_with_its_workspace_fields_and_traceback() -> None:
    state: dict[str, object] = {}
    begin_request("abc", state)
    state["workspace"] = 7  # it is known later
    try:
        raise ValueError("a\nb")
    except ValueError:
        failure = sys.exc_info()
    record = logging.LogRecord("trueweave.server", logging.ERROR, "", 0, "failed: %s", ("x\ny",), failure)
    record.__dict__ |= {"event": "request.problem", "code": "internal", "caller": ""}
    assert RequestFilter().filter(record)
    line = JsonFormatter().format(record)
    assert "\n" not in line
    told = json.loads(line)
    assert told["time"].endswith("Z")
    assert told["exception"].endswith("ValueError: a\nb")
    del told["time"], told["exception"]
    assert told == {
        "level": "ERROR",
        "logger": "trueweave.server",
        "message": "failed: x\ny",
        "request": "abc",
        "workspace": 7,
        "event": "request.problem",
        "code": "internal",
    }


def test_secrets_that_a_message_quotes_are_not_logged() -> None:
    key, url = "twk_3f9c01d2a7b4_Abc-_9xyz", "postgresql://me:pa55word@host/db"
    record = logging.LogRecord("trueweave", logging.ERROR, "", 0, "%s and %s", (key, url), None)
    RequestFilter().filter(record)
    for line in (JsonFormatter().format(record), OneLineFormatter("%(message)s").format(record)):
        assert "twk_3f9c01d2a7b4_*** and postgresql://me:***@host/db" in line
