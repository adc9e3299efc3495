"""All Python in the documentation is Python."""

from pathlib import Path

import pytest

from tests.docs.pages import ROOT, blocks

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_of_python_can_be_run_as_it_is(page: Path) -> None:
    for block in blocks(page.read_text("utf-8"), "python"):
        compile(block, str(page), "exec")


def test_there_are_such_blocks() -> None:
    assert sum(len(blocks(page.read_text("utf-8"), "python")) for page in PAGES) >= 3
