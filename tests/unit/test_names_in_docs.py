"""Names in backticks on the documentation pages exist in the code, and the map of packages is complete."""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from trueweave import Settings

ROOT = next(folder for folder in Path(__file__).parents if (folder / "pyproject.toml").exists())
SOURCES = ROOT / "src" / "trueweave"

# The reference is generated from the code, and the changelog names what is no longer there.
PAGES = sorted(
    page.relative_to(ROOT).as_posix()
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md"))
    if page.parent.name != "reference" or page.name == "glossary.md"
)

# Names of PostgreSQL and of other systems, and examples of names that are made when a program runs.
FOREIGN = frozenset(
    {
        "HF_TOKEN",
        "HTTPS_PROXY",
        "NO_PROXY",
        "OLLAMA_NUM_PARALLEL",
        "SimpleLLMPathExtractor",
        "UV_DEFAULT_INDEX",
        "map_batches",
        "max_parallel_maintenance_workers",
        "max_parallel_workers",
        "max_slot_wal_keep_size",
        "pg_last_xact_replay_timestamp",
        "pg_stat_wal_receiver",
        "postgres_fdw",
        "ts_rank",
        "twk_PREFIX_SECRET",
        "vector_1_chunk_7_v3",
    }
)

_FENCED = re.compile(r"^(```|~~~).*?^\1", re.M | re.S)
_QUOTED = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_NAME = re.compile(r"_?[A-Za-z]\w*(\.[A-Za-z_]\w*)*(\(\))?")
_CAMEL = re.compile(r"[A-Z]\w*[a-z]\w*[A-Z]\w*")
_PATH = re.compile(r"[\w./-]+\.(py|sql)|(src|tests|tools|benchmarks|docs|deploy)/[\w./-]+")


_METRIC = re.compile(r"trueweave_(\w+?)(_duration_seconds|_total)?")


@cache
def files() -> list[str]:
    """The files of the repository, without those that were fetched."""
    names = ("src", "tests", "tools", "benchmarks", "deploy", "docs", "examples", ".ci", ".github")
    folders = (ROOT / name for name in names)
    found = [one for folder in folders for one in folder.rglob("*")] + [*ROOT.glob("*")]
    paths = [one.relative_to(ROOT) for one in found if one.is_file()]
    left_out = {"node_modules", "__pycache__", ".models", ".data"}
    return [one.as_posix() for one in paths if not left_out.intersection(one.parts)]


@cache
def words() -> frozenset[str]:
    """Every word of the code, and the settings with their environment variables."""
    found = {*Settings.model_fields, *(f"TRUEWEAVE_{name.upper()}" for name in Settings.model_fields)}
    for one in files():
        if not one.endswith((".md", ".json", ".txt", Path(__file__).name)):
            found.update(re.findall(r"\w+", (ROOT / one).read_text("utf-8", errors="ignore")))
    return frozenset(found)


def looks_like_code(name: str) -> bool:
    """Whether this is the name of a function, class, module or setting, and no ordinary word."""
    return bool(_NAME.fullmatch(name)) and ("_" in name or "." in name or "(" in name or bool(_CAMEL.fullmatch(name)))


def unknown(text: str, known_words: frozenset[str], known_files: Iterable[str]) -> set[str]:
    """The names and paths in backticks in a text that exist nowhere."""
    missing = set()
    for name in _QUOTED.findall(_FENCED.sub("", text)):
        if _PATH.fullmatch(name):
            path = name.rstrip("/")
            if not any(f"/{one}".endswith(f"/{path}") or f"/{path}/" in f"/{one}" for one in known_files):
                missing.add(name)
        elif looks_like_code(name) and not all(_is_known(part, known_words) for part in _parts(name)):
            missing.add(name)
    return missing


def _parts(name: str) -> list[str]:
    return name.removesuffix("()").split(".")


def _is_known(part: str, known_words: frozenset[str]) -> bool:
    metric = _METRIC.fullmatch(part)
    return part in known_words or part in FOREIGN or bool(metric and metric[1] in known_words)


@pytest.mark.parametrize("page", PAGES)
def test_names_in_backticks_exist(page: str) -> None:
    assert unknown((ROOT / page).read_text("utf-8"), words(), files()) == set()


def test_a_name_that_does_not_exist_is_found() -> None:
    text = "`take_in`, `taken_in`, `Found.new`, `a.py`, `b/c.py`, `d/c.py`, `word`, `Added`\n```\n`not_here`\n```\n"
    assert unknown(text, frozenset({"take_in", "Found"}), ["b/c.py"]) == {"taken_in", "Found.new", "a.py", "d/c.py"}


@pytest.mark.parametrize(
    ("heading", "folder"),
    [("In `src/trueweave`,", SOURCES), ("In `src/trueweave/store/postgres`,", SOURCES / "store" / "postgres")],
)
def test_the_map_lists_every_package_once(heading: str, folder: Path) -> None:
    _, _, after = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition(heading)
    table = re.search(r"(^\|.*\n)+", after, re.M)
    assert table
    packages = sorted(one.parent.name for one in folder.glob("*/__init__.py"))
    assert sorted(re.findall(r"^\| `(\w+)` \|", table[0], re.M)) == packages
