"""The wheel in clean environments: how large they are with each extra, and whether the command works in them.

    python benchmarks/install.py            # needs the built pages (make web); writes benchmarks/results/install.json
    python benchmarks/install.py --smoke    # core alone, by the Python at hand; writes nothing

The wheel is built once, from the source distribution. For each Python that Trueweave supports and that is on the
PATH, it is installed alone, with `desktop` and with `all`, with the newest releases of everything else. Core has no
PostgreSQL, so that it is tried on one that runs already; the others run `trueweave demo`.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import wheels

from trueweave.store.embedded import EmbeddedServer

Figures = dict[str, Any]
RESULTS = Path(__file__).parent / "results" / "install.json"
PYTHONS = ("3.11", "3.12", "3.13")
EXTRAS = {"core": "", "desktop": "desktop", "all": "all"}
TEXT = "Ada Lovelace wrote to Charles Babbage from Ockham Park about the numbers of Bernoulli.\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="a small part of it, to see that it runs; writes nothing")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        place.chmod(0o755)  # the server may run as a user of its own
        server = EmbeddedServer(place / "postgresql")
        url = server.start()
        try:
            figures = measured(place, url, smoke=options.smoke)
        finally:
            server.stop()
    if not options.smoke:
        RESULTS.write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps(figures))


def measured(place: Path, url: str, *, smoke: bool) -> Figures:
    """The figures of each environment, by Python and extra."""
    wheel = wheels.build(place / "dist")
    [sdist] = (place / "dist").glob("*.tar.gz")
    found = {version: wheels.interpreter(version) for version in PYTHONS}
    pythons = {platform.python_version(): Path(sys.executable)} if smoke else {k: v for k, v in found.items() if v}
    environments: Figures = {}
    for version, python in pythons.items():
        by_extra = environments[version] = {"version": _version(python)}
        for name in ["core"] if smoke else EXTRAS:
            here = place / f"{version}-{name}"
            by_extra[name] = _tried(wheels.install(wheel, EXTRAS[name], python, here), name, url)
            print(f"Python {version}, {name}: {by_extra[name]}", file=sys.stderr)
    return {
        "measured": datetime.now(UTC).date().isoformat(),
        "platform": f"{platform.system()} {platform.machine()}",
        "wheel_megabytes": round(wheel.stat().st_size / 1e6, 1),
        "sdist_megabytes": round(sdist.stat().st_size / 1e6, 1),
        "pythons": environments,
        "pythons_not_found": [version for version, python in found.items() if python is None],
    }


def _tried(environment: Path, name: str, url: str) -> Figures:
    """The size of an environment, and the seconds of what was run in it. Anything that fails ends the benchmark."""
    user = wheels.User.of(environment / "bin" / "trueweave", environment / "home")
    version = user.run("--version").strip()
    if name == "core":
        (user.folder / "letter.txt").write_text(TEXT)
        user.run("init", "--database-url", url, "--workspace", environment.name.replace(".", "-"))
        user.run("add", "letter.txt", name="add")
        answer = json.loads(user.run("ask", "--json", "Who wrote to Babbage?", name="ask"))
        works = TEXT.strip() in answer["evidence"]["passages"][0]["text"]
    else:
        folder = ["--folder", str(user.folder)]  # or root would have it in a folder of the system
        demo = json.loads(user.run("demo", "--no-ui", "--json", *folder, name="demo"))
        works = demo["holds"]
        user.run("demo", "--remove", *folder)
    if not works:
        sys.exit(f"{environment.name}: the command ran, but its result is wrong")
    return {
        "trueweave": version,
        "packages": wheels.packages(environment),
        "megabytes": wheels.megabytes(environment),
        **{f"seconds_to_{name}": seconds for name, seconds in user.seconds.items()},
    }


def _version(python: Path) -> str:
    done = subprocess.run([python, "-VV"], capture_output=True, text=True, check=True)
    return done.stdout.split()[1]


if __name__ == "__main__":
    main()
