"""Every block of code on every page is checked: it is run, parsed by what it is for, or listed here with a reason.

A block of a language, or a command of a program, that is not known here fails, so a new one needs a decision:

- `console`: run by the tests in `TRANSCRIPTS`, which compare what the commands print with the page
- `sh`: each command is parsed, by the command line of Trueweave, its settings, its extras or its API
- `toml`: settings, or entry points in groups that there are
- `python`: run by the tests in `PROGRAMS`, or listed in `NOT_RUN`
- `json`, `yaml`: parsed
- `sql`, `cypher`: run, the latter in `test_transcripts.py`
- `text`, `markdown`: compared by the tests in `TEXTS`, or listed there with a reason
- `py`, and `text` in the reference: written from the code, which `make docs` checks
"""

import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import jsonschema  # type: ignore[import-untyped]
import psycopg
import pytest
import yaml  # type: ignore[import-untyped]
from typer.exceptions import TyperException

from tests.commands import parse_command
from tests.docs import test_transcripts
from tests.docs.pages import ROOT
from trueweave import Settings
from trueweave.core.settings import PREFIX
from trueweave.server.app import create_app

HERE = "tests/docs/test_programs.py"
TRANSCRIPTS = {
    "README.md": "tests/e2e/test_demo.py",
    "docs/start/demo.md": "tests/e2e/test_demo.py",
    "docs/start/examples.md": "tests/e2e/test_examples.py",
    "docs/start/give-it-a-model.md": "tests/docs/test_transcripts.py",
    "docs/start/your-own-documents.md": "tests/docs/test_transcripts.py",
    "docs/how-to/asking.md": "tests/docs/test_asking.py",
    "docs/how-to/bulk.md": "tests/docs/test_transcripts.py",
    "docs/how-to/connectors.md": "tests/docs/test_connectors.py",
    "docs/how-to/neo4j.md": "tests/docs/test_transcripts.py",
    "docs/how-to/stores.md": "tests/docs/test_transcripts.py",
    "docs/how-to/web-ui.md": "tests/docs/test_transcripts.py",
    "docs/how-to/record-answers.md": "tests/docs/test_transcripts.py",
    "docs/how-to/write-a-verifier.md": "tests/docs/test_transcripts.py",
} | {
    f"docs/{page}": "tests/docs/test_transcripts.py"
    for pages in ("SERVED", "ADDING", "IN_THE_DEMO", "EXTENDING")
    for page in getattr(test_transcripts, pages)
}
PROGRAMS = {
    "README.md": "tests/docs/test_readme.py",
    "docs/how-to/access-rights.md": "tests/docs/test_transcripts.py",
    "docs/how-to/asking.md": "tests/docs/test_asking.py",
    "docs/how-to/benchmarking.md": HERE,
    "docs/how-to/bring-your-own.md": "tests/docs/test_bring_your_own.py",
    "docs/how-to/client.md": HERE,
    "docs/how-to/communities.md": "tests/docs/test_communities.py",
    "docs/how-to/embedding.md": HERE,
    "docs/how-to/filtering.md": "tests/docs/test_transcripts.py",
    "docs/how-to/find-contradictions.md": "tests/docs/test_transcripts.py",
    "docs/how-to/frameworks.md": "tests/docs/test_frameworks.py",
    "docs/how-to/history.md": "tests/docs/test_transcripts.py",
    "docs/how-to/looking-things-up.md": "tests/docs/test_looking_up.py",
    "docs/how-to/mcp.md": HERE,
    "docs/how-to/moving.md": "tests/docs/test_moving.py",
    "docs/how-to/openai-clients.md": HERE,
    "docs/how-to/operations.md": HERE,
    "docs/how-to/pictures.md": "tests/docs/test_looking_up.py",
    "docs/how-to/record-answers.md": HERE,
    "docs/how-to/stores.md": HERE,
    "docs/how-to/workers.md": HERE,
    "docs/how-to/write-a-connector.md": "tests/docs/test_extending.py",
    "docs/how-to/write-a-loader.md": "tests/docs/test_extending.py",
    "docs/how-to/write-a-method.md": "tests/docs/test_extending.py",
    "docs/how-to/write-a-verifier.md": "tests/docs/test_extending.py",
    "docs/how-to/your-own-entities.md": "tests/docs/test_transcripts.py",
    "docs/reference/events.md": HERE,
}
NOT_RUN = {"import dspy": "DSPy is no tool of development, and needs a language model; the tool before it is run"}
TEXTS = {
    "docs/how-to/benchmarking.md": "a measurement that takes minutes; tests/unit/bench/test_variants.py has its words",
    "docs/how-to/bring-your-own.md": "tests/docs/test_bring_your_own.py",
    "docs/how-to/find-contradictions.md": "tests/integration/engine/test_disagreements.py has the line",
    "docs/how-to/mcp.md": "what tools print, shortened; tests/integration/mcp has them",
    "docs/how-to/scans-and-tables.md": "needs an engine for OCR; tests/unit/ingest has the note",
    "docs/start/demo.md": "tests/e2e/test_demo.py plays the demo; what it prints is not compared",
    "docs/start/examples.md": "tests/e2e/test_examples.py",
}
# Programs of others, whose arguments are not checked.
OTHERS = {"cd", "cp", "createdb", "helm", "kubectl", "mkdir", "ollama", "pg_basebackup", "pytest"}
# Variables that are not settings: of others, of the client, of containers.
VARIABLES = {"OTEL_EXPORTER_OTLP_ENDPOINT", "TRUEWEAVE_DB_PASSWORD", "TRUEWEAVE_KEY", "TRUEWEAVE_NEO4J_PASSWORD"}
GROUPS = {f"trueweave.{group}" for group in ("chunkers", "connectors", "extractors", "loaders", "methods")}
WORKSPACE = "http://127.0.0.1:8000/v1/workspaces/acme"
NOWHERE = "postgresql://nobody@127.0.0.1/none"
_BLOCK = re.compile(
    r"^(?P<indent> *)```(?P<language>\w*)[^\n]*\n(?P<text>.*?)^(?P=indent)```", re.DOTALL | re.MULTILINE
)


@dataclass(frozen=True)
class Block:
    """A block of code: where it is, and what it says."""

    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def _all() -> Iterator[Block]:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for page in pages:
        if "adr" not in page.parts:
            text = page.read_text("utf-8")
            for found in _BLOCK.finditer(text):
                line = text.count("\n", 0, found.start()) + 1
                code = re.sub(f"^{found['indent']}", "", found["text"], flags=re.MULTILINE)
                yield Block(str(page.relative_to(ROOT)), line, found["language"], code)


BLOCKS = list(_all())


def of(*languages: str) -> pytest.MarkDecorator:
    """A parameter for each block in one of these languages; texts of the reference are written from the code."""
    found = [block for block in BLOCKS if block.language in languages]
    listed = [block for block in found if block.language != "text" or "/reference/" not in block.page]
    return pytest.mark.parametrize("block", listed, ids=str)


def test_every_block_is_in_a_language_that_is_checked() -> None:
    """Commands without a language are a shell's, too."""
    known = {"console", "sh", "", "toml", "python", "json", "yaml", "sql", "cypher", "text", "markdown"}
    unknown = [
        f"{block}: {block.language}"
        for block in BLOCKS
        if block.language not in known and not ("/reference/" in block.page and block.language == "py")
    ]
    assert not unknown


@pytest.mark.parametrize("named", [TRANSCRIPTS, PROGRAMS, TEXTS], ids=["transcripts", "programs", "texts"])
def test_tests_that_are_said_to_run_a_page_name_it(named: dict[str, str]) -> None:
    for page, test in named.items():
        assert (ROOT / page).exists(), page
        if test.endswith(".py") and page.startswith("docs/how-to/"):
            assert Path(page).stem in (ROOT / test).read_text("utf-8"), f"{test} does not name {page}"


@of("console")
def test_every_transcript_is_run(block: Block) -> None:
    assert re.search(r"^\$ ", block.text, re.MULTILINE), "commands that are not run go into a block of the language sh"
    assert block.page in TRANSCRIPTS


@of("text", "markdown")
def test_every_text_is_listed(block: Block) -> None:
    assert block.page in TEXTS


@of("python")
def test_every_program_is_run(block: Block) -> None:
    if not any(line in block.text for line in NOT_RUN):
        assert block.page in PROGRAMS
    compile(block.text, str(block), "exec")


@of("json")
def test_json_can_be_parsed(block: Block) -> None:
    try:
        json.loads(block.text)
    except json.JSONDecodeError:
        for line in block.text.splitlines():
            json.loads(line)


@of("yaml")
def test_yaml_can_be_parsed(block: Block) -> None:
    assert yaml.safe_load(block.text)


@of("toml")
def test_toml_has_settings_or_entry_points(block: Block) -> None:
    for table in _tables(block.text):
        if points := table.pop("project", {}).pop("entry-points", {}):
            assert points.keys() <= GROUPS
        if table:
            settings = {"database_url": NOWHERE, **table}
            assert settings.keys() <= Settings.model_fields.keys()
            Settings(**settings)


def _tables(text: str) -> list[dict[str, Any]]:
    """The table; or one for each line, if these are alternatives."""
    try:
        return [tomllib.loads(text)]
    except tomllib.TOMLDecodeError:
        return [tomllib.loads(line) for line in text.splitlines()]


@of("sql")
def test_sql_can_be_executed(block: Block, url: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute(block.text.encode())
        connection.rollback()


@of("sh", "")
def test_commands_can_be_parsed(block: Block) -> None:
    variables = {"BASE": WORKSPACE}
    for line in block.text.replace("\\\n", " ").splitlines():
        for name, value in variables.items():
            line = line.replace(f"${name}", value)
        words = shlex.split(line, comments=True)
        while words:
            end = words.index("&&") if "&&" in words else len(words)
            _check(words[:end], variables)
            words = words[end + 1 :]


def _check(words: list[str], variables: dict[str, str]) -> None:
    """Check a command, without carrying it out."""
    while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
        name, _, value = words.pop(0).partition("=")
        variables[name] = value
    match words:
        case [] | ["make", *_]:
            assert not words or re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
        case ["trueweave", *rest]:
            parse_command(*rest)
        case ["python", name, *rest] if (tool := ROOT / "tools" / name).exists():
            offered = subprocess.check_output([sys.executable, tool, "--help"], text=True)
            assert {word for word in rest if word.startswith("--")} <= {*re.findall(r"--\w+", offered)}
        case ["export", given]:
            name = given.partition("=")[0]
            assert name in VARIABLES or name.removeprefix(PREFIX).lower() in Settings.model_fields, name
        case ["pip", "install", *rest]:
            for extras in re.findall(r"trueweave\[([\w,-]+)\]", " ".join(rest)):
                assert {*extras.split(",")} <= _extras(), extras
        case ["curl", *rest]:
            _check_request(rest)
        case ["docker", "compose", *rest] if "cli" in rest:
            parse_command(*rest[rest.index("cli") + 1 :])
        case ["docker", "compose", *rest]:
            files = [file for option, file in pairwise(rest) if option == "-f"]
            services = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))["services"]
            assert all((ROOT / file).exists() for file in files)
            named = rest[rest.index("up") + 1 :]
            assert {one for one in named if not one.startswith("-")} <= services.keys()
        case ["docker", "exec", _, "trueweave", *rest]:
            parse_command(*rest)
        case ["docker", "build" | "run", *_]:
            pass
        case [program, *_]:
            assert program in OTHERS, f"{program}: how is it checked?"


@cache
def _extras() -> set[str]:
    return {*tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]}


@cache
def _api() -> dict[str, Any]:
    return create_app(Settings(database_url=NOWHERE)).openapi()


def _check_request(words: list[str]) -> None:
    """Check path, parameters and body of a request against the description of the API."""
    method, body, headers, has_form, [address] = "get", None, [], False, [one for one in words if "://" in one]
    for option, value in pairwise(words):
        match option:
            case "-X":
                method = value.lower()
            case "-H":
                headers.append(value)
            case "--json":
                body, method = json.loads(value), "post" if method == "get" else method
            case "-F" | "--data-binary":
                has_form, method = True, "post"
    place = urlsplit(address)
    for path, operations in _api()["paths"].items():
        if method in operations and re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", path), place.path):
            operation = operations[method]
            break
    else:
        raise AssertionError(f"there is no {method.upper()} {place.path}")
    known = {one["name"] for one in operation.get("parameters", ()) if one["in"] == "query"}
    assert {name for name, _ in parse_qsl(place.query)} <= known
    content = operation.get("requestBody", {}).get("content", {})
    assert has_form or body is not None or not content or not operation["requestBody"].get("required")
    if body is not None:
        schema = content["application/json"]["schema"]
        jsonschema.validate(body, {**schema, "components": _api()["components"]})


def test_a_mistake_is_noticed() -> None:
    for wrong in (
        ["trueweave", "ad", "notes"],
        ["trueweave", "project", "strat", "neo4j"],
        ["trueweave", "ask", "--metod", "weave", "Who?"],
        ["pip", "install", "trueweave[al]"],
        ["export", "TRUEWEAVE_MODLE=x"],
        ["curl", f"{WORKSPACE}/documnets"],
        ["curl", f"{WORKSPACE}/documents?limt=2"],
        ["curl", f"{WORKSPACE}/ask", "--json", '{"question": 7}'],
        ["wget", WORKSPACE],
    ):
        with pytest.raises((AssertionError, TyperException, jsonschema.ValidationError)):
            _check(wrong, {})
