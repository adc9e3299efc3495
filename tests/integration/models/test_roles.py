"""What is embedded as a document, what as a query, and what prefixes make of an embedding space."""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import pytest

from tests.paid_calls import cached_embedder
from trueweave import AsyncTrueweave, Chunk, Document, Link, Mention, Settings
from trueweave.core.model_calls import TextRole
from trueweave.errors import ConfigError, SpaceMismatch
from trueweave.extend import Database, Embedder, Vectors, Workspace
from trueweave.models.prefixes import PrefixedEmbedder, Prefixes
from trueweave.store.postgres.money.replies import PostgresReplies
from trueweave.store.postgres.queue.liveness import Liveness
from trueweave.testing import HashEmbedder, ModelServer

TEXT = "Ada Lovelace worked with Charles Babbage."
QUESTION = "Whom did Ada Lovelace work with?"
ADA, BABBAGE = "Ada Lovelace", "Charles Babbage"
DOCUMENT = Document("a", (Chunk(TEXT, mentions=(Mention(ADA), Mention(BABBAGE)), links=(Link(ADA, BABBAGE, "with"),)),))


@dataclass(frozen=True)
class Listening(HashEmbedder):
    """An embedder that notes what it is given, and as what."""

    heard: list[tuple[str, TextRole]] = field(default_factory=list)

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        self.heard.extend((text, role) for text in texts)
        return await super().embed(texts, role)

    def roles(self) -> set[TextRole]:
        return {role for _, role in self.heard}


async def test_what_is_stored_is_a_document_and_what_is_looked_for_a_query(database: Database) -> None:
    embedder = Listening()
    trueweave = await AsyncTrueweave.enter(database, "roles", embedder)
    async with aclosing(trueweave):
        await trueweave.add_documents([DOCUMENT])
        texts = [text for text, _ in embedder.heard]
        assert TEXT in texts
        assert any(text.startswith(ADA) for text in texts)
        assert embedder.roles() == {"document"}
        for method in ("naive", "local", "weave", "hybrid"):
            embedder.heard.clear()
            await trueweave.retrieve(QUESTION, method=method)
            assert embedder.roles() == {"query"}, method
        embedder.heard.clear()
        await trueweave.maintenance.change_space(other := Listening(name="other"))
        assert (embedder.heard, other.roles()) == ([], {"document"})


async def test_a_passage_that_is_made_up_is_looked_for_as_a_document(url: str) -> None:
    embedder = Listening()
    async with ModelServer() as server:
        settings = Settings(workspace="guess", database_url=url, model="vllm/any", model_url=server.url)
        async with AsyncTrueweave.open(url, "guess", embedder, settings=settings, make=True) as trueweave:
            await trueweave.add_documents([DOCUMENT])
            embedder.heard.clear()
            await trueweave.retrieve(QUESTION, method="guess")
    assert [role for _, role in embedder.heard][-1] == "document"
    assert embedder.roles() == {"query", "document"}


async def test_an_embedder_without_roles_is_refused_in_words(database: Database) -> None:
    class Old:
        model, dimensions, metric = "mine/old", 8, "cosine"

        async def embed(self, texts: Sequence[str]) -> Vectors:
            raise AssertionError("it is not asked")

    old = cast("Embedder", Old())
    wanted = r'mine/old cannot tell queries from documents: Old\.embed is to take the texts and their role, "query" or'
    with pytest.raises(ConfigError, match=wanted):
        await AsyncTrueweave.enter(database, "old", old)
    trueweave = await AsyncTrueweave.enter(database, "old")
    async with aclosing(trueweave):
        with pytest.raises(ConfigError, match=wanted):
            await trueweave.maintenance.change_space(old)


async def test_a_text_is_kept_for_each_role(workspace: Workspace, liveness: Liveness) -> None:
    bare = Listening(8)
    prefixed = PrefixedEmbedder(bare, Prefixes("q: ", "d: "))
    replies = PostgresReplies(workspace, liveness, "m")
    cached = cached_embedder(prefixed, replies)
    query, document = (await cached.embed(["one"], "query"))[0], (await cached.embed(["one"], "document"))[0]
    assert not np.array_equal(query, document)
    assert np.array_equal((await cached.embed(["one"], "query"))[0], query)
    assert bare.heard == [("q: one", "query"), ("d: one", "document")]


async def test_prefixes_of_the_settings_reach_the_server_and_name_the_space(url: str) -> None:
    async with ModelServer(embedder=(heard := Listening())) as server:

        def settings(**more: Any) -> Settings:
            usual: dict[str, Any] = {
                "workspace": "test",
                "database_url": url,
                "extractor": "capitals",
                "method": "naive",
            }
            return Settings(**usual, embedding_model="vllm/embed", embedding_url=server.url, **more)

        said = {"embedding_query_prefix": "search_query: ", "embedding_document_prefix": "search_document: "}
        async with AsyncTrueweave.open(url, settings=settings(**said)) as trueweave:
            await trueweave.add_documents([DOCUMENT])
            await trueweave.retrieve(QUESTION)
            texts = [text for text, _ in heard.heard]
            assert {f"search_document: {TEXT}", f"search_query: {QUESTION}"} <= set(texts)
        prefixes = '"search_query: " and "search_document: "'
        wanted = rf"from vllm/embed with prefixes {prefixes} \(64 dimensions.*reembed MODEL"
        for other in ({}, {**said, "embedding_query_prefix": "query: "}):
            async with AsyncTrueweave.open(url, settings=settings(**other)) as trueweave:
                with pytest.raises(SpaceMismatch, match=wanted):
                    await trueweave.retrieve(QUESTION)
