"""Draw the packages of Trueweave and what each imports, as Mermaid and as a table of counts for docs/adr/0021.

`python tools/draw_packages.py` draws this tree, `PYTHONPATH=other/src python tools/draw_packages.py` another one.
"""

from collections import Counter
from graphlib import TopologicalSorter

import grimp

# What every package may import is left out: it would only hide the other arrows.
SHARED = {"config", "errors", "events", "evidence", "protocols", "streams", "types"}
APART = {"", "__main__", "testing"}


def imports() -> Counter[tuple[str, str]]:
    """How many imports of modules there are from one package to another."""
    graph = grimp.build_graph("trueweave", exclude_type_checking_imports=True, cache_dir=None)
    counted: Counter[tuple[str, str]] = Counter()
    for module in graph.modules:
        for imported in graph.find_modules_directly_imported_by(module):
            pair = _package(module), _package(imported)
            if pair[0] != pair[1] and not (SHARED | APART).intersection(pair):
                counted[pair] += 1
    return counted


def _package(module: str) -> str:
    return module.partition(".")[2].partition(".")[0]


def reduced(arrows: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """The arrows between packages that no longer path connects."""
    below: dict[str, set[str]] = {}
    for package in TopologicalSorter(_successors(arrows)).static_order():
        direct = {to for source, to in arrows if source == package}
        below[package] = direct.union(*(below[to] for to in direct))
    return {(a, b) for a, b in arrows if not any(b in below[to] for source, to in arrows if source == a)}


def _successors(arrows: set[tuple[str, str]]) -> dict[str, list[str]]:
    return {a: sorted(to for source, to in arrows if source == a) for a, _ in sorted(arrows)}


def main() -> None:
    counted = imports()
    lines = sorted(f"    {a} --> {b}" for a, b in reduced(set(counted)))
    print("```mermaid", "flowchart TD", *lines, "```", "", sep="\n")
    order = [*TopologicalSorter(_successors(set(counted))).static_order()][::-1]
    columns = [name for name in order if any(to == name for _, to in counted)]
    print("| |", *(f" {name} |" for name in columns), sep="")
    print("|---|", "---:|" * len(columns), sep="")
    for name in order:
        if any(source == name for source, _ in counted):
            print(f"| **{name}** |", *(f" {counted[name, to] or ''} |" for to in columns), sep="")


if __name__ == "__main__":
    main()
