"""Fail when a link in the documentation leads to no file or to no heading, or a page is not in the navigation."""

import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote

from build_site import pages_of, read_settings

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)")
FENCED = re.compile(r"^(```|~~~).*?^\1", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)
ELSEWHERE = ("http://", "https://", "mailto:")


def pages() -> list[Path]:
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]


def broken(page: Path) -> Iterator[str]:
    text = CODE.sub("", page.read_text(encoding="utf-8"))
    for target in LINK.findall(text):
        if target.startswith(ELSEWHERE):
            continue
        path, _, anchor = unquote(target).partition("#")
        there = page.parent / path if path else page
        if not there.exists():
            yield f"{page.relative_to(ROOT)}: nothing at {target}"
        elif anchor and there.suffix == ".md" and anchor not in anchors(there):
            yield f"{page.relative_to(ROOT)}: no heading for {target}"


@cache
def anchors(page: Path) -> frozenset[str]:
    """The anchors of a page's headings, as both GitHub and the site make them."""
    found = HEADING.findall(FENCED.sub("", page.read_text(encoding="utf-8")))
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]", r"\1", heading) for heading in found)
    return frozenset(re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in plain)


def misplaced() -> Iterator[str]:
    """Pages that the navigation in mkdocs.yml does not list exactly once."""
    listed = Counter(path for _, path in pages_of(read_settings()[1]))
    for path in sorted({page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")} | set(listed)):
        if listed[path] != 1:
            yield f"docs/{path} is listed {listed[path]} times in the navigation of mkdocs.yml: list it once"


if __name__ == "__main__":
    problems = [problem for page in pages() for problem in broken(page)]
    sys.exit("\n".join([*problems, *misplaced()]) or 0)
