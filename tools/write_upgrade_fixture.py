"""Writes tests/integration/upgrade.sql: a small database with data in it, as the newest migration leaves it now.

tests/integration/test_upgrade.py migrates it from there. It stays at its version for as long as an upgrade from that
version is supported, so that this is run only to begin anew from a later one.
"""

from __future__ import annotations

import asyncio
from itertools import combinations
from pathlib import Path

from migrated import migrated_database

from trueweave import AsyncTrueweave, Chunk, Document, Link, Mention, NameKey
from trueweave.core.events import ignore
from trueweave.core.record import Source
from trueweave.core.settings import Settings
from trueweave.engine.factory import recipe
from trueweave.ingest.intake import take_in
from trueweave.store.postgres.db import Database
from trueweave.store.postgres.vectors import vectors
from trueweave.testing import HashEmbedder
from trueweave.testing.schema import dump

FIXTURE = Path(__file__).parents[1] / "tests" / "integration" / "upgrade.sql"
FOLK = ("miller", "smith", "reeve", "priest", "widow")


def _document(a: str, b: str) -> Document:
    said = Link(a, b, f"the {a} knows the {b}")
    text = f"The {a} of the village knows the {b}."
    return Document(f"{a}-{b}", (Chunk(text, mentions=(Mention(a), Mention(b)), links=(said,)),))


async def _fill(url: str) -> None:
    """Two workspaces: one whose vectors share their tables with others', one with tables of its own."""
    settings = Settings(extractor="capitals", embedding_model=None, workspace="village")
    async with Database(url) as database:
        village = await AsyncTrueweave.enter(database, "village", HashEmbedder(8), settings=settings)
        await village.add_documents(_document(a, b) for a, b in combinations(FOLK, 2))
        stranger = Chunk("The stranger left.", mentions=(Mention("stranger"),))
        await village.add_documents([Document("removed", (stranger,))])
        await village.remove(["removed"])
        await village.rules.merge(NameKey("smith"), NameKey("reeve"))
        await village.communities.find()
        await village.communities.write_reports()
        await village.aclose()
        vectors.MOST_IN_COMMON = 3
        large = await AsyncTrueweave.enter(database, "large", HashEmbedder(8), settings=settings)
        await large.add_documents(_document(a, b) for a, b in combinations(FOLK[:4], 2))
        await take_in(large.workspace, [Source("waiting", "Ada met Bob in London.")], recipe(settings), ignore)
        await large.aclose()


def main() -> None:
    with migrated_database() as url:
        asyncio.run(_fill(url))
        FIXTURE.write_text(dump(url, "--inserts", "--rows-per-insert=100"), "utf-8")
    print(f"wrote {FIXTURE.name}")


if __name__ == "__main__":
    main()
