"""What weave weighs: what two chunks have of a question together, what one adds to another, and what names what."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

import pytest

from trueweave import AsyncTrueweave, Chunk, Document, Evidence, Mention
from trueweave.core.protocols import RerankFeatures
from trueweave.extend import Query, QueryContext
from trueweave.methods import Auto, Fuse, Keyword, Naive, Weave
from trueweave.retrieval.methods import weave
from trueweave.testing import HashEmbedder
from trueweave.text import phrases

QUESTION = "Which river is crossed by the bridge that Tovrick Works put up?"


def about(title: str, text: str, *names: str) -> Document:
    return Document(title, (Chunk(f"{title}\n{text}", mentions=tuple(map(Mention, (title, *names)))),), title=title)


BRIDGE = about("Ambrel Bridge", "A bridge over the Lhine, put up by Tovrick Works.", "Tovrick Works", "Lhine")
WORKS = about("Tovrick Works", "A maker of iron.")
RIVER = about("Lhine", "A river that is crossed in many places.")


@dataclass
class Looking:
    """A method that weighs the chunks of these documents."""

    uris: Sequence[str]
    rerank_features: list[RerankFeatures] = field(default_factory=list)
    subjects: float = 0.0

    async def retrieve(self, query: Query, context: QueryContext) -> Evidence:
        found = await Keyword(top_k=50).retrieve(query, context)
        ids: dict[str, UUID] = {passage.uri: passage.id for passage in found.passages}
        [vector] = await context.embed([query.text])
        self.rerank_features = await context.walk.rerank_features([ids[uri] for uri in self.uris], query.text, vector)
        self.subjects = await context.walk.subjects()
        return found


async def test_a_chunk_is_known_by_its_words_its_names_and_what_it_is_about(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents([BRIDGE, WORKS, RIVER])
    looking = Looking(["Lhine", "Ambrel Bridge"])
    await trueweave.retrieve(QUESTION, looking)
    river, bridge = looking.rerank_features
    number = {name: phrases.number(phrases.phrase(name)) for name in ("Lhine", "Ambrel Bridge", "Tovrick Works")}
    assert (river.about, bridge.about) == (number["Lhine"], number["Ambrel Bridge"])
    assert set(river.names) == {number["Lhine"]}
    assert set(bridge.names) == set(number.values())
    # Of what the documents know of the question, the bridge has all but "river" and "crossed", and the river these.
    assert 0 < sum(river.shares) < sum(bridge.shares) < 1
    assert sum(map(max, river.shares, bridge.shares)) == pytest.approx(1)
    embedder = HashEmbedder()
    asked, text = await embedder.embed([QUESTION, RIVER.chunks[0].text], "document")
    assert river.similarity == pytest.approx(float(asked @ text), abs=0.01)


async def test_what_completes_the_question_comes_before_what_repeats_it(trueweave: AsyncTrueweave) -> None:
    repeating = [about(f"Bridge {n}", "A bridge that Tovrick Works put up.", "Tovrick Works") for n in range(8)]
    await trueweave.add_documents([BRIDGE, WORKS, RIVER, *repeating])
    woven = await trueweave.retrieve(QUESTION, Weave(top_k=3))
    assert "Lhine" in {passage.uri for passage in woven.passages}
    fused = await trueweave.retrieve(QUESTION, Fuse(top_k=3))
    assert "Lhine" not in {passage.uri for passage in fused.passages}


async def test_auto_asks_by_weave_where_chunks_have_subjects_and_by_fusion_where_not(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents([BRIDGE, WORKS, RIVER])
    assert chosen(await trueweave.retrieve(QUESTION, Auto())) == ["weave"]
    await trueweave.remove(["Ambrel Bridge", "Tovrick Works", "Lhine"])
    await trueweave.add_documents(
        [Document(f"{n}", (Chunk(f"there was rain on day {n} by the river"),)) for n in range(9)]
    )
    found = await trueweave.retrieve(QUESTION, Auto(top_k=4))
    assert chosen(found) == ["fuse"]
    assert len(found.passages) == 4


async def test_auto_puts_the_passage_first_that_is_first_by_meaning_and_by_words(
    trueweave: AsyncTrueweave, monkeypatch: pytest.MonkeyPatch
) -> None:
    when = "When is the pump of Hall Nine oiled?"
    rota = "The pump of Hall Nine is oiled on Mondays; the pumps of the other halls are oiled when the fitter is in."
    await trueweave.add_documents(
        [
            about("Pump Rota", rota, "Hall Nine"),
            about("Hall Nine", "The hall with the pump.", "Pump Rota"),
            about("Fitter", "Is in on Mondays, when a pump is oiled.", "Hall Nine", "Pump Rota"),
            about("Monday", "When the hall is swept.", "Hall Nine"),
        ]
    )
    for both in (Naive(), Keyword()):
        assert uris(await trueweave.retrieve(when, both))[0] == "Pump Rota"
    score = weave._score
    monkeypatch.setattr(weave, "_score", lambda *given: -score(*given))  # as if weave saw it otherwise
    by_weave = uris(await trueweave.retrieve(when, Weave()))
    assert by_weave[0] != "Pump Rota"

    found = await trueweave.retrieve(when, Auto())
    assert chosen(found) == ["weave"]
    assert uris(found) == ["Pump Rota", *(uri for uri in by_weave if uri != "Pump Rota")]
    assert [one.score for one in found.passages] == sorted((one.score for one in found.passages), reverse=True)
    assert uris(await trueweave.retrieve(when, Auto(top_k=1))) == ["Pump Rota"]


async def test_auto_asks_by_fusion_where_the_question_names_nothing(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents([BRIDGE, WORKS, RIVER])
    nameless = "Which river is crossed by a bridge of iron?"
    found = await trueweave.retrieve(nameless, Auto(top_k=3))
    assert chosen(found) == ["fuse"]
    fused = await trueweave.retrieve(nameless, Fuse(by="score", weights=(0.7, 0.3), top_k=3))
    assert [(one.uri, one.score) for one in found.passages] == [(one.uri, one.score) for one in fused.passages]
    assert chosen(await trueweave.retrieve("Which river is crossed by Ambrel Bridge?", Auto())) == ["weave"]


def uris(evidence: Evidence) -> list[str]:
    return [passage.uri for passage in evidence.passages]


def chosen(evidence: Evidence) -> list[str]:
    return [step.best[0].item for step in evidence.trace.steps if step.what == "chose"]


async def test_the_share_of_chunks_with_a_subject_of_their_own_is_counted(trueweave: AsyncTrueweave) -> None:
    nameless = Document("rain", (Chunk("there was rain on the river"),))
    await trueweave.add_documents([BRIDGE, WORKS, RIVER, nameless])
    looking = Looking(["Lhine"])
    await trueweave.retrieve(QUESTION, looking)
    assert looking.subjects == pytest.approx(3 / 4)
