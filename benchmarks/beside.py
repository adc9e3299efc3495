"""A benchmark on this commit and on another, in turns, so that both have the same machine.

    python benchmarks/beside.py COMMIT ingest.py --only c --size 0.2
    python benchmarks/beside.py --rounds 5 COMMIT query.py --only a
    python benchmarks/beside.py --same-script COMMIT settling.py    # the script of this commit on both

Prints, and keeps in benchmarks/results/beside.json, each figure's median on both commits and the ratio of this commit
to the other. Figures that both runs agree on, such as counts, are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import corpora

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "beside.json"


def run(tree: Path, script: Path, options: list[str]) -> dict[str, float]:
    """The figures of one run of a benchmark with the source of a tree, by their paths in its JSON object."""
    around = os.environ | {"PYTHONPATH": str(tree / "src"), "TRUEWEAVE_BENCH_DATA": str(corpora.BENCH)}
    around.pop("PYTHONDONTWRITEBYTECODE", None)  # or one of them alone has bytecode
    done = subprocess.run(
        [sys.executable, str(script), *options], cwd=tree, env=around, stdout=subprocess.PIPE, text=True, check=True
    )
    return dict(_leaves(json.loads(done.stdout.splitlines()[-1])))


def compare(commit: str, script: str, options: list[str], rounds: int, *, same_script: bool) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as root:
        other = Path(root, "project")
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", str(other), commit], cwd=HERE, check=True)
        try:
            figures: dict[str, dict[str, list[float]]] = defaultdict(lambda: {"other": [], "this": []})
            for number in range(rounds):
                turns = [("other", other), ("this", HERE.parent)]
                for name, tree in turns if number % 2 == 0 else reversed(turns):
                    print(f"round {number + 1} of {rounds}: {name}", file=sys.stderr)
                    own = HERE if same_script else tree / "benchmarks"
                    for path, figure in run(tree, own / script, options).items():
                        figures[path][name].append(figure)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(other)], cwd=HERE, check=True)
    return {path: _ratio(found) for path, found in figures.items() if all(found.values()) and _differ(found)}


def _differ(found: dict[str, list[float]]) -> bool:
    return len({*found["other"], *found["this"]}) > 1


def _ratio(found: dict[str, list[float]]) -> dict[str, float | None]:
    other, this = median(found["other"]), median(found["this"])
    return {"other": other, "this": this, "ratio": round(this / other, 3) if other else None}


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, float]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}/{key}" if path else key)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--same-script", action="store_true", help="run this commit's script with the other's source")
    parser.add_argument("commit")
    parser.add_argument("script")
    parser.add_argument("options", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    figures = compare(given.commit, given.script, given.options, given.rounds, same_script=given.same_script)
    named = " ".join((given.script, *given.options))
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    commit = subprocess.run(
        ["git", "log", "-1", "--format=%h %s", given.commit], cwd=HERE, stdout=subprocess.PIPE, text=True, check=True
    ).stdout.strip()
    kept[named] = {"beside": commit, "rounds": given.rounds, "figures": figures}
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n")
    print(json.dumps(kept[named]))


if __name__ == "__main__":
    main()
