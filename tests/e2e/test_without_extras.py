"""With the core alone, each feature that needs an extra says so, with the command that installs it."""

import json
import os
import subprocess
import tomllib
from pathlib import Path

from tests.without_extras import make_core_environment

ROOT = Path(__file__).parents[2]
ADDRESS = "127.0.0.1:1/x"  # nothing listens there
# By extra: the words of a command, after the variables that it is run with.
FEATURES: dict[str, list[str]] = {
    "embedded": ["db start", "demo --folder demo --no-ui"],
    "documents": ["add x.pdf", "add x.docx", "add x.pptx", "add x.xlsx", "add x.rtf", "add x.msg"],
    "communities": ["communities build"],
    "ocr": ["add x.png"],
    "web": [*(f"add {scheme}https://{ADDRESS}" for scheme in ("", "sitemap+", "feed+")), "add x.warc"],
    "git": [f"add git+https://{ADDRESS}"],
    "s3": ["add s3://bucket"],
    "watch": ["sync --watch ."],
    "local": ["TRUEWEAVE_EMBEDDING_MODEL=local/bge-small-en-v1.5 add x.txt", "models fetch bge-small-en-v1.5"],
    "nlp": ["add --extractor nlp x.txt"],
    "anthropic": ["ANTHROPIC_API_KEY=k TRUEWEAVE_MODEL=anthropic/claude-sonnet-4-5 add x.txt"],
    "bedrock": ["TRUEWEAVE_MODEL=bedrock/amazon.nova-lite-v1:0 add x.txt"],
    "server": ["serve", "ui", "worker --metrics-port 9"],
    "mcp": ["mcp"],
    "signing": ["remove x.txt --certificate y.json"],
    "telemetry": ["OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1 worker"],
    "neo4j": ["TRUEWEAVE_NEO4J_URL=bolt://127.0.0.1:1 project start neo4j"],
    "chroma": ["TRUEWEAVE_CHROMA_URL=http://127.0.0.1:1 project start chroma"],
    "ray": ["bulk x.txt"],
    "formats": ["export x.parquet", "export x.ttl", "import --format rdf x.ttl", "import --format graphrag ."],
    "langchain": ["python import trueweave.integrations.langchain"],
    "llama-index": ["python import trueweave.integrations.llama_index"],
    "haystack": ["python import trueweave.integrations.haystack"],
}
COLLECTIONS = {"desktop", "all"}  # extras of extras


def test_every_feature_that_needs_an_extra_names_the_command_that_installs_it(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    python = make_core_environment(tmp_path / "core")
    for suffix in ("pdf", "docx", "pptx", "xlsx", "rtf", "msg", "png", "warc", "txt", "ttl"):
        (tmp_path / f"x.{suffix}").write_text("Ada Lovelace lived in London.")
    lines = [(extra, line) for extra, features in FEATURES.items() for line in features]
    cases = [{"words": ["init"], "variables": {}}, *(_case(line) for _, line in lines)]
    done = subprocess.run(
        [python, ROOT / "tests" / "core_commands.py"],
        input=json.dumps(cases),
        env={
            **environment,
            "HOME": str(tmp_path),
            "PATH": os.defpath,
            "TRUEWEAVE_DATA_DIRECTORY": str(tmp_path / "server"),
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.returncode, done.stderr
    made, *said = json.loads(done.stdout)
    assert made["code"] == 0, made
    wrong = [
        (line, one)
        for (extra, line), one in zip(lines, said, strict=True)
        if one["code"] == 0 or f'pip install "trueweave[{extra}]"' not in " ".join(one["text"].split())
    ]
    assert not wrong, "\n".join(f"{line}: {one}" for line, one in wrong)


def test_every_extra_is_tried_and_is_in_all() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert FEATURES.keys() == extras.keys() - COLLECTIONS
    assert extras["all"] == [f"trueweave[{','.join(name for name in extras if name not in COLLECTIONS)}]"]


def _case(line: str) -> dict[str, object]:
    words = line.split(" ")
    variables = dict(word.split("=", 1) for word in words if "=" in word and word.partition("=")[0].isupper())
    return {"words": [word for word in words if word.partition("=")[0] not in variables], "variables": variables}
