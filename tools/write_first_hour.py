"""Writes sizes and times into docs/start/install.md, from the results of benchmarks/install.py and first_hour.py.

`make docs` fails while they are out of date.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from written import table, write_or_check

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "start" / "install.md"
BEGIN, END = "<!-- figures -->", "<!-- end of figures -->"
EXTRAS = ("core", "desktop", "all")

Figures = Mapping[str, Any]


def sizes(found: Figures) -> str:
    """The megabytes of each extra, by Python."""
    head = ("Python", "no extra", "`desktop`", "`all`")
    rows = [
        (by_extra["version"], *(f"{by_extra[extra]['megabytes']:,.0f} MB" for extra in EXTRAS))
        for by_extra in found["pythons"].values()
    ]
    return f"On {found['platform']}, with bytecode, on {found['measured']}:\n\n{table(head, rows)}"


def times(found: Figures) -> str:
    """The seconds of the demo, of the tutorial and of a first answer."""
    spent = sum(found[f"processor_seconds_to_{name}"] for name in ("init", "add", "ask"))
    rows = [
        ("`trueweave demo --no-ui`", f"{found['seconds_of_demo']:.0f} s"),
        ("all commands of the [tutorial](your-own-documents.md)", f"{found['tutorial']['seconds']:.0f} s"),
        (
            f"`init`, `add` and `ask` on {found['pages']} pages ({found['words']:,} words in {found['files']} files)",
            f"{found['seconds_to_first_answer']:.0f} s ({spent:.0f} s of processor time, without PostgreSQL)",
        ),
    ]
    return table(("from an empty home", "time"), rows)


def main() -> None:
    install, hour = (json.loads((RESULTS / f"{name}.json").read_text("utf-8")) for name in ("install", "first_hour"))
    head, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    _, _, tail = rest.partition(END)
    write_or_check({PAGE: f"{head}{BEGIN}\n{sizes(install)}\n{times(hour)}{END}{tail}"}, "first-hour")


if __name__ == "__main__":
    main()
