"""What is imported before anything is asked for: a command that needs no model does not wait for the clients of any."""

import subprocess
import sys

import pytest

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
