"""What is imported before anything is asked for: a command that needs no model does not wait for the clients of any."""

import subprocess
import sys

import pytest

from trueweave.server.mcp import AgentEndpoint

SLOW = ("openai", "anthropic", "boto3", "httpx2", "huggingface_hub", "onnxruntime", "spacy", "fastapi", "mcp", "neo4j")


@pytest.mark.parametrize("module", ["trueweave", "trueweave.cli", "trueweave.engine", "trueweave.engine.asking"])
def test_importing_brings_no_client_of_models_along(module: str) -> None:
    code = f"import sys, {module}; print([one for one in {SLOW!r} if one in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("module", ["trueweave.engine.factory", "trueweave.server.app"])
def test_an_index_and_a_server_bring_no_vendors_sdk_along_before_a_model_is_asked(module: str) -> None:
    code = f"import sys, {module}; print([one for one in ('openai', 'anthropic', 'boto3') if one in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("typed", "imported"), [(["--version"], []), (["status", "--help"], ["status"]), (["keys"], ["keys"])]
)
def test_a_command_brings_no_other_along(typed: list[str], imported: list[str]) -> None:
    code = (
        "import sys; from trueweave.cli import _PANELS, app\n"
        "try: app(sys.argv[1:], prog_name='trueweave')\n"
        "except SystemExit: pass\n"
        "places = {place.partition(':')[0] for panel in _PANELS.values() for place in panel.values()}\n"
        "print('imported', sorted(one for one in places if f'trueweave.cli.{one}' in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code, *typed], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == f"imported {imported}"


def test_a_server_brings_the_package_for_agents_along_when_the_first_one_asks() -> None:
    code = (
        "import asyncio, sys; from trueweave.server.mcp import AgentEndpoint\n"
        "async def main():\n"
        "    endpoint = AgentEndpoint.find()\n"
        "    async with endpoint.running():\n"
        "        before = 'mcp' in sys.modules\n"
        "        one, other = await asyncio.gather(endpoint._started(), endpoint._started())\n"
        "        print(before, 'mcp' in sys.modules, one is other)\n"
        "asyncio.run(main())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout.split(), done.stderr) == (["False", "True", "True"], "")


async def test_a_package_for_agents_that_cannot_be_imported_fails_each_request(monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint = AgentEndpoint()
    monkeypatch.setitem(sys.modules, "mcp.server.streamable_http_manager", None)
    async with endpoint.running():
        for _ in range(2):
            with pytest.raises(ModuleNotFoundError):
                await endpoint._started()
