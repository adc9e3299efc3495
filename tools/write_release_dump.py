"""Writes a populated database of this version to tests/data/releases, for the upgrade tests of all later versions.

    python tools/write_release_dump.py    # once for each release, before its tag; the files of a release never change

Two files are written: the database as pg_dump writes it, and a list of the migrations with their checksums, and of the
digests of the workspaces.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import subprocess
import sys
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from migrated import migrated_database

from trueweave.store.postgres.schema.schema import migrations
from trueweave.testing.schema import postgres_program

sys.path.append(str(Path(__file__).parents[1]))

from tests.populated import populate

RELEASES = Path(__file__).parents[1] / "tests" / "data" / "releases"


def main() -> None:
    RELEASES.mkdir(exist_ok=True)
    file = RELEASES / f"{version('trueweave')}.json"
    with migrated_database() as url:
        digests = asyncio.run(populate(url))
        command = [postgres_program("pg_dump"), "--schema=trueweave", "--no-owner", f"--dbname={url}"]
        dumped = subprocess.run(command, check=True, capture_output=True).stdout
    found = {one.name: sha256(one.sql.encode()).hexdigest() for one in migrations()}
    text = b"CREATE EXTENSION vector SCHEMA public;\n" + dumped  # pg_dump leaves it out with --schema
    file.with_suffix(".sql.gz").write_bytes(gzip.compress(text, mtime=0))
    file.write_text(json.dumps({"migrations": found, "digests": digests}, indent=1) + "\n", "utf-8")
    print(f"wrote {file.name} and its dump")


if __name__ == "__main__":
    main()
