"""One reader of web pages, ours or a library's with our writer behind it, in a process that does nothing else.

    python benchmarks/html_readers.py READER WHAT SIZE    # for home_made.py; prints one JSON object

Seconds are those of the processor.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from peak import peak_mb

from trueweave.ingest.loading.web import _closed, _Token, _Writer, write
from trueweave.text.text_builder import TextBuilder

Figures = dict[str, Any]


class _Decoded(_Writer):
    """Takes text in which the library has resolved character references."""

    def _text(self, text: str) -> None:
        super()._text(text.replace("&", "&amp;"))


def _by_lxml(page: str) -> Any:
    etree = import_module("lxml.etree")
    return etree.fromstring(page.encode(), etree.HTMLParser(encoding="utf-8", huge_tree=True))


def _by_selectolax(page: str) -> Any:
    return import_module("selectolax.lexbor").LexborHTMLParser(page)


def _lxml_tokens(tree: Any) -> Iterator[_Token]:
    if tree is None:  # nothing in the page
        return
    for event, node in import_module("lxml.etree").iterwalk(tree, events=("start", "end", "comment", "pi")):
        if event == "start":
            yield _Token(node.tag, "", 0)
            yield _Token("", node.text or "", 0)
        else:
            if event == "end":
                yield _Token(f"/{node.tag}", "", 0)
            yield _Token("", node.tail or "", 0)


def _selectolax_tokens(tree: Any) -> Iterator[_Token]:
    node = tree.root
    while node is not None:
        if node.is_text_node:
            yield _Token("", node.text_content, 0)
        elif node.is_element_node:
            yield _Token(node.tag, "", 0)
        below = node.first_child if node.is_element_node else None
        while below is None and node is not None:
            if node.is_element_node:
                yield _Token(f"/{node.tag}", "", 0)
            below, node = node.next, node.parent
        node = below


LIBRARIES: dict[str, tuple[Callable[[str], Any], Callable[[Any], Iterator[_Token]]]] = {
    "lxml": (_by_lxml, _lxml_tokens),
    "selectolax": (_by_selectolax, _selectolax_tokens),
}


def read(reader: str, page: str) -> str:
    """The text of a page, by the writer of ours behind each reader."""
    draft = TextBuilder()
    if reader == "trueweave":
        write(page, draft)
        return draft.text
    parse, tokens = LIBRARIES[reader]
    writer = _Decoded(draft, _closed(page), offsets=False)
    for token in tokens(parse(page)):
        writer.take(token)
    writer.end_heading()
    return draft.text


_SECTION = """<section class="chapter" id="s{n}"><h2>Part {n} &ndash; the engine</h2>
<p>Ada Lovelace wrote <b>{n}</b> programs in <a href="/wiki/London?a=1&amp;b={n}" title='the > city'>London</a>,
"the first" of their kind.<p>It was 1843 &amp; raining.<br>Nobody <i>knew <b>why</i></b>.
<ul><li>one<li>two<ul><li>deep <em>er</em><li>deepest</ul><li>three</ul>
<table><tr><th>Name<th>Year<tr><td>Ada</td><td>1815<tr><td>Charles<td>1791</table>
<script>if (a < b) {{ document.write("<p>no {n}</p>") }}</script><style>p > a {{ color: red }}</style>
<!-- a remark with <tags> --><div class=note><span data-x="{n}">and so on</span></div></section>
"""


def _page(size: int) -> str:
    """About so many characters of a page as there are many, some of its tags left open."""
    sections = range(size // len(_SECTION) + 1)
    body = "".join(_SECTION.format(n=n) for n in sections)
    return f"<!DOCTYPE html><html><head><title>A page</title></head><body><nav>Menu</nav>{body}<footer>Imprint</footer>"


# What a browser shows; the last three are where Trueweave wants the text although a browser hides it.
CASES = {
    "elements left open": ("<ul><li>One<li>Two</ul><p>a<p>b", "One\nTwo\n\na\n\nb"),
    "crossed tags": ("<p>a<b>b<i>c</b>d</i>e", "abcde"),
    "script and style": ('<style>p>a{}</style><p>a<script>"<p>no</p>"; a<b</script>b', "ab"),
    "references": ("&amp;lt; &eacute;&#8364; &AMP &notit; &#x80;", "&lt; é€ & ¬it; €"),
    "less than": ("a < b <3 c > d", "a < b <3 c > d"),
    "quotes in attributes": ("<a title='it>s'>x</a> <a title=it's>y</a>", "x y"),
    "remark ended by --!>": ("a<!-- b --!>c", "ac"),
    "table without rows": ("<table><td>a<td>b<tr><td>c</table>", "a | b\nc"),
    "text after the end": ("<html><body>a</body></html> b", "a b"),
    "script closing itself, HTML": ("<p>a<script src='x'/>no</script>b", "ab"),
    "script closing itself, XHTML": ("<p>a<script src='x'/>b", "ab"),
    "quote that never ends": ('a<b title="never ends>c <i>d', "ac d"),
    "CDATA": ("<![CDATA[a < b]]>c", "a < bc"),
}


def hostile(times: int) -> dict[str, str]:
    """Pages made to break readers; each ends in a word that must be found."""
    return {
        "nested": "<div>" * times + "END",
        "nested lists": "<ul><li>" * (times // 2) + "END",
        "open tags": "<a " * times + ">END",
        "open formatting": "<p><b><i>" * (times // 3) + "END",
    }


def measure(reader: str, what: str, size: int) -> Figures:
    """What one process measures."""
    if what in hostile(1):
        page = hostile(size)[what]
        began = time.process_time()
        text = read(reader, page)
        return {"seconds": round(time.process_time() - began, 3), "found": text.endswith("END")}
    page = _page(size)
    before = peak_mb()
    text = read(reader, page)
    figures = {"text": len(text), "mb": round(peak_mb() - before, 1), "read": _seconds(lambda: read(reader, page))}
    if reader in LIBRARIES:
        figures["parse"] = _seconds(lambda: LIBRARIES[reader][0](page))
    small, number = _page(2_000), size // 2_000
    figures["read_small"] = _seconds(lambda: [read(reader, small) for _ in range(number)])
    return {"characters": len(page), **figures, "small_pages": number, "characters_of_each": len(small)}


def _seconds(act: Callable[[], object]) -> float:
    began = time.process_time()
    act()
    return round(time.process_time() - began, 4)


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
