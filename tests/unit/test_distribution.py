"""Wheel and source distribution contain what they should and nothing else."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

from trueweave.server.routes import ui

ROOT = Path(__file__).parents[2]
# Files beside the Python modules, by folder and ending. A new kind of file is added here on purpose.
DATA = {
    ("", ".typed"),
    ("bench", ".css"),
    ("demo", ".jsonl"),
    ("demo", ".npz"),
    ("demo/documents", ".csv"),
    ("demo/documents", ".pdf"),
    ("demo/documents/letters", ".md"),
    ("demo/documents/logs", ".md"),
    ("demo/documents/mails", ".txt"),
    ("demo/documents/minutes", ".md"),
    ("demo/documents/notices", ".txt"),
    ("formats/pictures", ".html"),
    ("formats/pictures", ".js"),
    ("mcp", ".md"),
    ("models", ".toml"),
    ("models/prompts", ".md"),
    ("server/web", ".css"),
    ("server/web", ".html"),
    ("server/web", ".js"),
    ("store/neo4j", ".cypher"),
}
# The web UI, where `make web` has built it. Git ignores it; distributions include it.
UI = "server/web/ui"
UI_DATA = {".br", ".css", ".gz", ".html", ".js", ".png", ".svg", ".txt", ".woff2"}
METADATA = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}
SOURCES = {
    *("CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "PKG-INFO", "README.md", "pyproject.toml", ".gitignore"),
    *("docs", "src", "tests"),
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    [built] = WheelBuilder(str(ROOT)).build(directory=str(tmp_path_factory.mktemp("wheel")), versions=["standard"])
    return zipfile.ZipFile(built)


def test_the_wheel_has_the_package_and_its_metadata(wheel: zipfile.ZipFile) -> None:
    names = set(wheel.namelist())
    package = {name.removeprefix("trueweave/") for name in names if name.startswith("trueweave/")}
    others = {name.partition(".dist-info/")[2] for name in names - {f"trueweave/{name}" for name in package}}
    assert others == METADATA
    there = (file for file in (ROOT / "src" / "trueweave").rglob("*") if file.is_file() and file.suffix != ".pyc")
    assert package == {file.relative_to(ROOT / "src" / "trueweave").as_posix() for file in there}


def test_the_wheel_has_no_data_files_but_those_that_the_package_reads(wheel: zipfile.ZipFile) -> None:
    files = [Path(name.removeprefix("trueweave/")) for name in wheel.namelist() if name.startswith("trueweave/")]
    built = [file for file in files if file.as_posix().startswith(f"{UI}/")]
    assert {file.suffix for file in built} <= UI_DATA
    rest = set(files) - set(built)
    data = {(file.parent.as_posix().lstrip("."), file.suffix or f".{file.name.lstrip('.')}") for file in rest}
    sql = {folder for folder, suffix in data if suffix == ".sql"}
    assert {one for one in data if one[1] not in (".py", ".sql")} == DATA
    assert all(folder.startswith("store/postgres") for folder in sql)
    assert not any(file.name == "schema.sql" for file in files)  # it is documentation


def test_wheel_and_source_distribution_have_the_built_web_ui(tmp_path: Path) -> None:
    tree, out = tmp_path / "tree", tmp_path / "dist"
    built = {f"src/trueweave/{UI}/index.html", f"src/trueweave/{UI}/assets/index-Ab12Cd34.js"}
    for name in ("pyproject.toml", "README.md", "LICENSE", ".gitignore", "src/trueweave/__init__.py"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tree / name)
    for name in built:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text("built")
    [wheel] = WheelBuilder(str(tree)).build(directory=str(out), versions=["standard"])
    with zipfile.ZipFile(wheel) as opened:
        assert {name.removeprefix("src/") for name in built} <= set(opened.namelist())
    [sdist] = SdistBuilder(str(tree)).build(directory=str(out), versions=["standard"])
    with tarfile.open(sdist) as archive:
        assert built <= {name.partition("/")[2] for name in archive.getnames()}


SERVES = """
import re
from starlette.testclient import TestClient
import trueweave
from trueweave.server.app import create_app

client = TestClient(create_app(authenticated=True), base_url="http://127.0.0.1")
page = client.get("/ui/")
loaded = [client.get(path) for path in re.findall(r'(?:src|href)="(/ui/[^"]+)"', page.text)]
print(trueweave.__file__, page.status_code, {one.status_code for one in loaded}, len(loaded) > 2)
"""


@pytest.mark.skipif(not ui.is_built(), reason="The web UI is not built here: run `make web`.")
def test_the_installed_wheel_serves_the_web_ui(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    wheel.extractall(tmp_path / "installed")  # all that installing a wheel of pure Python does
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path / "installed"), "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", SERVES], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == [f"{tmp_path}/installed/trueweave/__init__.py", "200", "{200}", "True"], done.stderr


def test_the_metadata_name_nothing_that_does_not_exist(wheel: zipfile.ZipFile) -> None:
    [name] = [name for name in wheel.namelist() if name.endswith("/METADATA")]
    text = wheel.read(name).decode()
    metadata = Parser().parsestr(text)
    assert "example.org" not in text.partition("\n\n")[0]
    assert metadata.get_all("Project-URL") is None
    assert metadata["License-Expression"] == "Apache-2.0"


def test_the_source_distribution_has_sources_tests_and_documentation(tmp_path: Path) -> None:
    [built] = SdistBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with tarfile.open(built) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    assert {name.partition("/")[0] for name in names} == SOURCES
    made = ("__pycache__", "node_modules", ".pyc", ".log")
    assert [name for name in names if any(part in name for part in made)] == []
