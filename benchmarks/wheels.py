"""Trueweave as users get it: the wheel, made from the source distribution, in environments of its own."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
UV = Path(sys.executable).with_name("uv")
PAGE = "trueweave/server/web/ui/index.html"
NOBODY = 65534  # a user without rights, and the group of that user


def build(place: Path) -> Path:
    """The wheel, built from the source distribution of this tree. It must contain the web UI."""
    subprocess.run([UV, "build", "--quiet", "--out-dir", place, ROOT], check=True)
    [wheel] = place.glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        if PAGE not in opened.namelist():
            sys.exit("the wheel has no web UI: run `make web` first")
    return wheel


def interpreter(version: str) -> Path | None:
    """A Python of this version on the PATH."""
    found = subprocess.run(
        [UV, "python", "find", "--no-python-downloads", "--system", version],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
    )
    return Path(found.stdout.strip()) if found.returncode == 0 else None


def install(wheel: Path, extra: str, python: Path | str, place: Path) -> Path:
    """The folder of a new environment with the wheel, and with this extra unless it is empty."""
    subprocess.run([UV, "venv", "--quiet", "--python", python, place], check=True)
    wanted = f"trueweave{f'[{extra}]' if extra else ''} @ {wheel.as_uri()}"
    # pip writes bytecode, too, which is a quarter of what is on the disk.
    into = ["--python", str(place / "bin" / "python")]
    subprocess.run([UV, "pip", "install", "--quiet", "--compile-bytecode", *into, wanted], check=True)
    return place


def megabytes(place: Path) -> float:
    """What the packages of an environment take on the disk."""
    [packages] = place.glob("lib/python*/site-packages")
    return round(sum(file.lstat().st_size for file in packages.rglob("*") if not file.is_dir()) / 1e6, 1)


def packages(place: Path) -> int:
    """How many packages an environment has."""
    return len(list(place.glob("lib/python*/site-packages/*.dist-info")))


@dataclass
class User:
    """Runs commands for somebody whose home was empty before."""

    folder: Path
    environment: Mapping[str, str]
    identity: Mapping[str, int | list[int]] = field(default_factory=dict)
    """What `subprocess` is to run as; empty for the user at hand."""
    seconds: dict[str, float] = field(default_factory=dict)
    """The time of each named command by the clock."""
    processor_seconds: dict[str, float] = field(default_factory=dict)
    """The clock tells more of who else uses the machine. What PostgreSQL spent is not among these."""

    @classmethod
    def of(cls, program: Path, home: Path, *, as_nobody: bool = False, **variables: str) -> User:
        """A user of the program, whose environment has nothing but these variables. With `as_nobody`, root runs
        commands as a user without rights."""
        project = home / "project"
        project.mkdir(parents=True)
        path = f"{program.parent}{os.pathsep}{os.defpath}"
        user = cls(project, {"PATH": path, "HOME": str(home), "COLUMNS": "80", **variables})
        if as_nobody and os.geteuid() == 0:
            for owned in (home, project):
                os.chown(owned, NOBODY, NOBODY)
            user.identity = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        return user

    def run(self, *words: str, name: str | None = None) -> str:
        """What a command of Trueweave prints. One that fails ends the benchmark with its message."""
        began, spent = time.perf_counter(), _processor_seconds()
        done = self.attempt(["trueweave", *words])
        if done.returncode:
            sys.exit(f"trueweave {' '.join(words)} failed: {done.stderr}{done.stdout}")
        if name is not None:
            self.seconds[name] = round(time.perf_counter() - began, 1)
            self.processor_seconds[name] = round(_processor_seconds() - spent, 1)
        return done.stdout

    def attempt(self, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """What any command does."""
        done: subprocess.CompletedProcess[str] = subprocess.run(
            ["/usr/bin/env", *words],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            **self.identity,  # type: ignore[call-overload]
        )
        return done


def _processor_seconds() -> float:
    """What all commands together have spent so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
