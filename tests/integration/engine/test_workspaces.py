"""Workspaces in one process: what each has of its own, and what they share."""

from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from trueweave import AsyncTrueweave, Settings
from trueweave.core.settings import workspace_settings
from trueweave.engine.model_settings import chat_endpoint
from trueweave.errors import ConfigError, ModelUnavailable
from trueweave.extend import Database, ModelFactory
from trueweave.models.names import Endpoint, provider_of
from trueweave.store.postgres.connections import PostgresConnection
from trueweave.testing import HashEmbedder
from trueweave.testing.model_server import ModelServer


@pytest.fixture
async def factory(database: Database) -> AsyncIterator[ModelFactory]:
    async with ModelFactory(database) as made:
        yield made


class Counted(PostgresConnection):
    """A connection whose statements are counted."""

    statements: list[str] = []  # noqa: RUF012 (reset by the test)

    async def execute(self, query: object, *given: object, **named: object) -> object:  # type: ignore[override]
        Counted.statements.append(query.decode() if isinstance(query, bytes) else str(query))
        return await super().execute(query, *given, **named)  # type: ignore[call-overload]


async def test_opening_a_workspace_is_one_statement_and_opens_no_model(url: str) -> None:
    settings = Settings(embedding_model="vllm/any", embedding_url="http://127.0.0.1:9/v1")
    async with Database(url, connections=1, connection_class=Counted) as database:
        await AsyncTrueweave.enter(database, "first", HashEmbedder())
        Counted.statements.clear()
        for name in ("first", "second"):
            await AsyncTrueweave.enter(database, name, settings=settings)
        again = await AsyncTrueweave.enter(database, "first", HashEmbedder())
        told = [one for one in Counted.statements if "set_config" not in one]
        assert len(told) == 3
        assert all("open_workspace" in one for one in told)
        await again.aclose()


async def test_a_workspace_has_settings_of_its_own_over_those_of_the_process(database: Database) -> None:
    process = Settings(model="openai/common", max_answer_tokens=100)
    one = await AsyncTrueweave.enter(database, "one", settings=process)
    changed = await one.maintenance.change_settings(
        {"model": "ollama/own", "entity_types": {"ship": "a vessel"}, "prices": {"ollama/own": [1, 2.5]}}
    )
    assert (changed.model, changed.max_answer_tokens) == ("ollama/own", 100)
    again = await AsyncTrueweave.enter(database, "one", settings=process)
    other = await AsyncTrueweave.enter(database, "other", settings=process)
    assert again.settings == changed
    assert again.settings.entity_types == {"ship": "a vessel"}
    assert other.settings == process
    assert other.maintenance.own_settings == {}
    back = await again.maintenance.change_settings({}, unset=["model", "prices"])
    assert (back.model, back.prices) == ("openai/common", {})
    assert again.maintenance.own_settings == {"entity_types": {"ship": "a vessel"}}


async def test_what_the_caller_gives_himself_outweighs_the_workspace(database: Database) -> None:
    one = await AsyncTrueweave.enter(database, "one", settings=Settings())
    await one.maintenance.change_settings({"extractor": "nlp", "max_gleaning": 3})
    given = Settings.load(extractor="capitals")
    again = await AsyncTrueweave.enter(database, "one", settings=given)
    assert (again.settings.extractor, again.settings.max_gleaning) == ("capitals", 3)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"database_url": "postgresql://elsewhere/x"}, "is not a setting of a workspace"),
        ({"colour": "blue"}, "is not a setting of a workspace"),
        ({"max_gleaning": 50}, "max_gleaning"),
        ({"model_key_variable": "sk-1234"}, "model_key_variable"),
        ({"model_key_variable": "PGPASSWORD"}, "model_key_variable"),
    ],
)
async def test_a_setting_that_a_workspace_cannot_have_is_refused(
    database: Database, changes: dict[str, object], problem: str
) -> None:
    one = await AsyncTrueweave.enter(database, "one", settings=Settings())
    with pytest.raises(ConfigError, match=problem):
        await one.maintenance.change_settings(changes)
    assert one.maintenance.own_settings == {}


def test_a_key_is_read_from_the_variable_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "of-all")
    monkeypatch.setenv("TENANT_KEY", "of-one")
    named = Settings().over({"model_key_variable": "TENANT_KEY"})
    assert chat_endpoint(Settings(), "openai/any").key == "of-all"
    assert chat_endpoint(named, "openai/any").key == "of-one"
    monkeypatch.delenv("TENANT_KEY")
    with pytest.raises(ConfigError, match="TENANT_KEY"):
        chat_endpoint(named, "openai/any")
    assert workspace_settings({"model_key_variable": "TENANT_KEY"}) == {"model_key_variable": "TENANT_KEY"}


async def test_workspaces_share_clients_and_limiters_and_each_pays_for_itself(
    database: Database, factory: ModelFactory
) -> None:
    async with ModelServer() as server:
        settings = Settings(embedding_model="vllm/any", embedding_url=server.url)
        names = ("one", "two", "three")
        opened = [await AsyncTrueweave.enter(database, n, settings=settings, models=factory) for n in names]
        for one in opened:
            async with aclosing(one):
                await one.maintenance.settle()  # takes the space of its embedder
        # The dimension was asked for once, by whoever came first.
        assert len(server.calls) == 1
    provider = provider_of("vllm/any")
    assert provider
    where = Endpoint(provider, "any", "http://127.0.0.1:9/v1")
    assert factory.chat(where, 1000, 1.0) is factory.chat(where, 1000, 1.0)
    assert factory.pipeline("en_core_web_sm") is factory.pipeline("en_core_web_sm")


async def test_a_model_that_could_not_be_opened_is_tried_again(factory: ModelFactory) -> None:
    async with ModelServer() as server:
        settings = Settings(embedding_url=server.url, deadline=1.0)
        opened = await factory.embedder(settings, "vllm/any")
        assert await factory.embedder(settings, "vllm/any") is opened
    for _ in range(2):
        with pytest.raises(ModelUnavailable):
            await factory.embedder(settings, "vllm/other")
