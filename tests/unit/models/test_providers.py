"""Providers whose library is an extra, or whose models only chat."""

import sys
from collections.abc import Awaitable, Callable

import pytest

from trueweave.errors import ConfigError
from trueweave.models.names import Endpoint, endpoint
from trueweave.models.opening import open_chat, open_embedder, open_reranker


@pytest.mark.parametrize(
    ("provider", "library", "words"),
    [
        ("anthropic", "anthropic", r'needs the SDK of Anthropic: pip install "trueweave\[anthropic\]"'),
        ("bedrock", "boto3", r'needs boto3: pip install "trueweave\[bedrock\]"'),
    ],
)
def test_a_library_that_is_not_installed_is_named(
    monkeypatch: pytest.MonkeyPatch, provider: str, library: str, words: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.delitem(sys.modules, f"trueweave.models.{provider}", raising=False)
    with pytest.raises(ConfigError, match=words):
        open_chat(endpoint(f"{provider}/any", key="k"))


@pytest.mark.parametrize("provider", ["anthropic", "bedrock"])
@pytest.mark.parametrize(("opened", "what"), [(open_embedder, "embed"), (open_reranker, "rerank")])
async def test_models_that_only_chat_are_not_opened_for_anything_else(
    provider: str, opened: Callable[[Endpoint], Awaitable[object]], what: str
) -> None:
    with pytest.raises(ConfigError, match=rf"{provider}/any cannot {what}: .*Choose a model of another provider"):
        await opened(endpoint(f"{provider}/any", key="k"))


def test_bedrock_takes_no_key() -> None:
    with pytest.raises(ConfigError, match=r"boto3 finds the credentials of AWS itself\. Remove model_key_variable"):
        open_chat(endpoint("bedrock/any", key="k"))
