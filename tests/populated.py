"""A database with something in most tables, as upgrades meet it."""

from itertools import combinations
from unittest.mock import patch

from trueweave import AsyncTrueweave, Chunk, Document, Link, Mention, NameKey, Settings, Source
from trueweave.core.events import ignore
from trueweave.engine.model_settings import recipe
from trueweave.extend import Database
from trueweave.ingest.intake import take_in
from trueweave.methods import Keyword, Naive
from trueweave.store.postgres.vectors import vectors
from trueweave.testing import HashEmbedder

SETTINGS = Settings(extractor="capitals", embedding_model=None)
FOLK = ("miller", "smith", "reeve", "priest", "widow")


def _document(a: str, b: str) -> Document:
    said = Link(a, b, f"the {a} knows the {b}")
    text = f"The {a} of the village knows the {b}."
    return Document(f"{a}-{b}", (Chunk(text, mentions=(Mention(a), Mention(b)), links=(said,)),))


async def populate(url: str) -> dict[str, str]:
    """Two workspaces: one whose vectors share tables with others, one with tables of its own. Their digests."""
    async with Database(url) as database:
        village = await AsyncTrueweave.enter(database, "village", HashEmbedder(8), settings=SETTINGS)
        await village.add_documents(_document(a, b) for a, b in combinations(FOLK, 2))
        stranger = Chunk("The stranger left.", mentions=(Mention("stranger"),))
        await village.add_documents([Document("removed", (stranger,))])
        await village.remove(["removed"])
        await village.rules.merge(NameKey("smith"), NameKey("reeve"))
        await village.communities.find()
        await village.communities.write_reports()
        large = await AsyncTrueweave.enter(database, "large", HashEmbedder(8), settings=SETTINGS)
        with patch.object(vectors, "MOST_IN_COMMON", 3):
            await large.add_documents(_document(a, b) for a, b in combinations(FOLK[:4], 2))
        await take_in(large.workspace, [Source("waiting", "Ada met Bob in London.")], recipe(SETTINGS), ignore)
        digests = {"village": await village.maintenance.digest(), "large": await large.maintenance.digest()}
        await village.aclose()
        await large.aclose()
    return digests


async def check_upgraded(url: str, digests: dict[str, str]) -> None:
    """Check that a populated database is what it was, and that the code at hand can go on with it."""
    async with AsyncTrueweave.open(url, "village", HashEmbedder(8), settings=SETTINGS) as village:
        assert await village.maintenance.digest() == digests["village"]
        assert (await village.maintenance.verify()).exact
        for method in (Keyword(), Naive(top_k=3)):
            found = await village.retrieve("Whom does the miller know?", method)
            assert any("miller" in passage.text for passage in found.passages)
        [community, *_] = await village.communities.select()
        assert await village.communities.report(community.id)
        assert len(await village.rules.all()) == 1
        await village.remove(["miller-smith"])
        assert (await village.maintenance.verify()).exact
    async with AsyncTrueweave.open(url, "large", HashEmbedder(8), settings=SETTINGS) as large:
        assert await large.maintenance.digest() == digests["large"]
        assert (await large.status()).documents == 6
        await large.maintenance.retry()  # processes the document that waits
        assert (await large.status()).documents == 7
        assert (await large.maintenance.verify()).exact
