"""Log lines of the server."""

import logging

from trueweave.server.logs import OneLineFormatter, RequestFilter, begin_request


def test_a_line_is_one_line_with_its_request_whatever_a_message_quotes() -> None:
    begin_request("abc")
    quoted = "x\n2026-01-01 INFO forged \x1b[31m é"
    record = logging.LogRecord("trueweave.server", logging.INFO, "", 0, "failed: %s", (quoted,), None)
    assert RequestFilter().filter(record)
    line = OneLineFormatter("%(request)s %(message)s").format(record)
    assert line == "abc failed: x\\n2026-01-01 INFO forged \\x1b[31m é"
