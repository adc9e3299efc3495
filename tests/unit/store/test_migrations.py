"""Migrations say whether processes of the version before may go on beside them."""

import pytest

from trueweave.store.postgres.schema.schema import migration, migrations


def test_the_first_line_says_what_kind_of_migration_it_is() -> None:
    assert migration("0042_x", "-- additive\nCREATE TABLE x ()").additive
    assert not migration("0042_x", "-- breaking\nDROP TABLE x").additive
    with pytest.raises(ValueError, match="first line of migration 0042_x must be one of: -- additive, -- breaking"):
        migration("0042_x", "CREATE TABLE x ()")


def test_all_migrations_can_be_read() -> None:
    assert len(migrations()) > 1
