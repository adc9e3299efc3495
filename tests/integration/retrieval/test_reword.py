"""Methods that have a model put the question in other words, on the small graph: P8 to P1 are at 0, 10 … 70 degrees."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from tests.integration.retrieval.test_methods import Scripted, ranking
from trueweave import AsyncTrueweave
from trueweave.core.model_calls import TextRole
from trueweave.core.protocols import Vectors
from trueweave.errors import BadReply, ConfigError, InvalidArgument
from trueweave.extend import Database, Method
from trueweave.methods import Cutoff, Decompose, Each, Fuse, Hyde, Keyword, Naive, Rephrase, Rewrite
from trueweave.retrieval.methods import registry
from trueweave.retrieval.methods.combine import Instead, reranked
from trueweave.testing.small_graph import SAID, Angles, document
from trueweave.types import Evidence


@dataclass(frozen=True)
class Noting(Angles):
    """The embedder of the small graph, which notes what it embeds as what."""

    roles: dict[str, str] = field(default_factory=dict)

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        self.roles.update(dict.fromkeys(texts, role))
        return await super().embed(texts, role)


async def opened(database: Database, embedder: Angles = Angles(), **answers: str) -> AsyncTrueweave:  # noqa: B008 (immutable)
    trueweave = await AsyncTrueweave.enter(database, "test", embedder, llm=Scripted(answers))
    await trueweave.add_documents(map(document, SAID))
    return trueweave


def noted(evidence: Evidence, what: str) -> list[str]:
    """What the trace says that was asked."""
    [step] = [step for step in evidence.trace.steps if step.what == what]
    return [one.item for one in step.best]


@pytest.mark.parametrize(("name", "method"), [("rephrase", Rephrase(Naive(top_k=1))), ("hyde", Hyde(Naive(top_k=1)))])
async def test_what_sounds_like_an_answer_is_searched_for_as_a_document(
    database: Database, name: str, method: Method
) -> None:
    embedder = Noting()
    trueweave = await opened(database, embedder, **{name: "P6 is a"})
    evidence = await trueweave.retrieve("question", method)
    assert list(ranking(evidence)) == ["P6"]
    assert noted(evidence, name) == ["P6 is a"]
    assert embedder.roles["P6 is a"] == "document"
    assert evidence.trace.usage.calls == 1
    assert "P6 is a" not in [passage.text for passage in evidence.passages]


async def test_a_rewritten_question_is_still_a_question(database: Database) -> None:
    embedder = Noting()
    trueweave = await opened(database, embedder, rewrite="P3 exactly")
    evidence = await trueweave.retrieve("question", Rewrite(Naive(top_k=1)))
    assert list(ranking(evidence)) == ["P3"]
    assert embedder.roles["P3 exactly"] == "query"


async def test_the_parts_of_a_question_are_asked_beside_it_and_fused(database: Database) -> None:
    trueweave = await opened(database, decompose=json.dumps({"questions": ["P2 is what?", " ", "P1 is what?", "P7?"]}))
    evidence = await trueweave.retrieve("question", Decompose(Naive(top_k=3), most=2))
    assert noted(evidence, "decompose") == ["P2 is what?", "P1 is what?"]
    # question: P8, P7, P6; P2: P2 and its neighbours P3, P1 at 10 degrees; P1: P1, P2, P3.
    assert set(ranking(evidence)) == {"P1", "P2", "P3"}
    alone = await opened(database, decompose=json.dumps({"questions": []}))
    assert list(ranking(await alone.retrieve("question", Decompose(Naive(top_k=3))))) == ["P8", "P7", "P6"]


async def test_they_compose_with_any_method_and_are_asked_once(database: Database) -> None:
    trueweave = await opened(database, rewrite="P4", hyde="P6 is a")
    both = Fuse(parts=(Rewrite(Keyword()), Cutoff(Rewrite(Naive(top_k=2)), top_k=1), Hyde(Rewrite(Keyword()))))
    evidence = await trueweave.retrieve("question", both)
    assert evidence.trace.usage.calls == 3, "the rewritten question once, the passage, and what that was rewritten to"
    assert set(ranking(evidence)) == {"P4"}, "by its words and by its vector"
    assert registry.make("hyde", {"part": "keyword"}) == Hyde(Keyword())
    assert registry.make("decompose", {"part": "naive", "most": "2"}) == Decompose(Naive(), 2)


async def test_an_empty_reply_leaves_the_question_and_the_trace_says_so(database: Database) -> None:
    embedder = Noting()
    trueweave = await opened(database, embedder, hyde="  ")
    evidence = await trueweave.retrieve("question", Hyde(Naive(top_k=1)))
    assert list(ranking(evidence)) == ["P8"]
    assert noted(evidence, "hyde") == []
    assert embedder.roles["question"] == "query"


async def test_without_a_model_or_a_readable_reply_they_say_what_to_do(database: Database) -> None:
    bare = await AsyncTrueweave.enter(database, "bare", Angles())
    for method in (Rephrase(), Hyde(), Rewrite(), Decompose()):
        with pytest.raises(ConfigError, match="needs a language model"):
            await bare.retrieve("question", method)
    trueweave = await opened(database, decompose="I would rather not.")
    with pytest.raises(BadReply, match="no readable parts of the question"):
        await trueweave.retrieve("question", Decompose())


def test_a_reranker_gets_more_from_the_method_inside() -> None:
    made = reranked(Hyde(Naive(top_k=5)))
    assert (made.part, made.top_k) == (Hyde(Naive(top_k=30)), 5)


async def test_several_texts_are_searched_for_at_once(database: Database) -> None:
    trueweave = await opened(database)
    # P1: P1, P2, P3; P3: P3, P2 and P4 in some order. So P3 is first and third, and P2 second and second at best.
    each = Each(("P1", "P3"), Naive(top_k=3))
    assert next(iter(ranking(await trueweave.retrieve("anything", each)))) == "P3"
    alone = [await trueweave.retrieve("P4", method) for method in (Each(part=Naive()), Instead(part=Naive()), Naive())]
    assert len({one.passages for one in alone}) == 1, "without texts it is the question"
    found = await trueweave.search(["P1", "P2", "P6"], 2)
    assert len(found) == 2
    assert [p.id for p in await trueweave.search(["P4"], 3)] == [p.id for p in await trueweave.search("P4", 3)]
    with pytest.raises(InvalidArgument, match="no text to search for"):
        await trueweave.search([])
