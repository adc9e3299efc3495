"""Real Neo4j, Chroma and nginx servers, and an identity provider, for tests and benchmarks, on loopback."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from tests.certificates import Certificate

ROOT = Path(__file__).parents[1]
NEO4J_JARS = Path(os.environ.get("TRUEWEAVE_NEO4J_JARS", ROOT / ".neo4j" / "lib"))
OIDC = ROOT / "tests" / "oidc"
NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin")
PASSWORD = "for-tests-only"

_QUICK_START = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")  # which counts more in tests than how fast it gets
_JAVA = (
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
)


def no_neo4j() -> str:
    """Why Neo4j cannot be started here; empty, if it can."""
    if not shutil.which("java"):
        return "Neo4j needs Java, which is not installed"
    return "" if any(NEO4J_JARS.glob("neo4j-*.jar")) else "Neo4j's jars are not there; run `make neo4j`"


def no_oidc_provider() -> str:
    """Why the identity provider cannot be started here; empty, if it can."""
    if not shutil.which("node"):
        return "the identity provider needs Node.js, which is not installed"
    return "" if (OIDC / "node_modules" / ".ready").exists() else "oidc-provider is not there; run `make oidc`"


def no_nginx() -> str:
    """Why nginx cannot be started here; empty, if it can."""
    return "" if NGINX else "nginx is not installed (Debian: nginx-light)"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for_port(port: int, seconds: float) -> None:
    """Wait until a server on this machine takes connections."""
    end = time.monotonic() + seconds
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


def status_of(url: str) -> int:
    """The status of an answer on a connection of its own; 0 where none was taken. Made for asking again and again:
    making a client of httpx2 takes 0.1 s of processor time."""
    place = urlsplit(url)
    connection = HTTPConnection(place.netloc, timeout=5)
    try:
        connection.request("GET", place.path)
        return connection.getresponse().status
    except (OSError, HTTPException):
        return 0
    finally:
        connection.close()


def wait_for_url(url: str, seconds: float = 120) -> None:
    """Wait until a server on this machine answers with 200."""
    end = time.monotonic() + seconds
    while status_of(url) != HTTPStatus.OK:
        if time.monotonic() > end:
            raise TimeoutError(url)
        time.sleep(0.05)


class _Server:
    """A server process that listens on a port of its own, also after it was killed and started again."""

    def __init__(self, folder: Path, within: float, port: int | None = None) -> None:
        self.folder = folder
        self.port = port or free_port()
        self._within = within
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it takes connections."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "console.log").open("ab") as log:
            self._process = self._launch(log)
        end = time.monotonic() + self._within
        while time.monotonic() < end:
            if self._process.poll() is not None:
                raise RuntimeError((self.folder / "console.log").read_text(errors="replace")[-4000:])
            try:
                return socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                time.sleep(0.05)
        self.kill()
        raise TimeoutError(f"{type(self).__name__} did not open its port within {self._within:.0f} s")

    def kill(self) -> None:
        """End it as a crash would."""
        assert self._process
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        """Let it end in good order."""
        assert self._process
        self._process.terminate()
        self._process.wait(120)

    def _launch(self, log: IO[bytes]) -> subprocess.Popen[bytes]:
        raise NotImplementedError


class Neo4jServer(_Server):
    """Neo4j, from its jars. With `fast`, it has the virtual machine's own settings and more memory: for benchmarks."""

    def __init__(self, folder: Path, *, fast: bool = False) -> None:
        super().__init__(folder, within=180)
        heap, self._cache = ("2g", "1g") if fast else ("512m", "128m")
        self._options = (f"-Xms{heap}", f"-Xmx{heap}", *(() if fast else _QUICK_START), *_JAVA)
        self.url = f"bolt://neo4j:{PASSWORD}@127.0.0.1:{self.port}"

    def _launch(self, log: IO[bytes]) -> subprocess.Popen[bytes]:
        settings = self.folder / "conf"
        if not settings.exists():
            settings.mkdir()
            (settings / "neo4j.conf").write_text(
                "server.default_listen_address=127.0.0.1\n"
                f"server.bolt.listen_address=127.0.0.1:{self.port}\n"
                "server.http.enabled=false\n"
                "dbms.usage_report.enabled=false\n"
                "db.tx_log.preallocate=false\n"
                f"server.memory.pagecache.size={self._cache}\n"
                "internal.server.bolt.thread_pool_shutdown_wait_time=0s\n"
            )
            first = self._java("org.neo4j.cli.AdminTool", "dbms", "set-initial-password", PASSWORD)
            environment = {**os.environ, "NEO4J_HOME": str(self.folder), "NEO4J_CONF": str(settings)}
            subprocess.run(first, env=environment, check=True, stdout=log, stderr=log)
        places = (f"--home-dir={self.folder}", f"--config-dir={settings}")
        command = self._java("org.neo4j.server.CommunityEntryPoint", *places, options=self._options)
        return subprocess.Popen(command, stdout=log, stderr=log)

    def _java(self, *command: str, options: Sequence[str] = ()) -> list[str]:
        return ["java", *options, "-cp", f"{NEO4J_JARS}/*", *command]


class ChromaServer(_Server):
    """Chroma's own server."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, within=60)
        self.url = f"http://127.0.0.1:{self.port}"

    def _launch(self, log: IO[bytes]) -> subprocess.Popen[bytes]:
        program = Path(sys.executable).with_name("chroma")
        address = ("--host", "127.0.0.1", "--port", str(self.port))
        environment = {**os.environ, "ANONYMIZED_TELEMETRY": "False"}
        return subprocess.Popen(
            [program, "run", "--path", self.folder / "data", *address], stdout=log, stderr=log, env=environment
        )


class NginxServer(_Server):
    """nginx as a reverse proxy for a server on this machine, with these directives besides `proxy_pass`; with a
    certificate, over TLS."""

    def __init__(self, folder: Path, upstream: str, *directives: str, certificate: Certificate | None = None) -> None:
        super().__init__(folder, within=30)
        self.url = f"{'https' if certificate else 'http'}://127.0.0.1:{self.port}"
        self._tls = (
            f"ssl; ssl_certificate {certificate.chain}; ssl_certificate_key {certificate.key};" if certificate else ";"
        )
        self._location = " ".join((f"proxy_pass {upstream};", *directives))

    def _launch(self, log: IO[bytes]) -> subprocess.Popen[bytes]:
        assert NGINX
        temporary = " ".join(
            f"{kind}_temp_path {self.folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        (self.folder / "nginx.conf").write_text(
            f"daemon off; master_process off; pid {self.folder}/nginx.pid; error_log stderr; events {{}}\n"
            f"http {{ access_log off; {temporary}\n"
            f"server {{ listen 127.0.0.1:{self.port} {self._tls} location / {{ {self._location} }} }} }}\n"
        )
        command = [NGINX, "-p", str(self.folder), "-c", str(self.folder / "nginx.conf"), "-e", "stderr"]
        return subprocess.Popen(command, stdout=log, stderr=log)


class OidcProvider(_Server):
    """A certified OpenID Connect provider, with new keys at each start. Each tenant is a client of it."""

    def __init__(
        self, folder: Path, audience: str, tenants: Mapping[str, Sequence[str]], port: int | None = None
    ) -> None:
        super().__init__(folder, within=60, port=port)
        self.url = f"http://127.0.0.1:{self.port}"
        self._arguments = (str(self.port), audience, json.dumps(tenants))

    def _launch(self, log: IO[bytes]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(["node", OIDC / "provider.mjs", *self._arguments], stdout=log, stderr=log)
