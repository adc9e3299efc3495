"""Writes the figures of docs/checking.md from the results of benchmarks/citations.py.

`make docs` fails while they are out of date.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from written import table, write_or_check

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "citations.json"
PAGE = ROOT / "docs" / "checking.md"
BEGIN, END = "<!-- figures -->", "<!-- end of figures -->"

BEFORE, NOW = "before", "rules"
SIDES = {"false caught": "False sentences caught", "honest doubted": "Honest sentences doubted"}

Figures = Mapping[str, Any]


def figures(results: Figures) -> str:
    """The tables of the held-back half: before and now, by kind; and every verifier that was measured."""
    held = {name: found["held_back"] for name, found in results.items() if name != "note"}
    parts = [
        f"{title}, by kind:\n\n" + table(("kind", "before", "rules", "of"), _kinds(held[BEFORE][side], held[NOW][side]))
        for side, title in SIDES.items()
    ]
    rows = [(name, *(_percent(found[side]["all"]) for side in SIDES), _cost(found)) for name, found in held.items()]
    every = table(("verifier", "false caught", "honest doubted", "CPU a sentence"), rows)
    return "\n".join([every, *parts])


def _kinds(before: Figures, now: Figures) -> list[tuple[str, ...]]:
    return [
        (kind, str(before[kind][0]) if kind in before else "", str(caught), str(of))
        for kind, (caught, of) in sorted(now.items(), key=lambda row: (row[0] != "all", row[0]))
    ]


def _percent(found: tuple[int, int]) -> str:
    return f"{100 * found[0] / found[1]:.1f} % of {found[1]}"


def _cost(found: Figures) -> str:
    milliseconds = found.get("milliseconds of CPU a sentence")
    return "" if milliseconds is None else f"{milliseconds:.1f} ms"


def main() -> None:
    head, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    _, _, tail = rest.partition(END)
    text = f"{head}{BEGIN}\n{figures(json.loads(RESULTS.read_text('utf-8')))}{END}{tail}"
    write_or_check({PAGE: text}, "checking")


if __name__ == "__main__":
    main()
