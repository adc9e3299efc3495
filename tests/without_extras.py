"""An environment with the core of Trueweave alone: what it depends on, and no extra."""

import re
import sys
import venv
from importlib.metadata import Distribution, distribution, requires
from pathlib import Path

from packaging.requirements import Requirement


def make_core_environment(place: Path) -> Path:
    """The Python of a new environment whose packages are links to those of this one."""
    venv.create(place, symlinks=True)
    [packages] = place.glob("lib/python*/site-packages")
    for package in _core():
        for name in _tops(package):
            (packages / name).parent.mkdir(exist_ok=True)
            (packages / name).symlink_to(str(package.locate_file(name)))
    return place / "bin" / Path(sys.executable).name


def _tops(package: Distribution) -> set[str]:
    """The files and folders of a package. Those in a folder that several packages share are listed one by one."""
    files = [file for file in package.files or () if file.parts[0] not in ("..", "__pycache__")]
    direct = [file for file in files if len(file.parts) == 2]
    own = {file.parts[0] for file in direct if file.name == "__init__.py" or "." in file.parts[0]}
    return {file.parts[0] if file.parts[0] in own else "/".join(file.parts[:2]) for file in files}


def _core() -> list[Distribution]:
    """Trueweave and all that it depends on without extras."""
    found: dict[str, Distribution] = {}
    pending = [Requirement("trueweave")]
    while pending:
        wanted = pending.pop()
        name = re.sub(r"[-_.]+", "-", wanted.name).lower()
        found[name] = distribution(name)
        for text in requires(name) or ():
            needed = Requirement(text)
            if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in ("", *wanted.extras)):
                key = re.sub(r"[-_.]+", "-", needed.name).lower()
                if key not in found or needed.extras:
                    pending.append(needed)
    return list(found.values())
