"""The page of the schema: tables and columns from schema.sql, and what they are for from the comments in it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from written import cell, filled_table

from trueweave.store.postgres.schema import schema

_MIGRATIONS = Path(schema.__file__).parent / "migrations"
_SCHEMA = Path(__file__).parents[1] / "docs" / "reference" / "schema.sql"
_TABLE = re.compile(r"^CREATE (?:UNLOGGED )?TABLE trueweave\.(\w+) \(\n(.*?)^\)", re.MULTILINE | re.DOTALL)
_COLUMN = re.compile(r"^    (?!CONSTRAINT )\"?(\w+)\"? (.+?),?$", re.MULTILINE)
_COMMENT = re.compile(r"^COMMENT ON (?:TABLE|COLUMN) trueweave\.([\w.]+) IS '((?:[^']|'')*)';", re.MULTILINE)
_DETAILS = re.compile(r" (?:DEFAULT|GENERATED|NOT NULL|COLLATE).*")

_INTRO = """# Schema

Every table in the schema `trueweave`, and what it is for. Each row belongs to the workspace that its column `workspace`
names, which row-level security enforces ([0006](../adr/0006-tenants.md)). Tables of vectors are made when they are
needed, and are not listed ([0004](../adr/0004-embedding-spaces.md)). [`schema.sql`](schema.sql) also has indexes,
functions and policies. To read the index with SQL, see [security](../explanation/security.md). This page is written by
`make reference` from the comments in the database.
"""


def schema_page() -> str:
    """Every table with its columns, in the order of the migrations that create them."""
    text = _SCHEMA.read_text("utf-8")
    about = {name: said.replace("''", "'") for name, said in _COMMENT.findall(text)}
    tables = dict(_TABLE.findall(text))
    del tables["migration"]  # the list of migrations themselves
    if untold := sorted(tables.keys() - about.keys()):
        sys.exit(f"{', '.join(untold)}: there is no COMMENT ON TABLE in a migration that says what it is for")
    told = [_INTRO]
    for migration in sorted(_MIGRATIONS.glob("*.sql")):
        created = re.findall(r"^CREATE (?:UNLOGGED )?TABLE (\w+)", migration.read_text("utf-8"), re.MULTILINE)
        here = [name for name in created if name in tables]
        if here:
            told.append(f"\n## {_title(migration)}\n\n{_summary(migration)}\n")
            told += [_table(name, tables.pop(name), about) for name in here]
    if tables:
        sys.exit(f"no migration was found that creates {', '.join(tables)}")
    return "".join(told)


def _title(migration: Path) -> str:
    return migration.stem.partition("_")[2].replace("_", " ").capitalize()


def _summary(migration: Path) -> str:
    """The comment at the top of a migration, with links to the decisions."""
    found = re.match(r"(?:-- breaking\n)?((?:--.*\n)+)", migration.read_text("utf-8"))
    words = " ".join(line.removeprefix("--").strip() for line in found[1].splitlines()) if found else ""
    words = re.sub(r" Breaking, because.*", "", words)
    return re.sub(r"docs/adr/((\d+)-[\w-]+\.md)", r"[\2](../adr/\1)", words)


def _table(name: str, columns: str, about: dict[str, str]) -> str:
    rows = [
        (
            f"`{column}`",
            cell(_DETAILS.sub("", kind)) + ("" if "NOT NULL" in kind else ", may be null"),
            cell(about.get(f"{name}.{column}", "")),
        )
        for column, kind in _COLUMN.findall(columns)
    ]
    return f"\n### `{name}`\n\n{about[name]}\n\n{filled_table(('column', 'type', 'meaning'), rows)}"
