"""No two modules import each other, directly or through others; imports for type checkers count as well."""

from graphlib import CycleError, TopologicalSorter

import grimp
import pytest


def in_order(graph: grimp.ImportGraph) -> list[str]:
    """All modules, each after those that it imports; CycleError names the modules of a cycle."""
    imports = {module: graph.find_modules_directly_imported_by(module) for module in sorted(graph.modules)}
    return [*TopologicalSorter(imports).static_order()]


def test_modules_do_not_import_each_other() -> None:
    graph = grimp.build_graph("trueweave", cache_dir=None)
    assert {"trueweave", "trueweave.cli", "trueweave.core.errors"} <= {*in_order(graph)}


def test_a_cycle_is_found() -> None:
    graph = grimp.build_graph("trueweave", cache_dir=None)
    graph.add_import(importer="trueweave.core.errors", imported="trueweave.engine.trueweave")
    with pytest.raises(CycleError):
        in_order(graph)
