"""A workspace, and processes that are present in its database."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pytest

from tests.servers import wait_for_port
from trueweave.extend import Database, Workspace
from trueweave.store.postgres.queue.liveness import Liveness


@pytest.fixture
async def workspace(database: Database) -> Workspace:
    """An empty workspace."""
    found = await database.find_workspace("test", make=True)
    assert found is not None
    return found


@pytest.fixture
async def liveness(database: Database) -> AsyncIterator[Liveness]:
    """One process."""
    async with Liveness(database) as made:
        yield made


@pytest.fixture
async def processes(database: Database) -> AsyncIterator[list[Liveness]]:
    """Three processes, as far as the database can tell."""
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(Liveness(database)) for _ in range(3)]


@pytest.fixture
def neo4j(neo4j_url: str) -> Iterator[Any]:
    """A driver to Neo4j. What is written there without belonging to a copy of a workspace is removed at the end."""
    from neo4j import GraphDatabase

    place = urlsplit(neo4j_url)
    address = f"{place.scheme}://{place.hostname}:{place.port}"
    with GraphDatabase.driver(address, auth=(place.username or "", place.password or "")) as driver:
        yield driver
        driver.execute_query("MATCH (n:Entity) WHERE n.copy IS NULL DETACH DELETE n")


SESSIONS = 3  # of PostgreSQL, for all clients of PgBouncer together
PGBOUNCER = """[databases]
* = host={host} port={port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {listen}
unix_socket_dir =
auth_type = plain
auth_file = {folder}/users
pool_mode = transaction
default_pool_size = {sessions}
max_client_conn = 200
"""


@pytest.fixture(scope="module")
def pgbouncer(server_url: str) -> Iterator[int]:
    """The port of a PgBouncer in front of the test server."""
    program = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        pytest.skip("PgBouncer is not installed: apt-get install pgbouncer")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = urlsplit(server_url)
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root)
        folder.chmod(0o755)
        (folder / "users").write_text(f'"{server.username}" "{server.password}"\n')
        configuration = PGBOUNCER.format(
            host=server.hostname, port=server.port, listen=port, folder=folder, sessions=SESSIONS
        )
        (folder / "pgbouncer.ini").write_text(configuration)
        command = [program, "-q", str(folder / "pgbouncer.ini")]
        if os.geteuid() == 0:  # which it refuses to run as
            nobody = pwd.getpwnam("nobody")
            process = subprocess.Popen(command, user=nobody.pw_uid, group=nobody.pw_gid, extra_groups=[], cwd="/")
        else:
            process = subprocess.Popen(command, cwd="/")
        try:
            wait_for_port(port, 30)
            yield port
        finally:
            process.terminate()
            process.wait()


@pytest.fixture
def pooled(url: str, pgbouncer: int) -> str:
    """The address of the test's database behind PgBouncer."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=f"{parts.username}:{parts.password}@127.0.0.1:{pgbouncer}"))
