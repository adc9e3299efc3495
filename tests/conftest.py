"""One PostgreSQL for the whole run; a database of its own, from a template, for every test that asks."""

import asyncio
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from psycopg import sql

from tests.certificates import make_signing_key
from tests.servers import ChromaServer, Neo4jServer, no_neo4j, wait_for_port
from trueweave import AsyncTrueweave
from trueweave.extend import Database
from trueweave.store.embedded import EmbeddedServer
from trueweave.testing import Databases, HashEmbedder

os.environ["HF_HUB_OFFLINE"] = "1"  # no test reaches the model hub; read when its library is imported
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "false"  # read when Haystack is imported
# Reading the certificates of all authorities takes 45 ms for each HTTP client. So there is one, which has signed
# nothing, as the client of buckets refuses to start without any. Tests by TLS name the certificates of their servers.
os.environ["SSL_CERT_DIR"] = str(Path(__file__).parent)
os.environ["SSL_CERT_FILE"] = str(Path(__file__).parent / "data" / "authority.pem")
os.environ["TRUEWEAVE_GRAPH_VECTORS"] = "true"  # so that all methods find something; some tests are of the default
FULL = os.environ.get("TRUEWEAVE_TEST_FULL") == "1"
# How long an example takes depends on what else the machine does.
hypothesis_settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis_settings.load_profile("busy")
# Without autovacuum: nothing here lives for its minute, and twice in a run DROP DATABASE waited for exactly that long.
QUICK = {
    "fsync": "off",
    "synchronous_commit": "off",
    "shared_buffers": "256MB",
    "max_connections": "200",
    "autovacuum": "off",
    "max_wal_size": "256MB",
    "scram_iterations": "1",
}
IN_MEMORY = Path("/dev/shm")
ROOM = 4 << 30  # bytes that the servers of a run may need


def pytest_configure() -> None:
    """Let Ctrl-C interrupt this process and those that tests start, also where a shell started the run in the
    background, which lets all of them ignore it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def quick_server() -> Iterator[EmbeddedServer]:
    """A PostgreSQL that forgets everything at the end. Its files are in memory where there is room: a new database
    takes a fifth of the time there."""
    has_room = IN_MEMORY.is_dir() and shutil.disk_usage(IN_MEMORY).free > ROOM
    with tempfile.TemporaryDirectory(dir=IN_MEMORY if has_room else None) as root:
        Path(root).chmod(0o755)  # the server may run as a user of its own
        server = EmbeddedServer(Path(root, "server"), QUICK)
        server.start()
        _hash_passwords_once(server.url)
        yield server
        server.stop()


def _hash_passwords_once(url: str) -> None:
    """Store the password anew with few iterations. A client hashes it for every connection: 3 ms of processor time with
    the 4,096 iterations of initdb."""
    found = urlsplit(url)
    with psycopg.connect(url) as connection:
        names = {"role": sql.Identifier(found.username or ""), "password": found.password}
        connection.execute(sql.SQL("ALTER ROLE {role} PASSWORD {password}").format(**names))


@pytest.fixture(scope="session")
def server_url() -> Iterator[str]:
    """TRUEWEAVE_TEST_DATABASE_URL, or a bundled PostgreSQL that is stopped at the end."""
    if url := os.environ.get("TRUEWEAVE_TEST_DATABASE_URL"):
        yield url
        return
    with quick_server() as server:
        yield server.url


@pytest.fixture(scope="session")
def databases(server_url: str) -> Databases:
    made = Databases(server_url)
    asyncio.run(made.prepare())
    return made


@pytest.fixture
def url(databases: Databases) -> Iterator[str]:
    """A new database with Trueweave's schema."""
    made = databases.make()
    yield made
    databases.drop(made)


@pytest.fixture
async def database(url: str) -> AsyncIterator[Database]:
    async with Database(url) as opened:
        yield opened


@pytest.fixture
async def trueweave(database: Database) -> AsyncIterator[AsyncTrueweave]:
    """An empty workspace with a hash embedder."""
    async with aclosing(await AsyncTrueweave.enter(database, "test", HashEmbedder())) as opened:
        yield opened


@pytest.fixture
def signing_key(tmp_path: Path) -> Path:
    """The file of a new key that statements are signed with."""
    return make_signing_key(tmp_path)


@pytest.fixture(scope="session")
def s3_endpoint() -> Iterator[str]:
    """The address of a server that speaks the protocol of S3. Its buckets are shared by all tests of this process."""
    from moto.server import ThreadedMotoServer  # which takes a second, in each process that collects tests

    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture(scope="session")
def neo4j_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """TRUEWEAVE_TEST_NEO4J_URL, or a Neo4j that is stopped at the end. Tests share it: each has copies of its own."""
    if url := os.environ.get("TRUEWEAVE_TEST_NEO4J_URL"):
        wait_for_port(urlsplit(url).port or 0, 180)
        yield url
        return
    if reason := no_neo4j():
        pytest.skip(reason)
    server = Neo4jServer(tmp_path_factory.mktemp("neo4j"))
    server.start()
    yield server.url
    server.kill()


@pytest.fixture(scope="session")
def chroma_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Chroma server that is stopped at the end."""
    server = ChromaServer(tmp_path_factory.mktemp("chroma"))
    server.start()
    yield server.url
    server.stop()


@pytest.fixture(scope="session")
def full() -> bool:
    """Whether this is the full run, with every long form."""
    return FULL


@pytest.fixture(scope="session")
def bench() -> Path:
    """The benchmark data beside the project; tests that need it are skipped where it is absent."""
    found = Path(os.environ.get("TRUEWEAVE_BENCH_DATA", Path(__file__).parents[2] / "shared" / "bench"))
    if not found.is_dir():
        pytest.skip(f"no benchmark data at {found}; set TRUEWEAVE_BENCH_DATA to where it is")
    return found
