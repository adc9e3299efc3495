"""Fail when a relative link in the documentation points to nothing."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parent.parent
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)")
ELSEWHERE = ("http://", "https://", "mailto:", "#")


def pages() -> list[Path]:
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md"))]


def broken(page: Path) -> Iterator[str]:
    text = CODE.sub("", page.read_text(encoding="utf-8"))
    for target in LINK.findall(text):
        path = unquote(target.partition("#")[0])
        if not target.startswith(ELSEWHERE) and not (page.parent / path).exists():
            yield f"{page.relative_to(ROOT)}: nothing at {target}"


if __name__ == "__main__":
    problems = [problem for page in pages() for problem in broken(page)]
    sys.exit("\n".join(problems) or 0)
