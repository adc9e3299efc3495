"""Writes docs/reference/schema.sql: what all migrations add up to, for people to read.

A test compares the file with a freshly migrated database, so it cannot fall behind.
"""

from __future__ import annotations

from pathlib import Path

from migrated import migrated_database

from trueweave.testing.schema import dump_schema

SCHEMA_FILE = Path(__file__).parents[1] / "docs" / "reference" / "schema.sql"


def main() -> None:
    with migrated_database() as url:
        SCHEMA_FILE.write_text(dump_schema(url), "utf-8")
    print(f"wrote {SCHEMA_FILE.name}")


if __name__ == "__main__":
    main()
