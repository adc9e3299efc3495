"""Prints the section of CHANGELOG.md for a version, which must be the one in pyproject.toml.

    python tools/release_notes.py 0.1.0

The release workflow runs it before anything is installed, so it needs nothing but Python.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main() -> None:
    [wanted] = sys.argv[1:]
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    if wanted != version:
        sys.exit(f"pyproject.toml has version {version}, not {wanted}")
    print(notes((ROOT / "CHANGELOG.md").read_text("utf-8"), wanted))


def notes(changelog: str, version: str) -> str:
    """The section of a version, without its heading. The program ends if there is none, or if it is empty."""
    return section(changelog, version) or sys.exit(f"CHANGELOG.md has no section for {version}")


def section(changelog: str, version: str) -> str:
    """The section of a version, without its heading; empty if there is none."""
    found = re.search(rf"^## \[{re.escape(version)}\][^\n]*\n(.*?)(?=^## \[|\Z)", changelog, re.DOTALL | re.MULTILINE)
    return found[1].strip() if found else ""


if __name__ == "__main__":
    main()
