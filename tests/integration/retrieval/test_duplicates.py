"""Equal texts are shown once, with all places where they stand, and take one place among the results."""

import pytest

from trueweave import AsyncTrueweave, Chunk, Document, Filter, Link, Mention
from trueweave.extend import Method
from trueweave.retrieval.methods.combine import Fuse
from trueweave.retrieval.methods.global_ import Global
from trueweave.retrieval.methods.hybrid import Hybrid
from trueweave.retrieval.methods.keyword import Keyword
from trueweave.retrieval.methods.local import Local
from trueweave.retrieval.methods.naive import Naive
from trueweave.retrieval.methods.subgraph import Subgraph
from trueweave.retrieval.methods.walk import Walk
from trueweave.retrieval.methods.weave import Weave

SAID = "Ada Lovelace wrote the first program for the Analytical Engine."
OTHERS = {
    f"other/{n}": f"Ada Lovelace spoke of the Analytical Engine in letter {n}, to {name}."
    for n, name in enumerate(
        ("Charles Babbage", "Mary Somerville", "Michael Faraday", "Lady Byron", "Augustus De Morgan")
    )
}
QUESTION = "Which program did Ada Lovelace write for the Analytical Engine?"
COPIES = 120  # more than any list that a method starts from
FEW = 30  # fewer than are followed from one name


def document(uri: str, text: str, kind: str = "") -> Document:
    mentions = (Mention("Ada Lovelace"), Mention("Analytical Engine"))
    chunk = Chunk(text, mentions=mentions, links=(Link("Ada Lovelace", "Analytical Engine", "worked on"),))
    return Document(uri, (chunk,), metadata={"kind": kind} if kind else {})


async def add_copies(trueweave: AsyncTrueweave, number: int) -> None:
    """One text in so many documents, and five others."""
    copies = (document(f"copy/{n:03}", SAID, "odd" if n % 2 else "even") for n in range(number))
    await trueweave.add_documents([*copies, *(document(uri, text) for uri, text in OTHERS.items())])


LISTS = (Naive(), Keyword(), Fuse(), Walk(), Weave())
GRAPH = (Local(), Global(), Hybrid(), Subgraph(similarity_threshold=-1))


@pytest.mark.parametrize(
    ("method", "number"),
    [*((m, COPIES) for m in LISTS), *((m, FEW) for m in GRAPH)],
    ids=lambda one: type(one).__name__,
)
async def test_every_method_fills_its_places_with_different_texts(
    trueweave: AsyncTrueweave, method: Method, number: int
) -> None:
    await add_copies(trueweave, number)
    found = (await trueweave.retrieve(QUESTION, method)).passages
    texts = [passage.text for passage in found]
    assert len(set(texts)) == len(texts) >= 5
    said = next(passage for passage in found if passage.text == SAID)
    places = {said.uri, *(one.uri for one in said.also)}
    assert len(places) == 1 + len(said.also) == 21
    assert all(uri.startswith("copy/") for uri in places)
    assert said.copies == number - 1
    assert all(not passage.also for passage in found if passage is not said)


async def test_copies_outside_a_filter_are_not_named(trueweave: AsyncTrueweave) -> None:
    await add_copies(trueweave, FEW)
    for method in ("naive", "keyword", "weave"):
        found = await trueweave.retrieve(QUESTION, method, filter=Filter(metadata={"kind": "odd"}))
        [said] = found.passages
        assert all(int(uri[-3:]) % 2 for uri in (said.uri, *(one.uri for one in said.also))), method
        [said] = (await trueweave.retrieve(QUESTION, method, filter=Filter(uris=("copy/007",)))).passages
        assert (said.uri, said.also) == ("copy/007", ()), method


async def test_a_copy_that_goes_is_no_longer_named(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents([document("a", SAID), document("b", SAID), document("c", SAID)])
    await trueweave.remove(["a"])
    [said] = (await trueweave.retrieve(QUESTION, "keyword")).passages
    assert {said.uri, *(one.uri for one in said.also)} == {"b", "c"}
    assert said.copies == 1


async def test_what_came_in_and_equals_another_document_is_told(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents([document("a", SAID)])
    since = await trueweave.maintenance.clock()
    await trueweave.add_documents([document("b", SAID), document("c", "Something else."), document("d", SAID)])
    await trueweave.add_documents([Document("empty/1", ()), Document("empty/2", ())])
    assert [(one.uri, one.equals) for one in await trueweave.maintenance.duplicates(since)] == [("b", "a"), ("d", "a")]
