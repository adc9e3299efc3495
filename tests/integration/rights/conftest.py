"""Fixtures for access rights."""

import psycopg
import pytest


@pytest.fixture(params=[True, False], ids=["few", "many"])
def few(request: pytest.FixtureRequest, url: str) -> bool:
    """Whether the database takes the documents that a caller sees for a few: they are searched in another way."""
    if not request.param:
        with psycopg.connect(url, autocommit=True) as owner:
            owner.execute(
                "CREATE OR REPLACE FUNCTION trueweave.few_seen() RETURNS uuid[] LANGUAGE sql STABLE SECURITY DEFINER "
                "SET search_path = trueweave, pg_temp AS 'SELECT NULL::uuid[]'"
            )
    return bool(request.param)
