"""Builds the documentation site into build/site: HTML by Zensical, each page as Markdown beside it, and llms.txt.

The pages are written for the repository, so a copy is built in which links to files outside docs/ lead to the address
of the repository. Without an address, such a link becomes plain text."""

from __future__ import annotations

import argparse
import posixpath
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

ROOT = Path(__file__).resolve().parents[1]
COPY = ROOT / "build" / "site-source"
SITE = ROOT / "build" / "site"
HOME = "README.md"

# Code is matched so that what looks like a link in it is left alone.
_CODE_OR_LINK = re.compile(
    r"^(?P<fence>```|~~~).*?^(?P=fence)|`[^`\n]+`"
    r"|!?\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<target>[^)\s]+)\)",
    re.DOTALL | re.MULTILINE,
)
_PICTURE = re.compile(r'<picture>\s*<source[^>]*srcset="([^"]+)">\s*<img\s+alt="([^"]+)"\s+src="([^"]+)">\s*</picture>')
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
_FENCED = re.compile(r"^(```|~~~).*?^\1.*$", re.DOTALL | re.MULTILINE)
_FRONT = re.compile(r"\A---\n.*?\n---\n\n", re.DOTALL)
_PARAGRAPH = re.compile(r"^[\w`*\[].*(?:\n.+)*", re.MULTILINE)
# What a browser loads without being asked. A link to another host is fine: nobody has to follow it.
_LOADED_LINKS = {"stylesheet", "icon", "preload", "prefetch", "modulepreload", "preconnect", "dns-prefetch", "manifest"}
_IN_CSS = re.compile(r"""(?:url\(|@import)\s*["']?((?:https?:)?//[^"')\s;]+)""", re.IGNORECASE)
_ABROAD = re.compile(r"(?:https?:)?//", re.IGNORECASE)
_ELSEWHERE = ("#", "http://", "https://", "mailto:")

Navigation = list[dict[str, Any]]


def relinked(text: str, page: str, replace: Callable[[str, str, str], str]) -> str:
    """The text with `replace(link, its text, path from the root)` in place of each link to a file of the repository."""

    def one(found: re.Match[str]) -> str:
        target = found["target"]
        if not target or target.startswith(_ELSEWHERE):
            return found[0]
        return replace(found[0], found["text"], posixpath.normpath(f"docs/{posixpath.dirname(page)}/{target}"))

    return _CODE_OR_LINK.sub(one, text)


def for_site(text: str, page: str, repository: str | None) -> str:
    """The text of a page of docs/ as Zensical is to read it."""

    def replace(link: str, words: str, path: str) -> str:
        if path.startswith("docs/"):
            return link
        return f"[{words}]({repository}/blob/main/{path})" if repository else words

    # A reader of the site can choose other colours than those of the system, which is all that <picture> knows.
    head = "---\nhide: [navigation, toc]\n---\n\n" if page == HOME else ""
    return head + relinked(_PICTURE.sub(r"![\2](\3#only-light)\n![\2](\1#only-dark)", text), page, replace)


def for_agents(text: str, page: str) -> str:
    """The text of a page as it is published beside the HTML, with links to the other pages as Markdown."""
    here = posixpath.dirname(markdown_of(page))

    def replace(link: str, words: str, path: str) -> str:
        path, hash_sign, anchor = path.removeprefix("docs/").partition("#")
        there = markdown_of(path) if path.endswith(".md") else path
        mark = "!" if link.startswith("!") else ""
        return f"{mark}[{words}]({posixpath.relpath(there, here or '.')}{hash_sign}{anchor})"

    return relinked(text, page, replace)


def markdown_of(page: str) -> str:
    """Where a page is published as Markdown: `index.md` in the folder of its HTML."""
    folder, name = posixpath.split(page.removesuffix(".md"))
    return posixpath.join(folder, "" if name == "README" else name, "index.md")


def pages_of(navigation: Navigation) -> Iterator[tuple[str, str]]:
    """The title and the path of each page, in order."""
    for entry in navigation:
        for title, below in entry.items():
            yield from [(title, below)] if isinstance(below, str) else pages_of(below)


def read_settings() -> tuple[str, Navigation]:
    """mkdocs.yml without its navigation, and its navigation with each decision below the list of decisions."""
    settings, _, navigation = (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nnav:\n")
    folder = ROOT / "docs" / "adr"
    listed = [{" ".join(_title(one).split(":")[:2]): f"adr/{one.name}"} for one in sorted(folder.glob("0*.md"))]
    entries: Navigation = yaml.safe_load(navigation)
    return settings, [{"Decisions": [one, *listed]} if "Decisions" in one else one for one in entries]


def _title(page: Path) -> str:
    found = _TITLE.search(page.read_text("utf-8"))
    return found[1] if found else sys.exit(f"{page} has no heading that starts with '# '")


def write_copy(settings: str, navigation: Navigation, repository: str | None) -> None:
    """What Zensical reads: the pages with the links of the site, the colours of the web pages, and the settings."""
    shutil.rmtree(COPY, ignore_errors=True)
    shutil.copytree(ROOT / "docs", COPY / "docs")
    for page in (COPY / "docs").rglob("*.md"):
        path = page.relative_to(COPY / "docs").as_posix()
        page.write_text(for_site(page.read_text("utf-8"), path, repository), "utf-8")
    tokens = (ROOT / "web" / "src" / "tokens.css").read_text("utf-8")
    dark = ':root[data-theme="dark"]'
    if dark not in tokens:
        sys.exit(f"web/src/tokens.css has no dark colours under {dark}")
    assets = COPY / "docs" / "assets"
    (assets / "tokens.css").write_text(tokens.replace(dark, '[data-md-color-scheme="slate"]'), "utf-8")
    shutil.copy(ROOT / "web" / "public" / "favicon.svg", assets)
    listed = yaml.safe_dump({"nav": navigation}, allow_unicode=True, sort_keys=False)
    (COPY / "mkdocs.yml").write_text(f"{settings}\n{listed}", "utf-8")


def write_markdown(navigation: Navigation) -> None:
    """Each page as Markdown beside its HTML, and llms.txt, which lists them."""
    told = ["# Trueweave\n"]
    for entry in navigation:
        told += [f"\n## {section}\n\n" for section in entry]
        for title, path in pages_of([entry]):
            text = _FRONT.sub("", (COPY / "docs" / path).read_text("utf-8"))
            (SITE / markdown_of(path)).write_text(for_agents(text, path), "utf-8")
            told.append(f"- [{title}]({markdown_of(path)}){_summary(text)}\n")
    if lost := [*_lost_links()]:
        sys.exit("\n".join(lost))
    (SITE / "llms.txt").write_text("".join(told), "utf-8")


def _lost_links() -> Iterator[str]:
    """Links of the published Markdown that lead nowhere. Zensical checks those of the HTML."""
    for page in SITE.rglob("index.md"):
        for found in _CODE_OR_LINK.finditer(page.read_text("utf-8")):
            target = (found["target"] or "#").partition("#")[0]
            if target and not target.startswith(_ELSEWHERE) and not (page.parent / target).exists():
                yield f"{page.relative_to(SITE)}: nothing at {target}"


class Loaded(HTMLParser):
    """Collects what a page loads from other hosts: by `src` and the like, by links to style sheets, and in styles."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        found = [given.get(name, "") for name in ("src", "poster")]
        found += [part.split()[0] for part in given.get("srcset", "").split(",") if part.strip()]
        found += [given.get("data", "")] if tag == "object" else []
        is_loaded = tag == "link" and _LOADED_LINKS & set(given.get("rel", "").lower().split())
        found += [given.get("href", "")] if is_loaded or tag in ("image", "use") else []
        self.addresses += [one for one in found if _ABROAD.match(one)] + _IN_CSS.findall(given.get("style", ""))

    def handle_data(self, data: str) -> None:
        if self.cdata_elem == "style":
            self.addresses += _IN_CSS.findall(data)


def foreign(site: Path, own: str | None = None) -> Iterator[str]:
    """What pages and style sheets of the site load from another host than their own."""
    for file in sorted(site.rglob("*")):
        if file.suffix == ".css":
            found = _IN_CSS.findall(file.read_text("utf-8"))
        elif file.suffix in (".html", ".svg"):
            page = Loaded()
            page.feed(file.read_text("utf-8"))
            found = page.addresses
        else:
            continue
        yield from (f"{file.relative_to(site)} loads {one}" for one in found if not (own and one.startswith(own)))


def _summary(text: str) -> str:
    """The first sentence of a page, without its links."""
    found = _PARAGRAPH.search(_FENCED.sub("", text))
    words = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", " ".join(found[0].split())) if found else ""
    sentence = re.split(r"(?<=[.:])\s", words)[0].rstrip(":.")
    return f": {sentence}{'' if sentence.endswith('?') else '.'}" if sentence else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repository", help="address that links to files outside docs/ lead to")
    parser.add_argument("--address", help="address of the published site, for its map of pages")
    options = parser.parse_args()
    settings, navigation = read_settings()
    if options.address:
        settings += f"\nsite_url: {options.address}\n"
    write_copy(settings, navigation, options.repository and options.repository.rstrip("/"))
    zensical = Path(sys.executable).parent / "zensical"
    command = [str(zensical), "build", "--strict", "-f", str(COPY / "mkdocs.yml")]
    if failed := subprocess.run(command, check=False).returncode:
        sys.exit(failed)
    shutil.rmtree(SITE, ignore_errors=True)
    (COPY / "site").rename(SITE)
    write_markdown(navigation)
    if loaded := [*foreign(SITE, options.address)]:
        sys.exit("\n".join(loaded))
    print(f"{len([*pages_of(navigation)])} pages are in {SITE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
