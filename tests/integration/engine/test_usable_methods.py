"""Which methods a workspace can use, compared with what happens when they are used."""

from trueweave import AsyncTrueweave, Chunk, Document, Link
from trueweave.extend import Database
from trueweave.retrieval.methods import registry
from trueweave.testing import HashEmbedder

RING = (Link("Ada", "Byron"), Link("Byron", "Shelley"), Link("Shelley", "Ada"))
DOCUMENT = Document("ring", (Chunk("Ada met Byron, and Byron met Shelley.", links=RING),))


async def unusable(trueweave: AsyncTrueweave) -> set[str]:
    """The methods that are listed as unusable. They must be exactly those that cannot answer a question."""
    listed = await trueweave.methods()
    assert [one.name for one in listed] == registry.names()
    compared = await trueweave.compare("Whom did Ada meet?")
    assert {one.name for one in listed if not one.usable} == {row.method for row in compared.rows if row.problem}
    return {one.name for one in listed if not one.usable}


async def test_methods_that_lack_vectors_reports_or_a_model_are_listed_as_unusable(url: str) -> None:
    async with Database(url) as database:
        trueweave = await AsyncTrueweave.enter(database, "bare")
        await trueweave.add_documents([DOCUMENT])
        assert await unusable(trueweave) == {*registry.names()} - {"auto", "keyword"}
        await trueweave.communities.find()
        await trueweave.communities.write_reports()
        assert await unusable(trueweave) == {*registry.names()} - {"auto", "keyword", "community"}


async def test_a_workspace_with_vectors_can_use_what_needs_them(url: str) -> None:
    async with Database(url) as database:
        trueweave = await AsyncTrueweave.enter(database, "vectors", HashEmbedder())
        await trueweave.add_documents([DOCUMENT])
        asked_of_a_model = {"guess", "rephrase", "hyde", "rewrite", "decompose"}
        assert await unusable(trueweave) == {"community", "drift", *asked_of_a_model}
        found = {one.name: one for one in await trueweave.methods()}
        assert found["guess"].problem == "No language model is set."
        assert "reports" in found["drift"].problem
        assert [one.name for one in found.values() if one.default] == ["auto"]
        assert "top_k" in str(found["naive"].parameters["properties"])
