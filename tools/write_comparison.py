"""Writes the tables of docs/explanation/beside-others.md and README.md from docs/explanation/beside-others.toml.

`make docs` fails while they are out of date. With `--sources FOLDER`, it looks up every quotation in the sources
instead: FOLDER/KEY is a clone of the system's repository, FOLDER/KEY-release its unpacked package from PyPI.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from written import table, write_or_check

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "explanation" / "beside-others.md"
DATA = PAGE.with_suffix(".toml")
README = ROOT / "README.md"
RESULTS = ROOT / "benchmarks" / "results"
OWN = "trueweave"
SETS = {"musique": "MuSiQue", "twowiki": "2WikiMultihopQA", "hotpotqa": "HotpotQA"}

Data = Mapping[str, Any]


def tables(data: Data) -> str:
    """What was read, and a table for each group of rows. The titles of rows link to their sources."""
    parts = [
        f"Read on {data['read']:%-d %B %Y}:\n",
        "\n".join(f"- {_read(system)}" for system in data["system"]) + "\n",
    ]
    for group, rows in groupby(data["row"], key=lambda row: row["group"]):
        parts += [f"### {group}\n", _table(data, [(_linked(row), row, "says") for row in rows])]
    return "\n".join(parts)


def short(data: Data) -> str:
    """The table of the README."""
    rows = [(row["short"], row, "brief") for row in data["row"] if "short" in row]
    versions = ", ".join(f"{system['name']} ({system['version']})" for system in data["system"])
    return (
        f"{_table(data, rows)}\nRead in the sources of {versions} in {data['read']:%B %Y}.\n"
        "[More rows, the evidence for each cell, and when another system is the better choice]"
        "(docs/explanation/beside-others.md).\n"
    )


def sources(data: Data) -> str:
    """Why each cell says what it says, and the file that shows it."""
    systems = {OWN: {"key": OWN, "name": "Trueweave"}} | {system["key"]: system for system in data["system"]}
    parts = []
    for row in data["row"]:
        parts.append(f"### {row['title']}\n")
        shown = (f"- **{one['name']}**: {_why(row[key])} {_link(one, row[key])}" for key, one in systems.items())
        parts.append("\n".join(shown) + "\n")
    return "\n".join(parts)


def published(data: Data) -> str:
    """Recall that HippoRAG 2 has published, beside ours."""
    found = json.loads((RESULTS / "quality.json").read_text("utf-8"))["reference"]
    own = [f"{found[name]['methods']['weave']['recall@5'][0]:.1f}" for name in SETS]
    questions = [f"{found[name]['questions']:,}" for name in SETS]
    rows = [("HippoRAG 2, as published", *(f"{data['published'][name]:.1f}" for name in SETS)), ("`weave`", *own)]
    return table(("recall at 5", *SETS.values()), [*rows, ("questions of `weave`", *questions)])


def wrong(data: Data) -> Iterator[str]:
    """What keeps the data from being written."""
    if sum("short" in row for row in data["row"]) > 9:
        yield "The README has room for nine rows: give `short` to fewer."
    for row in data["row"]:
        for key in (OWN, *(system["key"] for system in data["system"])):
            cell = row.get(key)
            needed = {"says", "why", "source"} | (set() if key == OWN else {"shows", "line"})
            if cell is None or not needed <= set(cell):
                yield f"{row['title']}, {key}: a cell needs {', '.join(sorted(needed))}."
            elif "short" in row and len(_brief(cell).split()) > 3:
                yield f"{row['title']}, {key}: more than three words for the README: {_brief(cell)!r}. Give a `brief`."
            elif key == OWN and not (ROOT / cell["source"]).exists():
                yield f"{row['title']}: there is no {cell['source']}."


def unfounded(data: Data, folder: Path) -> Iterator[str]:
    """Cells whose quotation is not at its place in the sources."""
    for row in data["row"]:
        for system in data["system"]:
            cell = row[system["key"]]
            lines = _text(system, cell["source"], folder).splitlines()
            if not any(cell["shows"] in line for line in lines[cell["line"] - 1 : cell["line"]]):
                places = [number for number, line in enumerate(lines, 1) if cell["shows"] in line]
                yield f"{system['name']}, {cell['source']}: {cell['shows']!r} is in {places}, not in {cell['line']}"


def _text(system: Data, source: str, folder: Path) -> str:
    if source.startswith("release:"):
        return (folder / f"{system['key']}-release" / source.removeprefix("release:")).read_text("utf-8")
    command = ["git", "-C", folder / system["key"], "show", f"{system['commit']}:{source}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _table(data: Data, rows: list[tuple[str, Data, str]]) -> str:
    names = [system["name"] for system in data["system"]]
    keys = [OWN, *(system["key"] for system in data["system"])]
    return table(
        ("", "Trueweave", *names), [(title, *(_said(row[key], form) for key in keys)) for title, row, form in rows]
    )


def _said(cell: Data, form: str) -> str:
    return _brief(cell) if form == "brief" else str(cell["says"])


def _brief(cell: Data) -> str:
    return str(cell.get("brief", cell["says"]))


def _read(system: Data) -> str:
    repository = f"https://github.com/{system['repository']}"
    commit = f"[commit `{system['commit'][:7]}`]({repository}/tree/{system['commit']}) of {system['dated']:%-d %B %Y}"
    package = (
        f"[{system['version']} on PyPI]({_package(system)}), and " if system["package"] else f"{system['version']}, "
    )
    return f"{system['name']}: {package}{commit}"


def _package(system: Data) -> str:
    return f"https://pypi.org/project/{system['package']}/{system['version']}/"


def _linked(row: Data) -> str:
    letters = "".join(letter for letter in row["title"].lower() if letter.isalnum() or letter in " -")
    return f"[{row.get('label', row['title'])}](#{letters.replace(' ', '-')})"


def _why(cell: Data) -> str:
    rules = json.loads((RESULTS / "citations.json").read_text("utf-8"))["rules"]["held_back_3"]
    (caught, false), (doubted, honest) = rules["false caught"]["all"], rules["honest doubted"]["all"]
    why = cell["why"].format(caught=caught, false=false, doubted=doubted, honest=honest)
    return f"{cell['says'][:1].upper()}{cell['says'][1:]}. {why}".rstrip()


def _link(system: Data, cell: Data) -> str:
    source = cell["source"]
    if system["key"] == OWN:
        return f"[`{source}`]({os.path.relpath(ROOT / source, PAGE.parent)})"
    if source.startswith("release:"):
        path = source.removeprefix("release:")
        return f"{_plain(path)}, line {cell['line']}, in [{system['package']} {system['version']}]({_package(system)})"
    place = f"https://github.com/{system['repository']}/blob/{system['commit']}/{source}#L{cell['line']}"
    return f"[{_plain(source)}]({place})"


def _plain(path: str) -> str:
    """A path as text: in backticks, it would be taken for a file of this repository."""
    return path.replace("_", r"\_")


def _between(text: str, mark: str, written: str) -> str:
    begin, end = f"<!-- {mark} -->", f"<!-- /{mark} -->"
    head, found, rest = text.partition(begin)
    _, closed, tail = rest.partition(end)
    if not (found and closed):
        sys.exit(f"Put {begin} and {end} where the {mark} is to be written.")
    return f"{head}{begin}\n{written}{end}{tail}"


def main() -> None:
    data = tomllib.loads(DATA.read_text("utf-8"))
    if problems := list(wrong(data)):
        sys.exit("\n".join(problems))
    if "--sources" in sys.argv:
        sys.exit("\n".join(unfounded(data, Path(sys.argv[-1]))) or 0)
    page = PAGE.read_text("utf-8")
    for mark, written in {"comparison": tables, "published": published, "sources": sources}.items():
        page = _between(page, mark, written(data))
    readme = _between(README.read_text("utf-8"), "comparison", short(data))
    write_or_check({PAGE: page, README: readme}, "comparison")


if __name__ == "__main__":
    main()
