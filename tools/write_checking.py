"""Writes the figures of docs/explanation/checking.md from the results of benchmarks/citations.py.

`make docs` fails while they are out of date.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from written import table, write_or_check

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "citations.json"
PAGE = ROOT / "docs" / "explanation" / "checking.md"
BEGIN, END = "<!-- figures -->", "<!-- end of figures -->"

NOW = "rules"
SETS = {"held_back_3": "third", "held_back_2": "second", "held_back_1": "first"}
SIDES = {"false caught": "False sentences caught", "honest doubted": "True sentences doubted"}

Figures = Mapping[str, Any]


def figures(results: Figures) -> str:
    """Every verifier on each set that it was measured on, and the rules by kind on the set that is held back."""
    every = table(
        ("set", "verifier", "false caught", "true doubted", "true called contradicted", "CPU a sentence"),
        list(_rows(results)),
    )
    held = results[NOW]["held_back_3"]
    kinds = [
        f"{title}, by kind:\n\n" + table(("kind", "rules", "of"), _kinds(held[side])) for side, title in SIDES.items()
    ]
    return "\n".join([every, *kinds])


def _rows(results: Figures) -> Iterator[tuple[str, ...]]:
    for name, title in SETS.items():
        for verifier, found in results.items():
            if verifier != "note" and name in found:
                measured = found[name]
                shares = (_percent(measured[side]["all"]) for side in SIDES)
                yield title, verifier, *shares, _contradicted(measured), _cost(measured)


def _kinds(found: Figures) -> list[tuple[str, ...]]:
    return [
        (kind, str(count), str(of))
        for kind, (count, of) in sorted(found.items(), key=lambda row: (row[0] != "all", row[0]))
    ]


def _percent(found: tuple[int, int]) -> str:
    return f"{100 * found[0] / found[1]:.1f} % of {found[1]}"


def _contradicted(found: Figures) -> str:
    statuses = found.get("statuses of honest ones")
    if not statuses:
        return ""
    return f"{100 * statuses.get('contradicted', 0) / sum(statuses.values()):.1f} %"


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
