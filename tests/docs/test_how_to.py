"""Every how-to page begins with a command and what it prints, and ends with what can go wrong, in the words of
Trueweave's own messages."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.docs.pages import ROOT
from tests.docs.transcripts import steps

PAGES = sorted(ROOT.glob("docs/how-to/*.md"))
LAST = "## What can go wrong"
WITH_MESSAGES = [page for page in [*sorted(ROOT.glob("docs/start/*.md")), *PAGES] if LAST in page.read_text("utf-8")]
_CODE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_ELSEWHERE = ("/", "no matches found", "externally-managed-environment")  # addresses, and what other programs print


def name(page: Path) -> str:
    return page.stem


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_it_begins_with_a_command_and_ends_with_what_can_go_wrong(page: Path) -> None:
    text = _CODE.sub(lambda block: block[0].replace("\n#", "\n"), page.read_text("utf-8"))
    beginning = text.partition("\n## ")[0]
    first = _CODE.search(beginning)
    assert first, "it begins with a command"
    assert first[0].startswith("```console\n$ "), "it begins with a command that is run"
    assert any(step.printed for step in steps(first[0].partition("\n")[2].removesuffix("```"))), "with its output"
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings[-1] == LAST


@pytest.mark.parametrize("page", WITH_MESSAGES, ids=name)
def test_messages_that_it_explains_are_in_the_source(page: Path) -> None:
    section = page.read_text("utf-8").partition(LAST)[2].partition("\n## ")[0]
    for message in re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE):
        for part in () if message.startswith(_ELSEWHERE) else message.split("…"):
            assert part.strip(" .:") in _messages(), message


@cache
def _messages() -> str:
    """All texts in the source, with an ellipsis where a value is filled in."""
    found: list[str] = []
    for file in sorted((ROOT / "src" / "trueweave").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.JoinedStr):
                found.append(
                    "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
                )
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append(node.value)
    return "\n".join(found)
