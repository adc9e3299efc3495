"""`init` and `migrate` change the schema of a database; all other commands say which of them to run."""

import psycopg
import pytest

from tests.e2e.conftest import Trueweave, answer
from tests.integration.store.test_schema import with_more
from trueweave.store.postgres.schema.schema import migration, migrations

TWO_MORE = (
    migration("9001_notes", "-- additive\nCREATE TABLE notes ()"),
    migration("9002_no_notes", "-- breaking\nDROP TABLE notes"),
)


def test_an_outdated_schema_stops_every_command_with_one_sentence_until_it_is_migrated(
    trueweave: Trueweave, monkeypatch: pytest.MonkeyPatch
) -> None:
    trueweave("init", "--workspace", "acme")
    with_more(monkeypatch, *TWO_MORE)
    for command in (("status",), ("worker",), ("worker", "--workspace", "acme"), ("add", ".")):
        said = trueweave(*command, code=1).stderr.splitlines()[-1]
        assert said.startswith("error: the schema of the database at ")
        assert said.endswith("it lacks 9001_notes, 9002_no_notes. Run `trueweave migrate` as the owner of the schema.")
    assert "Run `trueweave migrate`" in trueweave("doctor", code=1).stdout
    lacking = trueweave("migrate", "--check", code=1).stdout
    assert (
        "lacks 2 migrations:\n  9001_notes (additive)\n  9002_no_notes (breaking)\nNext: trueweave migrate" in lacking
    )
    assert answer(trueweave("migrate", "--check", "--json", code=1)) == {"missing": ["9001_notes", "9002_no_notes"]}
    assert "Applied 2 migrations to the database at " in trueweave("migrate").stdout
    assert answer(trueweave("migrate", "--json")) == {"applied": []}
    assert "is up to date." in trueweave("migrate", "--check").stdout
    trueweave("status")


def test_a_schema_of_a_newer_trueweave_is_named_with_what_to_do(trueweave: Trueweave, url: str) -> None:
    trueweave("init")
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("INSERT INTO trueweave.migration VALUES (9001, '9001_notes', true)")
    assert "with 1 migration of a newer Trueweave, which this one works with" in trueweave("doctor").stdout
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("INSERT INTO trueweave.migration VALUES (9002, '9002_no_notes', false)")
    for command in ("status", "migrate"):
        assert "9002_no_notes. Upgrade Trueweave here." in trueweave(command, code=1).stderr


@pytest.mark.parametrize("command", ["init", "migrate"])
def test_both_make_the_schema(trueweave: Trueweave, url: str, command: str) -> None:
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("DROP SCHEMA trueweave CASCADE")
    assert "Run `trueweave init` to make it" in trueweave("status", code=1).stderr
    trueweave(command, *(["--database-url", url] if command == "migrate" else []))
    with psycopg.connect(url) as owner:
        assert owner.execute("SELECT count(*) FROM trueweave.migration").fetchone() == (len(migrations()),)
    trueweave("init")
    trueweave("status")
