"""All rows of a database, for tests of what is left behind."""

from __future__ import annotations

import psycopg
from psycopg import sql

SCHEMAS = ("trueweave",)
LIVENESS = ("process", "slot")  # live processes and their work, which change by themselves


def rows(url: str) -> dict[str, list[str]]:
    """Every row of every table of Trueweave's schemas as text, by table, except the tables in LIVENESS.

    Connects as the owner, who sees all rows.
    """
    with psycopg.connect(url, autocommit=True) as connection:
        tables = connection.execute(
            "SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE n.nspname = ANY(%s) AND c.relkind = 'r' AND c.relname <> ALL(%s) ORDER BY 1, 2",
            (list(SCHEMAS), list(LIVENESS)),
        ).fetchall()
        each = sql.SQL("SELECT t::text FROM {} AS t ORDER BY 1")
        return {
            f"{schema}.{table}": [row for (row,) in connection.execute(each.format(sql.Identifier(schema, table)))]
            for schema, table in tables
        }


def holding(url: str, text: str) -> dict[str, list[str]]:
    """The rows that contain a text, in any case and also as bytes, by table. Tables without such rows are left out."""
    wanted = {text.lower(), *(each.encode().hex() for each in (text, text.lower(), text.upper()))}
    found = {
        table: [row for row in some if any(each in row.lower() for each in wanted)] for table, some in rows(url).items()
    }
    return {table: some for table, some in found.items() if some}
