"""A method that finds nothing for a reason of its own says what happened, and what to change."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal

import pytest

from trueweave import AsyncTrueweave, Chunk, Document, Filter, Mention, Settings
from trueweave.cli.compare import comparison_lines
from trueweave.core.evidence import NO_DOCUMENTS
from trueweave.core.json_forms import answer_json
from trueweave.errors import BadReply, BudgetReached
from trueweave.extend import Database
from trueweave.methods import Cutoff, Fuse, Keyword, Subgraph
from trueweave.testing import HashEmbedder
from trueweave.testing.model_server import Asked, ModelServer

MODEL = "openai/any"
STRICT = Subgraph(similarity_threshold=0.99, text_weight=0)
DOCUMENT = Document("a.md", (Chunk("Ada Lovelace wrote Note G.", mentions=(Mention("Ada Lovelace", "person"),)),))


@asynccontextmanager
async def asking(database: Database, reply: str = "ok", **settings: object) -> AsyncIterator[AsyncTrueweave]:
    def script(_: Asked) -> str:
        return reply

    async with ModelServer(script) as server:
        chosen = Settings(model=MODEL, model_url=server.url, model_tries=1, **settings)  # type: ignore[arg-type]
        trueweave = await AsyncTrueweave.enter(database, "test", HashEmbedder(), settings=chosen)
        await trueweave.add_documents([DOCUMENT])
        yield trueweave
        await trueweave.aclose()


async def test_subgraph_with_nothing_above_its_threshold_names_it_and_what_to_lower(database: Database) -> None:
    async with asking(database) as trueweave:
        evidence = await trueweave.retrieve("Who wrote the first program?", STRICT)
        assert not evidence
        assert "similarity_threshold wants, which is 0.99; the nearest, Ada Lovelace, has 0." in evidence.reason
        assert "Lower it, as in --set similarity_threshold=" in evidence.reason
        answer = await trueweave.ask("Who wrote the first program?", STRICT)
        assert answer.text == f"Nothing was found: {evidence.reason}"
        assert not answer.known
        told = answer_json(answer, is_answered=True)
        assert told["evidence"]["reason"] == evidence.reason  # type: ignore[index]
        pieces = [piece async for piece in trueweave.stream("Who wrote the first program?", STRICT)]
        assert pieces[0] == answer.text
        compared = await trueweave.compare("Who wrote the first program?", [STRICT, "naive"])
        assert any(evidence.reason in str(part) for part in comparison_lines(compared, "USD"))


async def test_what_is_made_of_methods_passes_their_reasons_on(database: Database) -> None:
    async with asking(database) as trueweave:
        fused = await trueweave.retrieve("zebra", Fuse(parts=(STRICT, Keyword())))
        assert "similarity_threshold" in fused.reason
        assert "no word of the question is in the documents" in fused.reason
        cut = await trueweave.retrieve("Ada Lovelace", Cutoff(part=Keyword(), min_score=1000.0))
        assert not cut.passages
        assert "no passage scores 1e+03 or more; the best has 0." in cut.reason


@pytest.mark.parametrize("method", ["keyword", "naive", "fuse", "weave"])
@pytest.mark.parametrize("filter", [Filter(uris=("none.md",)), Filter(metadata={"year": 1843})])
async def test_a_filter_that_no_document_passes_is_told(database: Database, method: str, filter: Filter) -> None:
    async with asking(database) as trueweave:
        answer = await trueweave.ask("Who wrote Note G?", method, filter=filter)
        assert answer.text.startswith("Nothing was found: no document matches the filter.")
        assert not answer.known


@pytest.mark.parametrize("method", ["keyword", "naive", "weave", "auto"])
async def test_a_workspace_without_documents_says_so(database: Database, method: str) -> None:
    async with asking(database) as trueweave:
        await trueweave.remove([DOCUMENT.uri])
        answer = await trueweave.ask("Who wrote Note G?", method)
        assert answer.text == f"Nothing was found: {NO_DOCUMENTS}"


async def test_a_filter_that_a_document_passes_is_not_blamed(database: Database) -> None:
    async with asking(database) as trueweave:
        evidence = await trueweave.retrieve("zebra", "keyword", filter=Filter(uris=("a.md",)))
        assert not evidence
        assert "no word of the question" in evidence.reason


async def test_the_length_of_an_answer_is_a_setting(database: Database) -> None:
    async with asking(database, "<think>Hm", max_answer_tokens=16) as trueweave:
        with pytest.raises(BadReply):
            await trueweave.ask("Who wrote Note G?", "keyword")
    heard: list[int] = []

    def script(asked: Asked) -> str:
        heard.append(asked.max_tokens)
        return "ok"

    async with ModelServer(script) as server:
        settings = Settings(model=MODEL, model_url=server.url, model_tries=1, max_answer_tokens=77)
        trueweave = await AsyncTrueweave.enter(database, "test", HashEmbedder(), settings=settings)
        await trueweave.ask("Who wrote Note G?", "keyword")
        await trueweave.aclose()
    assert heard == [77]


async def test_a_budget_that_is_reached_is_told_in_its_currency(database: Database) -> None:
    prices = {MODEL: (Decimal(1), Decimal(10))}
    async with asking(database, prices=prices, currency="EUR") as trueweave:
        await trueweave.budget.allow(price=Decimal("0.0001"))
        with pytest.raises(BudgetReached, match=r"tokens \(0\.02\d\d EUR\), but less than that is left"):
            await trueweave.ask("Who wrote Note G?", "keyword")
