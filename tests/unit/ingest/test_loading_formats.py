"""Each format of text gives its documents with the right text, title and places."""

import gzip
import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from trueweave import Place, Source
from trueweave.errors import UnreadableFile
from trueweave.extend import Loader
from trueweave.ingest import json_lines
from trueweave.ingest.loading.markdown import Markdown
from trueweave.ingest.loading.rows import JsonLines, Table
from trueweave.ingest.loading.web import Web

Load = Callable[[Loader, str, str | bytes], list[Any]]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    def load(loader: Loader, name: str, content: str | bytes) -> list[Any]:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return list(loader.load(path, name))

    return load


def heads(source: Source) -> list[tuple[str, int]]:
    return [(place.label, place.level) for place in source.places]


# --- Markdown -----------------------------------------------------------------------------------------


def test_markdown_is_kept_as_it_is_and_its_headings_are_places(load: Load) -> None:
    text = (
        "Intro\r\n\r\n# One *fine* `day`\r\n\r\nText\n\nTwo\n---\n```\n# no heading\n```\n> ### [Quoted](x)\n\n#hash\n"
    )
    [source] = load(Markdown(), "a.md", text)
    assert source.text == text
    assert heads(source) == [("One fine day", 1), ("Two", 2), ("Quoted", 3)]
    assert source.title == "One fine day"
    assert [text[place.start :][:3] for place in source.places] == ["# O", "Two", "> #"]
    assert all(place.offset == place.start for place in source.places)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_front_matter_gives_the_title_and_no_heading(load: Load, end: str) -> None:
    text = end.join(["---", "author: x", "title: \"A 'fine' book\"", "---", "# One", ""])
    [source] = load(Markdown(), "a.md", text)
    assert source.title == "A 'fine' book"
    assert source.text == f"# One{end}"
    assert source.metadata == {"author": "x"}
    assert source.places == (Place(0, "heading", "One", 1, text.index("# One")),)


def test_front_matter_is_metadata_with_dates_lists_and_mappings(load: Load) -> None:
    front = "date: 2026-11-18\ntags: [a, b]\nreviewed: 2026-11-18 10:00:00\nby: {name: Ada, age: 36}\nscore: .nan\n7: x"
    [source] = load(Markdown(), "a.md", f"---\n{front}\n---\nText.")
    assert source.text == "Text."
    assert source.metadata == {
        "date": "2026-11-18",
        "tags": ["a", "b"],
        "reviewed": "2026-11-18T10:00:00",
        "by": {"name": "Ada", "age": 36},
        "score": "nan",
        "7": "x",
    }


@pytest.mark.parametrize(
    ("front", "why"),
    [
        ("a: [1", "expected ',' or ']', but got '<stream end>'"),
        ("a: &x [1]\nb: [*x, *x]", "it has an alias"),
        ("a: !!python/object:os.system {}", "could not determine a constructor"),
        (f"a: {'[' * 9}{']' * 9}", "it is nested too deeply"),
        (f"a: {'[' * 5000}", ""),
        ("a: 2026-99-99", "month must be in 1..12"),
    ],
)
def test_front_matter_that_is_not_valid_stays_in_the_text_with_a_note(load: Load, front: str, why: str) -> None:
    text = f"---\n{front}\n---\nText."
    [source] = load(Markdown(), "a.md", text)
    assert (source.text, source.metadata) == (text, {})
    [note] = source.notes
    assert note.startswith(f"the front matter is not valid YAML ({why}")


def test_lines_of_dashes_around_prose_are_no_front_matter(load: Load) -> None:
    text = "---\nJust a sentence.\n---\nText."
    [source] = load(Markdown(), "a.md", text)
    assert (source.text, source.metadata, source.notes) == (text, {}, ())


@pytest.mark.parametrize(
    "text", [">" * 100_000, "[" * 100_000, "- " * 100_000, "---\n" * 20_000, "---\r\n" + "x\r\n" * 20_000]
)
def test_hostile_markdown_takes_no_longer_than_other(load: Load, text: str) -> None:
    began = time.process_time()
    assert load(Markdown(), "a.md", text)[0].text == text
    assert time.process_time() - began < 5


# --- HTML ---------------------------------------------------------------------------------------------

PAGE = """<!DOCTYPE html>
<html><head><title>A &amp; B</title><style>p > a { }</style>
<script>if (a < b) { document.write("<p>no</p>") }</script></head>
<body><nav><a href="/">Home</a></nav>
<!-- <p>no</p> --><h1>First
  <em>head</em></h1>
<p title="a > b">One<b>word</b> and&nbsp;more,
   folded.<br>New line</p>
<table><tr><th>Name<td>Age<tr><td>Ada<td>36</table>
<ul><li>x<li>y</ul><h2>Second</h2><pre>
  kept  as
it is</pre>5 < 6 &lt; 7
<footer>Imprint</footer></body></html>"""


def test_html_gives_what_a_reader_of_the_page_reads(load: Load) -> None:
    [source] = load(Web(), "a.html", PAGE)
    assert source.text == (
        "First head\n\nOneword and more, folded.\nNew line\n\nName | Age\nAda | 36\n\nx\ny\n\nSecond\n\n"
        "\n  kept  as\nit is\n\n5 < 6 < 7"
    )
    assert source.title == "A & B"


KATEX = (
    '<span class="katex"><span class="katex-mathml"><math><semantics><mrow><mi>E</mi><mo>=</mo><mi>m</mi></mrow>'
    '<annotation encoding="application/x-tex">E=m</annotation></semantics></math></span>'
    '<span class="katex-html" aria-hidden="true"><span class="base"><span class="mord">E</span>'
    '<span class="mrel">=</span></span><span class="base">m</span></span></span>'
)


def test_a_formula_that_katex_also_draws_is_read_once(load: Load) -> None:
    [source] = load(Web(), "a.html", f"<h1>On {KATEX}</h1><p>Here {KATEX}, <span>and</span> {KATEX}.</p>")
    assert source.text == "On $E=m$\n\nHere $E=m$, and $E=m$."
    drawn = KATEX[KATEX.index('<span class="katex-html"') : -len("</span>")]
    [source] = load(Web(), "b.html", f"<p>Only drawn: {drawn}.</p>")
    assert source.text == "Only drawn: E=m."
    [source] = load(Web(), "c.html", f"<p>{KATEX.removesuffix('</span></span>')}. The rest.</p>")
    assert source.text == "$E=m$E=m. The rest.", "an end tag is missing: nothing is left out"


def test_headings_of_html_know_where_they_are_in_text_and_file(load: Load) -> None:
    [source] = load(Web(), "a.html", PAGE)
    assert heads(source) == [("First head", 1), ("Second", 2)]
    assert [source.text[place.start :].startswith(place.label) for place in source.places] == [True, True]
    assert [PAGE[place.offset :][:4] for place in source.places] == ["<h1>", "<h2>"]


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<nav>menu<p>text", "menu\n\ntext"),
        ("<nav><nav>menu</nav>x</nav><p>text", "text"),
        ("<p>a<script>b", "a"),
        ("<p>a<script src='x'/>b<title/>c", "abc"),
        ("<h1>head<p>text", "head\n\ntext"),
        ("<h1></h1>text", "text"),
        ("<a title='it>s'>x</a> <a title=it's>y</a>", "x y"),
        ('a<b title="never ends>c <i>d', "ac d"),
        ("a<b", "a"),
        ("a<!-- never ends", "a"),
        ("a<!-- b --!>c<!-->d<!--!>e-->f", "acdf"),
        ("<![CDATA[a < b]]>c", "a < bc"),
        ("<?xml version='1.0'?>a</ >b", "ab"),
        ("a < b <3 c<", "a < b <3 c<"),
        ("&#" + "9" * 10_000 + ";&#0;&#xd800;&amp", "\ufffd\ufffd\ufffd&"),
    ],
)
def test_bad_html_is_read_as_browsers_read_it(load: Load, page: str, text: str) -> None:
    assert load(Web(), "a.html", page)[0].text == text


def test_the_cells_of_html_stay_in_their_columns(load: Load) -> None:
    page = (
        "<table><tr><th>Benefit<th>Limit<th>From<th>Note</tr>"
        "<tr><td>Dental</td><td></td><td><b>2020</b> on</td><td> </td></tr>"
        "<tr><td></td><td>EUR 5</td><td></td><td>new</td></tr>"
        '<tr><td rowspan=2>Eyes</td><td colspan="2">EUR 1</td><td>old</td></tr>'
        "<tr><td>EUR 2</td></tr></table>"
        "<p>After.</p><table><tr><td><p>Layout</p></td><td></td><td><p>Text</p></td></tr></table>"
    )
    rows = [
        "Benefit | Limit | From | Note",
        "Dental |  | 2020 on",
        " | EUR 5 |  | new",
        "Eyes | EUR 1 |  | old",
        " | EUR 2",
    ]
    assert load(Web(), "a.html", page)[0].text == "\n".join(rows) + "\n\nAfter.\n\nLayout\n\nText"


def test_a_page_without_a_title_has_its_first_heading_for_one(load: Load) -> None:
    assert load(Web(), "a.html", "<h2>No</h2><h1>Yes</h1>")[0].title == "Yes"


@pytest.mark.parametrize(
    "data",
    [
        '<meta charset="windows-1252">Zürich'.encode("windows-1252"),
        '<?xml version="1.0" encoding="ISO-8859-1"?>Zürich'.encode("latin-1"),
        '<meta charset="windows-1252">Zürich'.encode("utf-16"),
        '<meta charset="no-such-thing">Zürich'.encode(),
        "Zürich".encode(),
    ],
)
def test_a_page_is_read_in_the_encoding_that_it_names(load: Load, data: bytes) -> None:
    assert load(Web(), "a.html", data)[0].text == "Zürich"


def test_a_page_in_an_encoding_that_it_does_not_name_is_read_with_a_note(load: Load) -> None:
    [source] = load(Web(), "a.html", "<p>Zürich".encode("latin-1"))
    assert source.text == "Zürich"
    assert "read as Windows-1252" in source.notes[0]


@pytest.mark.parametrize(
    "piece",
    [
        "<a ",
        "<",
        "<!--",
        "</",
        "<?",
        "<![",
        "<![CDATA[",
        '<a b="',
        "<a b='x>",
        "<div>",
        "<script>",
        "&#",
        "<h1>",
        "<nav>",
    ],
)
def test_hostile_html_takes_no_longer_than_other(load: Load, piece: str) -> None:
    began = time.process_time()
    load(Web(), "a.html", piece * 50_000 + "\"'>")
    assert time.process_time() - began < 5


# --- JSON lines ---------------------------------------------------------------------------------------


def lines(*rows: dict[str, Any]) -> str:
    return "\n\n".join(map(json.dumps, rows))


def test_json_lines_hold_a_document_each(load: Load) -> None:
    text = lines(
        {"uri": "u", "text": "Zürich\0", "title": "T", "metadata": {"a": [1]}, "entities": ["Zürich"]},
        {"id": 7, "text": "x", "title": None},
        {"passage_id": 0, "text": ""},
    )
    for name, data in (("a.jsonl", text.encode()), ("a.jsonl.gz", gzip.compress(text.encode()))):
        assert load(JsonLines(), name, data) == [
            Source(f"{name}#u", "Zürich", "T", {"a": [1]}),
            Source(f"{name}#7", "x"),
            Source(f"{name}#0", ""),
        ]


@pytest.mark.parametrize("uri", ["https://example.org/a", "urn:isbn:1", "doi:10.1000/182"])
def test_a_uri_that_means_the_same_everywhere_stays_and_an_id_never_does(load: Load, uri: str) -> None:
    assert load(JsonLines(), "a.jsonl", lines({"uri": uri, "text": "x"})) == [Source(uri, "x")]
    assert load(JsonLines(), "a.jsonl", lines({"id": uri, "text": "x"})) == [Source(f"a.jsonl#{uri}", "x")]
    assert load(Table(), "a.csv", f"uri,text\n{uri},x\n") == [Source(uri, "x")]
    assert load(Table(), "a.csv", f"id,text\n{uri},x\n") == [Source(f"a.csv#{uri}", "x")]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"id": 1, "text": "cut of', "Invalid control character"),
        ("[1]", "it is not a JSON object"),
        ('{"text": "x"}', "it has no id"),
        ('{"id": 1}', "its text is missing"),
        ('{"id": 1, "text": 5}', "its text is not a string"),
        ('{"id": 1, "text": "x", "metadata": []}', "its metadata is not an object"),
        ("[" * 100_000, "it is nested too deeply"),
        (b'{"id": 1, "text": "\xff"}', "can't decode byte 0xff"),
        ('{"id": 1, "text": "x", "metadata": {"a": [NaN]}}', "contains nan, which is not a number in JSON"),
        ('{"id": 1, "text": "x", "metadata": {"a": 1e400}}', "contains inf, which is not a number in JSON"),
        (
            '{"id": 1, "text": "x", "metadata": {"a": "\\u0000"}}',
            "its metadata contains a NUL or an unpaired surrogate",
        ),
        ('{"id": 1, "text": "x", "metadata": {"\\ud800": 1}}', "its metadata contains a NUL or an unpaired surrogate"),
        ('{"id": 1, "text": "x", "metadata": {"a": %s}}' % ("[" * 200 + "]" * 200), "more than 100 levels deep"),
        ('{"id": 1, "text": "x", "metadata": {"a": %s}}' % ("9" * 2000), "a number with more than 1,000 digits"),
        ('{"id": "\\u0000", "text": "x"}', "contains a NUL or an unpaired surrogate"),
        ('{"uri": "\\ud800", "text": "x"}', "contains a NUL or an unpaired surrogate"),
        ('{"id": "%s", "text": "x"}' % ("u" * 9000), "has 9,008 bytes; the maximum is 2,000"),
    ],
)
def test_a_line_that_cannot_be_used_is_named_and_the_others_are_read(
    load: Load, line: str | bytes, problem: str
) -> None:
    data = line.encode() if isinstance(line, str) else line
    first, refused, last = load(
        JsonLines(), "a.jsonl", b'{"id": 7, "text": "y"}\n' + data + b'\n{"id": 8, "text": "z"}'
    )
    assert (first, last) == (Source("a.jsonl#7", "y"), Source("a.jsonl#8", "z"))
    assert refused.place.endswith("a.jsonl, line 2")
    assert re.fullmatch(rf".*a\.jsonl, line 2: .*{problem}.* Fix that line and add the file again\.", refused.reason)


def test_a_line_without_an_end_is_not_taken_into_memory(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, "MOST_LINE", 2**20)
    with pytest.raises(UnreadableFile, match="line 1: it is longer than 1 MiB"):
        load(JsonLines(), "a.jsonl.gz", gzip.compress(b" " * 2**21))


def test_a_broken_archive_is_refused(load: Load) -> None:
    with pytest.raises(UnreadableFile, match=r"a\.jsonl\.gz cannot be unpacked: .*Pack it again"):
        load(JsonLines(), "a.jsonl.gz", gzip.compress(b"x" * 1000)[:-10])


# --- CSV ----------------------------------------------------------------------------------------------


def test_a_column_of_text_is_the_text_and_the_others_say_more(load: Load) -> None:
    table = 'Id,Title,Body,year\n7,T,"a, ""b""\nc",1843\n,,d,\n\n'
    assert load(Table(), "a.csv", table) == [
        Source("a.csv#7", 'a, "b"\nc', "T", {"year": "1843"}),
        Source("a.csv#2", "d"),
    ]


@pytest.mark.parametrize(("name", "between"), [("a.csv", ","), ("a.csv", ";"), ("a.csv", "\t"), ("a.tsv", "\t")])
def test_without_one_all_columns_are(load: Load, name: str, between: str) -> None:
    table = "\ufeffname,age,title\r\nAda,36,Countess\r\nBabbage\r\n".replace(",", between)
    assert load(Table(), name, table) == [
        Source(f"{name}#1", "name: Ada\nage: 36\ntitle: Countess", "Countess"),
        Source(f"{name}#2", "name: Babbage"),
    ]


def test_a_long_field_is_read(load: Load) -> None:
    assert len(load(Table(), "a.csv", "text\n" + "x" * 200_000)[0].text) == 200_000


def test_a_row_that_cannot_be_used_is_named_and_the_others_are_read(load: Load) -> None:
    first, refused, last = load(Table(), "a.csv", "id,text\n1,x\n2,y,more\n3,z\n")
    assert (first, last) == (Source("a.csv#1", "x"), Source("a.csv#3", "z"))
    assert "a.csv, line 3: it has 3 fields, and the first row names 2. Fix that line" in refused.reason


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ('a,b\n"1,2\n', r"a.csv, line \d: unexpected end of data"),
        ("a,b\nЭто,по-русски\n".encode("cp1251"), "a.csv is not UTF-8"),
        (b"\xff\xfea", "a.csv begins like UTF-16 and is not"),
        (b"a,b\n" + bytes(range(256)), "a.csv is not text"),
    ],
)
def test_a_table_that_cannot_be_read_is_named(load: Load, table: str | bytes, problem: str) -> None:
    with pytest.raises(UnreadableFile, match=problem):
        load(Table(), "a.csv", table)


def test_a_table_of_another_encoding_is_read_with_a_note(load: Load) -> None:
    plain = f"Ada,{'plain ' * 200}\n"
    table = f"name,text\n{plain * 1000}Jürgen,Straße\n"  # the first sign of it is in the second block
    last = load(Table(), "a.csv", table.encode("cp1252"))[-1]
    assert (last.text, last.metadata) == ("Straße", {"name": "Jürgen"})
    assert "read as Windows-1252" in last.notes[0]


def test_an_empty_table_has_no_documents(load: Load) -> None:
    assert load(Table(), "a.csv", "") == load(Table(), "a.csv", "text,title\n") == []
