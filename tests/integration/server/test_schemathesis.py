"""Requests made from the server's own description: none ends in a 5xx, and each is answered as the description says."""

import asyncio
import threading
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.pytest.lazy import get_all_tests
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.integration.serving import Served, fill, serving
from trueweave.core.history import AS_OF
from trueweave.server import activity
from trueweave.server.app import create_app
from trueweave.testing import Databases

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    response_headers_conformance,
]


EXAMPLES = settings(
    max_examples=4,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@schemathesis.serializer("application/x-ndjson")
def as_line(_: Any, value: Any) -> bytes:
    """A line as it is."""
    return str(value).encode(errors="replace")


DESCRIPTION = create_app().openapi()
OPERATIONS = [(method.upper(), path) for path, operations in DESCRIPTION["paths"].items() for method in operations]

# Reading the description takes 0.2 s of processor time.
every_operation = cache(lambda: schemathesis.openapi.from_dict(DESCRIPTION))


@pytest.fixture(scope="module")
def served(databases: Databases) -> Iterator[tuple[Served, str]]:
    """A server in a thread, with a workspace that requests may enter, and a key for everything in it."""
    url, ready, stop = databases.make(), threading.Event(), asyncio.Event()
    found: list[tuple[Served, str, asyncio.AbstractEventLoop]] = []

    async def serve() -> None:
        async with serving(url, extractor="capitals") as server:
            await fill(server.database, "0", "Byron wrote.")
            found.append((server, await server.key("admin"), asyncio.get_running_loop()))
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert ready.wait(30)
    server, key, loop = found[0]
    yield server, key
    loop.call_soon_threadsafe(stop.set)
    thread.join()
    databases.drop(url)


# The server's thread draws random numbers while Hypothesis makes a request.
@pytest.mark.filterwarnings("ignore:Do not use the `random` module:hypothesis.errors.HypothesisDeprecationWarning")
@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_every_answer_is_as_described(
    method: str, path: str, served: tuple[Served, str], full: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The requests are generated here, because `schema.parametrize` would generate those of all operations when each
    worker collects the tests. The full run also tries every boundary of every field."""
    server, key = served
    monkeypatch.setattr(activity, "LONGEST", 0)  # streams of activity end after their first event

    def check(case: Case[Any]) -> None:
        if case.path_parameters and "workspace" in case.path_parameters and case.method != "DELETE":
            case.path_parameters["workspace"] = "0"  # a name that is made up is there nearly never
        case.headers.pop(AS_OF, None)  # nearly every time is refused, which would hide all other answers
        headers = {"Authorization": f"Bearer {key}"}
        case.call_and_validate(base_url=server.url, headers=headers, checks=CHECKS, timeout=20)

    schema = every_operation().include(method=method, path=path)
    schema.config.phases.coverage.enabled = full
    [made] = get_all_tests(schema=schema, test_func=check, settings=EXAMPLES, given_kwargs={})
    assert isinstance(made, Ok)
    _, test = made.ok()
    test()
