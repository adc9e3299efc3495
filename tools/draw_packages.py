"""Draw the packages of Trueweave for docs/adr/0021: what each imports, as Mermaid, and the size of each, as a table.

`python tools/draw_packages.py` draws this tree, `PYTHONPATH=other/src python tools/draw_packages.py` another one.
"""

from collections import Counter
from graphlib import TopologicalSorter
from importlib.util import find_spec
from pathlib import Path

import grimp

# Every package imports `core`, and the modules beside the packages only list public names.
LEFT_OUT = {"", "__main__", "core", "errors", "events", "extend", "methods", "testing", "types"}


def imports() -> Counter[tuple[str, str]]:
    """The number of imports of modules from one package to another."""
    graph = grimp.build_graph("trueweave", cache_dir=None)
    counted: Counter[tuple[str, str]] = Counter()
    for module in graph.modules:
        for imported in graph.find_modules_directly_imported_by(module):
            pair = _package(module), _package(imported)
            if pair[0] != pair[1] and not LEFT_OUT.intersection(pair):
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


def sizes() -> dict[str, tuple[int, int, int]]:
    """For each package its modules, lines of Python and lines of SQL; under "" for the modules beside the packages."""
    found = find_spec("trueweave")
    assert found
    assert found.origin
    root = Path(found.origin).parent
    counted: dict[str, Counter[str]] = {}
    for file in sorted(root.rglob("*")):
        if file.suffix in {".py", ".sql"}:
            package = file.relative_to(root).parts[0] if file.parent != root else ""
            counts = counted.setdefault(package, Counter())
            counts[file.suffix] += len(file.read_text("utf-8").splitlines())
            counts["modules"] += file.suffix == ".py"
    return {package: (counts["modules"], counts[".py"], counts[".sql"]) for package, counts in counted.items()}


def main() -> None:
    counted = imports()
    lines = sorted(f"    {a} --> {b}" for a, b in reduced(set(counted)))
    print("```mermaid", "flowchart TD", *lines, "```", "", sep="\n")
    print(f"{len(counted)} pairs of packages, {sum(counted.values()):,} imports.\n")
    print("| package | modules | lines of Python | lines of SQL |", "|---|---:|---:|---:|", sep="\n")
    measured = sizes()
    for package, size in sorted(measured.items()):
        print(f"| {f'`{package}`' if package else 'beside them'} |", *(f" {count:,} |" for count in size), sep="")
    print("| all |", *(f" {sum(column):,} |" for column in zip(*measured.values(), strict=True)), sep="")


if __name__ == "__main__":
    main()
