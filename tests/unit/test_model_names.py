"""Names of models, and where they are found."""

import re

import pytest

from trueweave.errors import ConfigError
from trueweave.models.names import PROVIDERS, endpoint


@pytest.mark.parametrize(
    ("name", "provider", "model", "url"),
    [
        ("openai/gpt-4o-mini", "openai", "gpt-4o-mini", "https://api.openai.com/v1"),
        ("ollama/llama3.1:8b", "ollama", "llama3.1:8b", "http://127.0.0.1:11434/v1"),
        ("vllm/Qwen/Qwen3-8B", "vllm", "Qwen/Qwen3-8B", "http://127.0.0.1:8000/v1"),
        ("onnx//srv/models/minilm", "onnx", "/srv/models/minilm", ""),
    ],
)
def test_a_name_is_a_provider_and_a_model_with_slashes_of_its_own(
    name: str, provider: str, model: str, url: str
) -> None:
    found = endpoint(name, key="k")
    assert (found.provider.name, found.model, found.url, found.name) == (provider, model, url, name)


def test_a_url_outweighs_the_providers_own_and_makes_any_provider_known() -> None:
    assert endpoint("openai/m", url="http://gateway:4000/v1/").url == "http://gateway:4000/v1"
    assert endpoint("ours/m", url="https://models.example/v1").name == "ours/m"


@pytest.mark.parametrize("url", ["http://gpu:11434", "http://gpu:11434/", "http://gpu:11434/v1"])
def test_the_address_of_ollama_may_be_given_with_or_without_v1(url: str) -> None:
    found = endpoint("ollama/m", url=url)
    assert (found.url, found.root) == ("http://gpu:11434/v1", "http://gpu:11434")


def test_an_unknown_provider_without_a_url_is_refused_with_a_list_of_the_known() -> None:
    with pytest.raises(ConfigError, match=rf"does not know: opnai.*{', '.join(PROVIDERS)}.*set the URL"):
        endpoint("opnai/gpt-4o-mini")


@pytest.mark.parametrize("name", ["gpt-4o-mini", "openai/", "/gpt-4o-mini", ""])
def test_what_is_not_provider_slash_model_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=r"is not the name of a model\. Write provider/model"):
        endpoint(name)


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://host/v1", "http://"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match=r"is not the URL of a model server.*must look like"):
        endpoint("vllm/m", url=url)


@pytest.mark.parametrize("name", [name for name, provider in PROVIDERS.items() if provider.key_variable])
def test_a_provider_that_wants_a_key_names_the_variable(name: str) -> None:
    with pytest.raises(ConfigError, match=f"{name}/m needs a key. Set {PROVIDERS[name].key_variable} to yours"):
        endpoint(f"{name}/m")
    assert endpoint(f"{name}/m", key="k").key == "k"


def test_a_key_is_taken_without_the_line_break_it_was_copied_with_and_refused_with_one_inside() -> None:
    assert endpoint("openai/m", key=" sk-1\n").key == "sk-1"
    for broken in ("sk-1 2", "sk-1\n2", "sk-é"):
        with pytest.raises(ConfigError, match=r"the key for openai/m holds a space.*Copy it again") as raised:
            endpoint("openai/m", key=broken)
        assert broken not in str(raised.value)


def test_models_on_ones_own_machine_need_no_key_and_cost_nothing() -> None:
    local = {name for name, provider in PROVIDERS.items() if provider.local}
    assert local == {"ollama", "vllm", "llamacpp", "lmstudio", "onnx", "local"}
    assert all(endpoint(f"{name}/m").key == "" for name in local)


def test_neither_messages_nor_the_repr_show_a_secret() -> None:
    found = endpoint("openai/m", url="https://user:hunter2@gateway:4000/v1?token=hunter2", key="sk-hunter2")
    assert str(found) == "openai/m at https://gateway:4000/v1"
    assert not re.search("hunter2", str(found))
    assert "sk-hunter2" not in repr(found)
