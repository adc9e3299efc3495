"""Runs a command with one Neo4j for all of it: `python -m tests.with_neo4j pytest -n 3 …`. The processes of a test run
would start one each."""

import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from tests.servers import Neo4jServer, no_neo4j

VARIABLE = "TRUEWEAVE_TEST_NEO4J_URL"


def main() -> int:
    if os.environ.get(VARIABLE) or no_neo4j():
        return subprocess.call(sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        server = Neo4jServer(Path(folder))
        starting = threading.Thread(target=server.start)  # while the tests are collected
        starting.start()
        try:
            return subprocess.call(sys.argv[1:], env={**os.environ, VARIABLE: server.url})
        finally:
            starting.join()
            server.kill()


if __name__ == "__main__":
    sys.exit(main())
