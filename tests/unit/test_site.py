"""The documentation site loads nothing from other hosts."""

import runpy
from pathlib import Path

import pytest

foreign = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "build_site.py"))["foreign"]


@pytest.mark.parametrize(
    "page",
    [
        '<script src="https://cdn.example/a.js"></script>',
        '<script src="//cdn.example/a.js"></script>',
        '<link rel="stylesheet" href="https://cdn.example/a.css">',
        '<link rel="preconnect" href="https://fonts.example">',
        '<img src="HTTPS://cdn.example/a.png">',
        '<img srcset="a.png, https://cdn.example/a.png 2x" src="a.png">',
        '<iframe src="https://video.example/1"></iframe>',
        "<style>@font-face { src: url('https://fonts.example/a.woff2') }</style>",
        '<p style="background: url(//cdn.example/a.png)">',
    ],
)
def test_what_a_page_loads_from_another_host_is_found(page: str, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(f"<html>{page}</html>", "utf-8")
    [found] = foreign(tmp_path)
    assert found.startswith("index.html loads ")


@pytest.mark.parametrize(
    "text", ["@import 'https://cdn.example/a.css';", "p { background: url(https://cdn.example/a.png) }"]
)
def test_what_a_style_sheet_loads_from_another_host_is_found(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.css").write_text(text, "utf-8")
    assert [*foreign(tmp_path)]


def test_links_and_files_of_the_site_are_allowed(tmp_path: Path) -> None:
    page = """<link rel="canonical" href="https://docs.example/"><link rel="stylesheet" href="assets/a.css">
    <a href="https://elsewhere.example">elsewhere</a><script src="../a.js"></script><img src="data:image/png;base64,AA">
    <code>&lt;script src="https://cdn.example/a.js"&gt;</code><img src="https://docs.example/a.png">"""
    (tmp_path / "index.html").write_text(page, "utf-8")
    assert [*foreign(tmp_path, "https://docs.example/")] == []
    assert len([*foreign(tmp_path)]) == 1
